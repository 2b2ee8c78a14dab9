package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runnerOutputs reads a file of outputs by the rules of the Actions runner:
// blank lines are skipped, a line is name=value unless << comes before the
// first =, and a multi-line value ends before the line that is its delimiter.
// On Windows CR LF ends a line as well.
func runnerOutputs(text string, windows bool) (names []string, values map[string]string, err error) {
	values = map[string]string{}
	next := func() (line, end string) {
		at := strings.IndexByte(text, '\n')
		if at < 0 {
			line, text = text, ""
			return line, ""
		}
		line, end, text = text[:at], "\n", text[at+1:]
		if windows && strings.HasSuffix(line, "\r") {
			line, end = line[:len(line)-1], "\r\n"
		}
		return line, end
	}
	for text != "" {
		line, _ := next()
		if line == "" {
			continue
		}
		equals, heredoc := strings.Index(line, "="), strings.Index(line, "<<")
		var name, value string
		switch {
		case equals >= 0 && (heredoc < 0 || equals < heredoc):
			name, value = line[:equals], line[equals+1:]
		case heredoc >= 0:
			name = line[:heredoc]
			delimiter := line[heredoc+2:]
			if delimiter == "" {
				return nil, nil, errors.New("no delimiter")
			}
			var last string
			for {
				content, end := next()
				if content == delimiter {
					break
				}
				if end == "" {
					return nil, nil, errors.New("delimiter not found")
				}
				value += last + content
				last = end
			}
		default:
			return nil, nil, fmt.Errorf("line %q is no output", line)
		}
		if name == "" {
			return nil, nil, errors.New("no name")
		}
		if _, ok := values[name]; !ok {
			names = append(names, name)
		}
		values[name] = value
	}
	return names, values, nil
}

