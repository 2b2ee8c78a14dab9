package action

import (
	"fmt"
	"regexp"
	"strings"
)

// Role declares a binary: the one source of its --help, its input parsing and
// the outputs that it may set.
type Role struct {
	// Name is the binary's and the action directory's name, such as persist.
	Name string
	// Summary says in one line what the role does.
	Summary string
	// Commands are the role's first argument, the default one first; a role
	// without commands takes no arguments.
	Commands []Command
	Inputs   []Input
	Outputs  []Output
	// Trusted roles hold a write token or a key. They refuse to start when
	// LEDGER_UNTRUSTED_JOB is set, which agent-ledger sets for the rest of its
	// job: a guard rail against a wrong workflow, not a boundary.
	Trusted bool
}

// Command is one thing that a role can be asked to do.
type Command struct {
	Name string
	Help string
	// Inputs names those of the role's inputs that the command reads; nil is all.
	Inputs []string
	// Protocol is set when standard output belongs to a protocol: everything
	// that the Action prints then goes to standard error, as plain text.
	Protocol bool
}

// Kind is how an input is checked and read.
type Kind string

const (
	Text   Kind = "one line"
	List   Kind = "one item a line or between commas"
	Lines  Kind = "text of several lines"
	Bool   Kind = "true or false"
	Int    Kind = "a whole number"
	KiB    Kind = "KiB"
	Enum   Kind = "one of"
	Path   Kind = "a path"
	Ledger Kind = "letters, digits, _ and -, starting with a letter or digit, at most 64"
	Branch Kind = "ledgers/NAME or memory/NAME, where NAME is spelled like a ledger"
	Commit Kind = "a whole commit id"
	Digest Kind = "sha256: and 64 lower-case hexadecimal digits"
	Secret Kind = "a secret of one line, never shown"
)

// EmptyIsDefault is the [Input.Empty] of inputs where an empty value means the
// default.
const EmptyIsDefault = "the default"

// Input declares one input.
type Input struct {
	Name string
	// Help says in one line what the input does; it is also the description in
	// action.yml.
	Help string
	// Default is the text used when the variable is not set, and the default in
	// action.yml. One that starts with "${{" only the runner can evaluate; to the
	// binary it is empty.
	Default string
	// Empty says what a variable that is set to the empty text means; "" makes
	// it an error where there is a default.
	Empty string
	// Required inputs must be given and not empty.
	Required bool
	// Kind defaults to Text.
	Kind Kind
	// Min and Max bound an Int or KiB, in the unit of the input.
	Min, Max int
	// Values are what an Enum takes.
	Values []string
	// Derived gives the value where it is still empty, once all others are read;
	// Empty says in words what it does.
	Derived func(*Action) (string, error)
}

// Output declares one output.
type Output struct {
	Name string
	Help string
	// Lines allows line feeds in the value; without it the value is one line.
	Lines bool
}

// Variable returns the environment variable of an input: INPUT_MAX_RECORD_KB for
// max-record-kb.
func (in Input) Variable() string {
	return "INPUT_" + strings.ToUpper(strings.ReplaceAll(in.Name, "-", "_"))
}

// Accepts says what values the input takes, in a few words.
func (in Input) Accepts() string {
	switch in.Kind {
	case Int:
		return fmt.Sprintf("a whole number from %d to %d", in.Min, in.Max)
	case KiB:
		return fmt.Sprintf("a whole number of KiB from %d to %d", in.Min, in.Max)
	case Enum:
		return "one of " + strings.Join(in.Values, ", ")
	case "":
		return string(Text)
	}
	return string(in.Kind)
}

// literal is the default as the binary can use it.
func (in Input) literal() string {
	if strings.HasPrefix(in.Default, "${{") {
		return ""
	}
	return in.Default
}

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

// Check reports what is wrong with the declaration itself.
func (r Role) Check() error {
	seen := map[string]bool{}
	entry := func(what, name, help string) error {
		switch {
		case !nameForm.MatchString(name):
			return fmt.Errorf("declaration: %s %q is not a name", what, name)
		case seen[what+" "+name]:
			return fmt.Errorf("declaration: %s %s is declared twice", what, name)
		case help == "" || help != strings.TrimSpace(help) || strings.ContainsAny(help, "\r\n"):
			return fmt.Errorf("declaration: %s %s needs one line of help", what, name)
		}
		seen[what+" "+name] = true
		return nil
	}
	if err := entry("role", r.Name, r.Summary); err != nil {
		return err
	}
	for _, in := range r.Inputs {
		if err := entry("input", in.Name, in.Help); err != nil {
			return err
		}
		if in.Required && (in.Default != "" || in.Empty != "" || in.Derived != nil) {
			return fmt.Errorf("declaration: input %s is required and has a default", in.Name)
		}
		if in.Derived != nil && in.Empty == "" {
			return fmt.Errorf("declaration: input %s does not say what it is derived from", in.Name)
		}
		if err := in.check(in.literal()); in.literal() != "" && err != nil {
			return fmt.Errorf("declaration: default of %v", err)
		}
	}
	for _, out := range r.Outputs {
		if err := entry("output", out.Name, out.Help); err != nil {
			return err
		}
	}
	for _, c := range r.Commands {
		if err := entry("command", c.Name, c.Help); err != nil {
			return err
		}
		for _, name := range c.Inputs {
			if !seen["input "+name] {
				return fmt.Errorf("declaration: command %s reads input %q, which is not declared", c.Name, name)
			}
		}
	}
	return nil
}

func (r Role) input(name string) (Input, bool) {
	for _, in := range r.Inputs {
		if in.Name == name {
			return in, true
		}
	}
	return Input{}, false
}

func (r Role) output(name string) (Output, bool) {
	for _, out := range r.Outputs {
		if out.Name == name {
			return out, true
		}
	}
	return Output{}, false
}
