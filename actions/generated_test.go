package actions_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// part is a generated part of a file: from the one line that reads from, up to
// the first line after it that is the end.
type part struct {
	from string
	end  func(line string) bool
	want string
}

func startsWith(prefix string) func(string) bool {
	return func(line string) bool { return strings.HasPrefix(line, prefix) }
}

// outside ends a block of lines that are indented like prefix.
func outside(prefix string) func(string) bool {
	return func(line string) bool { return !strings.HasPrefix(line, prefix) }
}

// replaced returns the text with every part as it should be.
func replaced(t *testing.T, text string, parts ...part) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	for _, p := range parts {
		from := slices.Index(lines, p.from+"\n")
		if from < 0 || slices.Contains(lines[from+1:], p.from+"\n") {
			t.Fatalf("there must be one line %q", p.from)
		}
		to := from + 1
		for to < len(lines) && !p.end(lines[to]) {
			to++
		}
		lines = slices.Concat(lines[:from], strings.SplitAfter(p.want, "\n"), lines[to:])
	}
	return strings.Join(lines, "")
}

// TestTheGeneratedPartsOfActionAndREADMEAreWhatHelpSays compares names, order,
// descriptions, defaults, required, bounds, outputs and the mapping of inputs to
// the environment, character by character.
func TestTheGeneratedPartsOfActionAndREADMEAreWhatHelpSays(t *testing.T) {
	for _, r := range theMatrix().Actions {
		role := actionRole(t, r.Name)
		for file, parts := range map[string][]part{
			"action.yml": {
				{"inputs:", startsWith("runs:"), renderInterface(role) + "\n"},
				{"    - id: run", outside("      "), renderStep(role)},
			},
			"README.md": {{"## Inputs", startsWith("## Permissions"), role.Markdown()}},
		} {
			text := read(t, "actions", r.Name, file)
			want := replaced(t, text, parts...)
			if text == want {
				continue
			}
			if !*update {
				t.Errorf("%s of %s differs from --help at %q; go test ./actions -run Generated -update rewrites it",
					file, r.Name, firstDifference(text, want))
			} else if err := os.WriteFile(filepath.Join(root(), "actions", r.Name, file), []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestADriftedGeneratedPartIsSeen(t *testing.T) {
	for name, text := range map[string]string{
		"an input more":   "a\ninputs:\n  x:\n  y:\nruns:\nb\n",
		"an input less":   "a\ninputs:\nruns:\nb\n",
		"at the file end": "a\ninputs:\n  z:\n",
	} {
		if got := replaced(t, text, part{"inputs:", startsWith("runs:"), "inputs:\n  x:\n"}); got == text {
			t.Errorf("%s: not seen", name)
		}
	}
	same := "a\ninputs:\n  x:\nruns:\nb\n"
	if got := replaced(t, same, part{"inputs:", startsWith("runs:"), "inputs:\n  x:\n"}); got != same {
		t.Errorf("what agrees was changed: %q", got)
	}
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return a[i]
		}
	}
	return "end of file"
}
