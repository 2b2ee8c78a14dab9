package memory

import (
	"fmt"
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// pickedFrom is what a picked op says of its source.
func pickedFrom(n Name, ordinal int) string { return fmt.Sprintf("%s#%d", n, ordinal) }

// mergeOps returns the ops that a merge changeset of a proposal has to have, by
// whom it was prepared aside. They are the selected ops, each naming changeset
// and ordinal, and an attestation.
func (p *project) mergeOps(t *proposalState, strategy Strategy, target *set) []Op {
	if strategy == MergeCommit {
		return []Op{textOp(AttachVerification, "", "", "summary", "reviewed merge", "proposal_id", t.ID,
			"left_branch", target.Name().String(), "right_branch", t.head.Name().String())}
	}
	ops := make([]Op, 0, len(t.Selected)+1)
	from := make([]string, 0, len(t.Selected))
	for _, sel := range t.Selected {
		source, _ := p.known(sel.Changeset)
		op := source.Ops[sel.Ordinal]
		id, _ := op.identify()
		creates := op.Type == AddMemory || op.Type == SupersedeMemory && op.has("content")
		if creates && id.result == "" {
			op.Result = defaultID(source.ID, sel.Ordinal)
		}
		op.Payload = withText(op.Payload, "cherrypicked_from", pickedFrom(sel.Changeset, sel.Ordinal))
		ops = append(ops, op)
		from = append(from, fmt.Sprintf("%s#%d", source.ID, sel.Ordinal))
	}
	note := strings.Join(from, " ")
	if len(note) > MaxNoteBytes {
		note = fmt.Sprintf("%d ops, each with its source", len(from))
	}
	return append(ops, textOp(AttachVerification, "", "", "summary", "cherry-picked ops", "note", note, "proposal_id", t.ID,
		"source_changeset_id", t.head.Name().String()))
}

// withText returns an object with a string set.
func withText(v canonical.Value, name, s string) canonical.Value {
	var o object
	for _, m := range v.Members {
		if m.Name != name {
			o = append(o, m)
		}
	}
	o.text(name, s)
	return o.value()
}

// checkShape judges a new head against the strategy that it was approved for.
func (p *project) checkShape(t *proposalState, name Name, strategy Strategy) *Refusal {
	target := p.refs[t.TargetRef].head
	head, known := p.known(name)
	switch {
	case !known:
		return refuse(ReasonUnknown, "the new head was never accepted in this project")
	case (strategy == CherryPick) != (len(t.Selected) > 0):
		return refuse(ReasonStrategy, "a proposal of selected ops is cherry-picked, and no other is")
	case strategy == FastForward:
		if head != t.head {
			return refuse(ReasonStrategy, "a fast-forward sets the proposal's head")
		}
		if !head.view.has(target.index) {
			return &Refusal{ReasonStrategy, "the proposal's head does not descend from the target's: prepare a merge commit", target.Name().String()}
		}
		return nil
	}
	parents := []int32{target.index}
	if strategy == MergeCommit {
		parents = append(parents, t.head.index)
	}
	if len(head.parents) != len(parents) || head.parents[0] != parents[0] || len(parents) == 2 && head.parents[1] != parents[1] {
		return &Refusal{ReasonStrategy, "the new head does not join the target's head as it stands: prepare it again", target.Name().String()}
	}
	want := p.mergeOps(t, strategy, target)
	if len(head.Ops) != len(want) || head.Ref != t.TargetRef {
		return refuse(ReasonStrategy, "the new head holds other ops than the proposal")
	}
	for i := range want {
		a, errA := head.Ops[i].value(i).Text()
		b, errB := want[i].value(i).Text()
		if errA != nil || errB != nil || string(a) != string(b) {
			return refuse(ReasonStrategy, "op %d of the new head is not that of the proposal", i)
		}
	}
	return nil
}