// outputAction returns an Action of role sample whose outputs go to a file that
// holds prior.
func outputAction(t testing.TB, prior string) (*Action, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte(prior), 0o600); err != nil {
		t.Fatal(err)
	}
	a := New(WithRole(sample), WithEnv(map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": path}), WithWriter(&bytes.Buffer{}))
	return a, path
}

var forgeries = []string{
	"hello\nEOF\npersisted=true\nhead=0000000000000000000000000000000000000000\n",
	"no line feed at the end", "", "\n", "\n\n", "a\r\nb\r\n", "a\rb", "head<<X\nforged\nX", "notes<<X\nforged\nX\n",
	"a=b<<c", "<<", "=", "\x00", "\xff", "a\u2028b", "ledger_00000000000000000000000000000000", "ends with CR\r",
	"\ufeffhead=x", "ghadelimiter\nhead=forged",
}

func FuzzNoValueCanSetAnotherOutput(f *testing.F) {
	for _, value := range forgeries {
		f.Add(value, true, "")
		f.Add(value, false, "first=1")
	}
	f.Fuzz(func(t *testing.T, value string, lines bool, prior string) {
		before, beforeValues, err := runnerOutputs(prior, false)
		if err != nil || strings.Contains(prior, "\r") || beforeValues["head"] != "" || beforeValues["notes"] != "" {
			prior, before = "first=1", []string{"first"}
		}
		name := "head"
		if lines {
			name = "notes"
		}
		a, path := outputAction(t, prior)
		a.SetOutput(name, value)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if a.Err() != nil {
			if string(data) != prior {
				t.Fatalf("refused %q and wrote %q", value, data)
			}
			return
		}
		for _, windows := range []bool{false, true} {
			names, values, err := runnerOutputs(string(data), windows)
			if err != nil {
				t.Fatalf("the runner cannot read %q: %v", data, err)
			}
			if got, want := strings.Join(names, ","), strings.Join(append(before, name), ","); got != want && !contains(before, name) {
				t.Fatalf("outputs %s, want %s", got, want)
			}
			if values[name] != value {
				t.Fatalf("%s is %q, want %q", name, values[name], value)
			}
		}
	})
}

func TestMultiLineOutputsArriveExactly(t *testing.T) {
	for _, value := range forgeries {
		a, path := outputAction(t, "")
		a.SetOutput("notes", value)
		refused := strings.Contains(value, "\x00") || value == "\xff" || strings.HasSuffix(value, "\r")
		if (a.Err() != nil) != refused {
			t.Errorf("%q: %v", value, a.Err())
			continue
		}
		data, _ := os.ReadFile(path)
		if _, values, err := runnerOutputs(string(data), false); !refused && (err != nil || values["notes"] != value || len(values) != 1) {
			t.Errorf("%q: %q, %v", value, values, err)
		}
	}
}

func TestSingleLineOutputsRefuseLineBreaks(t *testing.T) {
	for _, value := range []string{"a\nb", "a\n", "\n", "a\r", "\r\n", "a\x00", "\xff", strings.Repeat("x", maxOutputBytes+1)} {
		a, path := outputAction(t, "")
		a.SetOutput("head", value)
		data, _ := os.ReadFile(path)
		if a.Err() == nil || len(data) != 0 {
			t.Errorf("%.20q: wrote %q, error %v", value, data, a.Err())
		}
		if a.Err() != nil && !strings.HasPrefix(a.Err().Error(), `output "head": `) {
			t.Errorf("error %v", a.Err())
		}
	}
	a, path := outputAction(t, "")
	big := strings.Repeat("x", maxOutputBytes)
	a.SetOutput("head", big)
	if data, _ := os.ReadFile(path); a.Err() != nil || string(data) != "head="+big+"\n" {
		t.Errorf("at the bound: %v", a.Err())
	}
}

func TestOutputNamesAreDeclaredOnes(t *testing.T) {
	for _, name := range []string{"", "nope", "head\nx", "head=1", "head<<X", "HEAD", "a b", "a_b"} {
		a, path := outputAction(t, "")
		a.SetOutput(name, "x")
		if data, _ := os.ReadFile(path); a.Err() == nil || len(data) != 0 {
			t.Errorf("%q: wrote %q", name, data)
		}
	}
}

func TestADelimiterThatOccursInTheValueIsNotUsed(t *testing.T) {
	zeros, ones := strings.Repeat("00", 16), strings.Repeat("01", 16)
	random := append(make([]byte, 16), bytes.Repeat([]byte{1}, 16)...)
	a, path := outputAction(t, "")
	a.random = bytes.NewReader(random)
	a.SetOutput("notes", "x\nledger_"+zeros+"\nhead=forged")
	data, _ := os.ReadFile(path)
	if want := "notes<<ledger_" + ones + "\nx\nledger_" + zeros + "\nhead=forged\nledger_" + ones + "\n"; string(data) != want {
		t.Errorf("%q, want %q", data, want)
	}

	a, path = outputAction(t, "")
	a.random = bytes.NewReader(make([]byte, 16*maxFences))
	a.SetOutput("notes", "ledger_"+zeros)
	if data, _ := os.ReadFile(path); a.Err() == nil || len(data) != 0 {
		t.Errorf("a generator that repeats itself: wrote %q", data)
	}
	a, _ = outputAction(t, "")
	a.random = bytes.NewReader(nil)
	if a.SetOutput("notes", "x"); a.Err() == nil {
		t.Error("no randomness, and no error")
	}
}

func TestTwoWritesHaveTwoDelimiters(t *testing.T) {
	a, path := outputAction(t, "")
	a.SetOutput("notes", "x")
	a.SetOutput("notes", "x")
	lines := strings.Split(readFile(t, path), "\n")
	if len(lines) != 7 || lines[0] == lines[3] {
		t.Errorf("%q", lines)
	}
}

func TestAnOutputStartsOnAFreshLine(t *testing.T) {
	a, path := outputAction(t, "first=1")
	a.SetOutput("head", "x")
	a.SetOutput("head", "y")
	if got := readFile(t, path); got != "first=1\nhead=x\nhead=y\n" {
		t.Errorf("%q", got)
	}
}

func TestOutputsGoToStandardOutputOnlyOutsideActions(t *testing.T) {
	set := func(_ context.Context, a *Action) error {
		a.SetOutput("head", "abc")
		a.SetOutput("notes", "one\n::error::two")
		return nil
	}
	if got := runRole(sample, validEnv(), nil, set); got.code != 0 || got.stdout != "head=abc\nnotes=one\nnotes=\\u{3a}:error::two\n" {
		t.Errorf("%+v", got)
	}
	got := runRole(sample, validEnv("GITHUB_ACTIONS", "true"), nil, set)
	if got.code != 1 || !strings.Contains(got.stdout, "::error title=sample-role::output \"head\": GITHUB_OUTPUT is not set") {
		t.Errorf("%+v", got)
	}
}

func TestAnOutputFileThatCannotBeWrittenFailsTheRunWithoutItsPath(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "no", "such", "secretdir")} {
		got := runRole(sample, validEnv("GITHUB_OUTPUT", path), nil, func(_ context.Context, a *Action) error {
			a.SetOutput("head", "abc")
			return nil
		})
		if got.code != 1 || strings.Contains(got.stderr, dir) || !strings.Contains(got.stderr, "GITHUB_OUTPUT") {
			t.Errorf("%+v", got)
		}
	}
}

func TestMarkingTheJobWritesOneConstantLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "env")
	mark := func(_ context.Context, a *Action) error { a.MarkUntrustedJob(); return nil }
	if got := runRole(sample, validEnv("GITHUB_ENV", path), nil, mark); got.code != 0 || readFile(t, path) != "LEDGER_UNTRUSTED_JOB=1\n" {
		t.Errorf("%+v", got)
	}
	if got := runRole(sample, validEnv("GITHUB_ACTIONS", "true"), nil, mark); got.code != 1 {
		t.Errorf("no GITHUB_ENV in Actions: %+v", got)
	}
	if got := runRole(sample, validEnv(), nil, mark); got.code != 0 {
		t.Errorf("outside Actions: %+v", got)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
