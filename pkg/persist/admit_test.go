package persist

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func TestStagedRecordsAreRewrittenIntoShardsOfOurOwn(t *testing.T) {
	old := chain(t, 1, 3)
	s := branchOf(map[string]string{shard(1): lines(old...)})
	staged := chain(t, 10, 4, old[2].SHA())
	// Children before their parents, over two shards.
	c, r := run(t, map[string]string{
		shard(1): lines(old...), shard(2): lines(staged[3], staged[1]), shard(3): lines(staged[2], staged[0]),
	}, s, options())
	wantCounts(t, r, 4, 1, 0)
	wantIgnored(t, r, shard(1), 0, "on the branch as it is here")
	if len(c.Add) != 1 {
		t.Fatalf("%d files are added, want 1", len(c.Add))
	}
	for path, content := range c.Add {
		if path == shard(2) || path == shard(3) {
			t.Errorf("a staged shard is copied: %s", path)
		}
		segment, err := ledger.BuildSegment(staged, "{}", 100<<10)
		if err != nil || ledger.ShardPath(segment.ID) != path || !bytes.Equal(segment.Content, content) {
			t.Errorf("the shard is not the segment of its records: %v", err)
		}
	}
	if !slices.Equal(r.HeadsAfter, []ledger.Hash{staged[3].SHA()}) {
		t.Errorf("heads are %v", r.HeadsAfter)
	}
	if c.Message != "persist: add 4 records to memory\n" {
		t.Errorf("message is %q", c.Message)
	}
	if r.RecordBytes != len(lines(staged...)) {
		t.Errorf("%d bytes are counted, want %d", r.RecordBytes, len(lines(staged...)))
	}
}

func TestANewShardStartsWhenTheNextLineWouldNotFit(t *testing.T) {
	root := record(t, 1)
	s := branchOf(map[string]string{shard(100): lines(root)})
	staged := chain(t, 2, 7, root.SHA())
	files := map[string]string{}
	for i, r := range staged {
		files[shard(i)] = lines(r)
	}
	line := len(staged[0].Line()) + 1
	for _, c := range []struct{ bytes, shards int }{{line, 7}, {3*line - 1, 4}, {3 * line, 3}, {7*line - 1, 2}, {7 * line, 1}} {
		o := options()
		o.Limits.MaxSegmentBytes, o.Limits.MaxRecordBytes = c.bytes, line
		change, _, err := prepare(t, tree(t, files), o).Change(s)
		if err != nil {
			t.Fatal(err)
		}
		if len(change.Add) != c.shards {
			t.Errorf("segments of %d bytes: %d shards, want %d", c.bytes, len(change.Add), c.shards)
		}
		for path, content := range change.Add {
			if len(content) > c.bytes {
				t.Errorf("%s has %d bytes, the bound is %d", path, len(content), c.bytes)
			}
		}
	}
}

