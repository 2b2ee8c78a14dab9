package thread

import (
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func artifactOf(t testing.TB, thread Thread, id int64, kind Kind) Entry {
	t.Helper()
	e, err := ArtifactEntry(thread, Record{Kind: kind, Source: SourceComment, ID: id, URL: "https://x", CreatedAt: earlier})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func deletedOf(t testing.TB, thread Thread, id int64) Entry {
	t.Helper()
	e, err := DeletedEntry(thread, Ref{id, SourceComment})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestFold(t *testing.T) {
	other := Thread{Number: 7, RepositoryID: 10}
	w := newWorld(t)
	w.publish([]Entry{
		artifactOf(t, testThread, 1, Command),
		artifactOf(t, other, 2, Command),
		artifactOf(t, testThread, 3, AgentOutput),
		deletedOf(t, other, 1),
		deletedOf(t, testThread, 3),
	})
	// Another run that knew nothing of these.
	w.publish([]Entry{artifactOf(t, testThread, 1, HumanFeedback), deletedOf(t, testThread, 3), artifactOf(t, testThread, 3, HumanFeedback)})
	later := artifactOf(t, testThread, 9, Command)
	later.Payload = []byte(strings.Replace(string(later.Payload), `"v":1`, `"v":2`, 1))
	staged := mustStage(t, w.ledger(), []Entry{later, {TypeArtifact, []byte(`{"body":"x","thread":{"number":7,"repository_id":9},"v":1}`)}, {"thread.other", later.Payload}})
	w.add(staged.Records)
	f := mustFold(t, w, testThread)
	if len(f.Records) != 2 || f.Records[0].ID != 1 || f.Records[1].ID != 3 {
		t.Fatalf("records %+v", f.Records)
	}
	if f.Records[0].Kind != Command || f.Records[0].Deleted {
		t.Errorf("the first record of an artifact does not count: %+v", f.Records[0])
	}
	if f.Records[1].Kind != AgentOutput || !f.Records[1].Deleted {
		t.Errorf("a deletion does not count for good: %+v", f.Records[1])
	}
	if f.IgnoredCount != 6 {
		t.Errorf("ignored %d: %+v", f.IgnoredCount, f.Ignored)
	}
	if f := mustFold(t, w, other); len(f.Records) != 1 || f.Records[0].ID != 2 {
		t.Errorf("the other thread is %+v", f.Records)
	}
	if f := mustFold(t, w, Thread{Number: 8, RepositoryID: 9}); len(f.Records) != 0 {
		t.Errorf("a third thread is %+v", f.Records)
	}
}

func TestADeletionCountsWhereverItSorts(t *testing.T) {
	w := newWorld(t)
	w.publish([]Entry{deletedOf(t, testThread, 2)})
	r, out := mustRender(t, mustFold(t, w, testThread), listingOf(comment(2, alice, "x")))
	if len(out.Full) != 0 || len(r.New) != 2 || !r.Records[1].Deleted || r.Records[1].Trusted {
		t.Errorf("it does not count before its artifact is recorded: %+v", r.Records)
	}
	w.publish([]Entry{deletedOf(t, testThread, 1), artifactOf(t, testThread, 1, Command)})
	if f := mustFold(t, w, testThread); !f.Records[0].Deleted {
		t.Error("it does not count before its artifact")
	}
}

func TestStepsAreFoldedByRun(t *testing.T) {
	w := newWorld(t)
	step := Step{Step: "plan", Agent: "planner", Run: "1", Attempt: 1}
	for _, name := range []string{"a", "b", "c"} {
		step.Inputs = append(step.Inputs, NewStepInput(name, "", strings.Repeat("é", MaxValueChars+1)))
	}
	second := Step{Step: "empty", Run: "1", Attempt: 1}
	for _, s := range []Step{step, second, step} { // the third is a re-run of the job
		entries, err := StepEntries(testThread, s)
		if err != nil {
			t.Fatal(err)
		}
		w.publish(entries)
	}
	f := mustFold(t, w, testThread)
	if len(f.Steps) != 2 || len(f.Steps[0].Inputs) != 3 || f.Steps[1].Step != "empty" || len(f.Steps[1].Inputs) != 0 {
		t.Fatalf("steps %+v", f.Steps)
	}
	in := f.Steps[0].Inputs[2]
	if in.Name != "c" || *in.Value != strings.Repeat("é", MaxValueChars) || !in.Truncated || !in.OK {
		t.Errorf("input %q truncated %v ok %v", in.Name, in.Truncated, in.OK)
	}
	if !f.HasStep(step) || f.HasStep(Step{Step: "plan", Agent: "planner", Run: "2", Attempt: 1}) {
		t.Error("HasStep does not know what was recorded")
	}
}

func TestAPayloadIsCanonicalAndHasNoMoreThanItsMembers(t *testing.T) {
	e, err := ArtifactEntry(testThread, Record{Kind: HumanFeedback, Source: SourceComment, ID: 5, URL: "https://x", UserID: 1, UserLogin: "al", UserName: "A\u2028\"<é",
		CreatedAt: earlier, AuthorAssociation: "OWNER", Trusted: true, Deleted: true, StateComment: true, Unknown: []byte(`{"body":"x"}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"artifact":{"author_association":"OWNER","created_at":"2026-03-01T10:00:00Z","id":5,"kind":"human-feedback","source":"comment","state_comment":true,"url":"https://x","user_id":1,"user_login":"al","user_name":"A` + "\u2028" + `\"<é"},"thread":{"number":7,"repository_id":9},"v":1}`
	if string(e.Payload) != want {
		t.Errorf("got  %s\nwant %s", e.Payload, want)
	}
	if read, fault := readEntry(e.Type, e.Payload); fault != "" || !read.(artifactPayload).Artifact.StateComment {
		t.Errorf("not read back: %s", fault)
	}
	if !slices.ContainsFunc([]string{TypeArtifact, TypeDeleted, TypeStep}, IsType) || IsType("thread.other") || IsType("thread.artifact ") || IsType("") {
		t.Error("IsType is not the three types")
	}
}

func TestALedgerThatWasNotReadWholeIsNotFolded(t *testing.T) {
	w := newWorld(t)
	w.publish([]Entry{artifactOf(t, testThread, 1, Command)})
	w.publish([]Entry{artifactOf(t, testThread, 2, Command)})
	limits := ledger.DefaultLimits()
	limits.MaxShards = 1
	cut := ledger.OpenSnapshot(ledger.Snapshot{Files: w.files}, limits)
	if _, err := FoldLedger(cut, testThread); err == nil {
		t.Error("it was folded")
	}
	if _, err := Stage(cut, nil, now, &countingReader{}); err == nil {
		t.Error("it was continued")
	}
	if _, _, err := (&Staging{}).Next(cut, now); err == nil {
		t.Error("it was published to")
	}
	if _, err := FoldLedger(w.ledger(), Thread{}); err == nil {
		t.Error("no thread was folded")
	}
}
