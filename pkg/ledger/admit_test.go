package ledger

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// judged returns the verdicts at noon, without a policy.
func judged(t *testing.T, base *Ledger, candidates ...Record) []*Refusal {
	t.Helper()
	verdicts := Admission{Base: base, Now: noon}.Admit(candidates)
	if len(verdicts) != len(candidates) {
		t.Fatalf("%d verdicts on %d candidates", len(verdicts), len(candidates))
	}
	return verdicts
}

func emptyLedger() *Ledger { return OpenSnapshot(Snapshot{}, DefaultLimits()) }

// onBranch is a ledger that holds those records.
func onBranch(records ...Record) *Ledger {
	return OpenSnapshot(oneShard(lines(records...)), DefaultLimits())
}

// nested is a payload with a value at that depth.
func nested(depth int) string {
	return strings.Repeat("[", depth) + "1" + strings.Repeat("]", depth)
}

func TestAdmissionJudgesATypeByItsCharacters(t *testing.T) {
	for _, c := range []struct {
		name, typ string
		rule      Rule
	}{
		{"a plain type is admitted", "note", ""},
		{"a type of 128 units is admitted", strings.Repeat("x", 128), ""},
		{"a type of 64 characters outside the BMP is admitted", strings.Repeat("😀", 64), ""},
		{"spaces, dots and letters of any script are admitted", "Größe 計 .:/-", ""},
		{"a newline is refused", "zq7\nnote", RuleType},
		{"a NUL is refused", "zq7\x00", RuleType},
		{"an escape is refused", "zq7\x1b[31m", RuleType},
		{"DEL is refused", "zq7\x7f", RuleType},
		{"a C1 control is refused", "zq7\u0085", RuleType},
		{"an unpaired surrogate is refused", "zq7\xed\xa0\x80", RuleType},
		{"a type of memory is refused without a policy", "memory.changeset", RuleReserved},
		{"a type of thread is refused without a policy", "thread.artifact", RuleReserved},
		{"the bare prefix memory. is refused too", "memory.", RuleReserved},
		{"memory without a dot is an ordinary type", "memory", ""},
		{"the reserved prefixes are exact in case", "Memory.changeset", ""},
		{"a reserved prefix further in is an ordinary type", "my.memory.note", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := sealDraft(t, Draft{ID: testID(1), Payload: []byte("1"), Type: c.typ})
			verdict := judged(t, emptyLedger(), r)[0]
			w := newWriter(t, t.TempDir(), DefaultLimits(), 1)
			appended, err := w.Append(c.typ, []byte("1"))
			if c.rule == "" {
				if verdict != nil || err != nil || appended.Type() != c.typ {
					t.Errorf("refused: %v, %v", verdict, err)
				}
				return
			}
			mustRefuse(t, verdict, c.rule, "type", "zq7")
			mustRefuse(t, err, c.rule, "type", "zq7")
			if names := shardFiles(t, w.dir.path); len(names) != 0 {
				t.Errorf("a refusal left %v", names)
			}
		})
	}
}

func TestAppendRefusesATypeThatNoRecordCanHave(t *testing.T) {
	w := newWriter(t, t.TempDir(), DefaultLimits(), 1)
	for name, typ := range map[string]string{
		"empty": "", "129 units": strings.Repeat("q", 129), "65 characters outside the BMP": strings.Repeat("😀", 65),
		"invalid UTF-8": "zq7\xff", "a cut character": "zq7\xf0\x9f",
	} {
		_, err := w.Append(typ, []byte("1"))
		if err == nil {
			t.Errorf("%s is admitted", name)
			continue
		}
		mustRefuse(t, err, RuleType, "type", "zq7", "qqq")
	}
}