func TestWhatIsNoRecordIsRejectedByLineAndSpoilsNoOther(t *testing.T) {
	a, b := record(t, 1), record(t, 2)
	edit := func(old, text string) string { return strings.Replace(string(a.Line()), old, text, 1) }
	for _, c := range []struct{ name, line, words string }{
		{"a torn line in the middle", `{"id":"ldg-000000`, "no record"},
		{"an empty line", "", "blank"},
		{"a line of spaces", "   \t", "blank"},
		{"a comment", "# remark", "shortest"},
		{"a conflict marker", "<<<<<<< HEAD", "shortest"},
		{"a long conflict marker", "=======" + strings.Repeat("=", 400), "invalid-json"},
		{"a list", "[]", "shortest"},
		{"a null", "null", "shortest"},
		{"a long list", `["` + strings.Repeat("x", 400) + `"]`, "not an object"},
		{"a run of NUL", strings.Repeat("\x00", 300), "invalid-json"},
		{"NUL at the end", string(a.Line()) + "\x00\x00", "invalid-json"},
		{"two records glued together", string(a.Line()) + string(a.Line()), "invalid-json"},
		{"a carriage return at the end", string(a.Line()) + "\r", "carriage return"},
		{"a byte order mark", "\ufeff" + string(a.Line()), "byte order mark"},
		{"a space after the record", string(a.Line()) + " ", "not the canonical text"},
		{"a repeated name", edit(`"type":"note"`, `"type":"note","type":"x"`), "duplicate member name at .type"},
		{"a repeated name deep inside", edit(`{"n":1}`, `{"n":{"m":1,"m":1}}`), "duplicate member name at .payload.n.m"},
		{"a name of other case", edit(`"type":"note"`, `"Type":"note"`), `unknown member "Type"`},
		{"a name with a Kelvin sign", edit(`"sha"`, "\"\u212aind\""), `unknown member "\u212aind"`},
		{"a name with a long s", edit(`"sha"`, "\"\u017fha\""), `unknown member "\u017fha"`},
		{"a name with NUL", edit(`"id"`, `"id\u0000":"x","id"`), `unknown member "id\x00"`},
		{"a missing member", edit(`,"type":"note"`, ``) + strings.Repeat(" ", 20), "member type is missing"},
		{"invalid UTF-8", edit(`{"n":1}`, "\"\xff\""), "invalid UTF-8"},
		{"an overlong slash", edit(`{"n":1}`, "\"\xc0\xaf\""), "invalid UTF-8"},
		{"an unpaired surrogate out of form", edit(`{"n":1}`, `"\uD800"`), "unpaired surrogate"},
		{"a digest of another line", edit(`{"n":1}`, `{"n":2}`), "the digest is not that of the line"},
		{"another version", edit(`"version":1`, `"version":2`), "version is not 1"},
		{"members out of order", `{"version":1,` + strings.TrimSuffix(strings.TrimPrefix(string(a.Line()), "{"), `,"version":1}`) + "}", "not the canonical text"},
		{"an id of another form", edit("ldg-", "lgd-"), "not of its form"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := string(a.Line()) + "\n" + c.line + "\n" + string(b.Line()) + "\n"
			change, r := run(t, map[string]string{shard(1): text}, branchOf(nil), options())
			wantCounts(t, r, 2, 0, 1)
			wantRejected(t, r, shard(1), 2, c.words)
			if i, _ := find(r.Rejected, shard(1), 2); i.Offset != len(a.Line())+1 || i.Kind != KindLine {
				t.Errorf("offset %d, want %d; kind %s", i.Offset, len(a.Line())+1, i.Kind)
			}
			if got := shas(t, branchOf(nil), change); len(got) != 2 {
				t.Errorf("%d records are added, want 2", len(got))
			}
		})
	}
}

func TestATornLastLineIsRejectedWithItsOffset(t *testing.T) {
	a, b := record(t, 1), record(t, 2)
	for _, tail := range []string{`{"id":"ldg-00000000-`, string(b.Line()), "\x00", "\r"} {
		_, r := run(t, map[string]string{shard(1): lines(a) + tail}, branchOf(nil), options())
		wantCounts(t, r, 1, 0, 1)
		wantRejected(t, r, shard(1), 2, "incomplete")
		if i, _ := find(r.Rejected, shard(1), 2); i.Offset != len(lines(a)) {
			t.Errorf("offset %d, want %d", i.Offset, len(lines(a)))
		}
	}
}

func TestABadFirstLineDoesNotSpoilTheNext(t *testing.T) {
	a, b := record(t, 1), record(t, 2)
	_, r := run(t, map[string]string{shard(1): "\ufeff" + lines(a, b)}, branchOf(nil), options())
	wantCounts(t, r, 1, 0, 1)
	wantRejected(t, r, shard(1), 1, "byte order mark")
	_, r = run(t, map[string]string{shard(1): strings.ReplaceAll(lines(a, b), "\n", "\r\n")}, branchOf(nil), options())
	wantCounts(t, r, 0, 0, 2)
	wantRejected(t, r, shard(1), 2, "carriage return")
}

