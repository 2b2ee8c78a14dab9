package compaction

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// plans.json holds answers of the reference runtime.
type planVectors struct {
	DefaultConfig string `json:"default_config"`
	Planning      []planningVector
	Mutations     []struct {
		Name, Plan, Config, Verdict, Message string
		PrepareApply                         *verdict `json:"prepare_apply"`
	}
	Volume []struct{ Name, Recipe, Config, Verdict string }
	Apply  []struct {
		Name, Config, Plan, Now string
		Files                   []vectorFile
		State                   *string
		Expect                  applyExpect
		ExpectAgain             *verdict `json:"expect_again"`
	}
	Configs []struct {
		Name, Input string
		Expect      struct {
			OK     bool
			Config struct {
				Name, Branch             string
				MaxSegmentBytes          int
				Schedule                 any
				MinSegments, MaxSegments int
			}
		}
	}
	Triggers []struct{ Input, Trigger, Error string }
	Due      []struct {
		Schedule, Trigger, Now string
		LastAppliedAt          *string `json:"last_applied_at"`
		Expect                 struct {
			Due    bool
			Reason string
		}
	}
	States []struct {
		Name, Input, Recipe string
		Accepted            bool
	}
}

type planningVector struct {
	Name, Config, Trigger, Now string
	BaseCommit                 string `json:"base_commit"`
	Files                      []vectorFile
	Loaded                     struct {
		Segments []struct {
			ID, SHA256 string
			Bytes      int
			Records    []string
		}
		Invalid int
	}
	Selection struct {
		Sources  []string
		Reason   string
		Explicit []string
	}
	Plan          *string
	SelfValidates any `json:"self_validates"`
}

type verdict struct{ Status, Reason string }

type applyExpect struct {
	Status, Reason string
	Additions      []struct{ Path, Text string }
	Deletions      []string
	Stats          struct {
		SourceSegments, SourceRecords, ReplacementRecords, BytesBefore, BytesAfter, UnrelatedSegments int
	}
	Throws any
}

// vectorFile is an entry of ledger/shards.
type vectorFile struct {
	Name, Text, Base64, Symlink string
	Dir                         bool
}

var vectors = func() *planVectors {
	text, err := os.ReadFile("../../testdata/vectors/plans.json")
	if err != nil {
		panic(err)
	}
	v := &planVectors{}
	if err := json.Unmarshal(text, v); err != nil {
		panic(err)
	}
	return v
}()

// snapshot lays the files out as a branch.
func snapshot(t testing.TB, files []vectorFile, state *string) ledger.Snapshot {
	t.Helper()
	snap := ledger.Snapshot{Head: strings.Repeat("a", 40), Files: map[string][]byte{}, Irregular: map[string]string{}}
	for _, f := range files {
		path := ledger.ShardDir + "/" + f.Name
		switch {
		case f.Dir:
			snap.Files[path+"/inside"] = []byte("x")
		case f.Symlink != "":
			snap.Irregular[path] = "symbolic link"
		case f.Base64 != "":
			raw, err := base64.StdEncoding.DecodeString(f.Base64)
			if err != nil {
				t.Fatal(err)
			}
			snap.Files[path] = raw
		default:
			snap.Files[path] = []byte(f.Text)
		}
	}
	if state != nil {
		snap.Files[ledger.CompactionFile] = []byte(*state)
	}
	return snap
}

// vectorConfig reads the reference's JSON configuration as the settings that
// this package takes: texts, "" for what is null or absent.
func vectorConfig(text string) (Config, error) {
	var raw struct {
		Name, Branch_name                           string
		Max_record_kb, Max_segment_kb, Max_patch_kb json.RawMessage
		Extra                                       json.RawMessage
		Compaction                                  map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return Config{}, err
	}
	setting := func(v json.RawMessage) string {
		var s string
		if json.Unmarshal(v, &s) == nil && !strings.ContainsAny(s, "0123456789") {
			return s // a word; null and absent are ""
		}
		return string(v)
	}
	limits, err := ledger.ParseLimits(func(name string) string {
		return setting(map[string]json.RawMessage{"max-record-kb": raw.Max_record_kb, "max-segment-kb": raw.Max_segment_kb, "max-patch-kb": raw.Max_patch_kb}[name])
	})
	if err != nil {
		return Config{}, err
	}
	for key := range raw.Compaction {
		if key != "schedule" && key != "min_segments" && key != "max_segments" {
			return Config{}, fmt.Errorf("no such setting")
		}
	}
	return ParseConfig(raw.Name, raw.Branch_name, limits, func(name string) string {
		return setting(raw.Compaction[strings.ReplaceAll(name, "-", "_")])
	})
}

