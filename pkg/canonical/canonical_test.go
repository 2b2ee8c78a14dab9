package canonical

import (
	"encoding/json"
	"os"
	"testing"
)

// vectors reads one file of right answers taken from the reference runtime.
func vectors(t testing.TB, name string, target any) {
	t.Helper()
	data, err := os.ReadFile("../../testdata/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, target); err != nil {
		t.Fatal(err)
	}
}

type canonicalVectors struct {
	Cases []struct {
		Name, Input, Canonical, SHA, Stage string
		OK                                 bool
	}
	Numbers []struct{ Input, Canonical string }
	Keysets []struct{ Input, Canonical, SHA string }
}

func TestTransformGivesTheTextAndDigestOfTheReference(t *testing.T) {
	var v canonicalVectors
	vectors(t, "canonical.json", &v)
	if len(v.Cases) < 100 || len(v.Numbers) < 100 || len(v.Keysets) < 20 {
		t.Fatalf("vectors are missing: %d cases, %d numbers, %d keysets", len(v.Cases), len(v.Numbers), len(v.Keysets))
	}
	check := func(name, input, want, sha string) {
		got, err := Transform([]byte(input))
		if err != nil || string(got) != want {
			t.Errorf("%s: Transform(%.80q) = %.80q, %v; want %.80q", name, input, got, err, want)
			return
		}
		if sha != "" && Sum(got) != sha {
			t.Errorf("%s: Sum = %s, want %s", name, Sum(got), sha)
		}
		if !Valid(got) {
			t.Errorf("%s: %.80q is canonical, but Valid says no", name, got)
		}
		if input != want && Valid([]byte(input)) {
			t.Errorf("%s: %.80q is not canonical, but Valid says yes", name, input)
		}
	}
	for _, c := range v.Cases {
		if c.OK {
			check(c.Name, c.Input, c.Canonical, c.SHA)
			continue
		}
		if Valid([]byte(c.Input)) {
			t.Errorf("%s: Valid accepts it", c.Name)
		}
		_, err := Transform([]byte(c.Input))
		if err == nil {
			t.Errorf("%s: no error", c.Name)
			continue
		}
		if _, parseErr := Parse([]byte(c.Input)); (parseErr != nil) != (c.Stage == "parse") {
			t.Errorf("%s: refused at another stage than %q: %v", c.Name, c.Stage, err)
		}
	}
	for _, c := range v.Numbers {
		check("number", c.Input, c.Canonical, "")
	}
	for _, c := range v.Keysets {
		check("keyset", c.Input, c.Canonical, c.SHA)
	}
}
