package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"request-compaction": main})
}

const (
	repo  = "octo/consumer"
	token = "ghs_0123456789MayStartWorkflows"
)

const workflow = `on:
  workflow_dispatch:
    inputs:
      operation: {type: choice, options: [compact_ledger], default: compact_ledger}
      ledger: {type: string, default: ""}
jobs: {}
`

// TestScripts runs the binary against a GitHub of its own for each script.
func TestScripts(t *testing.T) {
	type key struct{}
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			s := githubtest.New(t, githubtest.Options{})
			other := githubtest.New(t, githubtest.Options{})
			s.Token(token, githubtest.Permissions{"actions": "write"})
			s.Token("ghs_readonly", githubtest.Permissions{"actions": "read"})
			s.Seed(repo, "trunk", map[string]string{".github/workflows/ledger-maintenance.yml": workflow, ".github/workflows/other.yml": "on: push\n", ".github/workflows/bare.yml": "on: workflow_dispatch\n"})
			if err := os.WriteFile(s.Repo(repo)+"/HEAD", []byte("ref: refs/heads/trunk\n"), 0o644); err != nil {
				return err
			}
			e.Values[key{}] = []*githubtest.Server{s, other}
			for _, name := range []string{"GITHUB_ACTIONS", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_STEP_SUMMARY", "LEDGER_UNTRUSTED_JOB", "GH_AW_AGENT_OUTPUT", "HTTPS_PROXY"} {
				e.Setenv(name, "")
			}
			for _, v := range append(s.Env(repo), "INPUT_TOKEN="+token, "OTHER="+other.URL, "GORACE=atexit_sleep_ms=0") {
				name, value, _ := strings.Cut(v, "=")
				e.Setenv(name, value)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// dispatched FILE writes what was started, a line each.
			"dispatched": func(ts *testscript.TestScript, _ bool, args []string) {
				var b strings.Builder
				for _, d := range ts.Value(key{}).([]*githubtest.Server)[0].Dispatches(repo) {
					inputs, err := json.Marshal(d.Inputs)
					ts.Check(err)
					fmt.Fprintf(&b, "%s %s %s\n", d.Workflow, d.Ref, inputs)
				}
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o644))
			},
			// fail PATH KIND queues a failure for the next request of a path.
			"fail": func(ts *testscript.TestScript, _ bool, args []string) {
				servers := ts.Value(key{}).([]*githubtest.Server)
				replies := map[string]githubtest.Reply{
					"drop-before": githubtest.DropBefore, "drop-after": githubtest.DropAfter, "502": githubtest.BadGateway,
					"throttle": githubtest.SecondaryLimit("0"), "page": {Status: 200, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html>Sign in</html>"}, "redirect": githubtest.RedirectTo(servers[1].URL + "/api/v3/")}
				reply, ok := replies[args[1]]
				if !ok {
					ts.Fatalf("no failure %s", args[1])
				}
				servers[0].Script(githubtest.On("", "/api/v3/repos/"+repo+args[0]), reply)
			},
			// elsewhere checks that nothing was ever sent to the other server.
			"nothing-elsewhere": func(ts *testscript.TestScript, _ bool, _ []string) {
				if got := ts.Value(key{}).([]*githubtest.Server)[1].Requests(); len(got) > 0 {
					ts.Fatalf("sent elsewhere: %+v", got)
				}
			},
			// many FILE N writes N requests, each for another ledger.
			"many": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Repeat(`{"type":"ledger_request_compaction","ledger":"nowhere"}`+"\n", 300)), 0o644))
			},
		},
	})
}

