package actions_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/memory"
)

// TestAnApprovalIsForExactlyWhatWasShownByWhoMayAndInARunOfItsOwn goes through the
// refusals of approve; none of them leaves an envelope or a record.
func TestAnApprovalIsForExactlyWhatWasShownByWhoMayAndInARunOfItsOwn(t *testing.T) {
	m := newMemoryRig(t)
	m.begin(t, "demo")
	proposal := m.proposed(t, agentOne, "a", m.committed(t, agentOne, "a", fact(t, "db.port", "The port is 5432.")))
	show := m.shown(t, ada, proposal)
	digest := "state-digest=" + show.outputs["state-digest"]
	before := m.ledger(t, "log")
	for name, c := range map[string]struct {
		user   string
		inputs []string
		code   int
		want   string
	}{
		"without a digest":                 {ada, nil, 2, "state-digest: empty; approve needs the digest that show printed"},
		"with another digest":              {ada, []string{"state-digest=sha256:" + strings.Repeat("0", 64)}, 1, "stale-digest: the proposal, its reviews, its conflicts or its diff changed since it was shown"},
		"in a re-run":                      {ada, []string{digest, "GITHUB_RUN_ATTEMPT=2"}, 1, "run: a re-run does not approve"},
		"in a run that somebody re-ran":    {ada, []string{digest, "GITHUB_TRIGGERING_ACTOR=user-12"}, 1, "the run was triggered by somebody else than its actor"},
		"with another branch's workflow":   {ada, []string{digest, "GITHUB_WORKFLOW_REF=octo/consumer/.github/workflows/x.yml@refs/heads/topic"}, 1, "the workflow is not that of the default branch"},
		"with another repository's one":    {ada, []string{digest, "GITHUB_WORKFLOW_REF=evil/fork/.github/workflows/x.yml@refs/heads/main"}, 1, "the workflow is not that of the default branch"},
		"on another branch":                {ada, []string{digest, "GITHUB_REF=refs/pull/1/merge"}, 1, "the workflow is not that of the default branch"},
		"without an event":                 {ada, []string{digest, "GITHUB_EVENT_PATH="}, 1, "nothing says which branch is the default one"},
		"without an actor":                 {ada, []string{digest, "GITHUB_ACTOR_ID="}, 1, "the run names no actor"},
		"by a stranger":                    {"99", []string{digest}, 1, "policy: the memory policy has no entry for"},
		"by one who may only read":         {"13", []string{digest}, 1, "scope: needs the scope memory.review"},
		"without a policy":                 {ada, []string{digest, "memory-policy=" + os.DevNull + "/none"}, 1, "policy"},
		"without keys":                     {ada, []string{digest, "merge-keys="}, 2, "the merge keys are missing"},
		"for another project":              {ada, []string{digest, "memory-project=other"}, 1, "project"},
		"for a proposal that there is not": {ada, []string{digest, "proposal=01900000-0000-7000-8000-000000000000"}, 1, "unknown: there is no proposal"},
		"for no proposal":                  {ada, []string{digest, "proposal=$(touch x)"}, 2, "want the id of a proposal"},
		"for a merger who may not merge":   {ada, []string{digest, "merger=13"}, 1, "scope: the merger needs the scope memory.merge"},
		"for a merger by name":             {ada, []string{digest, "merger=ben"}, 2, "want a numeric user id"},
		"for too long":                     {ada, []string{digest, "lifetime-minutes=16"}, 2, "lifetime-minutes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := m.review(t, c.user, proposal, append([]string{"operation=approve"}, c.inputs...)...)
			r.want(t, c.code, c.want, map[string]string{"envelope": ""})
		})
	}
	if m.ledger(t, "log") != before {
		t.Error("a refused approval left a record")
	}

	// A comment changes what was shown; what is approved then is the new state, and
	// a request for changes after it voids the approval.
	m.review(t, ben, proposal, "operation=comment", "findings=is it?").want(t, 0, "comment: done", nil)
	m.review(t, ada, proposal, "operation=approve", digest).want(t, 1, "stale-digest: ", map[string]string{"status": "refused", "reason": "stale-digest"})
	envelope := m.approved(t, ada, proposal)
	m.review(t, ben, proposal, "operation=request-changes", "findings=first\nsecond").want(t, 0, "", map[string]string{"proposal-status": "changes_requested"})
	m.merge(t, ada, envelope).want(t, 1, "stale-digest: the proposal, its reviews or its conflicts changed since the approval", nil)
	r := m.shown(t, ada, proposal)
	for _, text := range []string{"| is it?\n", "| first\n| second\n", "| please\n", "The port is 5432.", r.outputs["state-digest"]} {
		if !strings.Contains(r.summary, text) {
			t.Errorf("the summary lacks %q:\n%s", text, r.summary)
		}
	}
	m.land(t, ada, proposal)
	m.review(t, ada, proposal, "operation=approve", "state-digest="+r.outputs["state-digest"]).want(t, 1, "state: the proposal is merged", nil)
	m.audited(t)
}