func mustConfig(t testing.TB, text string) Config {
	t.Helper()
	c, err := vectorConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustTime(t testing.TB, text string) time.Time {
	t.Helper()
	at, ok := parseInstant(text)
	if !ok {
		t.Fatalf("%q is no time", text)
	}
	return at
}

func TestConfigurationsAreJudgedAsByTheReference(t *testing.T) {
	for _, v := range vectors.Configs {
		want := v.Expect.OK
		switch v.Name {
		case "schedule array coerces":
			want = false // departure: a list of one word is no word
		}
		c, err := vectorConfig(v.Input)
		if (err == nil) != want {
			t.Errorf("%s: %v", v.Name, err)
			continue
		}
		e := v.Expect.Config
		if want && (c.Ledger != e.Name || c.Branch != e.Branch || c.MaxSegmentBytes != e.MaxSegmentBytes || string(c.Schedule) != e.Schedule ||
			c.MinSegments != e.MinSegments || c.MaxSegments != e.MaxSegments) {
			t.Errorf("%s: %+v, want %+v", v.Name, c, e)
		}
	}
	if len(vectors.Configs) < 20 {
		t.Fatal("too few vectors")
	}
}

func TestTriggersAreThoseOfTheReference(t *testing.T) {
	for _, v := range vectors.Triggers {
		if got, err := ParseTrigger(v.Input); string(got) != v.Trigger || (err != nil) != (v.Error != "") {
			t.Errorf("%q: %q, %v", v.Input, got, err)
		}
	}
}

func TestARunIsDueWhenTheReferenceSaysSo(t *testing.T) {
	for _, v := range vectors.Due {
		var state *State
		if v.LastAppliedAt != nil {
			state = &State{LastAppliedAt: *v.LastAppliedAt, appliedAt: mustTime(t, *v.LastAppliedAt)}
		}
		due, reason := Due(Config{Schedule: Schedule(v.Schedule)}, Trigger(v.Trigger), state, mustTime(t, v.Now))
		if due != v.Expect.Due || reason != v.Expect.Reason {
			t.Errorf("%+v: %v, %s", v, due, reason)
		}
	}
	if len(vectors.Due) < 25 {
		t.Fatal("too few vectors")
	}
}

func TestStatesAreReadAsByTheReference(t *testing.T) {
	for _, v := range vectors.States {
		text, want := v.Input, v.Accepted
		switch v.Name {
		case "over 64 KiB":
			text = vectors.States[0].Input + strings.Repeat(" ", 66000)
		case "last_plan_id array coerces":
			want = false // departure: a list of one string is no string
		}
		state := parseState([]byte(text))
		if (state != nil) != want {
			t.Errorf("%s: accepted %v", v.Name, state != nil)
		}
	}
	if len(vectors.States) < 12 {
		t.Fatal("too few vectors")
	}
}

func TestPlansAreThoseOfTheReferenceByteForByte(t *testing.T) {
	made := 0
	for _, v := range vectors.Planning {
		t.Run(v.Name, func(t *testing.T) {
			config, snap := mustConfig(t, v.Config), snapshot(t, v.Files, nil)
			inv, err := Load(snap, config)
			if err != nil {
				t.Fatal(err)
			}
			checkLoaded(t, inv, v)
			sources := v.Selection.Explicit
			if sources == nil {
				selection := inv.Select()
				if v.Name == "unsorted lines and duplicate lines inside a source are accepted as canonical segments" {
					// Departure: the reference makes a plan here that it then rejects
					// itself; a segment with a line twice is skipped and named instead.
					if selection.Sources != nil || len(inv.Skipped()) != 1 || !strings.Contains(*v.Plan, inv.Skipped()[0].ID) {
						t.Fatalf("%v, skipped %v", selection, inv.Skipped())
					}
					return
				}
				if !slices.Equal(selection.Sources, v.Selection.Sources) || selection.Reason != v.Selection.Reason {
					t.Fatalf("%+v, want %+v", selection, v.Selection)
				}
				sources = selection.Sources
			}
			if sources == nil {
				return
			}
			plan, err := inv.Plan(sources, Trigger(v.Trigger), v.BaseCommit, mustTime(t, v.Now))
			if err != nil || (plan == nil) != (v.Plan == nil) {
				t.Fatalf("%v, %v", plan, err)
			}
			if plan == nil {
				return
			}
			made++
			if string(plan.Text()) != *v.Plan+"\n" {
				t.Errorf("plan\n%s\nwant\n%s", plan.Text(), *v.Plan)
			}
			if !canonical.Valid(plan.Text()[:len(plan.Text())-1]) {
				t.Error("plan is not canonical text")
			}
			read, err := ParsePlan(plan.Text(), config)
			if err != nil || string(read.Text()) != string(plan.Text()) {
				t.Errorf("own plan is read as %v, %v", read, err)
			}
		})
	}
	if made < 12 {
		t.Fatalf("only %d plans were compared", made)
	}
}

func checkLoaded(t *testing.T, inv *Inventory, v planningVector) {
	t.Helper()
	if len(inv.segments) != len(v.Loaded.Segments) {
		t.Fatalf("%d segments, want %d", len(inv.segments), len(v.Loaded.Segments))
	}
	flawed := 0
	for i, want := range v.Loaded.Segments {
		got := &inv.segments[i]
		records := make([]string, len(got.Records))
		for j, r := range got.Records {
			records[j] = r.SHA().String()
		}
		if got.ID != want.ID || got.SHA256.String() != want.SHA256 || got.Bytes != want.Bytes || !slices.Equal(records, want.Records) {
			t.Errorf("segment %+v, want %+v", got, want)
		}
		if got.flaw != "" {
			flawed++
		}
	}
	if n := len(inv.Skipped()); n != v.Loaded.Invalid+flawed {
		t.Errorf("%d skipped, want %d", n, v.Loaded.Invalid+flawed)
	}
}

// basePlan is the plan that the mutations start from, on its own snapshot.
func basePlan(t testing.TB) (plan string, files []vectorFile) {
	t.Helper()
	for _, v := range vectors.Planning {
		if v.Name == "base plan for the mutations" {
			return *v.Plan, v.Files
		}
	}
	t.Fatal("no base plan")
	return "", nil
}

// judge is ParsePlan and, when that accepts, Prepare.
func judge(t testing.TB, plan string, config Config, snap ledger.Snapshot, now time.Time) (string, *verdict) {
	t.Helper()
	p, err := ParsePlan([]byte(plan), config)
	if err != nil {
		var rejected *RejectedError
		if !errors.As(err, &rejected) {
			t.Fatal(err)
		}
		return err.Error(), nil
	}
	r, err := Prepare(p, snap, config, now)
	if err != nil {
		t.Fatal(err)
	}
	return "accepted", &verdict{string(r.Status), r.Reason}
}

// planDepartures are the plans that the reference takes and this package does
// not: it refuses what two readers can understand in two ways.
var planDepartures = map[string]string{
	"duplicate top-level key, last wins":    "Rejected ledger compaction plan: member name that occurs twice",
	"duplicate top-level key, bad one last": "Rejected ledger compaction plan: member name that occurs twice",
}

func TestHostilePlansGetTheVerdictsOfTheReference(t *testing.T) {
	_, files := basePlan(t)
	for _, v := range vectors.Mutations {
		t.Run(v.Name, func(t *testing.T) {
			config := v.Config
			if config == "" {
				config = vectors.DefaultConfig
			}
			want, wantThen := v.Message, v.PrepareApply
			switch v.Verdict {
			case "accepted":
				want = v.Verdict
			case "malformed":
				want = "Rejected ledger compaction plan: malformed JSON"
			}
			if other, ok := planDepartures[v.Name]; ok {
				want, wantThen = other, nil
			}
			got, then := judge(t, v.Plan, mustConfig(t, config), snapshot(t, files, nil), mustTime(t, "2026-10-01T00:00:00.000Z"))
			if got != want || (then == nil) != (wantThen == nil) || then != nil && *then != *wantThen {
				t.Errorf("%s %v, want %s %v", got, then, want, wantThen)
			}
		})
	}
	if len(vectors.Mutations) < 90 {
		t.Fatal("too few vectors")
	}
}

// object is a JSON object that keeps what it is not asked to change.
type object = map[string]any

func TestPlansOfGreatVolumeGetTheVerdictsOfTheReference(t *testing.T) {
	base, _ := basePlan(t)
	shas := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf("sha256:%064x", i)
		}
		return list
	}
	for _, v := range vectors.Volume {
		config := mustConfig(t, v.Config)
		var plan object
		if err := json.Unmarshal([]byte(base), &plan); err != nil {
			t.Fatal(err)
		}
		sources := plan["sources"].([]any)
		copies := func(n int) {
			plan["sources"] = []any{}
			for i := range n {
				source := object{}
				for k, m := range sources[0].(object) {
					source[k] = m
				}
				source["segment"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
				plan["sources"] = append(plan["sources"].([]any), source)
			}
		}
		switch v.Name {
		case "source with 100,001 records":
			sources[0].(object)["records"] = shas(100001)
		case "two sources with 60,000 records each (same shas): the total counts repeats":
			sources[0].(object)["records"], sources[1].(object)["records"] = shas(60000), shas(60000)
		case "replacement with 100,001 records":
			plan["replacement"].(object)["records"] = shas(100001)
		case "256 sources, max_segments 256":
			copies(256)
		case "257 sources, max_segments 256":
			copies(257)
		default:
			t.Fatalf("unknown recipe %s", v.Name)
		}
		text, err := json.Marshal(plan)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(v.Recipe, "copies") || strings.Contains(v.Recipe, "as above") {
			text = sign(t, text, config)
		}
		got := "accepted"
		if _, err := ParsePlan(text, config); err != nil {
			got = err.Error()
		}
		if got != v.Verdict {
			t.Errorf("%s: %s, want %s", v.Name, got, v.Verdict)
		}
	}
	if len(vectors.Volume) < 5 {
		t.Fatal("too few vectors")
	}
}