func TestAPolicyAdmitsReservedTypesAndNothingElse(t *testing.T) {
	asked := []string{}
	allow := func(typ string) bool { asked = append(asked, typ); return typ == "memory.ref" }
	candidates := []Record{
		sealDraft(t, Draft{ID: testID(1), Payload: []byte("1"), Type: "memory.ref"}),
		sealDraft(t, Draft{ID: testID(2), Payload: []byte("1"), Type: "memory.merge"}),
		sealDraft(t, Draft{ID: testID(3), Payload: []byte("1"), Type: "note"}),
		sealDraft(t, Draft{ID: testID(4), Payload: []byte("1"), Type: "memory.\n"}),
	}
	verdicts := Admission{Base: emptyLedger(), Now: noon, Allow: allow}.Admit(candidates)
	if verdicts[0] != nil || verdicts[2] != nil {
		t.Errorf("refused: %v, %v", verdicts[0], verdicts[2])
	}
	mustRefuse(t, verdicts[1], RuleReserved, "type")
	mustRefuse(t, verdicts[3], RuleType, "type")
	if !slices.Equal(asked, []string{"memory.ref", "memory.merge"}) {
		t.Errorf("the policy was asked about %q", asked)
	}
	o := options(1)
	o.Allow = allow
	w, err := NewWriter(t.TempDir(), DefaultLimits(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Append("memory.ref", []byte("1")); err != nil {
		t.Error(err)
	}
	_, err = w.Append("thread.step", []byte("1"))
	mustRefuse(t, err, RuleReserved, "type")
}

func TestARecordMayFillTheRecordBoundWithItsNewlineAndNotOneByteMore(t *testing.T) {
	limits := DefaultLimits()
	frame := len(seal(t, 1, `""`).Line()) + 1
	text := func(size int) string { return `"` + strings.Repeat("z", size-frame) + `"` }
	for size, want := range map[int]Rule{limits.MaxRecordBytes: "", limits.MaxRecordBytes + 1: RuleRecordSize} {
		r := seal(t, 1, text(size))
		if len(r.Line())+1 != size {
			t.Fatalf("made a record of %d bytes", len(r.Line())+1)
		}
		verdict := judged(t, emptyLedger(), r)[0]
		w := newWriter(t, t.TempDir(), limits, 1)
		_, err := w.Append("note", []byte(text(size)))
		if want == "" {
			if verdict != nil || err != nil {
				t.Errorf("%d bytes: %v, %v", size, verdict, err)
			}
			continue
		}
		mustRefuse(t, verdict, want, "", "zzz")
		mustRefuse(t, err, want, "", "zzz")
		if !strings.Contains(err.Error(), "32769") || !strings.Contains(err.Error(), "32768") {
			t.Errorf("%q names neither the size nor the bound", err)
		}
	}
}

func TestAnIdOrDigestThatIsTakenIsRefused(t *testing.T) {
	a, b := seal(t, 1, `"a"`), seal(t, 2, `"b"`)
	twin := seal(t, 1, `"other"`)
	bare := sealDraft(t, Draft{ID: uuid(7), Payload: []byte(`1`), Type: "note"})
	base := onBranch(a, bare)

	verdicts := judged(t, base, a, b)
	mustRefuse(t, verdicts[0], RuleKnown, "sha")
	if verdicts[1] != nil {
		t.Error(verdicts[1])
	}
	mustRefuse(t, judged(t, base, twin)[0], RuleID, "id")
	mustRefuse(t, judged(t, emptyLedger(), bare)[0], RuleID, "id")
	if !base.Has(bare.SHA()) {
		t.Error("a bare UUID is not read from a branch")
	}
}

func TestOfTwoCandidatesWithOneIdNeitherIsAdmitted(t *testing.T) {
	a, twin := seal(t, 1, `"a"`), seal(t, 1, `"other"`)
	child := seal(t, 2, `"child"`, a)
	for name, staged := range map[string][]Record{"different records": {a, twin, child}, "the very same record": {a, a, child}} {
		verdicts := judged(t, emptyLedger(), staged...)
		t.Log(name)
		mustRefuse(t, verdicts[0], RuleID, "id")
		mustRefuse(t, verdicts[1], RuleID, "id")
		mustRefuse(t, verdicts[2], RuleParent, "parents[0]")
	}
	// One of them being refused for another reason admits the other no more.
	late := sealDraft(t, Draft{ID: testID(1), Payload: []byte("1"), Type: "note", Timestamp: FormatTime(noon.Add(time.Hour))})
	verdicts := judged(t, emptyLedger(), late, a)
	mustRefuse(t, verdicts[0], RuleFuture, "timestamp")
	mustRefuse(t, verdicts[1], RuleID, "id")
}

func TestParentsStandOnTheBranchOrAreAdmittedFirst(t *testing.T) {
	branch := seal(t, 1, `"on the branch"`)
	base := onBranch(branch)
	nowhere := seal(t, 2, `"nowhere"`)
	bad := sealDraft(t, Draft{ID: testID(3), Payload: []byte("1"), Type: "memory.note"})
	onBoth := seal(t, 4, `4`, branch)
	child := seal(t, 5, `5`, onBoth)
	orphan := seal(t, 6, `6`, branch, nowhere)
	ofBad := seal(t, 7, `7`, bad)
	grandchild := seal(t, 8, `8`, ofBad)
	early := seal(t, 9, `9`, child)

	verdicts := judged(t, base, early, onBoth, child, orphan, bad, ofBad, grandchild)
	for i, want := range []Rule{RuleParent, "", "", RuleParent, RuleReserved, RuleParent, RuleParent} {
		switch {
		case want == "" && verdicts[i] != nil:
			t.Errorf("candidate %d: %v", i, verdicts[i])
		case want != "" && (verdicts[i] == nil || verdicts[i].Rule != want):
			t.Errorf("candidate %d: %v, want %s", i, verdicts[i], want)
		}
	}
	at := slices.Index(orphan.Parents(), nowhere.SHA())
	mustRefuse(t, verdicts[3], RuleParent, []string{"parents[0]", "parents[1]"}[at], nowhere.SHA().String())
}

func TestATimestampMayLieFiveMinutesAheadAndNotAMillisecondMore(t *testing.T) {
	at := func(timestamp string) *Refusal {
		return judged(t, emptyLedger(), sealDraft(t, Draft{ID: testID(1), Payload: []byte("1"), Type: "note", Timestamp: timestamp}))[0]
	}
	for name, timestamp := range map[string]string{
		"five minutes ahead": FormatTime(noon.Add(5 * time.Minute)), "long ago": "0000-01-01T00:00:00.000Z", "now": FormatTime(noon),
	} {
		if verdict := at(timestamp); verdict != nil {
			t.Errorf("%s: %v", name, verdict)
		}
	}
	for _, timestamp := range []string{
		FormatTime(noon.Add(5*time.Minute + time.Millisecond)), "9999-12-31T23:59:59.999Z", "+010000-01-01T00:00:00.000Z",
		"+275760-09-13T00:00:00.000Z", "-000001-01-01T00:00:00.000Z",
	} {
		mustRefuse(t, at(timestamp), RuleFuture, "timestamp", timestamp)
	}
}

// chain makes a line of n records with ids from first on, the first below parents.
func chain(t *testing.T, first, n int, parents ...Record) []Record {
	t.Helper()
	var records []Record
	for i := range n {
		r := seal(t, first+i, `"chain"`, parents...)
		records = append(records, r)
		parents = []Record{r}
	}
	return records
}

func TestOfMoreThanEightNewHeadsTheLongestHistoriesStayWithTheirAncestors(t *testing.T) {
	// shared -> lost trunk -> 3 heads; shared -> kept chain; 11 chains of length 1 to 11.
	base := seal(t, 1, `"on the branch"`)
	shared := seal(t, 2, `"shared"`, base)
	staged := []Record{shared}
	trunk := seal(t, 3, `"leads to refused heads only"`)
	staged = append(staged, trunk)
	lost := []Record{trunk}
	for i := range 3 {
		r := seal(t, 10+i, `"short"`, trunk)
		staged, lost = append(staged, r), append(lost, r)
	}
	var kept []Record
	for n := 1; n <= 11; n++ {
		c := chain(t, 100*n, n, shared)
		staged = append(staged, c...)
		if n >= 4 {
			kept = append(kept, c...)
		} else {
			lost = append(lost, c...)
		}
	}
	verdicts := judged(t, onBranch(base), staged...)
	refused := map[Hash]*Refusal{}
	for i, verdict := range verdicts {
		if verdict != nil {
			refused[staged[i].SHA()] = verdict
		}
	}
	for _, r := range append(kept, shared) {
		if refused[r.SHA()] != nil {
			t.Errorf("%s belongs to one of the eight longest histories: %v", r.ID(), refused[r.SHA()])
		}
	}
	for _, r := range lost {
		mustRefuse(t, refused[r.SHA()], RuleHeads, "")
	}
	if len(refused) != len(lost) {
		t.Errorf("%d refused, want %d", len(refused), len(lost))
	}
	admitted := []Record{base}
	for i, r := range staged {
		if verdicts[i] == nil {
			admitted = append(admitted, r)
		}
	}
	if heads := onBranch(admitted...).Heads(); len(heads) != MaxNewHeads {
		t.Errorf("the branch gets %d heads", len(heads))
	}
}

func TestEightNewHeadsAreAdmittedHoweverManyRefusedOnesStandBesideThem(t *testing.T) {
	var staged []Record
	for i := range 8 {
		staged = append(staged, seal(t, i, `1`))
	}
	for i := range 100 {
		staged = append(staged, sealDraft(t, Draft{ID: testID(100 + i), Payload: []byte("1"), Type: "thread.x"}))
	}
	for i, verdict := range judged(t, emptyLedger(), staged...) {
		if i < 8 != (verdict == nil) {
			t.Errorf("candidate %d: %v", i, verdict)
		}
	}
	// A ninth that joins two of them leaves eight.
	staged = append(staged[:8:8], seal(t, 9, `1`, staged[0], staged[1]), seal(t, 10, `1`))
	for i, verdict := range judged(t, emptyLedger(), staged...) {
		if verdict != nil {
			t.Errorf("candidate %d: %v", i, verdict)
		}
	}
}

func TestTenThousandCandidatesAreJudgedInLinearTime(t *testing.T) {
	var all []Record
	for i := range 10_000 {
		// Wide and deep: every tenth starts a line of its own, the others join two.
		var parents []Record
		if i%10 != 0 {
			parents = []Record{all[i-1], all[i/2]}
			if i-1 == i/2 {
				parents = parents[:1]
			}
		}
		all = append(all, seal(t, i, `1`, parents...))
	}
	work := func(n int) float64 {
		return testing.AllocsPerRun(1, func() { Admission{Base: emptyLedger(), Now: noon}.Admit(all[:n]) })
	}
	if half, whole := work(1_000), work(2_000); whole > 2.5*half {
		t.Errorf("1,000 candidates took %.0f allocations, 2,000 took %.0f", half, whole)
	}
	heads := 0
	admitted := []Record{}
	for i, verdict := range judged(t, emptyLedger(), all...) {
		if verdict == nil {
			admitted = append(admitted, all[i])
		} else if verdict.Rule == RuleHeads {
			heads++
		} else {
			t.Fatalf("candidate %d: %v", i, verdict)
		}
	}
	l := OpenSnapshot(oneShard(lines(admitted...)), Limits{MaxShards: 1, MaxSegmentBytes: maxSegmentBytes})
	if len(l.Heads()) > MaxNewHeads || heads == 0 || l.Status().IncompleteRecords != 0 {
		t.Errorf("%d heads, %d refused, status %+v", len(l.Heads()), heads, l.Status().IncompleteRecords)
	}
}