func TestAShardOnTheBranchIsNeverReplaced(t *testing.T) {
	old := chain(t, 1, 3)
	text := lines(old...)
	s := branchOf(map[string]string{shard(1): text})
	s.Irregular[shard(2)] = "symbolic link"
	second := len(old[0].Line()) + 1
	for _, c := range []struct{ name, path, text, words string }{
		{"truncated to nothing", shard(1), "", "line 1 (byte 0)"},
		{"truncated", shard(1), text[:second], fmt.Sprintf("line 2 (byte %d)", second)},
		{"edited in place", shard(1), text[:second+3] + "X" + text[second+4:], fmt.Sprintf("line 2 (byte %d)", second+3)},
		{"reordered", shard(1), lines(old[1], old[0], old[2]), "line 1"},
		{"extended", shard(1), text + lines(record(t, 9)), fmt.Sprintf("line 4 (byte %d)", len(text))},
		{"where the branch has a link", shard(2), lines(record(t, 9)), "symbolic link"},
	} {
		t.Run(c.name, func(t *testing.T) {
			change, r := run(t, map[string]string{c.path: c.text}, s, options())
			wantCounts(t, r, 0, 0, 1)
			wantRejected(t, r, c.path, 0, c.words)
			if !change.Empty() {
				t.Errorf("the change is not empty")
			}
		})
	}
}

func TestAdmissionRefusesOneRecordAndItsDescendantsOnly(t *testing.T) {
	root := record(t, 1)
	s := branchOf(map[string]string{shard(1): lines(root)})
	good := record(t, 2, root.SHA())
	draft := func(n int, change func(*ledger.Draft)) ledger.Record {
		d := ledger.Draft{ID: recordID(n), Parents: []ledger.Hash{root.SHA()}, Payload: []byte("1"),
			Timestamp: ledger.FormatTime(now), Type: "note"}
		change(&d)
		return seal(t, d)
	}
	deep := strings.Repeat("[", 31) + strings.Repeat("]", 31)
	for _, c := range []struct {
		name   string
		record ledger.Record
		rule   ledger.Rule
	}{
		{"a twin of an id on the branch", draft(1, func(*ledger.Draft) {}), ledger.RuleID},
		{"an id without prefix", draft(3, func(d *ledger.Draft) { d.ID = d.ID[4:] }), ledger.RuleID},
		{"a parent that is nowhere", record(t, 3, record(t, 99).SHA()), ledger.RuleParent},
		{"a time in the future", draft(3, func(d *ledger.Draft) { d.Timestamp = ledger.FormatTime(now.Add(301 * time.Second)) }), ledger.RuleFuture},
		{"a memory type", draft(3, func(d *ledger.Draft) { d.Type = "memory.merge" }), ledger.RuleReserved},
		{"a thread type", draft(3, func(d *ledger.Draft) { d.Type = "thread.step" }), ledger.RuleReserved},
		{"a control character in the type", draft(3, func(d *ledger.Draft) { d.Type = "a\u0085" }), ledger.RuleType},
		{"a payload nested too deep", draft(3, func(d *ledger.Draft) { d.Payload = []byte(deep) }), ledger.RulePayload},
		{"an integer that a double changes", draft(3, func(d *ledger.Draft) { d.Payload = []byte("144115188075855870") }), ledger.RulePayload},
		{"an unpaired surrogate", draft(3, func(d *ledger.Draft) { d.Payload = []byte(`"\ud800"`) }), ledger.RulePayload},
		{"a record over the bound", draft(3, func(d *ledger.Draft) { d.Payload = []byte(`"` + strings.Repeat("x", 32<<10) + `"`) }), ledger.RuleRecordSize},
	} {
		t.Run(c.name, func(t *testing.T) {
			child := record(t, 50, c.record.SHA())
			change, r := run(t, map[string]string{shard(2): lines(child, good, c.record)}, s, options())
			wantCounts(t, r, 1, 0, 2)
			if i, ok := find(r.Rejected, shard(2), 3); !ok || i.Rule != c.rule || i.SHA != c.record.SHA() {
				t.Errorf("rejected for %+v, want rule %s", i, c.rule)
			}
			if i, ok := find(r.Rejected, shard(2), 1); !ok || i.Rule != ledger.RuleParent {
				t.Errorf("the child is rejected for %+v", i)
			}
			if got := shas(t, s, change); !slices.Equal(got, []ledger.Hash{good.SHA()}) {
				t.Errorf("added are %v", got)
			}
			total := 0
			for _, n := range r.Refused {
				total += n
			}
			if total != 2 {
				t.Errorf("refused by rule: %v", r.Refused)
			}
		})
	}
}

