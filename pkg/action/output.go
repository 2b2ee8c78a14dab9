package action

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// SetOutput sets one of the role's outputs. The value is one line, or for an
// output declared with Lines any text of valid UTF-8 without NUL; at most 64
// KiB. A refused value or a failed write sets nothing and is kept for
// [Action.Err]; errors name the output and never show the value.
func (a *Action) SetOutput(name, value string) {
	if err := a.setOutput(name, value); err != nil {
		a.fail(fmt.Errorf("output %s: %w", Quote(name, 80), err))
	}
}

func (a *Action) setOutput(name, value string) error {
	out, declared := a.role.output(name)
	switch {
	case !nameForm.MatchString(name):
		return errors.New("not a name of lower-case letters, digits and hyphens")
	case a.role.Name != "" && !declared:
		return fmt.Errorf("not declared by role %s", a.role.Name)
	case len(value) > maxOutputBytes:
		return fmt.Errorf("%d bytes, over the limit of %d; write a file and set its path", len(value), maxOutputBytes)
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return errors.New("not text: NUL or invalid UTF-8; write a file and set its path")
	case !out.Lines && strings.ContainsAny(value, "\r\n"):
		return errors.New("has a line break, and the output is one line")
	case strings.HasSuffix(value, "\r"):
		// A runner on Windows would take it for a part of the line end.
		return errors.New("ends with CR; end it with a line feed or with text")
	}
	path := a.getenv("GITHUB_OUTPUT")
	if path == "" {
		if a.InActions() {
			return errors.New("GITHUB_OUTPUT is not set; the output would be lost")
		}
		for _, line := range strings.Split(value, "\n") {
			a.print(a.log(), name+"="+a.clean(line)+"\n")
		}
		return nil
	}
	entry := name + "=" + value + "\n"
	if out.Lines {
		delimiter, err := a.delimiter(value)
		if err != nil {
			return err
		}
		entry = name + "<<" + delimiter + "\n" + value + "\n" + delimiter + "\n"
	}
	return a.appendLine(path, "GITHUB_OUTPUT", entry)
}

// delimiter makes a fence that value does not hold.
func (a *Action) delimiter(value string) (string, error) {
	for range maxFences {
		var b [16]byte
		if _, err := io.ReadFull(a.random, b[:]); err != nil {
			return "", errors.New("no randomness for its delimiter")
		}
		if d := "ledger_" + hex.EncodeToString(b[:]); !strings.Contains(value, d) {
			return d, nil
		}
	}
	return "", errors.New("no delimiter that the value does not hold")
}

// MarkUntrustedJob makes trusted roles refuse to start in the later steps of
// this job. It is the only write to GITHUB_ENV, and a constant one: nothing that
// a stranger chose ever goes there.
func (a *Action) MarkUntrustedJob() {
	path := a.getenv("GITHUB_ENV")
	if path == "" {
		if a.InActions() {
			a.fail(errors.New("GITHUB_ENV is not set; the job cannot be marked as untrusted"))
		}
		return
	}
	if err := a.appendLine(path, "GITHUB_ENV", untrustedJob+"=1\n"); err != nil {
		a.fail(err)
	}
}

// appendLine appends text, which ends with a line feed, to a file that the
// runner named, on a fresh line even where an earlier writer left none.
func (a *Action) appendLine(path, what, text string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, err := a.openFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("cannot open the file of %s", what)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("the file of %s is not a regular file", what)
	}
	if size := info.Size(); size > 0 {
		last := make([]byte, 1)
		if _, err := f.ReadAt(last, size-1); err != nil {
			return fmt.Errorf("cannot read the file of %s", what)
		}
		if last[0] != '\n' {
			text = "\n" + text
		}
	}
	if _, err := io.WriteString(f, text); err != nil {
		return fmt.Errorf("cannot write the file of %s", what)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("cannot write the file of %s", what)
	}
	return nil
}
