package thread

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func testAnchor(t testing.TB) (*world, *Fold, Anchor) {
	t.Helper()
	w := newWorld(t)
	r, _ := reconcileAll(t, listingOf(), Options{})
	entries, err := r.Entries()
	if err != nil {
		t.Fatal(err)
	}
	w.publish(entries)
	f := mustFold(t, w, testThread)
	anchor, ok := f.Anchor("threads")
	if !ok {
		t.Fatal("no anchor")
	}
	return w, f, anchor
}

func format(t testing.TB, s WorkflowState, a Anchor) (string, Left) {
	t.Helper()
	body, left, err := FormatStateComment(s, a)
	if err != nil {
		t.Fatal(err)
	}
	if len(body) > MaxCommentChars {
		t.Fatalf("comment has %d characters", len(body))
	}
	return body, left
}

func TestAStateCommentReadsBackAndIsASCII(t *testing.T) {
	_, _, anchor := testAnchor(t)
	value := "é\U0001f600<!-- bot-agent-x --> ``` @alice &amp; \u202e</details>\n" + stateMarker
	s := BuildState(WorkflowState{Unknown: []byte(`{"later":{"é":[1.50]}}`)}, []HistoryEntry{{Step: "a", Agent: "b", Inputs: []StepInput{NewStepInput("n", "b", value)}}},
		[]Record{{Kind: Command, Source: SourceComment, ID: 5, URL: "https://x", UserID: 1, UserLogin: "al", UserName: "`é`", CreatedAt: earlier, Trusted: true}})
	body, left := format(t, s, anchor)
	if left != (Left{}) {
		t.Errorf("left %+v", left)
	}
	inner := strings.TrimSuffix(strings.TrimPrefix(body, stateOpen), stateClose)
	if strings.ContainsAny(inner, "<>&@`\n") || strings.ContainsFunc(body, func(r rune) bool { return r > 0x7e }) {
		t.Errorf("something in it has a meaning: %s", inner)
	}
	for name, text := range map[string]string{"as it is": body, "with CRLF": strings.ReplaceAll(body, "\n", "\r\n"), "without the last line feed": strings.TrimSuffix(body, "\n")} {
		got, a, err := ParseStateComment(text)
		if err != nil || a != anchor {
			t.Fatalf("%s: %v %+v", name, err, a)
		}
		want, _ := FormatState(s)
		if text, _ := FormatState(got); string(text) != strings.ReplaceAll(string(want), `"é"`, `"é"`) {
			t.Errorf("%s: got  %s\nwant %s", name, text, want)
		}
	}
}

