package action

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/glyph"
)

// read runs sample with one more variable and returns the input as one text.
func read(t *testing.T, name string, get func(a *Action) string, env ...string) (value string, got result) {
	t.Helper()
	got = runRole(sample, validEnv(env...), nil, func(_ context.Context, a *Action) error {
		if get != nil {
			value = get(a)
		} else {
			value = a.GetInput(name)
		}
		return nil
	})
	return value, got
}

func TestInputsThatAreNotGivenHaveTheirDocumentedDefaults(t *testing.T) {
	for name, want := range map[string]string{
		"ledger": "memory", "branch": "ledgers/memory", "remote": "/srv/r.git", "token": "", "max-shards": "1024",
		"max-segment-kb": "100", "max-record-kb": "32", "max-patch-kb": "100", "base-commit": "",
		"directory": filepath.Join("/tmp/rt", "ledger", "memory"), "dry-run": "false", "schedule": "daily",
		"extensions": ".json, .md", "artifact": "ledger", "staged-digest": someDigest,
	} {
		if value, got := read(t, name, nil); got.code != 0 || value != want {
			t.Errorf("%s: %q, want %q (%+v)", name, value, want, got)
		}
	}
}

func TestAnEmptyInputMeansWhatItsDeclarationSays(t *testing.T) {
	for _, test := range []struct {
		name, want string
		code       int
	}{
		{"ledger", "memory", 0}, {"branch", "ledgers/memory", 0}, {"artifact", "", 0}, {"token", "", 0}, {"base-commit", "", 0},
		{"dry-run", "false", 0}, {"max-shards", "", 2}, {"max-record-kb", "", 2}, {"schedule", "", 2}, {"staged-digest", "", 2},
	} {
		in, _ := sample.input(test.name)
		value, got := read(t, test.name, nil, in.Variable(), "")
		if got.code != test.code || value != test.want {
			t.Errorf("%s: %q and %+v, want %q and %d", test.name, value, got, test.want, test.code)
		}
	}
}

func TestHostileInputValuesExitWith2AndAreNeverPrintedRaw(t *testing.T) {
	long := strings.Repeat("x", maxInputBytes+1)
	for _, test := range []struct{ name, value string }{
		{"ledger", " "}, {"ledger", "memory "}, {"ledger", "\tmemory"}, {"ledger", "a\nb"}, {"ledger", "a\rb"}, {"ledger", "a\x00b"},
		{"ledger", "-memory"}, {"ledger", "_memory"}, {"ledger", "a/b"}, {"ledger", "../x"}, {"ledger", strings.Repeat("a", 65)},
		{"ledger", "$(id)"}, {"ledger", `"; id; "`}, {"ledger", "café"}, {"ledger", "\xff"}, {"ledger", "a\u202eb"},
		{"branch", "main"}, {"branch", "ledgers/"}, {"branch", "ledgers/a/b"}, {"branch", "refs/heads/ledgers/a"}, {"branch", "ledgers/a.lock"},
		{"branch", "ledgers/-a"}, {"branch", "Ledgers/a"}, {"branch", "memory/a\n::error::x"},
		{"remote", "https://example.com/\nx"}, {"remote", " /srv"}, {"remote", long},
		{"base-commit", "HEAD"}, {"base-commit", strings.Repeat("a", 39)}, {"base-commit", strings.Repeat("A", 40)}, {"base-commit", strings.Repeat("a", 41)},
		{"staged-digest", strings.Repeat("a", 64)}, {"staged-digest", strings.ToUpper(someDigest)}, {"staged-digest", someDigest + "\n"},
		{"max-shards", "0"}, {"max-shards", "1025"}, {"max-shards", "-1"}, {"max-shards", "+1"}, {"max-shards", "01"}, {"max-shards", "1.0"},
		{"max-shards", "1e3"}, {"max-shards", "0x10"}, {"max-shards", "99999999999999999999"}, {"max-shards", "٣"}, {"max-shards", "1_0"},
		{"max-segment-kb", "10241"}, {"max-record-kb", "1025"}, {"max-patch-kb", "10241"}, {"max-patch-kb", "100KiB"},
		{"dry-run", "False"}, {"dry-run", "TRUE"}, {"dry-run", "0"}, {"dry-run", "yes"}, {"dry-run", " "},
		{"schedule", "Daily"}, {"schedule", "monthly"}, {"artifact", "::warning::x\n"},
		{"extensions", ",,"}, {"extensions", " \n "}, {"extensions", ".a,.b\x1b[31m"}, {"extensions", strings.Repeat("a,", maxListItems+1)},
		{"directory", "a\x00b"},
	} {
		in, _ := sample.input(test.name)
		_, got := read(t, test.name, nil, in.Variable(), test.value)
		if got.code != 2 || got.stdout != "" {
			t.Errorf("%s=%q: %+v", test.name, test.value, got)
		}
		want := "sample-role: input " + test.name + ": "
		if !strings.HasPrefix(got.stderr, want) || strings.Count(got.stderr, "\n") != 1 || len(got.stderr) > 600 {
			t.Errorf("%s: error %q", test.name, got.stderr)
		}
		for _, r := range strings.TrimSuffix(got.stderr, "\n") {
			if !glyph.Visible(r) {
				t.Errorf("%s: error shows %U raw", test.name, r)
			}
		}
	}
}

