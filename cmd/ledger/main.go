// Command ledger is the operator's command line: it verifies, reads, compacts
// and audits a ledger, in a folder that holds ledger/shards or on a branch of any
// git remote. It never runs in a workflow's agent job, and no action uses it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Exit codes: done, also when there was nothing to do; failed, or what was looked
// at is not in order; bad arguments.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is an error of the arguments; its text says what is wrong with them.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errSilent fails a command that has said already why.
var errSilent = errors.New("failed")

// command is one subcommand.
type command struct {
	name, arguments, summary string
	// setup declares the flags and returns what to run with the other arguments.
	setup func(*flag.FlagSet) func(ctx context.Context, io streams, args []string) error
}

type streams struct {
	in       io.Reader
	out, err io.Writer
}

func commands() []command {
	return slices.Concat([]command{
		demoCommand, canonicalCommand, verifyCommand, logCommand, getCommand, queryCommand,
		compactPlanCommand, compactCheckCommand, compactApplyCommand, auditCommand, benchCommand,
	}, memoryCommands(), threadCommands())
}

func main() {
	log.SetOutput(io.Discard) // nobody here writes to it; GODEBUG=http2debug=1 would, a token too
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	stop()
	os.Exit(code)
}

// run is main without the process.
func run(ctx context.Context, args []string, io streams) int {
	c, rest, err := find(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		help(io.out)
		return exitDone
	case err != nil:
		fmt.Fprintf(io.err, "ledger: %v\n", err)
		return exitUsage
	}
	flags := flag.NewFlagSet("ledger "+c.name, flag.ContinueOnError)
	flags.SetOutput(io.err)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: ledger %s %s\n\n%s\n", c.name, c.arguments, c.summary)
		flags.PrintDefaults()
	}
	do := c.setup(flags)
	if len(rest) > 0 && (rest[0] == "--help" || rest[0] == "-h") {
		flags.SetOutput(io.out)
	}
	if err := flags.Parse(rest); errors.Is(err, flag.ErrHelp) {
		return exitDone
	} else if err != nil {
		return exitUsage
	}
	err = do(ctx, io, flags.Args())
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		fmt.Fprintf(io.err, "ledger %s: %v\n", c.name, err)
		return exitUsage
	case !errors.Is(err, errSilent):
		fmt.Fprintf(io.err, "ledger %s: %v\n", c.name, err)
	}
	return exitFailed
}

// find returns the command that the arguments start with, and the rest.
func find(args []string) (command, []string, error) {
	if len(args) == 0 {
		return command{}, nil, errors.New("which command? see ledger --help")
	}
	if args[0] == "--help" || args[0] == "-h" || args[0] == "help" {
		return command{}, nil, flag.ErrHelp
	}
	name, rest := args[0], args[1:]
	if (name == "compact" || name == "memory" || name == "thread") && len(rest) > 0 {
		name, rest = name+" "+rest[0], rest[1:]
	}
	for _, c := range commands() {
		if c.name == name {
			return c, rest, nil
		}
	}
	return command{}, nil, fmt.Errorf("no command %q: see ledger --help", name)
}

func help(w io.Writer) {
	fmt.Fprint(w, "usage: ledger COMMAND [FLAGS] [ARGUMENTS]\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-16s %s\n", c.name, c.summary)
	}
	fmt.Fprint(w, `
DIR is a folder that holds ledger/shards; in its place --remote URL --ledger NAME
names a branch of a git remote; GITHUB_TOKEN is sent to the host of
GITHUB_SERVER_URL only. ledger COMMAND --help lists the flags.

Exit codes: 0 done; 1 failed, or what was looked at is not in order; 2 bad arguments.
`)
}