func TestOnlyTheExactFormIsAStateComment(t *testing.T) {
	_, _, anchor := testAnchor(t)
	body, _ := format(t, BuildState(WorkflowState{}, nil, nil), anchor)
	for name, text := range map[string]string{
		"text before it":           "x\n" + body,
		"text after it":            body + "x",
		"quoted":                   "> " + strings.ReplaceAll(body, "\n", "\n> "),
		"in a fence":               "```\n" + body + "```\n",
		"in details":               "<details>\n" + body + "</details>\n",
		"another case":             strings.Replace(body, "ledger-thread", "LEDGER-thread", 1),
		"other spacing":            strings.Replace(body, "<!-- ", "<!--  ", 1),
		"split by a newline":       strings.Replace(body, "thread-state", "thread-\nstate", 1),
		"a second marker":          stateMarker + "\n" + body,
		"JSON in another spelling": strings.Replace(body, `"history":[]`, `"history": []`, 1),
		"an unknown member":        strings.Replace(body, `{"ledger"`, `{"x":1,"ledger"`, 1),
		"a member twice":           strings.Replace(body, `"name":"threads"`, `"name":"a","name":"threads"`, 1),
		"no JSON":                  stateOpen + stateClose,
		"another generation":       strings.Replace(body, `"schema_version":5`, `"schema_version":4`, 1),
		"nothing":                  "",
	} {
		if text == body {
			t.Fatalf("%s: nothing was changed", name)
		}
		if _, _, err := ParseStateComment(text); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestAStateCommentKeepsTheNewestAndCountsWhatItLeaves(t *testing.T) {
	_, _, anchor := testAnchor(t)
	var records []Record
	for i := range 1000 {
		records = append(records, Record{Kind: HumanFeedback, Source: SourceComment, ID: int64(i + 1), URL: "https://github.com/o/r/issues/7#issuecomment-1", UserID: 1, UserLogin: "al", CreatedAt: earlier})
	}
	big := StepInput{Name: "n", OK: true}
	big.setValue(strings.Repeat("é", MaxValueChars))
	var history []HistoryEntry
	for i := range 10 {
		history = append(history, HistoryEntry{Step: fmt.Sprint("s", i), Inputs: []StepInput{big}})
	}
	t.Run("all records where they fit", func(t *testing.T) {
		if _, left := format(t, BuildState(WorkflowState{}, nil, records[:200]), anchor); left != (Left{}) {
			t.Errorf("left %+v", left)
		}
	})
	t.Run("the newest records", func(t *testing.T) {
		body, left := format(t, BuildState(WorkflowState{}, nil, records), anchor)
		s, _, err := ParseStateComment(body)
		if err != nil {
			t.Fatal(err)
		}
		if left.Records+len(s.Thread) != 1000 || left.Records == 0 || s.Thread[len(s.Thread)-1].ID != 1000 || s.Thread[0].ID != int64(left.Records+1) {
			t.Errorf("left %+v, kept %d", left, len(s.Thread))
		}
		if !strings.Contains(body, fmt.Sprintf(`"left":{"history":0,"inputs":0,"records":%d}`, left.Records)) {
			t.Error("it does not say what it left")
		}
		if len(body) < MaxCommentChars-400 {
			t.Errorf("only %d characters are used", len(body))
		}
	})
	t.Run("the newest entries, older ones without their inputs", func(t *testing.T) {
		body, left := format(t, BuildState(WorkflowState{}, history, records), anchor)
		s, _, err := ParseStateComment(body)
		if err != nil {
			t.Fatal(err)
		}
		last := s.History[len(s.History)-1]
		if last.Step != "s9" || len(last.Inputs) != 1 || left.Inputs == 0 || left.Inputs+countInputs(s.History) != 10 || len(s.Thread) == 0 {
			t.Errorf("left %+v, kept %d entries and %d records", left, len(s.History), len(s.Thread))
		}
	})
	t.Run("entries take the room that records leave", func(t *testing.T) {
		if _, left := format(t, BuildState(WorkflowState{}, history[:5], nil), anchor); left != (Left{}) {
			t.Errorf("left %+v", left)
		}
	})
	t.Run("what is known to nobody here is never cut", func(t *testing.T) {
		s := BuildState(WorkflowState{Unknown: []byte(`{"x":"` + strings.Repeat("y", MaxCommentChars) + `"}`)}, nil, nil)
		if _, _, err := FormatStateComment(s, anchor); err == nil {
			t.Error("no error")
		}
	})
}

func TestFindStateComment(t *testing.T) {
	w, f, anchor := testAnchor(t)
	body, _ := format(t, BuildState(WorkflowState{}, nil, nil), anchor)
	foreign := anchor
	foreign.SHA = ledger.Hash{1}
	unanchored, _ := format(t, BuildState(WorkflowState{}, nil, nil), foreign)
	other := anchor
	other.Thread.Number = 8
	elsewhere, _ := format(t, BuildState(WorkflowState{}, nil, nil), other)
	at := func(c Comment, hour string) Comment { c.CreatedAt, c.UpdatedAt = hour, hour; return c }
	late := "2026-03-01T11:00:00Z"
	for name, c := range map[string]struct {
		comments []Comment
		config   func(*Config)
		want     int64
		others   int
	}{
		"the engine's comment of the form is found":                       {comments: []Comment{comment(5, engine, body)}, want: 5},
		"a stranger's copy is none, and is not edited":                    {comments: []Comment{comment(5, mallory, body)}, others: 1},
		"a stranger's older copy does not come first":                     {comments: []Comment{comment(4, mallory, body), comment(5, engine, body)}, want: 5, others: 1},
		"of two of the engine's the oldest counts":                        {comments: []Comment{at(comment(4, engine, body), late), comment(5, engine, body)}, want: 5, others: 1},
		"one that is anchored in no record of the thread is none":         {comments: []Comment{comment(5, engine, unanchored)}, others: 1},
		"one of another thread is none":                                   {comments: []Comment{comment(5, engine, elsewhere)}, others: 1},
		"the engine's comment with a text around it is none":              {comments: []Comment{comment(5, engine, body+"more")}, others: 1},
		"a quoted one is none":                                            {comments: []Comment{comment(5, engine, quoteReply(body))}},
		"a listed bot's is found where the engine is not known":           {comments: []Comment{comment(5, actionsBot, body)}, config: func(c *Config) { c.Engine = nil }, want: 5},
		"a listed bot's is none where the engine is somebody else":        {comments: []Comment{comment(5, actionsBot, body)}, others: 1},
		"nobody's is found where the engine is not known":                 {comments: []Comment{comment(5, mallory, body)}, config: func(c *Config) { c.Engine = nil }, others: 1},
		"without any none is found":                                       {comments: []Comment{comment(5, engine, "x")}},
		"a shared bot's is found though its id is not among the recorded": {comments: []Comment{comment(5, actionsBot, body)}, config: func(c *Config) { c.Engine, c.CommentIDs = nil, []Ref{} }, want: 5},
	} {
		t.Run(name, func(t *testing.T) {
			config := trustAlice()
			if c.config != nil {
				c.config(&config)
			}
			ref, ok, others, err := FindStateComment(f, listingOf(c.comments...), config)
			if err != nil {
				t.Fatal(err)
			}
			if ok != (c.want != 0) || ref.ID != c.want || others != c.others {
				t.Errorf("found %v and %d others, want %d and %d", ref, others, c.want, c.others)
			}
		})
	}
	t.Run("a shared bot's state comment is engine output though its id is not among the recorded", func(t *testing.T) {
		config := trustAlice()
		config.Engine, config.CommentIDs = nil, []Ref{}
		r, err := Reconcile(f, listingOf(comment(5, actionsBot, body), comment(6, actionsBot, body)), config)
		if err != nil {
			t.Fatal(err)
		}
		if r.New[0].Kind != EngineOutput || !r.New[0].StateComment || r.New[1].Kind != HumanFeedback || r.New[1].StateComment {
			t.Errorf("new %+v", r.New)
		}
	})
	t.Run("a listing that is not whole says nothing", func(t *testing.T) {
		l := listingOf(comment(5, engine, body))
		l.Complete = false
		if _, _, _, err := FindStateComment(f, l, trustAlice()); err == nil {
			t.Error("no error")
		}
	})
	t.Run("once recorded only that id counts, and it is not rendered", func(t *testing.T) {
		l := listingOf(comment(5, engine, body))
		r, err := Reconcile(f, l, trustAlice())
		if err != nil {
			t.Fatal(err)
		}
		if len(r.New) != 1 || !r.New[0].StateComment || r.New[0].Kind != EngineOutput {
			t.Fatalf("new %+v", r.New)
		}
		entries, _ := r.Entries()
		w.publish(entries)
		f := mustFold(t, w, testThread)
		older := at(comment(4, engine, body), "2026-03-01T09:00:00Z")
		l = listingOf(older, comment(5, engine, body))
		ref, _, others, err := FindStateComment(f, l, trustAlice())
		if err != nil || ref.ID != 5 || others != 1 {
			t.Errorf("found %v, %d others, %v", ref, others, err)
		}
		l.Comments[0], l.Comments[1] = l.Comments[1], l.Comments[0]
		if ref, _, _, _ := FindStateComment(f, l, trustAlice()); ref.ID != 5 {
			t.Errorf("in another order found %v", ref)
		}
		r, out := mustRender(t, f, l)
		if len(out.Full)+len(out.Unverified) != 0 || len(r.New) != 1 || r.New[0].StateComment {
			t.Errorf("rendered %s", out.Text)
		}
		entries, _ = r.Entries()
		w.publish(entries)
		// The recorded one is gone: the other was seen and is not taken for it.
		f = mustFold(t, w, testThread)
		if ref, ok, _, _ := FindStateComment(f, listingOf(older), trustAlice()); ok {
			t.Errorf("found %v", ref)
		}
		// Nor is the recorded one, when somebody made it another text.
		edited := comment(5, engine, body+"x")
		if ref, ok, _, _ := FindStateComment(f, listingOf(edited), trustAlice()); ok {
			t.Errorf("found %v", ref)
		}
		// A new one is found and recorded in its place.
		fresh := comment(9, engine, body)
		if ref, _, _, _ := FindStateComment(f, listingOf(older, fresh), trustAlice()); ref.ID != 9 {
			t.Errorf("found %v", ref)
		}
	})
}

func mustRender(t testing.TB, f *Fold, l *Listing) (*Reconciliation, Rendering) {
	t.Helper()
	r, err := Reconcile(f, l, trustAlice())
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Render(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r, out
}

func FuzzStateComment(f *testing.F) {
	_, fold, anchor := testAnchor(f)
	body, _ := format(f, BuildState(WorkflowState{}, []HistoryEntry{{Step: "a"}}, nil), anchor)
	seeds := []string{body, stateOpen + "{}" + stateClose, strings.ReplaceAll(body, "\n", "\r\n"), ""}
	for _, seed := range seeds {
		f.Add(seed)
	}
	if !slices.Contains(seeds, body) {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, a, err := ParseStateComment(text)
		if err != nil {
			return
		}
		if a.Thread == fold.Thread && len(text) > 2*MaxCommentChars {
			t.Error("a comment over the bound is taken")
		}
		if _, err := FormatState(s); err != nil {
			t.Errorf("read and not written: %v", err)
		}
	})
}