func TestWhichEntriesAskForWhat(t *testing.T) {
	one, two := config{ledgers: []string{"memory"}, max: 1}, config{ledgers: []string{"memory", "notes"}, max: 2}
	entry := func(rest string) string { return `{"type":"ledger_request_compaction"` + rest + "}" }
	for name, c := range map[string]struct {
		config config
		data   string
		want   string // ledgers, then the reasons of rejections
	}{
		"the only ledger need not be named": {one, entry(""), "memory"},
		"null is no name":                   {one, entry(`,"ledger":null,"reason":null`), "memory"},
		"nor is an empty text":              {one, entry(`,"ledger":""`), "memory"},
		"a ledger that is listed":           {two, entry(`,"ledger":"notes","reason":"many"`), "notes"},
		"members of others are ignored":     {one, entry(`,"operation":"delete","ref":"evil","inputs":{"ledger":"x"}`), "memory"},
		"which ledger is not said":          {two, entry(""), "! ledger is missing, and there is more than one"},
		"a ledger that is not listed":       {one, entry(`,"ledger":"other"`), "! ledger is none of those that may be asked for"},
		"another case":                      {one, entry(`,"ledger":"Memory"`), "! ledger is none of those that may be asked for"},
		"white space around":                {one, entry(`,"ledger":" memory"`), "! ledger is none of those that may be asked for"},
		"a list of ledgers":                 {one, entry(`,"ledger":["memory"]`), "! ledger and reason must be texts: value that does not fit its field"},
		"a reason that is none":             {one, entry(`,"reason":{"a":1}`), "! ledger and reason must be texts: value that does not fit its field"},
		"a reason of the largest size":      {one, entry(`,"reason":"` + strings.Repeat("x", maxReasonBytes) + `"`), "memory"},
		"a reason over it":                  {one, entry(`,"reason":"` + strings.Repeat("x", maxReasonBytes+1) + `"`), "! reason of 1025 bytes, over the limit of 1024"},
		"an entry over its size":            {one, entry(`,"x":"` + strings.Repeat("x", maxEntryBytes) + `"`), "! 8235 bytes, over the limit of 8192"},
		"a name twice":                      {two, entry(`,"ledger":"memory","ledger":"notes"`), "! not a strict JSON object with a type: duplicate member name"},
		"a name in another case":            {two, entry(`,"ledger":"memory","Ledger":"notes"`), "! a member name that can be taken for another one"},
		"a name with a NUL":                 {two, entry(`,"ledger":"memory","ledger\u0000":"notes"`), "! a member name that can be taken for another one"},
		"a type twice":                      {one, entry(`,"type":"x"`), "! not a strict JSON object with a type: duplicate member name"},
		"torn":                              {one, `{"type":"ledger_request_compaction","led`, "! not a strict JSON object with a type: not valid JSON"},
		"invalid UTF-8":                     {one, entry(",\"reason\":\"\xff\""), "! not a strict JSON object with a type: invalid UTF-8"},
		"an escaped type is a type":         {one, `{"type":"ledger\u005frequest_compaction"}`, "memory"},
		"garbage of others":                 {one, "{torn\n[]\n7\n{\"type\":7}", ""},
		"another type that quotes ours":     {one, `{"type":"create_issue","body":"ledger_request_compaction"}`, ""},
		"the same ledger again":             {two, entry("") + "\n" + entry(`,"ledger":"notes"`) + "\n" + entry(`,"ledger":"notes"`), "notes ! ledger is missing, and there is more than one"},
		"more than the limit":               {config{ledgers: two.ledgers, max: 1}, entry(`,"ledger":"notes"`) + "\n" + entry(`,"ledger":"memory"`), "notes ! over the limit of 1 for one run"},
		"a bad entry takes no place":        {config{ledgers: two.ledgers, max: 1}, entry(`,"ledger":"x"`) + "\n" + entry(`,"ledger":"memory"`), "memory ! ledger is none of those that may be asked for"},
		"a document of items":               {one, `{"items":[` + entry(`,"ledger":"memory"`) + `,7],"errors":[]}`, "memory"},
		"nothing":                           {one, "", ""},
	} {
		got := choose([]byte(c.data), c.config)
		var words []string
		for _, r := range got.requests {
			words = append(words, r.ledger)
		}
		for _, r := range got.rejected {
			words = append(words, "! "+r.why)
		}
		if strings.Join(words, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, strings.Join(words, " "), c.want)
		}
	}
}

func TestTheNumberOfEntriesIsBounded(t *testing.T) {
	data := strings.Repeat("{}\n", maxEntries) + `{"type":"ledger_request_compaction"}` + "\n"
	if got := choose([]byte(data), config{ledgers: []string{"memory"}, max: 1}); len(got.requests) != 0 || len(got.rejected) != 1 || got.other != maxEntries {
		t.Errorf("%d requests, %v", len(got.requests), got.rejected)
	}
	if got := choose([]byte(data[3:]), config{ledgers: []string{"memory"}, max: 1}); len(got.requests) != 1 || got.requests[0].entry != maxEntries {
		t.Errorf("%+v", got.requests)
	}
}

func FuzzChoose(f *testing.F) {
	for _, seed := range []string{
		`{"type":"ledger_request_compaction","ledger":"memory","reason":"r"}` + "\n", `{"items":[{"type":"ledger_request_compaction"}]}`,
		`{"type":"ledger_request_compaction","ledger":"notes","Ledger":"x"}`, "\xff", `{"type":"ledger\u005frequest_compaction","ledger":"a"}`,
	} {
		f.Add([]byte(seed))
	}
	c := config{ledgers: []string{"memory", "notes"}, max: 1}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := choose(data, c)
		if len(got.requests) > c.max {
			t.Fatalf("%d requests", len(got.requests))
		}
		for _, r := range got.requests {
			if !slices.Contains(c.ledgers, r.ledger) || len(r.reason) > maxReasonBytes {
				t.Fatalf("%+v", r)
			}
		}
		for _, r := range got.rejected {
			if strings.ContainsFunc(r.why, func(c rune) bool { return c < ' ' || c > '~' }) || len(r.why) > 200 {
				t.Fatalf("%+v", r)
			}
		}
	})
}
