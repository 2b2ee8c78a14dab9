package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The right answers of the reference runtime, asked for on the command line.

func vectors(t *testing.T, name string, target any) {
	t.Helper()
	data, err := os.ReadFile("../../testdata/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, target); err != nil {
		t.Fatal(err)
	}
}

type shardFile struct {
	Name, Text, Base64, Symlink string
	Dir                         bool
}

// folder lays shards out as a ledger.
func folder(t *testing.T, files []shardFile) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "ledger", "shards")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		at, content := filepath.Join(dir, f.Name), []byte(f.Text)
		var err error
		if f.Base64 != "" {
			if content, err = base64.StdEncoding.DecodeString(f.Base64); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case f.Dir:
			err = os.Mkdir(at, 0o755)
		case f.Symlink != "":
			err = os.Symlink(f.Symlink, at)
		default:
			err = os.WriteFile(at, content, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestCanonicalPrintsTheTextAndDigestOfTheReference(t *testing.T) {
	var v struct {
		Cases, Numbers, Keysets []struct {
			Input, Canonical, SHA string
			OK                    *bool
		}
	}
	vectors(t, "canonical.json", &v)
	for _, c := range slices.Concat(v.Cases, v.Numbers, v.Keysets) {
		code, out, _ := cli(c.Input, "canonical")
		if c.OK != nil && !*c.OK {
			if code != exitFailed || out != "" {
				t.Errorf("canonical < %.80q: exit %d, %.80q; want a failure", c.Input, code, out)
			}
			continue
		}
		if code != exitDone || out != c.Canonical+"\n" {
			t.Errorf("canonical < %.80q: exit %d, %.80q; want %.80q", c.Input, code, out, c.Canonical)
		}
		if code, out, _ := cli(c.Input, "canonical", "--sha"); c.SHA != "" && (code != exitDone || out != c.SHA+"\n") {
			t.Errorf("canonical --sha < %.80q: exit %d, %s; want %s", c.Input, code, out, c.SHA)
		}
	}
}

func TestVerifyAndLogAnswerAsTheReferenceReconstructs(t *testing.T) {
	var v struct {
		Scenarios []struct {
			Name    string
			Options map[string]int
			Files   []shardFile
			Expect  struct {
				Records []string
				Status  json.RawMessage
			}
		}
	}
	vectors(t, "dag.json", &v)
	compared := 0
	for _, c := range v.Scenarios {
		args := []string{}
		inKiB := true
		for name, value := range c.Options {
			switch {
			case name == "maxFiles":
				args = append(args, "--max-shards", strconv.Itoa(value))
			default:
				inKiB = false // a bound that no flag can state
			}
		}
		// Departures are named at the tests of the library.
		if !inKiB || strings.Contains(c.Name, "invalid UTF-8") || strings.Contains(c.Name, "goes to -1") {
			continue
		}
		compared++
		root := folder(t, c.Files)
		code, out, _ := cli("", slices.Concat([]string{"verify", "--json"}, args, []string{root})...)
		if want := compact(t, c.Expect.Status); out != want+"\n" {
			t.Errorf("%s: verify --json gives\n%s\nwant\n%s", c.Name, out, want)
		}
		if clean := strings.Contains(out, `"diagnostics":[]`); clean != (code == exitDone) {
			t.Errorf("%s: verify exits with %d", c.Name, code)
		}
		_, out, _ = cli("", slices.Concat([]string{"log"}, args, []string{root})...)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if out == "" {
			lines = nil
		}
		if len(lines) != len(c.Expect.Records) {
			t.Errorf("%s: log prints %d records, want %d", c.Name, len(lines), len(c.Expect.Records))
			continue
		}
		for i, line := range lines {
			if !strings.Contains(line, `"sha":"`+c.Expect.Records[i]+`"`) {
				t.Errorf("%s: record %d of the log is %s, want %s", c.Name, i, line, c.Expect.Records[i])
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d scenarios were compared", compared)
	}
}

// compact removes white space between the tokens of a vector.
func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
