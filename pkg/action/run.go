package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
)

// untrustedJob marks a job in which an agent runs.
const untrustedJob = "LEDGER_UNTRUSTED_JOB"

// Main is the whole of a role's main function: it handles --help and --version,
// checks the inputs, calls run and exits with 0, 1 or 2.
//
// The standard logger is silent from here on. The roles have printers of their own,
// and Go's HTTP/2 writes every header to it, the token's among them and in a spelling
// that no mask knows, where GODEBUG=http2debug=1 stands in the environment.
func Main(role Role, run func(ctx context.Context, a *Action) error, options ...Option) {
	log.SetOutput(io.Discard)
	os.Exit(Run(context.Background(), role, os.Args[1:], run, options...))
}

// Run is [Main] without the process: it returns the exit code. The context given
// to run ends with the first interrupt or termination signal; a second one ends
// the process. An error that run returns, or [Action.Err], is printed once: as an
// error annotation in Actions, else on standard error as "role: error".
func Run(ctx context.Context, role Role, args []string, run func(ctx context.Context, a *Action) error, options ...Option) int {
	a := New(append(options[:len(options):len(options)], WithRole(role))...)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)

	done, err := a.start(args)
	if done {
		return 0
	}
	if err == nil {
		err = a.call(ctx, run)
		if err == nil {
			err = a.Err()
		}
		if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errors.New("stopped by a signal before it was done")
		}
	}
	if err != nil {
		a.report(err)
	}
	return ExitCode(err)
}

// start handles the arguments and reads the inputs; done means that there is
// nothing left to do.
func (a *Action) start(args []string) (done bool, err error) {
	if err := a.role.Check(); err != nil {
		return false, err
	}
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		a.print(a.stdout, a.role.Help())
		return true, nil
	}
	if len(args) == 1 && args[0] == "--version" {
		a.print(a.stdout, a.role.Name+" "+Version()+"\n")
		return true, nil
	}
	var names []string
	if commands := a.role.Commands; len(commands) > 0 {
		command := commands[0]
		if len(args) > 0 {
			for _, c := range commands {
				if c.Name == args[0] {
					command, args = c, args[1:]
					break
				}
			}
		}
		a.command, names = command.Name, command.Inputs
	}
	if len(args) > 0 {
		return false, &argumentError{args[0]}
	}
	if a.role.Trusted && a.getenv(untrustedJob) != "" {
		return false, fmt.Errorf("refuses to run in a job that runs an agent (%s is set); give it a job of its own", untrustedJob)
	}
	return false, a.parseInputs(names)
}

// argumentError is an argument that the binary does not have.
type argumentError struct{ argument string }

func (e *argumentError) Error() string {
	return fmt.Sprintf("unknown argument %s; inputs come from the environment, see --help", Quote(e.argument, 80))
}

// call runs the role; a panic becomes an error that says where, never what: the
// value of a panic can hold anything.
func (a *Action) call(ctx context.Context, run func(ctx context.Context, a *Action) error) (err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("internal error at %s; please report it", panicSite())
		}
	}()
	return run(ctx, a)
}

// panicSite names the file and line that panicked, without its directory.
func panicSite() string {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		if frame.Func != nil && !isRuntime(frame.Function) {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}

func isRuntime(function string) bool {
	return len(function) > 8 && function[:8] == "runtime."
}

func (a *Action) report(err error) {
	if a.commands() {
		a.Errorf("%v", err)
		return
	}
	a.print(a.stderr, a.clean(a.role.Name+": "+err.Error())+"\n")
}
