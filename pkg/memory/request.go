package memory

import (
	"cmp"
	"io"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Agent is what an agent's server makes records with. It judges them as persist
// will; that is good manners, persist's judgement is the security.
type Agent struct {
	Principal                            Principal
	Persona                              string
	Surface, Model, Environment, Session string
	Now                                  time.Time
	Random                               io.Reader
	Limits                               ledger.Limits
	Parents                              int // how many heads an append will name
}

func (a Agent) author() Author {
	author := a.Principal.author()
	author.Persona = a.Persona
	return author
}

// Request is what an agent asked for, as records to append, in order; after each
// append the record goes to Stage. Where the request was made before under the
// same key, Records is empty and Replay names what stands.
type Request struct {
	Records []RecordDraft
	Replay  string
	// Name is the changeset, and ID the proposal or manifest, that was made.
	Name Name
	ID   string
}

// RecordDraft is the type and payload of a record.
type RecordDraft struct {
	Type    string
	Payload []byte
}

func (a Agent) draft(q *Request, typ string, payload []byte) *Refusal {
	q.Records = append(q.Records, RecordDraft{typ, payload})
	return FitRecord(typ, payload, a.Parents, a.Limits)
}

// Commit asks for a changeset on a ref that the principal owns.
type Commit struct {
	Project, Ref  string
	Parents       []Name // empty is Expected
	Expected      Name   // the ref's head as the caller knows it
	Create        bool   // the ref shall be new; Parents says where it starts
	Message, Key  string
	Topic         string
	Manifest      string
	Ops           []Op
	Evidence      []string
	Verifications []Verification
}

// Commit makes the changeset and the movement of its ref.
func (s *State) Commit(a Agent, q Commit) (Request, error) {
	var out Request
	c := &Changeset{Project: q.Project, Ref: q.Ref, Parents: q.Parents, Author: a.author(), Surface: a.Surface, Model: a.Model, Environment: a.Environment,
		Session: a.Session, Topic: q.Topic, Manifest: q.Manifest, Message: q.Message, CreatedAt: ledger.FormatTime(a.Now), Key: q.Key,
		Expected: q.Expected, Create: q.Create, Ops: q.Ops, Evidence: q.Evidence, Verifications: q.Verifications}
	if len(c.Parents) == 0 && q.Expected != (Name{}) {
		c.Parents = []Name{q.Expected}
	}
	var err error
	if c.ID, err = NewUUIDv7(a.Now, a.Random); err != nil {
		return out, err
	}
	payload := c.Seal()
	if c, err = refused(ParseChangeset(payload)); err != nil {
		return out, err
	}
	p, fault := s.of(a.Principal, c.Project, c.Author, "")
	if fault != nil {
		return out, fault
	}
	if use, used := p.keys[keyOf{a.Principal.ID, c.Key}]; used {
		if use.typ == TypeChangeset && use.set.requestDigest() == c.requestDigest() {
			return Request{Replay: use.set.Name().String(), Name: use.set.Name()}, nil
		}
		return out, refuse(ReasonKeyReused, "the idempotency key was used for another request: choose a new one")
	}
	if fault := p.mayWrite(a.Principal, c); fault != nil {
		return out, fault
	}
	t, fault := p.build(a.Principal, c, nil)
	if fault != nil {
		return out, fault
	}
	m := &Movement{Project: c.Project, Ref: c.Ref, Author: c.Author, Expected: c.Expected, Head: c.Name(), Create: c.Create, Key: c.Key, CreatedAt: c.CreatedAt}
	if m, fault = ParseMovement(m.Seal()); fault != nil {
		return out, fault
	}
	if _, _, fault = s.judgeMovement(a.Principal, m, t); fault != nil {
		return out, fault
	}
	out.Name = c.Name()
	if fault = a.draft(&out, TypeChangeset, payload); fault == nil {
		fault = a.draft(&out, TypeRef, m.Seal())
	}
	return out.or(fault)
}

func (q Request) or(fault *Refusal) (Request, error) {
	if fault != nil {
		return Request{}, fault
	}
	return q, nil
}

// refused makes a typed refusal a plain error.
func refused[T any](v T, fault *Refusal) (T, error) {
	if fault != nil {
		return v, fault
	}
	return v, nil
}

// Branch makes the movement that creates a ref at a head, or moves one.
func (s *State) Branch(a Agent, project, ref string, head, expected Name, key string) (Request, error) {
	m := &Movement{Project: project, Ref: ref, Author: a.author(), Expected: expected, Head: head, Create: expected == Name{}, Key: key, CreatedAt: ledger.FormatTime(a.Now)}
	m, err := refused(ParseMovement(m.Seal()))
	if err != nil {
		return Request{}, err
	}
	out := Request{Name: head}
	if _, _, fault := s.judgeMovement(a.Principal, m, nil); fault != nil {
		if fault.Reason == ReasonReplay {
			return Request{Replay: head.String(), Name: head}, nil
		}
		return Request{}, fault
	}
	return out.or(a.draft(&out, TypeRef, m.Seal()))
}

// Propose makes a proposal; id, author and time are set here. Where there is no
// base, it is the newest of the target's changesets that the head has.
func (s *State) Propose(a Agent, q Proposal) (Request, error) {
	p := s.projects[q.Project]
	if p == nil {
		return Request{}, refuse(ReasonProject, "project %s has no root yet", quoted(q.Project))
	}
	q.TargetRef, q.Kind = cmp.Or(q.TargetRef, SharedMain), cmp.Or(q.Kind, BranchProposal)
	if q.Base == (Name{}) {
		q.Base = p.mergeBase(q.Head, q.TargetRef)
	}
	var err error
	if q.ID, err = NewUUIDv7(a.Now, a.Random); err != nil {
		return Request{}, err
	}
	q.Author, q.CreatedAt = a.author(), ledger.FormatTime(a.Now)
	payload := q.Seal()
	parsed, err := refused(ParseProposal(payload))
	if err != nil {
		return Request{}, err
	}
	if _, fault := s.of(a.Principal, q.Project, parsed.Author, ScopePropose); fault != nil {
		return Request{}, fault
	}
	if use, used := p.keys[keyOf{a.Principal.ID, q.Key}]; used {
		for _, t := range p.order {
			if use.typ == TypeProposal && t.Key == q.Key && t.Author.Principal == a.Principal.ID && t.requestDigest() == parsed.requestDigest() {
				return Request{Replay: t.ID, ID: t.ID}, nil
			}
		}
		return Request{}, refuse(ReasonKeyReused, "the idempotency key was used for another request: choose a new one")
	}
	if _, fault := p.judgeProposal(a.Principal, parsed); fault != nil {
		return Request{}, fault
	}
	out := Request{ID: q.ID}
	return out.or(a.draft(&out, TypeProposal, payload))
}

// mergeBase returns the newest changeset of a ref's history that a head has.
func (p *project) mergeBase(head Name, ref string) Name {
	t, known := p.known(head)
	r := p.refs[ref]
	if !known || r == nil {
		return Name{}
	}
	for i := len(p.sets) - 1; i >= 0; i-- {
		if t.view.has(int32(i)) && r.head.view.has(int32(i)) {
			return p.sets[i].Name()
		}
	}
	return Name{}
}

// Pin makes the record of a context's input manifest.
func (s *State) Pin(a Agent, m *Manifest) (Request, error) {
	var err error
	if m.ID, err = NewUUIDv7(a.Now, a.Random); err != nil {
		return Request{}, err
	}
	m.Author, m.CreatedAt = a.author(), ledger.FormatTime(a.Now)
	if _, fault := s.of(a.Principal, m.Project, m.Author, ScopeRead); fault != nil {
		return Request{}, fault
	}
	out := Request{ID: m.ID}
	return out.or(a.draft(&out, TypeManifest, m.Seal()))
}

// Stage gives an appended record the effect that persist will give it, in this
// State alone, so that what follows can build on it. A State that staged authorizes
// nothing.
func (s *State) Stage(p Principal, r ledger.Record) error {
	k := &link{Admission: Admission{Seq: 1, Principal: p}, time: r.Timestamp()}
	if s.tip != nil {
		k.Seq = s.tip.Seq + 1
	}
	s.own[r.SHA()], s.staged = r, true
	if fault := s.admit(p, r, k); fault != nil {
		return fault
	}
	return nil
}
