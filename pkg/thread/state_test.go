package thread

import (
	"errors"
	"strings"
	"testing"
)

const oneRecord = `{"kind":"human-feedback","id":5,"url":"https://x/5","user_id":1,"user_login":"a","user_name":null,"created_at":"2026-03-01T10:00:00Z","author_association":"OWNER","trusted":true,"deleted":false}`

func TestParseState(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"generation 1 loads with empty lists":                 {`{"schema_version":1,"history":[{"step":"a","agent":"b"}]}`, `{"schema_version":5,"history":[{"step":"a","agent":"b","inputs":[]}],"thread":[]}`},
		"generation 2 loads without a history":                {`{"schema_version":2}`, `{"schema_version":5,"history":[],"thread":[]}`},
		"generation 3 keeps what it does not know":            {`{"schema_version":3,"workflow":{"n":1.50,"s":"a"}}`, `{"schema_version":5,"history":[],"thread":[],"workflow":{"n":1.50,"s":"a"}}`},
		"generation 4 keeps an unknown member of an entry":    {`{"schema_version":4,"history":[{"step":"a","agent":"b","at":7}]}`, `{"schema_version":5,"history":[{"step":"a","agent":"b","inputs":[],"at":7}],"thread":[]}`},
		"generation 5 loads":                                  {`{"schema_version":5,"history":[{"step":"a","agent":"b","inputs":[{"name":"n","binding":"b","ok":false,"detail":"d","value":null,"truncated":false,"x":[]}]}],"thread":[` + oneRecord + `]}`, "same but source"},
		"a large integer of a later version keeps its digits": {`{"schema_version":5,"x":9007199254740993}`, `{"schema_version":5,"history":[],"thread":[],"x":9007199254740993}`},
		"a newer generation is refused":                       {`{"schema_version":6,"history":[],"thread":[]}`, "error generation 6"},
		"no generation is refused":                            {`{"history":[],"thread":[]}`, "error no schema_version"},
		"generation 0 is refused":                             {`{"schema_version":0}`, "error"},
		"a generation in another spelling is refused":         {`{"Schema_Version":5}`, "error"},
		"two generations are refused":                         {`{"schema_version":5,"schema_version":4}`, "error"},
		"a generation 4 with a thread is refused":             {`{"schema_version":4,"thread":[]}`, "error inconsistent"},
		"a generation 4 with inputs is refused":               {`{"schema_version":4,"history":[{"step":"a","agent":"b","inputs":[]}]}`, "error inconsistent"},
		"null is no list":                                     {`{"schema_version":5,"history":null}`, "error"},
		"an unknown kind is refused":                          {`{"schema_version":5,"thread":[` + strings.Replace(oneRecord, "human-feedback", "oracle", 1) + `]}`, "error"},
		"an artifact that is there twice is refused":          {`{"schema_version":5,"thread":[` + oneRecord + "," + oneRecord + `]}`, "error comment 5 twice"},
		"a time that is none is refused":                      {`{"schema_version":5,"thread":[` + strings.Replace(oneRecord, "2026-03-01T10", "2026-13-01T10", 1) + `]}`, "error"},
		"two texts are refused":                               {`{"schema_version":5}{"schema_version":5}`, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := ParseState([]byte(c.text))
			if want, isError := strings.CutPrefix(c.want, "error"); isError {
				if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
					t.Fatalf("error %v, want one with %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := FormatState(s)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			if want == "same but source" {
				want = strings.Replace(c.text, `"human-feedback",`, `"human-feedback","source":"comment",`, 1)
			}
			if string(got) != want+"\n" {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			again, err := ParseState(got)
			if err != nil {
				t.Fatal(err)
			}
			if text, _ := FormatState(again); string(text) != string(got) {
				t.Errorf("a second reading gives %s", text)
			}
		})
	}
}

