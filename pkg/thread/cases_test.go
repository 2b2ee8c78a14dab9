package thread

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// now is the time of every test.
var now = time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)

// caseFile is one thread of testdata/cases, whose name is what it proves: runs over
// it one after the other, each with the ledger that the one before left.
type caseFile struct {
	Config  caseConfig  `json:"config"`
	Trigger caseTrigger `json:"trigger"`
	Options caseOptions `json:"options"`
	Runs    []caseRun   `json:"runs"`
}

type caseConfig struct {
	Engine        *User    `json:"engine"`
	BotAccounts   []string `json:"bot_accounts"`
	CommentIDs    *string  `json:"comment_ids"`
	AgentMarker   string   `json:"agent_marker"`
	CommandPrefix string   `json:"command_prefix"`
	Notices       []string `json:"notices"`
}

type caseTrigger struct {
	Author   *User   `json:"author"`
	At       string  `json:"at"`
	Artifact string  `json:"artifact"`
	Body     *string `json:"body"`
}

type caseOptions struct {
	History int    `json:"history"`
	Pinned  string `json:"pinned"`
	Budget  int    `json:"budget"`
}

type caseRun struct {
	Listing rawJSON      `json:"listing"`
	Flood   *caseFlood   `json:"flood"`
	Config  *caseConfig  `json:"config"`
	Trigger *caseTrigger `json:"trigger"`
	Want    caseWant     `json:"want"`
}

// rawJSON is a member that is decoded by what is tested.
type rawJSON []byte

func (r *rawJSON) UnmarshalJSON(text []byte) error { *r = bytes.Clone(text); return nil }

// caseFlood adds n comments like of, each with the next id.
type caseFlood struct {
	N  int     `json:"n"`
	Of Comment `json:"of"`
}

// caseWant is what is expected of a run; what is absent is not looked at.
type caseWant struct {
	Error      string            `json:"error"`
	Kinds      map[string]Kind   `json:"kinds"`
	Full       []string          `json:"full"`
	Unverified map[string]Reason `json:"unverified"`
	Shown      *int              `json:"shown"`
	Order      []string          `json:"order"`
	New        *int              `json:"new"`
	Deleted    []string          `json:"deleted"`
	Warnings   *int              `json:"warnings"`
	Contains   []string          `json:"contains"`
	Excludes   []string          `json:"excludes"`
	Windowed   *int              `json:"windowed"`
	Hidden     *int              `json:"hidden"`
	Legacy     *bool             `json:"legacy"`
}

func (c caseConfig) config(t *testing.T) Config {
	t.Helper()
	config := DefaultConfig()
	config.Engine = c.Engine
	if c.BotAccounts != nil {
		config.BotAccounts = c.BotAccounts
	}
	if c.CommentIDs != nil {
		config.CommentIDs = mustRefs(t, *c.CommentIDs)
	}
	if c.AgentMarker != "" {
		config.AgentMarker = c.AgentMarker
	}
	if c.CommandPrefix != "" {
		config.CommandPrefix = c.CommandPrefix
	}
	if c.Notices != nil {
		config.Notices = c.Notices
	}
	return config
}

func (c caseTrigger) trigger(t *testing.T) Trigger {
	t.Helper()
	trigger := Trigger{Author: c.Author, Body: c.Body}
	trigger.At, _ = ParseTrigger(c.At, now)
	if refs := mustRefs(t, c.Artifact); len(refs) == 1 {
		trigger.Artifact = refs[0]
	}
	return trigger
}

func mustRefs(t *testing.T, text string) []Ref {
	t.Helper()
	refs, err := ParseRefs(text)
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// readCases reads every thread of testdata/cases.
func readCases(t testing.TB) map[string]caseFile {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil {
		t.Fatal(err)
	}
	cases := make(map[string]caseFile, len(files))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c caseFile
		if err := canonical.Decode(text, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		cases[strings.TrimSuffix(filepath.Base(file), ".json")] = c
	}
	if len(cases) < 60 {
		t.Fatalf("only %d threads were found", len(cases))
	}
	return cases
}

func (r caseRun) listing(t testing.TB) *Listing {
	t.Helper()
	l, err := DecodeListing(r.Listing)
	if err != nil {
		t.Fatal(err)
	}
	if r.Flood != nil {
		for i := range r.Flood.N {
			c := r.Flood.Of
			c.ID += int64(i)
			l.Comments = append(l.Comments, c)
		}
	}
	return l
}

// world is a ledger that grows from run to run.
type world struct {
	t     testing.TB
	files map[string][]byte
	seed  byte
}

func newWorld(t testing.TB) *world { return &world{t: t, files: map[string][]byte{}} }

func (w *world) ledger() *ledger.Ledger {
	limits := ledger.DefaultLimits()
	limits.MaxPatchBytes = 1 << 20
	return ledger.OpenSnapshot(ledger.Snapshot{Files: w.files}, limits)
}

// random are ids that differ and are the same in every test run.
func (w *world) random() *countingReader { w.seed++; return &countingReader{seed: w.seed} }

type countingReader struct {
	seed byte
	n    uint32
}

func (r *countingReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0
	}
	r.n++
	p[0], p[1], p[2], p[3] = r.seed, byte(r.n>>16), byte(r.n>>8), byte(r.n)
	return len(p), nil
}