// TestNobodyReviewsOrMergesWhatTheyWrote compares numeric ids: ben proposes.
func TestNobodyReviewsOrMergesWhatTheyWrote(t *testing.T) {
	m := newMemoryRig(t)
	m.begin(t, "demo")
	proposal := m.proposed(t, ben, "own", m.committed(t, ben, "own", fact(t, "team", "Five people.")))
	digest := "state-digest=" + m.shown(t, ada, proposal).outputs["state-digest"]
	m.review(t, ben, proposal, "operation=approve", digest).want(t, 1, "reviewer: whoever wrote the proposal or a changeset in it does not approve it", nil)
	m.review(t, ada, proposal, "operation=approve", digest, "merger="+ben).want(t, 1, "reviewer: the merger wrote the proposal", nil)
	// Another login does not make another person.
	m.review(t, ben, proposal, "operation=approve", digest, "GITHUB_ACTOR=ada", "GITHUB_TRIGGERING_ACTOR=ada").want(t, 1, "reviewer: ", nil)

	// What ben wrote stays ben's when an agent proposes it.
	again := m.proposed(t, agentOne, "with", m.committed(t, agentOne, "with", fact(t, "office", "In Bern.")))
	envelope := m.approved(t, ada, again, "merger="+ben)
	m.merge(t, ada, envelope).want(t, 1, "author: the authorization names another merger", nil)
	m.merge(t, ben, envelope).want(t, 0, "merged", nil)
	m.review(t, ben, proposal, "operation=cancel").want(t, 0, "", map[string]string{"proposal-status": "canceled"})
	m.audited(t)
}

// TestAConflictThatBlocksIsSettledByAPersonWithAReason is the way out beside a
// cherry-pick.
func TestAConflictThatBlocksIsSettledByAPersonWithAReason(t *testing.T) {
	m := newMemoryRig(t)
	m.begin(t, "demo")
	first := m.committed(t, agentOne, "a", fact(t, "db.port", "The port is 5432."))
	second := m.committed(t, agentTwo, "b", fact(t, "db.port", "The port is 6543."))
	m.land(t, ada, m.proposed(t, agentOne, "a", first))
	proposal := m.proposed(t, agentTwo, "b", second)
	show := m.shown(t, ada, proposal)
	if show.outputs["blocking"] != "1" || show.outputs["strategy"] != "merge_commit" || !strings.Contains(show.summary, "incompatible_fact") {
		t.Fatalf("outputs %v\n%s", show.outputs, show.summary)
	}
	m.review(t, ada, proposal, "operation=approve", "state-digest="+show.outputs["state-digest"]).want(t, 1, "conflicts: 1 open conflicts block approval", nil)
	p, _ := m.state(t).Proposal("demo", proposal)
	for _, c := range p.Conflicts {
		if c.Severity != memory.Blocks {
			continue
		}
		m.review(t, ada, proposal, "operation=resolve", "conflicts="+c.ID).want(t, 2, "resolve needs the ids of conflicts, and findings that say why", nil)
		m.review(t, ada, proposal, "operation=defer", "conflicts="+c.ID, "findings=later").want(t, 0, "", map[string]string{"blocking": "1"})
		m.review(t, ada, proposal, "operation=resolve", "conflicts="+c.ID, "findings=both are right").want(t, 0, "resolve: done", map[string]string{"blocking": "0"})
	}
	m.land(t, ada, proposal)
	m.audited(t)
}

