package action

import (
	"crypto/rand"
	"io"
	"os"
	"sync"
)

// File is what an Action needs of a file that the runner named.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.Closer
	Stat() (os.FileInfo, error)
}

// Action is one run of a role: its inputs, and the runner's files and commands.
// Its methods may be called from several goroutines.
type Action struct {
	getenv    func(string) string
	lookupEnv func(string) (string, bool)
	stdout    io.Writer
	stderr    io.Writer
	openFile  func(name string, flag int, perm os.FileMode) (File, error)
	random    io.Reader

	role    Role
	command string
	values  map[string]string
	secrets []string

	mu           sync.Mutex
	err          error
	summaryBytes int
	summaryFull  bool
}

// Option changes what an Action stands on; tests inject them.
type Option func(*Action)

// WithLookupEnv replaces the environment.
func WithLookupEnv(lookup func(string) (string, bool)) Option {
	return func(a *Action) { a.lookupEnv = lookup }
}

// WithEnv replaces the environment by a map.
func WithEnv(env map[string]string) Option {
	return WithLookupEnv(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
}

// WithWriter replaces standard output.
func WithWriter(w io.Writer) Option { return func(a *Action) { a.stdout = w } }

// WithErrorWriter replaces standard error.
func WithErrorWriter(w io.Writer) Option { return func(a *Action) { a.stderr = w } }

// WithOpenFile replaces the way to the files that the runner named.
func WithOpenFile(open func(name string, flag int, perm os.FileMode) (File, error)) Option {
	return func(a *Action) { a.openFile = open }
}

// WithRandom replaces the source of output delimiters.
func WithRandom(r io.Reader) Option { return func(a *Action) { a.random = r } }

// WithRole declares the inputs and outputs; [Main] does it.
func WithRole(role Role) Option { return func(a *Action) { a.role = role } }

// New returns an Action on the process's own environment and standard streams,
// except where options say otherwise. Its inputs are not parsed: [Main] and
// [Run] do that.
func New(options ...Option) *Action {
	a := &Action{
		lookupEnv: os.LookupEnv,
		stdout:    os.Stdout,
		stderr:    os.Stderr,
		openFile: func(name string, flag int, perm os.FileMode) (File, error) {
			return os.OpenFile(name, flag, perm)
		},
		random: rand.Reader,
	}
	for _, option := range options {
		option(a)
	}
	a.getenv = func(name string) string { v, _ := a.lookupEnv(name); return v }
	return a
}

// Getenv returns an environment variable as it stands, "" when it is not set.
func (a *Action) Getenv(name string) string { return a.getenv(name) }

// InActions reports whether a GitHub Actions runner started the process.
func (a *Action) InActions() bool { return a.getenv("GITHUB_ACTIONS") == "true" }

// Command returns which of the role's commands was asked for, "" when it has none.
func (a *Action) Command() string { return a.command }

// Err returns the first output or environment write that failed. [Main] fails
// the run with it, so that no caller has to look after each write.
func (a *Action) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// fail remembers the first error.
func (a *Action) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.err == nil {
		a.err = err
	}
}