// publish takes entries the way that they go: staged, opened, published in chunks.
func (w *world) publish(entries []Entry) {
	w.t.Helper()
	staging, err := Stage(w.ledger(), entries, now, w.random())
	if err != nil {
		w.t.Fatal(err)
	}
	opened, err := OpenStaging(staging.Files, staging.Digest)
	if err != nil {
		w.t.Fatal(err)
	}
	for {
		records, left, err := opened.Next(w.ledger(), now)
		if err != nil {
			w.t.Fatal(err)
		}
		if len(records) == 0 {
			return
		}
		w.add(records)
		if left == 0 {
			return
		}
	}
}

// add puts records on the branch.
func (w *world) add(records []ledger.Record) {
	w.t.Helper()
	files, err := pack(records, ledger.DefaultLimits().MaxSegmentBytes)
	if err != nil {
		w.t.Fatal(err)
	}
	for path, content := range files {
		w.files[path] = content
	}
}

func (c caseFile) options(t *testing.T) Options {
	t.Helper()
	return Options{HistoryCount: c.Options.History, Pinned: mustRefs(t, c.Options.Pinned), TokenBudget: c.Options.Budget}
}

// config is that of one run.
func (c caseFile) config(t *testing.T, run caseRun) Config {
	t.Helper()
	from, trigger := c.Config, c.Trigger
	if run.Config != nil {
		from = *run.Config
	}
	if run.Trigger != nil {
		trigger = *run.Trigger
	}
	config := from.config(t)
	config.Trigger = trigger.trigger(t)
	return config
}

func names(refs []Ref) []string {
	list := []string{}
	for _, ref := range refs {
		list = append(list, ref.String())
	}
	return list
}

func TestThreads(t *testing.T) {
	for name, c := range readCases(t) {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			thread := Thread{Number: 7, RepositoryID: 9}
			for i, run := range c.Runs {
				r, err := Reconcile(mustFold(t, w, thread), run.listing(t), c.config(t, run))
				if run.Want.Error != "" {
					if err == nil || !strings.Contains(err.Error(), run.Want.Error) {
						t.Fatalf("run %d: error %v, want one with %q", i+1, err, run.Want.Error)
					}
					continue
				}
				if err != nil {
					t.Fatalf("run %d: %v", i+1, err)
				}
				out, err := r.Render(c.options(t))
				if err != nil {
					t.Fatal(err)
				}
				run.Want.check(t, i+1, r, out)
				entries, err := r.Entries()
				if err != nil {
					t.Fatal(err)
				}
				if i+1 < len(c.Runs) {
					w.publish(entries)
				}
			}
		})
	}
}

func (want caseWant) check(t *testing.T, run int, r *Reconciliation, out Rendering) {
	t.Helper()
	bad := func(what string, got, want any) {
		t.Errorf("run %d: %s: got %v, want %v\n%s", run, what, got, want, out.Text)
	}
	kinds, order := map[string]Kind{}, []string{}
	for _, record := range r.Records {
		kinds[record.Ref().String()] = record.Kind
		order = append(order, record.Ref().String())
	}
	for ref, kind := range want.Kinds {
		if kinds[ref] != kind {
			bad("kind of "+ref, kinds[ref], kind)
		}
	}
	if want.Order != nil && !slices.Equal(order, want.Order) {
		bad("order", order, want.Order)
	}
	if got := names(out.Full); want.Full != nil && !slices.Equal(got, want.Full) {
		bad("rendered in full", got, want.Full)
	}
	if want.Unverified != nil {
		if len(out.Unverified) != len(want.Unverified) {
			bad("unverified", names(out.Unverified), want.Unverified)
		}
		for _, ref := range out.Unverified {
			reason := want.Unverified[ref.String()]
			if reason == "" || r.Reason(ref) != reason || !strings.Contains(out.Text, string(reason)) {
				bad("reason of "+ref.String(), r.Reason(ref), reason)
			}
		}
	}
	if got := names(r.Deleted); want.Deleted != nil && !slices.Equal(got, want.Deleted) {
		bad("deleted", got, want.Deleted)
	}
	_, appendix, _ := strings.Cut(out.Text, appendixHeading)
	for what, count := range map[string][2]*int{
		"new": {want.New, ptr(len(r.New))}, "warnings": {want.Warnings, ptr(len(r.Warnings))}, "windowed": {want.Windowed, &out.Windowed},
		"hidden": {want.Hidden, &out.Hidden}, "lines of the appendix": {want.Shown, ptr(strings.Count(appendix, "\n- "))},
	} {
		if count[0] != nil && *count[0] != *count[1] {
			bad(what, *count[1], *count[0])
		}
	}
	if want.Legacy != nil && out.Legacy != *want.Legacy {
		bad("legacy", out.Legacy, *want.Legacy)
	}
	for _, text := range want.Contains {
		if !strings.Contains(out.Text, text) {
			bad("text", "no such text", text)
		}
	}
	for _, text := range want.Excludes {
		if strings.Contains(out.Text, text) {
			bad("text", "this text", text)
		}
	}
}

func ptr[T any](v T) *T { return &v }
