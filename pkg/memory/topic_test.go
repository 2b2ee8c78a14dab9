package memory

import "testing"

const topicPolicy = `version: memory-policy/v1
principals:
  - {user: 11, actor: ada, scopes: [memory.review, memory.merge], projects: [demo]}
  - {user: 12, actor: ben, scopes: [memory.write], projects: [demo]}
  - {workflow: .github/workflows/one.yml, actor: one, scopes: [memory.read, memory.branch, memory.commit, memory.propose], projects: [demo], topics: [both]}
  - {workflow: .github/workflows/two.yml, actor: two, scopes: [memory.read, memory.branch, memory.commit, memory.propose], projects: [demo], topics: [both]}
  - {workflow: .github/workflows/reader.yml, actor: reader, scopes: [memory.read, memory.branch, memory.commit], projects: [demo]}
`

func TestActorsToWhomThePolicyGivesATopicWorkOnItTogether(t *testing.T) {
	w := newWorld(t)
	w.policy, _ = ParsePolicy([]byte(topicPolicy))
	w.root()
	topic := topicRef("both")
	first := w.commit(one, topic, fact("a", "1"), named("p", `{"content":"the secret","visibility":"private"}`))
	second := w.commit(two, topic, fact("b", "2"))
	third := w.commit(one, topic, fact("c", "3"))
	s := w.clean()
	for id, want := range map[string]bool{one: true, two: true, ".github/workflows/reader.yml": false} {
		for _, name := range []Name{first, second, third} {
			if s.MayReadChangeset(w.principal(id), "demo", name) != want {
				t.Errorf("%s may read: %v", id, !want)
			}
		}
	}
	if _, err := s.Branch(w.agent(".github/workflows/reader.yml"), "demo", session("reader", "a"), third, Name{}, nextKey()); reasonOf(err) != ReasonUnreadable {
		t.Error(err)
	}
	// What one wrote in private there, the other takes nowhere unseen.
	proposal := w.propose(two, w.commit(two, session("two", "a"), add(`{"content":"the secret"}`)))
	if list, _ := w.fold().Detect("demo", proposal); summary(list) != "scope_flow/acknowledge" {
		t.Error(summary(list))
	}
	w.land(w.propose(two, third))
	w.clean()
}