// TestADiffThatIsTooLongToBeShownWholeCannotBeApproved fills a proposal with more
// than a summary takes.
func TestADiffThatIsTooLongToBeShownWholeCannotBeApproved(t *testing.T) {
	m := newMemoryRig(t)
	m.begin(t, "demo")
	head := m.committed(t, agentOne, "long", fact(t, "n", "first"))
	for i := range memory.MaxDiffBytes/15_000 + 2 {
		made, err := m.submit(t, agentOne, func(s *memory.State, a memory.Agent) (memory.Request, error) {
			return s.Commit(a, memory.Commit{Project: "demo", Ref: "refs/sessions/one/long", Expected: head, Message: "more", Key: fmt.Sprint("long-", i),
				Ops: []memory.Op{fact(t, fmt.Sprint("key-", i), strings.Repeat("x ", 7500))}})
		})
		if err != nil {
			t.Fatal(err)
		}
		head = made.Name
	}
	proposal := m.proposed(t, agentOne, "long", head)
	r := m.shown(t, ada, proposal)
	if r.outputs["state-digest"] != "" || !strings.Contains(r.summary, "is not shown whole. It cannot be approved") || len(r.summary) > 10_000 {
		t.Errorf("outputs %v, %d bytes of summary", r.outputs, len(r.summary))
	}
	v, err := m.state(t).Present("demo", proposal)
	if err != nil {
		t.Fatal(err)
	}
	m.review(t, ada, proposal, "operation=approve", "state-digest="+v.StateDigest).want(t, 1, "bound: the diff has over 524288 bytes and could not be shown whole", nil)
}

// TestWhileThePolicyIsReadOnlyNothingIsWritten is the state after a restore.
func TestWhileThePolicyIsReadOnlyNothingIsWritten(t *testing.T) {
	m, proposal, envelope := ready(t)
	write(t, m.policy, "read-only: true\n"+memoryPolicy)
	before := m.ledger(t, "log")
	m.review(t, ada, proposal, "operation=show").want(t, 0, "show: unchanged", nil)
	for _, operation := range []string{"comment", "request-changes", "reject", "cancel", "expire"} {
		m.review(t, ada, proposal, "operation="+operation).want(t, 1, "read-only: the memory policy is read-only", nil)
	}
	m.merge(t, ada, envelope).want(t, 1, "read-only: the memory policy is read-only", nil)
	if m.ledger(t, "log") != before {
		t.Error("something was written")
	}
	m.audited(t)
}

func TestTheApprovalOfAReviewerWhoLostTheScopeMergesNothing(t *testing.T) {
	m := newMemoryRig(t)
	m.begin(t, "demo")
	envelope := m.approved(t, ada, m.proposed(t, agentOne, "a", m.committed(t, agentOne, "a", fact(t, "a", "It is a."))), "merger="+ben)
	policy := textOf(t, m.policy)
	for name, without := range map[string][2]string{
		"no entry": {"{user: 11, actor: ada", "{user: 14, actor: ada"}, "no scope": {"actor: ada, scopes: [memory.read, memory.review", "actor: ada, scopes: [memory.read"},
		"no project": {"memory.merge], projects: [demo]", "memory.merge], projects: [other]"},
	} {
		now := m.dir + "/" + name + ".yml"
		write(t, now, strings.Replace(policy, without[0], without[1], 1))
		r := m.merge(t, ben, envelope, "INPUT_MEMORY_POLICY="+now)
		if r.code != 1 || r.outputs["status"] != "refused" || !strings.Contains(r.printed, "policy: ") && !strings.Contains(r.printed, "the reviewer needs the scope memory.review") {
			t.Errorf("%s: exit %d, outputs %v\n%s", name, r.code, r.outputs, r.printed)
		}
	}
	m.merge(t, ben, envelope).want(t, 0, "merged", map[string]string{"status": "merged"})
}