func TestUnknownMembersOfARecordAreKept(t *testing.T) {
	text := `{"schema_version":5,"history":[],"thread":[` + strings.Replace(oneRecord, `"kind"`, `"later":{"a":1.50,"b":9007199254740993},"kind"`, 1) + `]}`
	s, err := ParseState([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := FormatState(s); !strings.Contains(string(got), `"later":{"a":1.50,"b":9007199254740993}`) {
		t.Errorf("lost: %s", got)
	}
}

func TestBuildState(t *testing.T) {
	base := WorkflowState{SchemaVersion: 4, History: []HistoryEntry{{Step: "a"}}, Thread: []Record{{Kind: Command, Source: SourceComment, ID: 1}}, Unknown: []byte(`{"x":1}`)}
	entry := HistoryEntry{Step: "b", Inputs: []StepInput{NewStepInput("n", "", "v")}}
	t.Run("without a thread the one of the base is carried forward", func(t *testing.T) {
		s := BuildState(base, []HistoryEntry{entry}, nil)
		if len(s.Thread) != 1 || len(s.History) != 2 || s.SchemaVersion != 5 || string(s.Unknown) != `{"x":1}` {
			t.Errorf("got %+v", s)
		}
	})
	t.Run("a thread replaces the one of the base wholesale", func(t *testing.T) {
		s := BuildState(base, nil, []Record{{ID: 2}, {ID: 3}})
		if len(s.Thread) != 2 || s.Thread[0].ID != 2 {
			t.Errorf("got %+v", s.Thread)
		}
	})
	t.Run("an empty thread empties it", func(t *testing.T) {
		if s := BuildState(base, nil, []Record{}); len(s.Thread) != 0 {
			t.Errorf("got %+v", s.Thread)
		}
	})
	t.Run("the arguments are not changed and share nothing", func(t *testing.T) {
		s := BuildState(base, []HistoryEntry{entry}, nil)
		s.Thread[0].ID, s.History[0].Step, s.Unknown[2] = 9, "z", 'y'
		s.History[1].Inputs[0].Name = "z"
		if base.Thread[0].ID != 1 || base.History[0].Step != "a" || string(base.Unknown) != `{"x":1}` || entry.Inputs[0].Name != "n" {
			t.Errorf("changed: %+v %+v", base, entry)
		}
	})
}

func TestAStateHoldsWhatTheLedgerSaysAndWhatTheRunTrusts(t *testing.T) {
	w := newWorld(t)
	step := Step{Step: "plan", Agent: "planner", Run: "77", Attempt: 1, Inputs: []StepInput{NewStepInput("branch", "steps.a.outputs.b", "main")}}
	steps, err := StepEntries(testThread, step)
	if err != nil {
		t.Fatal(err)
	}
	w.publish(steps)
	f := mustFold(t, w, testThread)
	r, err := Reconcile(f, listingOf(comment(5, alice, "x"), comment(6, mallory, "y")), trustAlice())
	if err != nil {
		t.Fatal(err)
	}
	next := step
	next.Run = "78"
	got, err := FormatState(r.State(f, WorkflowState{}, step, next))
	if err != nil {
		t.Fatal(err)
	}
	const input = `{"name":"branch","binding":"steps.a.outputs.b","ok":true,"detail":"","value":"main","truncated":false}`
	const member = `"created_at":"2026-03-01T10:00:00Z","author_association"`
	want := `{"schema_version":5,"history":[{"step":"plan","agent":"planner","inputs":[` + input + `]},{"step":"plan","agent":"planner","inputs":[` + input + `]}],"thread":[` +
		`{"kind":"issue-body","source":"issue","id":1000,"url":"https://github.com/o/r/issues/7","user_id":1,"user_login":"alice","user_name":null,` + member + `:"OWNER","trusted":false,"deleted":false},` +
		`{"kind":"human-feedback","source":"comment","id":5,"url":"https://github.com/o/r/issues/7#issuecomment-1","user_id":1,"user_login":"alice","user_name":null,` + member + `:"OWNER","trusted":true,"deleted":false},` +
		`{"kind":"human-feedback","source":"comment","id":6,"url":"https://github.com/o/r/issues/7#issuecomment-1","user_id":66,"user_login":"mallory","user_name":null,` + member + `:"NONE","trusted":false,"deleted":false}]}` + "\n"
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if StateDigest([]byte("{}\n")) != "sha256:ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356" {
		t.Errorf("digest of {} is %s", StateDigest([]byte("{}\n")))
	}
}

func TestOpenState(t *testing.T) {
	file, err := FormatState(BuildState(WorkflowState{}, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenState(file, StateDigest(file)); err != nil {
		t.Fatalf("control: %v", err)
	}
	other := []byte(strings.Replace(string(file), "[]", "[ ]", 1))
	for name, c := range map[string]struct {
		file   []byte
		digest string
	}{
		"without a digest":            {file, ""},
		"with another one's digest":   {file, StateDigest(other)},
		"changed on the way":          {other, StateDigest(file)},
		"that is none":                {[]byte("{}"), StateDigest([]byte("{}"))},
		"absent, with its own digest": {nil, StateDigest(nil)},
	} {
		if _, err := OpenState(c.file, c.digest); !errors.Is(err, ErrState) {
			t.Errorf("a state %s: %v", name, err)
		}
	}
}
