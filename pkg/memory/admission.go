package memory

import (
	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// Verdict is what became of one record.
type Verdict struct {
	SHA      ledger.Hash
	Accepted bool
	Reason   Reason // of a refusal
	Detail   string // a sentence for the one who sent it
	Head     string // the current head, of a lost swap
}

// Refusal returns why the record was refused, nil when it was not.
func (v Verdict) Refusal() *Refusal {
	if v.Accepted {
		return nil
	}
	return &Refusal{v.Reason, v.Detail, v.Head}
}

// Admission is one link of the admission chain, as the payload of a
// memory.admission record:
//
//	schema_version  "memory_git/v1"
//	seq             1, 2, 3, ...
//	previous        optional: the digest of the record of seq - 1
//	principal       {id, actor, scopes, projects, topics?}: the policy's entry for
//	                the principal as it was then
//	workflow, run   where the trusted job ran
//	verdicts        list of {sha, verdict: accepted | refused, reason?, detail?,
//	                head?}
//
// Its time is the record's timestamp, or that of an earlier link if that was
// later. Only listed records have an effect, in this order.
type Admission struct {
	Seq           int
	Previous      ledger.Hash // zero for seq 1
	Principal     Principal
	Workflow, Run string
	Verdicts      []Verdict
}

// maxSeq and maxVerdicts bound what is read; both are beyond what fits a ledger.
const (
	maxSeq      = 1 << 40
	maxVerdicts = 1 << 16
)

// Seal returns the payload.
func (a *Admission) Seal() []byte {
	var b object
	b.text("schema_version", SchemaVersion)
	b.number("seq", a.Seq)
	if a.Seq > 1 {
		b.text("previous", a.Previous.String())
	}
	b.put("principal", a.Principal.value())
	b.text("workflow", a.Workflow)
	b.text("run", a.Run)
	items := make([]canonical.Value, len(a.Verdicts))
	for i := range a.Verdicts {
		items[i] = a.Verdicts[i].value()
	}
	b.put("verdicts", canonical.Value{Kind: canonical.Array, Items: items})
	return b.bytes()
}

func (v *Verdict) value() canonical.Value {
	var o object
	o.text("sha", v.SHA.String())
	if v.Accepted {
		o.text("verdict", "accepted")
		return o.value()
	}
	o.text("verdict", "refused")
	o.text("reason", string(v.Reason))
	o.maybe("detail", v.Detail)
	o.maybe("head", v.Head)
	return o.value()
}

// ParseAdmission reads the payload of a memory.admission record.
func ParseAdmission(payload []byte) (*Admission, *Refusal) {
	return readAdmission(parsePayload(payload, "admission"))
}

func readAdmission(f *fields) (*Admission, *Refusal) {
	a := &Admission{}
	f.oneOf("schema_version", SchemaVersion)
	a.Seq = f.number("seq", maxSeq)
	if a.Seq > 1 {
		a.Previous = f.hash("previous")
	}
	if a.Seq == 0 {
		f.failf("counts seq from 1")
	}
	in := f.object("principal")
	a.Principal = readPrincipal(in)
	f.join(in)
	a.Workflow, a.Run = f.text("workflow", MaxFieldBytes), f.text("run", MaxFieldBytes)
	items := f.list("verdicts", maxVerdicts)
	a.Verdicts = make([]Verdict, len(items))
	for i, item := range items {
		in := readObject(item, "verdict")
		v := Verdict{SHA: in.hash("sha"), Accepted: in.oneOf("verdict", "accepted", "refused") == "accepted"}
		if !v.Accepted {
			v.Reason, v.Detail, v.Head = Reason(in.text("reason", MaxFieldBytes)), in.maybe("detail", MaxFieldBytes), in.maybe("head", MaxFieldBytes)
		}
		f.join(in)
		a.Verdicts[i] = v
	}
	return a, f.end()
}