func TestInputsAtTheirBoundsAreTaken(t *testing.T) {
	for _, test := range []struct{ name, value string }{
		{"ledger", "a"}, {"ledger", "0"}, {"ledger", strings.Repeat("a", 64)}, {"ledger", "A-b_9"},
		{"branch", "memory/a"}, {"branch", "ledgers/" + strings.Repeat("z", 64)},
		{"max-shards", "1"}, {"max-shards", "1024"}, {"max-segment-kb", "10240"}, {"max-record-kb", "1024"},
		{"base-commit", strings.Repeat("a", 40)}, {"base-commit", strings.Repeat("0", 64)},
		{"dry-run", "true"}, {"schedule", "weekly"}, {"remote", strings.Repeat("x", maxInputBytes)},
		{"remote", `/srv/it's a "repository".git`}, {"directory", `D:\a\_actions\o\r\v1`},
	} {
		in, _ := sample.input(test.name)
		if value, got := read(t, test.name, nil, in.Variable(), test.value); got.code != 0 || value != test.value {
			t.Errorf("%s=%q: %q %+v", test.name, test.value, value, got)
		}
	}
}

func TestTypedReadersConvertOnce(t *testing.T) {
	env := validEnv("INPUT_DRY_RUN", "true", "INPUT_MAX_RECORD_KB", "33", "INPUT_EXTENSIONS", " .a ,.b\r\n\n.c d\n")
	got := runRole(sample, env, nil, func(_ context.Context, a *Action) error {
		if !a.BoolInput("dry-run") || a.BytesInput("max-record-kb") != 33*1024 || a.IntInput("max-shards") != 1024 {
			t.Error("bool, bytes or int input is wrong")
		}
		if list := strings.Join(a.ListInput("extensions"), "|"); list != ".a|.b|.c d" {
			t.Errorf("list %q", list)
		}
		return nil
	})
	if got.code != 0 {
		t.Errorf("%+v", got)
	}
}

func TestReadingAnUndeclaredInputOrTheWrongKindIsAPanicOfTheProgram(t *testing.T) {
	for name, run := range map[string]func(a *Action){
		"undeclared": func(a *Action) { a.GetInput("nope") },
		"wrong kind": func(a *Action) { a.BytesInput("max-shards") },
	} {
		got := runRole(sample, validEnv(), nil, func(_ context.Context, a *Action) error { run(a); return nil })
		if got.code != 1 || !strings.Contains(got.stderr, "internal error at input.go:") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTheRemoteIsTheRunsRepositoryWhenNoneIsGiven(t *testing.T) {
	env := validEnv("GITHUB_SERVER_URL", "https://ghe.example", "GITHUB_REPOSITORY", "octo/re.po-1")
	delete(env, "INPUT_REMOTE")
	run := func(_ context.Context, a *Action) error { a.Infof("%s", a.GetInput("remote")); return nil }
	if got := runRole(sample, env, nil, run); got.stdout != "https://ghe.example/octo/re.po-1\n" {
		t.Errorf("%+v", got)
	}
	for _, repository := range []string{"", "octo", "octo/../x", "octo/a b", "octo/a\nb"} {
		env["GITHUB_REPOSITORY"] = repository
		if got := runRole(sample, env, nil, run); got.code != 2 || !strings.Contains(got.stderr, "input remote: not given") {
			t.Errorf("%q: %+v", repository, got)
		}
	}
}

func TestTheDirectoryNeedsRunnerTempOrAPath(t *testing.T) {
	env := validEnv()
	delete(env, "RUNNER_TEMP")
	if got := runRole(sample, env, nil, nil); got.code != 2 || !strings.Contains(got.stderr, "RUNNER_TEMP is not set; give a path") {
		t.Errorf("%+v", got)
	}
}

func TestASecretNeverShowsNotEvenInTheErrorAboutIt(t *testing.T) {
	for _, token := range []string{"ghs_topsecret0123\n", "ghs_topsecret0123"} {
		summary := filepath.Join(t.TempDir(), "summary")
		got := runRole(sample, validEnv("INPUT_TOKEN", token, "GITHUB_STEP_SUMMARY", summary), nil, func(_ context.Context, a *Action) error {
			a.Infof("log %s", token)
			a.Warningf("warn %s", token)
			a.AddStepSummary("sum " + token)
			a.AddMask("of two\nlines")
			a.Infof("lines")
			return BadInput("remote", "cannot reach https://x:%s@host", token)
		})
		written, _ := os.ReadFile(summary)
		if got.code != 2 || strings.Contains(got.stdout+got.stderr+string(written), "topsecret") {
			t.Errorf("%+v %s", got, written)
		}
	}
}
