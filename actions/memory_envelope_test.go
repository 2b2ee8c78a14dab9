package actions_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
)

// ready is a rig with one approved proposal, and the file of its envelope.
func ready(t *testing.T) (m *memoryRig, proposal, envelope string) {
	t.Helper()
	m = newMemoryRig(t)
	m.begin(t, "demo")
	proposal = m.proposed(t, agentOne, "a", m.committed(t, agentOne, "a", fact(t, "db.port", "The port is 5432.")))
	return m, proposal, m.approved(t, ada, proposal)
}

// TestAnEnvelopeThatWasAlteredMovedOrAgedIsRefusedWithItsOwnError presents one
// envelope in every wrong way, through the binary; at the end it is still good.
func TestAnEnvelopeThatWasAlteredMovedOrAgedIsRefusedWithItsOwnError(t *testing.T) {
	m, proposal, envelope := ready(t)
	text, err := os.ReadFile(envelope)
	if err != nil {
		t.Fatal(err)
	}
	token, err := memoryrun.ReadEnvelope(envelope)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := memory.ParseKeyRing(mergeKeys)
	if err != nil {
		t.Fatal(err)
	}
	// signed is the same authorization, issued at another time by who has the key.
	signed := func(at time.Time, life time.Duration) []byte {
		again, err := ring.Sign(token.Envelope, mergeBinding, at, life, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return again.Text()
	}
	altered := func(old, new string) []byte {
		again := bytes.Replace(text, []byte(old), []byte(new), 1)
		if bytes.Equal(again, text) {
			t.Fatalf("no %q in the envelope", old)
		}
		return again
	}
	now := time.Now()
	for name, c := range map[string]struct {
		text []byte
		env  []string
		want string
	}{
		"an altered merger":            {altered(`"merger":"11"`, `"merger":"12"`), nil, "authorization is not signed by its key"},
		"an altered project":           {altered(`"project_id":"demo"`, `"project_id":"demi"`), []string{"INPUT_MEMORY_PROJECT=demi"}, "authorization is not signed by its key"},
		"an altered ref":               {altered(`"ref_name":"refs/shared/main"`, `"ref_name":"refs/shared/more"`), nil, "authorization is not signed by its key"},
		"an altered expiry":            {altered(`"expires_at":"2`, `"expires_at":"3`), nil, "authorization is not signed by its key"},
		"another project":              {text, []string{"INPUT_MEMORY_PROJECT=other"}, "project: the authorization is for another project"},
		"text shifted between fields":  {altered(`"repository_id":"4242","server":"github.com"`, `"repository_id":"242","server":"github.com4"`), []string{"GITHUB_SERVER_URL=https://github.com4", "GITHUB_REPOSITORY_ID=242"}, "authorization is not signed by its key"},
		"a key id of another key":      {altered(`"key_id":"2026"`, `"key_id":"2025"`), nil, "authorization is not signed by its key"},
		"a key id that there is not":   {altered(`"key_id":"2026"`, `"key_id":"2024"`), nil, "authorization names a key that is not in the ring"},
		"a ring without its key":       {text, []string{"INPUT_MERGE_KEYS=2025=" + otherKey}, "authorization names a key that is not in the ring"},
		"a ring with another key":      {text, []string{"INPUT_MERGE_KEYS=2026=" + otherKey}, "authorization is not signed by its key"},
		"another server":               {text, []string{"GITHUB_SERVER_URL=https://github.example"}, "authorization is for another server"},
		"another repository":           {text, []string{"GITHUB_REPOSITORY_ID=4243"}, "authorization is for another repository"},
		"another ledger":               {text, []string{"INPUT_LEDGER=more", "INPUT_BRANCH=ledgers/memory"}, "authorization is for another ledger"},
		"another branch":               {text, []string{"INPUT_BRANCH=memory/memory"}, "authorization is for another branch"},
		"expired":                      {signed(now.Add(-20*time.Minute), 15*time.Minute), nil, "authorization has expired"},
		"issued in the future":         {signed(now.Add(5*time.Minute), 5*time.Minute), nil, "authorization was issued in the future"},
		"issued at the end of time":    {signed(time.Date(9999, 12, 31, 23, 40, 0, 0, time.UTC), 15*time.Minute), nil, "authorization was issued in the future"},
		"issued at its beginning":      {signed(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), 15*time.Minute), nil, "authorization has expired"},
		"spaces around":                {append([]byte(" "), text...), nil, "authorization is not in its one spelling"},
		"no line feed at the end":      {bytes.TrimSpace(text), nil, "authorization is not in its one spelling"},
		"a mac in upper case":          {altered(token.MAC, strings.ToUpper(token.MAC)), nil, "authorization is not in its one spelling"},
		"a mac that is cut":            {altered(token.MAC, token.MAC[:16]), nil, "authorization is not in its one spelling"},
		"a name that is there twice":   {altered(`{"bound_to"`, `{"mac":"","bound_to"`), nil, "authorization is not in its one spelling"},
		"of another version":           {altered(memory.EnvelopeVersion, "memory-git-merge/v1"), nil, "authorization is not in its one spelling"},
		"a megabyte":                   {bytes.Repeat([]byte("x"), 1<<20), nil, "authorization is not in its one spelling"},
		"none":                         {nil, nil, "there is no authorization"},
		"a nonce that was not issued":  {signed(now, 10*time.Minute), nil, "stale-digest: the authorization is not that of the last approval"},
		"somebody else's run":          {text, []string{"GITHUB_ACTOR_ID=12"}, "author: the authorization names another merger"},
		"a run for somebody else":      {text, []string{"GITHUB_TRIGGERING_ACTOR=user-12"}, "the run was triggered by somebody else than its actor"},
		"a workflow of another branch": {text, []string{"GITHUB_WORKFLOW_REF=octo/consumer/.github/workflows/x.yml@refs/heads/topic"}, "the workflow is not that of the default branch"},
		"a run of another branch":      {text, []string{"GITHUB_REF=refs/heads/topic"}, "the workflow is not that of the default branch"},
		"a reader of one shard":        {text, []string{"INPUT_MAX_SHARDS=1"}, "chain: "},
		"no keys":                      {text, []string{"INPUT_MERGE_KEYS="}, "the merge keys are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "envelope.json")
			if c.text != nil {
				write(t, file, string(c.text))
			}
			r := m.merge(t, ada, file, c.env...)
			if r.code == 0 || !strings.Contains(r.printed, c.want) {
				t.Errorf("exit %d, want %q:\n%s", r.code, c.want, r.printed)
			}
		})
	}
	if p, _ := m.state(t).Proposal("demo", proposal); p.Status != memory.ProposalApproved {
		t.Errorf("the proposal is %s", p.Status)
	}
	m.merge(t, ada, envelope).want(t, 0, "merged", map[string]string{"status": "merged", "proposal": proposal, "ref": memory.SharedMain})

	// Used, it is good for nothing more: not at once, not when other merges came
	// after it, and not for who reads less of the ledger.
	m.merge(t, ada, envelope).want(t, 1, "nonce: the authorization was used", map[string]string{"status": "refused", "reason": "nonce"})
	undo, err := m.state(t).RevertOps("demo", token.Envelope.NewHead, token.Envelope.NewHead)
	if err != nil {
		t.Fatal(err)
	}
	m.land(t, ada, m.proposed(t, agentTwo, "undo", m.committed(t, agentTwo, "undo", undo...)))
	m.merge(t, ada, envelope).want(t, 1, "nonce: the authorization was used", nil)
	m.merge(t, ada, envelope, "INPUT_MAX_SHARDS=2").want(t, 1, "chain: ", nil)
	m.audited(t)
}

