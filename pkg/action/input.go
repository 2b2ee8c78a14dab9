package action

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	numberForm = regexp.MustCompile(`^(0|[1-9][0-9]{0,8})$`)
	ledgerForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	branchForm = regexp.MustCompile(`^(ledgers|memory)/[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	commitForm = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

// parseInputs reads and checks the named inputs (nil is all) and derives what is
// still empty.
func (a *Action) parseInputs(names []string) error {
	a.values = map[string]string{}
	var derived []Input
	for _, in := range a.role.Inputs {
		if names != nil && !contains(names, in.Name) {
			continue
		}
		value, set := a.lookupEnv(in.Variable())
		// A secret is known before it is judged, so that no error can show it.
		if in.Kind == Secret && value != "" {
			a.hide(value)
		}
		value, err := in.resolve(value, set)
		if err != nil {
			return err
		}
		a.values[in.Name] = value
		if value == "" && in.Derived != nil {
			derived = append(derived, in)
		}
	}
	for _, in := range derived {
		value, err := in.Derived(a)
		if err != nil {
			return err
		}
		if err := in.check(value); err != nil {
			return err
		}
		a.values[in.Name] = value
	}
	return nil
}

// resolve turns what the environment holds into the input's value.
func (in Input) resolve(value string, set bool) (string, error) {
	switch {
	case value != "":
		return value, in.check(value)
	case in.Required:
		return "", BadInput(in.Name, "required, and empty or not given; want %s", in.Accepts())
	case !set || in.Empty == EmptyIsDefault:
		return in.literal(), nil
	case in.Empty == "" && in.Default != "":
		return "", BadInput(in.Name, "empty; want %s, or leave the input out for the default %s", in.Accepts(), in.Default)
	}
	return "", nil
}

// check judges a value that is not empty.
func (in Input) check(value string) error {
	if len(value) > maxInputBytes {
		return BadInput(in.Name, "%d bytes, over the limit of %d; write it to a file and give its path where the input takes one", len(value), maxInputBytes)
	}
	if !utf8.ValidString(value) {
		return BadInput(in.Name, "%d bytes that are not valid UTF-8", len(value))
	}
	if in.Kind == List {
		items := splitList(value)
		if len(items) > maxListItems {
			return BadInput(in.Name, "%d items, over the limit of %d", len(items), maxListItems)
		}
		for _, item := range items {
			if i := strings.IndexFunc(item, unicode.IsControl); i >= 0 {
				return BadInput(in.Name, "item %s has a control character; remove it", Quote(item, 80))
			}
		}
		if len(items) == 0 {
			return BadInput(in.Name, "%d bytes without an item; want %s", len(value), in.Accepts())
		}
		return nil
	}
	if in.Kind == Lines {
		if strings.ContainsFunc(value, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }) {
			return BadInput(in.Name, "has a control character that ends no line and is no tab; remove it")
		}
		return nil
	}
	switch {
	case strings.ContainsAny(value, "\r\n"):
		return BadInput(in.Name, "has a line break; want %s", in.Accepts())
	case strings.IndexFunc(value, unicode.IsControl) >= 0:
		return BadInput(in.Name, "has a control character; want %s", in.Accepts())
	case strings.TrimSpace(value) != value:
		return BadInput(in.Name, "starts or ends with white space; want %s", in.Accepts())
	}
	return in.checkKind(value)
}

func (in Input) checkKind(value string) error {
	form := map[Kind]*regexp.Regexp{Ledger: ledgerForm, Branch: branchForm, Commit: commitForm, Digest: digestForm}[in.Kind]
	ok := true
	switch in.Kind {
	case Bool:
		ok = value == "true" || value == "false"
	case Enum:
		ok = contains(in.Values, value)
	case Int, KiB:
		if ok = numberForm.MatchString(value); ok {
			if n, _ := strconv.Atoi(value); n < in.Min || n > in.Max {
				return BadInput(in.Name, "%d is outside the limits; want %s", n, in.Accepts())
			}
		}
	case Ledger, Branch, Commit, Digest:
		ok = form.MatchString(value)
	}
	if !ok {
		return BadInput(in.Name, "got %s of %d bytes; want %s", Quote(value, 80), len(value), in.Accepts())
	}
	return nil
}

// splitList splits at line ends and commas, trims and drops empty items.
func splitList(value string) []string {
	var items []string
	for _, item := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		if item = strings.Trim(item, " \t"); item != "" {
			items = append(items, item)
		}
	}
	return items
}

func contains(list []string, s string) bool {
	for _, item := range list {
		if item == s {
			return true
		}
	}
	return false
}

// GetInput returns the checked value of a declared input, its default where
// none was given. It panics for an input that the role, or the command that was
// asked for, does not have.
func (a *Action) GetInput(name string) string {
	value, ok := a.values[name]
	if !ok {
		panic(fmt.Sprintf("action: input %q is not declared for %s %s", name, a.role.Name, a.command))
	}
	return value
}

func (a *Action) kind(name string, kinds ...Kind) string {
	in, _ := a.role.input(name)
	for _, kind := range kinds {
		if in.Kind == kind {
			return a.GetInput(name)
		}
	}
	panic(fmt.Sprintf("action: input %q is declared as %s", name, in.Accepts()))
}

// BoolInput returns a Bool input; an empty one is false.
func (a *Action) BoolInput(name string) bool { return a.kind(name, Bool) == "true" }

// IntInput returns an Int input; an empty one is 0.
func (a *Action) IntInput(name string) int {
	n, _ := strconv.Atoi(a.kind(name, Int))
	return n
}

// BytesInput returns a KiB input in bytes: the one place where they are
// converted. An empty one is 0.
func (a *Action) BytesInput(name string) int {
	n, _ := strconv.Atoi(a.kind(name, KiB))
	return n << 10
}

// ListInput returns the items of a List input, in the order given.
func (a *Action) ListInput(name string) []string { return splitList(a.kind(name, List)) }