// sign gives a plan the id of its contents, where they can be read that far.
func sign(t testing.TB, text []byte, config Config) []byte {
	t.Helper()
	p := &Plan{}
	if reason := p.parse(text, config); reason != "plan_id does not match plan contents" {
		return text
	}
	return p.Text()
}

// forge reads a plan without judging it.
func forge(t testing.TB, text string) *Plan {
	t.Helper()
	type identity struct {
		Segment string
		SHA256  ledger.Hash
		Bytes   int
		Records []ledger.Hash
	}
	var raw struct {
		Ledger, Branch, Trigger, Created_at, Base_commit string
		Sources                                          []identity
		Replacement                                      identity
		Plan_id                                          ledger.Hash
	}
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		t.Fatal(err)
	}
	p := &Plan{ledger: raw.Ledger, branch: raw.Branch, trigger: Trigger(raw.Trigger), createdAt: raw.Created_at,
		baseCommit: raw.Base_commit, replacement: Identity(raw.Replacement), id: raw.Plan_id}
	for _, s := range raw.Sources {
		p.sources = append(p.sources, Identity(s))
	}
	return p
}

func TestTransitionsAreThoseOfTheReference(t *testing.T) {
	ready := 0
	for _, v := range vectors.Apply {
		t.Run(v.Name, func(t *testing.T) {
			config, snap, now := mustConfig(t, v.Config), snapshot(t, v.Files, v.State), mustTime(t, v.Now)
			plan, err := ParsePlan([]byte(v.Plan), config)
			if v.Name == "rejected: existing smaller replacement would lose records" {
				// Validation refuses this plan; the proof must do so too.
				if err == nil {
					t.Fatal("the plan is accepted")
				}
				plan, err = forge(t, v.Plan), nil
			}
			if err != nil {
				t.Fatal(err)
			}
			want := v.Expect
			switch v.Name {
			case "stale: source is a dangling symlink (counts as absent)":
				// Departure: links are never followed, so wherever they lead, they are there.
				want.Status, want.Reason = "conflict", "source segment 00000000-0000-4000-8000-000000000001 is not a valid canonical segment"
			case "throws: poison record among the sources":
				// Departure: an answer, where the reference fails with an exception.
				want.Status, want.Reason = "rejected", "source segment 00000000-0000-4000-8000-000000000002 cannot be written again"
			}
			r, err := Prepare(plan, snap, config, now)
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Status) != want.Status || r.Reason != want.Reason {
				t.Fatalf("%s: %s, want %s: %s", r.Status, r.Reason, want.Status, want.Reason)
			}
			if r.Status != Ready {
				if !r.Change.Empty() {
					t.Fatal("there is a change")
				}
				return
			}
			ready++
			if len(r.Change.Add) != len(want.Additions) || !slices.Equal(r.Change.Delete, want.Deletions) || r.Stats != Stats(want.Stats) {
				t.Errorf("adds %d, deletes %v, %+v; want %+v", len(r.Change.Add), r.Change.Delete, r.Stats, want)
			}
			for _, a := range want.Additions {
				if string(r.Change.Add[a.Path]) != a.Text {
					t.Errorf("%s:\n%s\nwant\n%s", a.Path, r.Change.Add[a.Path], a.Text)
				}
			}
			again, err := Prepare(plan, apply(snap, r.Change), config, now)
			if err != nil || string(again.Status) != v.ExpectAgain.Status || again.Reason != v.ExpectAgain.Reason || !again.Change.Empty() {
				t.Errorf("again %s: %s, %v", again.Status, again.Reason, err)
			}
		})
	}
	if ready < 10 {
		t.Fatalf("only %d transitions were compared", ready)
	}
}

// apply is what a commit of the change makes of a branch.
func apply(snap ledger.Snapshot, change ledger.Change) ledger.Snapshot {
	after := ledger.Snapshot{Head: snap.Head, Files: map[string][]byte{}, Irregular: snap.Irregular}
	for path, content := range snap.Files {
		after.Files[path] = content
	}
	for _, path := range change.Delete {
		delete(after.Files, path)
	}
	for path, content := range change.Add {
		after.Files[path] = content
	}
	return after
}