func TestOfTwoMergesWithOneEnvelopeExactlyOneWins(t *testing.T) {
	m, proposal, envelope := ready(t)
	results := make([]trial, 4)
	var all sync.WaitGroup
	for i := range results {
		folder := m.folder(t)
		env := m.job(t, folder, ada, "INPUT_ENVELOPE="+envelope, "INPUT_MERGE_KEYS="+mergeKeys)
		all.Go(func() { results[i] = start(t, folder, "memory-merge", env) })
	}
	all.Wait()
	won := 0
	for _, r := range results {
		switch {
		case r.code == 0:
			won++
		case !strings.Contains(r.printed, "nonce: the authorization was used"):
			t.Errorf("exit %d\n%s", r.code, r.printed)
		}
	}
	s := m.state(t)
	p, _ := s.Proposal("demo", proposal)
	if main, _ := s.Ref("demo", memory.SharedMain); won != 1 || p.Status != memory.ProposalMerged || len(main.Log) != 2 {
		t.Errorf("%d won, the proposal is %s, the reflog has %d entries", won, p.Status, len(main.Log))
	}
	m.audited(t)
}

func TestMergeKeysThatAreMissingShortOrNotForThisPurposeAreErrors(t *testing.T) {
	m, proposal, envelope := ready(t)
	for name, c := range map[string]struct{ keys, want string }{
		"missing":            {"", "the merge keys are missing"},
		"short":              {"a=" + mergeKey[2:], "31 bytes, 32 to 128 are allowed"},
		"in upper case":      {"a=" + strings.ToUpper(mergeKey), "not lower-case hexadecimal"},
		"without id":         {mergeKey, "not id=hex"},
		"the token":          {"a=" + mergeKey, "equals the token"},
		"one twice":          {"a=" + mergeKey + ",b=" + mergeKey, "repeats the id or the bytes of another"},
		"an id twice":        {"a=" + mergeKey + ",a=" + otherKey, "repeats the id or the bytes of another"},
		"of more lines":      {"a=" + mergeKey + "\n", "merge-keys"},
		"with a stray space": {"a=" + mergeKey + ", b=" + otherKey, "not id=hex"},
	} {
		t.Run(name, func(t *testing.T) {
			env := []string{"INPUT_MERGE_KEYS=" + c.keys}
			if name == "the token" {
				env = append(env, "INPUT_TOKEN="+mergeKey)
			}
			m.merge(t, ada, envelope, env...).want(t, 2, c.want, nil)
			digest := "state-digest=sha256:" + strings.Repeat("0", 64)
			m.review(t, ada, proposal, append([]string{"operation=approve", digest}, env...)...).want(t, 2, c.want, nil)
		})
	}
}
