package mcptools

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

const memoryPolicy = `version: memory-policy/v1
principals:
  - workflow: .github/workflows/agent.yml
    actor: one
    scopes: [memory.read, memory.branch, memory.commit, memory.propose]
    projects: [demo]
  - workflow: .github/workflows/two.yml
    actor: two
    scopes: [memory.read, memory.branch, memory.commit]
    projects: [demo]
    topics: [owned]
  - workflow: .github/workflows/reader.yml
    actor: reader
    scopes: [memory.search]
    projects: [demo]
  - workflow: .github/workflows/blind.yml
    actor: blind
    scopes: [memory.commit]
    projects: [demo]
  - user: 12
    actor: ben
    scopes: [memory.read, memory.write]
    projects: [demo]
`

const oneYML, readerYML = ".github/workflows/agent.yml", ".github/workflows/reader.yml"

func parsePolicy(t testing.TB, text string) *memory.Policy {
	t.Helper()
	p, err := memory.ParsePolicy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var memoryStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// restoreMemory makes a folder that holds a project with its root, as setup
// restores one.
func restoreMemory(t testing.TB, dir string) {
	t.Helper()
	w, err := ledger.NewWriter(dir, ledger.DefaultLimits(), ledger.WriterOptions{
		Clock: func() time.Time { return memoryStart.Add(-time.Hour) }, Random: rand.NewChaCha8([32]byte{0, 7}), Allow: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Append("note", []byte(`{"content":"an old note"}`)); err != nil {
		t.Fatal(err)
	}
	p := parsePolicy(t, memoryPolicy)
	ben, _ := p.Principal("12")
	records, err := memory.Fold(w.Ledger).Init(memory.Clerk{Principal: ben, Workflow: "w", Run: "1/1", Now: memoryStart.Add(-time.Hour), Random: rand.NewChaCha8([32]byte{0, 8}), Limits: ledger.DefaultLimits()}, "demo")
	if err != nil {
		t.Fatal(err)
	}
	writeShard(t, dir, records)
}

// writeShard leaves records in a shard of their own.
func writeShard(t testing.TB, dir string, records []ledger.Record) {
	t.Helper()
	segment, err := ledger.BuildSegment(records, "{}", 1<<20)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, filepath.FromSlash(ledger.ShardPath(segment.ID))), segment.Content, 0o444)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// servers counts them, so that each makes ids of its own.
var servers byte

// served serves a folder to a principal.
func served(t testing.TB, dir, principal string, audit Audit) (*Server, *session) {
	t.Helper()
	return servedWithin(t, dir, principal, audit, ledger.DefaultLimits())
}

func servedWithin(t testing.TB, dir, principal string, audit Audit, limits ledger.Limits) (*Server, *session) {
	t.Helper()
	servers++
	now := memoryStart
	clock := func() time.Time { now = now.Add(time.Second); return now }
	p := parsePolicy(t, memoryPolicy)
	w, err := ledger.NewWriter(dir, limits, ledger.WriterOptions{Clock: clock, Random: rand.NewChaCha8([32]byte{servers}), Allow: memory.Allow(p, principal)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	s := New(w, Options{Audit: audit, Version: "test"})
	t.Cleanup(s.Close)
	if err := s.EnableMemory(Memory{Policy: p, Principal: principal, Project: "demo", Session: "run", Clock: clock, Random: rand.NewChaCha8([32]byte{servers, 2})}); err != nil {
		t.Fatal(err)
	}
	return s, serve(t, s).start()
}

// call calls a tool; refused is its sentence when it refuses.
func call(t testing.TB, c *session, tool, arguments string) (data map[string]any, refused string, remarks []string) {
	t.Helper()
	var answer struct {
		Error  json.RawMessage
		Result struct {
			IsError bool
			Content []struct{ Text string }
			Data    map[string]any `json:"structuredContent"`
		}
	}
	said := c.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments))
	if err := json.Unmarshal([]byte(said), &answer); err != nil || answer.Error != nil {
		t.Fatalf("%s: %v %s", tool, err, said)
	}
	if answer.Result.IsError {
		return nil, answer.Result.Content[0].Text, nil
	}
	for _, more := range answer.Result.Content[1:] {
		remarks = append(remarks, more.Text)
	}
	return answer.Result.Data, "", remarks
}

func must(t testing.TB, c *session, tool, arguments string) map[string]any {
	t.Helper()
	data, refused, _ := call(t, c, tool, arguments)
	if refused != "" {
		t.Fatalf("%s: %s", tool, refused)
	}
	return data
}

func refuses(t testing.TB, c *session, tool, arguments, words string) {
	t.Helper()
	if data, refused, _ := call(t, c, tool, arguments); refused == "" || !strings.Contains(refused, words) {
		t.Errorf("%s %s answers %v %q, want %q", tool, arguments, data, refused, words)
	}
}

func (m *memoryTools) headOf(t testing.TB, ref string) memory.Name {
	t.Helper()
	r, ok := m.state.Ref("demo", ref)
	if !ok {
		t.Fatalf("there is no %s", ref)
	}
	return r.Head
}

// addFact is a call of memory_changeset_create.
func addFact(ref, head, key, content string) string {
	where := `"create_ref":true`
	if head != "" {
		where = fmt.Sprintf(`"expected_head":%q`, head)
	}
	return fmt.Sprintf(`{"ref_name":%q,%s,"message":"m","operations":[{"op_type":"add_memory","payload":{"kind":"fact","fact_key":%q,"content":%q}}],"idempotency_key":%q}`,
		ref, where, key, content, key)
}

func TestEachToolAsksForItsScope(t *testing.T) {
	dir := t.TempDir()
	restoreMemory(t, dir)
	_, reader := served(t, dir, readerYML, nil)
	for _, tool := range []string{"memory_status", "memory_log", "memory_ref_list", "memory_context_at"} {
		must(t, reader, tool, `{}`)
	}
	refuses(t, reader, "memory_branch_create", `{"ref_name":"refs/sessions/reader/a","idempotency_key":"k"}`, "scope: needs the scope memory.branch")
	refuses(t, reader, "memory_changeset_create", addFact("refs/sessions/reader/a", "", "k", "v"), "scope: needs the scope memory.commit")
	refuses(t, reader, "memory_merge_propose", `{"source":"refs/shared/main","message":"m","idempotency_key":"k"}`, "scope: needs the scope memory.propose")
	_, two := served(t, dir, ".github/workflows/two.yml", nil)
	must(t, two, "memory_changeset_create", addFact("refs/sessions/two/a", "", "k", "v"))
	refuses(t, two, "memory_merge_propose", `{"source":"refs/sessions/two/a","message":"m","idempotency_key":"p"}`, "scope: needs the scope memory.propose")
	p := parsePolicy(t, memoryPolicy)
	for principal, want := range map[string]string{".github/workflows/blind.yml": "memory.read", ".github/workflows/none.yml": "no entry"} {
		s := New(newWriter(t, t.TempDir()), Options{})
		defer s.Close()
		if err := s.EnableMemory(Memory{Policy: p, Principal: principal, Project: "demo"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", principal, err)
		}
	}
}

func TestTheWriterLetsTypesOfMemoryThroughToTheirToolsOnly(t *testing.T) {
	dir := t.TempDir()
	restoreMemory(t, dir)
	_, c := served(t, dir, oneYML, nil)
	for _, typ := range []string{memory.TypeChangeset, memory.TypeRef, memory.TypeAdmission, memory.TypeMerge, "memory.else", "thread.artifact"} {
		refuses(t, c, "ledger_append", fmt.Sprintf(`{"type":%q,"payload":{}}`, typ), "reserved-type")
	}
}

func TestARestoredRecordWithoutAnAdmissionHasNoEffect(t *testing.T) {
	dir := t.TempDir()
	restoreMemory(t, dir)
	// Another run staged it and its persistence never listed it: none ever will.
	other, _ := served(t, dir, oneYML, nil)
	commits(t, other, "", 0, 1)
	restored := map[string]bool{}
	for _, shard := range other.writer.Shards() {
		restored[shard.File] = true
	}
	p := parsePolicy(t, memoryPolicy)
	s := New(newWriter(t, dir), Options{})
	t.Cleanup(s.Close)
	if err := s.EnableMemory(Memory{Policy: p, Principal: oneYML, Project: "demo", Restored: restored}); err != nil {
		t.Fatal(err)
	}
	c := serve(t, s).start()
	if status := must(t, c, "memory_status", `{}`); status["staged_records"] != 0.0 || status["refs"] != 1.0 {
		t.Errorf("the status is %v", status)
	}
}

func TestAReadOnlyPolicyStopsWritersAndNoReader(t *testing.T) {
	dir := t.TempDir()
	restoreMemory(t, dir)
	p := parsePolicy(t, strings.Replace(memoryPolicy, "principals:", "read-only: true\nprincipals:", 1))
	s := New(newWriter(t, dir), Options{})
	t.Cleanup(s.Close)
	if err := s.EnableMemory(Memory{Policy: p, Principal: oneYML, Project: "demo", Clock: time.Now, Random: rand.NewChaCha8([32]byte{9})}); err != nil {
		t.Fatal(err)
	}
	c := serve(t, s).start()
	must(t, c, "memory_context_at", `{}`)
	for tool, in := range map[string]string{
		"memory_branch_create": `{"ref_name":"refs/sessions/one/a","idempotency_key":"k"}`, "memory_changeset_create": addFact("refs/sessions/one/a", "", "k", "v"),
		"memory_merge_propose":  `{"source":"refs/shared/main","message":"m","idempotency_key":"k"}`,
		"memory_revert_propose": `{"changeset_id":"refs/shared/main","ref_name":"refs/sessions/one/a","idempotency_key":"k"}`,
		"memory_context_at":     `{"pin":true,"idempotency_key":"k"}`,
	} {
		refuses(t, c, tool, in, "read-only")
	}
}

func TestRefsBelongToTheirOwners(t *testing.T) {
	dir := t.TempDir()
	restoreMemory(t, dir)
	_, one := served(t, dir, oneYML, nil)
	for ref, want := range map[string]string{
		"refs/sessions/two/a": "owner", "refs/agents/two/main": "owner", "refs/topics/owned": "owner", "refs/repos/r/main": "owner",
		"refs/shared/main": "protected-ref", "refs/shared/other": "protected-ref", "refs/heads/main": "shape", "sessions/one/a": "shape",
	} {
		refuses(t, one, "memory_branch_create", fmt.Sprintf(`{"ref_name":%q,"idempotency_key":%q}`, ref, ref), want)
		refuses(t, one, "memory_changeset_create", addFact(ref, "", "c-"+ref, "v"), want)
	}
	for _, ref := range []string{"refs/sessions/one/a", "refs/agents/one/main", "refs/topics/free"} {
		must(t, one, "memory_branch_create", fmt.Sprintf(`{"ref_name":%q,"idempotency_key":%q}`, ref, ref))
	}
}

func TestPagesOfMemoryAreBoundedAndGoOnWhereTheyStopped(t *testing.T) {
	dir := t.TempDir()
	restoreMemory(t, dir)
	_, c := served(t, dir, oneYML, nil)
	head, heads := "", []string{}
	for i := range 25 {
		made := must(t, c, "memory_changeset_create", addFact("refs/sessions/one/a", head, fmt.Sprint("k", i), strings.Repeat("x", 900)))
		head = made["changeset_id"].(string)
		heads = append(heads, head)
	}
	walk := func(tool, arguments, list string) (rows []any, pages int) {
		after := ""
		for {
			in := strings.TrimSuffix(arguments, "}") + after + "}"
			page := must(t, c, tool, in)
			text, _ := json.Marshal(page)
			if len(text) > 40_000 {
				t.Errorf("a page of %s has %d bytes", tool, len(text))
			}
			if list != "" {
				rows = append(rows, page[list].([]any)...)
			}
			pages++
			if page["hasMore"] != true {
				return rows, pages
			}
			after = fmt.Sprintf(`,"after":%q`, page["nextCursor"])
			// What is written meanwhile changes nothing of the pages that follow.
			if tool == "memory_log" {
				must(t, c, "memory_changeset_create", addFact("refs/sessions/one/b"+fmt.Sprint(pages), "", fmt.Sprint("m", pages), "v"))
			}
		}
	}
	rows, pages := walk("memory_log", `{"at":"refs/sessions/one/a","limit":10}`, "changesets")
	if len(rows) != 26 || pages != 3 || rows[0].(map[string]any)["changeset_id"] != heads[24] {
		t.Errorf("%d changesets on %d pages", len(rows), pages)
	}
	rows, pages = walk("memory_diff", `{"target":"refs/sessions/one/a"}`, "memories_added")
	if len(rows) != 25 || pages < 2 {
		t.Errorf("%d added memories on %d pages", len(rows), pages)
	}
	rows, _ = walk("memory_ref_list", `{"limit":1}`, "refs")
	if len(rows) != 4 {
		t.Errorf("%d refs", len(rows))
	}
	for _, bad := range []string{`"x"`, `"a b c"`, `"refs/shared/main 0"`, `"refs/shared/main 01"`, `"refs/shared/main -1"`} {
		refuses(t, c, "memory_log", `{"after":`+bad+`}`, "after is no nextCursor")
	}
	refuses(t, c, "memory_log", `{"limit":0}`, "limit must be 1 to 500")
	refuses(t, c, "memory_log", `{"limit":501}`, "limit must be 1 to 500")
}

func TestARequestThatStoppedHalfwayIsCompletedByTheSameKey(t *testing.T) {
	dir := t.TempDir()
	restoreMemory(t, dir)
	s, c := served(t, dir, oneYML, nil)
	// The folder takes one more record of this size, and no second.
	s.mu.Lock()
	before := s.writer
	s.mu.Unlock()
	request := addFact("refs/sessions/one/a", "", "k", "v")
	small := ledger.DefaultLimits()
	small.MaxPatchBytes = 1500
	w, err := ledger.NewWriter(dir, small, ledger.WriterOptions{Allow: memory.Allow(parsePolicy(t, memoryPolicy), oneYML)})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s.mu.Lock()
	s.writer = w
	s.mu.Unlock()
	refuses(t, c, "memory_changeset_create", request, "1 of 2 records stand, and then: refused: patch-size")
	s.mu.Lock()
	s.writer = before
	s.mu.Unlock()
	made, refused, _ := call(t, c, "memory_changeset_create", request)
	if refused != "" || len(made["records"].([]any)) != 1 {
		t.Fatalf("the retry answers %v %q", made, refused)
	}
	if refs := must(t, c, "memory_ref_list", `{}`); !strings.Contains(fmt.Sprint(refs), "refs/sessions/one/a") {
		t.Errorf("the refs are %v", refs)
	}
	if again := must(t, c, "memory_changeset_create", request); len(again["records"].([]any)) != 0 {
		t.Errorf("a third try makes %v", again)
	}
}

// countingAudit counts events and fails when it is told to.
type countingAudit struct {
	types []string
	fail  bool
}

func (a *countingAudit) Append(r ledger.Record) error {
	a.types = append(a.types, r.Type())
	if a.fail {
		return errors.New("SECRET")
	}
	return nil
}

func TestEachRecordOfMemoryHasItsEvent(t *testing.T) {
	dir := t.TempDir()
	restoreMemory(t, dir)
	audit := &countingAudit{}
	_, c := served(t, dir, oneYML, audit)
	must(t, c, "memory_changeset_create", addFact("refs/sessions/one/a", "", "k", "v"))
	must(t, c, "memory_changeset_create", addFact("refs/sessions/one/a", "", "k", "v"))
	must(t, c, "memory_merge_propose", `{"source":"refs/sessions/one/a","message":"m","idempotency_key":"p"}`)
	must(t, c, "memory_context_at", `{"pin":true,"idempotency_key":"x"}`)
	must(t, c, "memory_context_at", `{"pin":true,"idempotency_key":"x"}`)
	refuses(t, c, "memory_context_at", `{"pin":true,"query":"q","idempotency_key":"x"}`, "used for another request")
	if got := strings.Join(audit.types, " "); got != "memory.changeset memory.ref memory.proposal memory.manifest" {
		t.Errorf("events for %s", got)
	}
	audit.fail = true
	_, refused, remarks := call(t, c, "memory_branch_create", `{"ref_name":"refs/sessions/one/b","idempotency_key":"b"}`)
	if refused != "" || len(remarks) != 1 || strings.Contains(remarks[0], "SECRET") {
		t.Errorf("an event that cannot be written: %q %q", refused, remarks)
	}
}