func TestAReservedTypeIsAdmittedByThePolicyOnly(t *testing.T) {
	r := seal(t, ledger.Draft{ID: recordID(1), Payload: []byte("1"), Timestamp: ledger.FormatTime(now), Type: "thread.step"})
	o := options()
	o.Allow = func(typ string) bool { return typ == "thread.step" }
	_, report := run(t, map[string]string{shard(1): lines(r)}, branchOf(nil), o)
	wantCounts(t, report, 1, 0, 0)
}

func TestOfTwoStagedRecordsWithOneIDNoneIsAdmitted(t *testing.T) {
	a := record(t, 1)
	b := seal(t, ledger.Draft{ID: recordID(1), Payload: []byte("2"), Timestamp: ledger.FormatTime(now), Type: "note"})
	other := record(t, 2)
	_, r := run(t, map[string]string{shard(1): lines(a), shard(2): lines(b, other)}, branchOf(nil), options())
	wantCounts(t, r, 1, 0, 2)
	wantRejected(t, r, shard(1), 1, "staged more than once")
	wantRejected(t, r, shard(2), 1, "staged more than once")
	// The very same record, twice.
	_, r = run(t, map[string]string{shard(1): lines(a, other), shard(2): lines(a)}, branchOf(nil), options())
	wantCounts(t, r, 1, 0, 2)
}

func TestARecordOnTheBranchIsIgnoredWhereverItIsStaged(t *testing.T) {
	// The restored shard was compacted meanwhile: its name is gone, its records
	// stand in another.
	old := chain(t, 1, 5)
	reserved := seal(t, ledger.Draft{ID: recordID(77), Payload: []byte("1"), Timestamp: ledger.FormatTime(now), Type: "memory.ref"})
	s := branchOf(map[string]string{shard(8): lines(append(old, reserved)...)})
	next := record(t, 10, old[4].SHA())
	_, r := run(t, map[string]string{shard(1): lines(append(old, reserved)...), shard(2): lines(next)}, s, options())
	wantCounts(t, r, 1, 6, 0)
	wantIgnored(t, r, shard(1), 6, "on the branch already")
}

func TestAShardNameThatIsTakenOnTheBranchIsLeftAloneWithAWarning(t *testing.T) {
	staged := chain(t, 1, 6)
	other := record(t, 30)
	o := options()
	o.Limits.MaxSegmentBytes = len(lines(staged[:3]...))
	o.Limits.MaxRecordBytes = o.Limits.MaxSegmentBytes
	files := map[string]string{shard(1): lines(staged[:3]...), shard(2): lines(staged[3]), shard(3): lines(staged[4]), shard(4): lines(staged[5]), shard(5): lines(other)}
	// The first shard, in reconstruction order: two roots and what follows.
	first, _, err := prepare(t, tree(t, files), o).Change(branchOf(nil))
	if err != nil || len(first.Add) < 2 {
		t.Fatal(len(first.Add), err)
	}
	for taken := range first.Add {
		s := branchOf(map[string]string{taken: "something else\n"})
		change, r, err := prepare(t, tree(t, files), o).Change(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, overwritten := change.Add[taken]; overwritten {
			t.Fatalf("%s is overwritten", taken)
		}
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "other content") {
			t.Errorf("warnings are %q", r.Warnings)
		}
		if r.Accepted.Count+r.Rejected.Count != 7 || r.Rejected.Count == 0 || r.Records != r.Accepted.Count {
			t.Errorf("%d accepted and %d rejected", r.Accepted.Count, r.Rejected.Count)
		}
		after := ledger.OpenSnapshot(apply(s, change), o.Limits)
		for _, d := range after.Diagnostics() {
			if d.Code == ledger.MissingParent {
				t.Errorf("a record is added without its parent: %v", d)
			}
		}
	}
}

func TestHeadsAfterCountARecordThatTheBranchLacked(t *testing.T) {
	a := record(t, 1)
	b := record(t, 2, a.SHA())
	// The branch holds b without its parent; the staging brings it.
	_, r := run(t, map[string]string{shard(2): lines(a)}, branchOf(map[string]string{shard(1): lines(b)}), options())
	if !slices.Equal(r.HeadsAfter, []ledger.Hash{b.SHA()}) {
		t.Errorf("heads are %v", r.HeadsAfter)
	}
}

func TestAStagedShardIsBoundLikeAnyOther(t *testing.T) {
	staged := chain(t, 1, 4)
	text := lines(staged...)
	for extra, accepted := range map[int]int{0: 4, 1: 0} {
		o := options()
		o.Limits.MaxSegmentBytes, o.Limits.MaxRecordBytes = len(text)-extra, len(staged[3].Line())+1
		_, r := run(t, map[string]string{shard(1): text}, branchOf(nil), o)
		wantCounts(t, r, accepted, 0, 1-accepted/4)
		if accepted == 0 {
			wantRejected(t, r, shard(1), 0, fmt.Sprintf("shard is %d bytes, max-segment-kb allows %d", len(text), len(text)-1))
		}
	}
}

func TestTheShortestRecordIsReadAsOne(t *testing.T) {
	r := seal(t, ledger.Draft{ID: recordID(1)[4:], Payload: []byte("0"), Timestamp: ledger.FormatTime(now), Type: "a"})
	if len(r.Line()) != minRecordBytes {
		t.Errorf("the shortest record has %d bytes, minRecordBytes is %d", len(r.Line()), minRecordBytes)
	}
	if _, reason := readRecord(r.Line(), true); reason != "" {
		t.Errorf("refused for %q", reason)
	}
}

func TestARestoredShardOfAnEarlierRunIsNotTakenForThisStaging(t *testing.T) {
	root := record(t, 1)
	s := branchOf(map[string]string{shard(500): lines(root)})
	var earlier, later []ledger.Record
	for i := range 8 {
		earlier = append(earlier, record(t, 10+i, root.SHA()))
		later = append(later, record(t, 30+i, root.SHA()))
	}
	c, _ := run(t, map[string]string{shard(1): lines(earlier...)}, s, options())
	s = apply(s, c)
	files := map[string]string{shard(2): lines(append(later, earlier...)...)}
	for path, content := range c.Add {
		files[path] = string(content)
	}
	_, r := run(t, files, s, options())
	wantCounts(t, r, 8, 9, 0)
}

func TestAShardThatWasStagedInPartOnlyStays(t *testing.T) {
	pair := heads(t, 1, 2)
	s := branchOf(nil)
	c, _ := run(t, map[string]string{shard(1): lines(pair...)}, s, options())
	s = apply(s, c)
	_, r := run(t, map[string]string{shard(2): lines(pair[0], record(t, 10, pair[1].SHA()))}, s, options())
	wantCounts(t, r, 1, 1, 0)
	wantIgnored(t, r, shard(2), 1, "on the branch already")
}
