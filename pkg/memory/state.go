package memory

import (
	"slices"
	"strings"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// State is the fold of a ledger's memory records: what the admission chain
// accepted, and nothing else. It is not safe for concurrent use.
type State struct {
	ledger     *ledger.Ledger
	generation int  // of the ledger, as far as it was read
	read       int  // records of it
	staged     bool // holds what no admission lists yet

	seen     []ledger.Hash                 // memory records of the ledger, admissions aside
	own      map[ledger.Hash]ledger.Record // those that are not there yet
	links    map[ledger.Hash][]*link       // by the digest of the previous one
	linkOf   map[ledger.Hash]*link
	bad      map[ledger.Hash]string // admissions that are no links
	projects map[string]*project
	listed   map[ledger.Hash]*Verdict
	nonces   map[string]ledger.Hash // of consumed authorizations, with their merge
	tip      *link                  // the last link applied
	chain    []*link
	contra   []Diagnostic // verdicts that the fold does not bear out
	fault    *Refusal     // why nothing may be authorized
	scanner  scanner
}

// link is one admission of the chain.
type link struct {
	sha ledger.Hash
	Admission
	timestamp, time string // time never runs backwards along the chain
	merged          int    // changesets that further parents brought in
	contexts        int    // bytes of the contexts that its manifests pin
}

// project is the memory of one project.
type project struct {
	id          string
	state       *State
	refs        map[string]*refState
	sets        []*set
	byDigest    map[ledger.Hash]int32
	byID        map[string]int32
	memoryIndex map[string]int32
	keys        map[keyOf]keyUse
	proposals   map[string]*proposalState
	order       []*proposalState
	conflicts   map[conflictKey]*conflictState
	found       []*conflictState            // in the order of their records
	equal       map[string][]*conflictState // by id
	reviews     map[string]bool             // ids
	manifests   map[string]*Manifest
	manifestIDs []string
	baseline    *baseline
}

// set is an accepted changeset.
type set struct {
	*Changeset
	index   int32
	parents []int32
	view    view     // after it
	user    bool     // a person wrote it
	topics  []string // that the policy gave whoever wrote it
	landed  bool     // reachable from a protected ref
	seq     int
	sha     ledger.Hash
}

// Fold folds a ledger, which may be nil for a branch that holds nothing. A ledger
// that was not read whole can be read from, but authorizes nothing.
func Fold(l *ledger.Ledger) *State {
	s := &State{ledger: l}
	s.forget()
	s.Advance()
	return s
}

// forget drops everything that was read.
func (s *State) forget() {
	s.seen, s.read, s.own, s.staged = nil, 0, map[ledger.Hash]ledger.Record{}, false
	s.links, s.linkOf, s.bad = map[ledger.Hash][]*link{}, map[ledger.Hash]*link{}, map[ledger.Hash]string{}
	s.restart()
}

// restart drops what was folded but not what was read.
func (s *State) restart() {
	s.projects, s.listed, s.nonces = map[string]*project{}, make(map[ledger.Hash]*Verdict, len(s.seen)), map[string]ledger.Hash{}
	s.tip, s.chain, s.contra, s.fault = nil, nil, nil, nil
}

// record returns a memory record.
func (s *State) record(sha ledger.Hash) (ledger.Record, bool) {
	if s.ledger != nil {
		if r, here := s.ledger.Get(sha); here {
			return r, true
		}
	}
	r, here := s.own[sha]
	return r, here
}

// parse reads the payload of a record.
func (s *State) parse(r ledger.Record, what string) *fields {
	v, err := s.scanner.parse(r.Payload())
	return readParsed(v, err, what)
}

func notWhole(l *ledger.Ledger) string {
	if l.Whole() != nil {
		return "the ledger has more shards than were read: raise max-shards or compact it"
	}
	for _, d := range l.Diagnostics() {
		if d.Code == ledger.TruncatedRecord || d.Code == ledger.InvalidEnvelope && d.Line == 0 {
			return "a shard of the ledger could not be read whole: raise the limits or repair it"
		}
	}
	return ""
}

// Advance brings in what the ledger has more since it was read, in any order, as
// after a Refresh or an append. The result is that of a fresh fold, and costs what
// is new; a State that judged or staged records of its own is folded anew.
func (s *State) Advance() {
	if s.ledger == nil {
		return
	}
	if s.generation != s.ledger.Generation() || s.staged && s.admitsMore() {
		s.forget()
		s.generation = s.ledger.Generation()
	}
	again := false
	for r := range s.ledger.Added(s.read) {
		s.read++
		typ := r.Type()
		if !strings.HasPrefix(typ, "memory.") {
			continue
		}
		sha := r.SHA()
		if typ != TypeAdmission {
			s.seen = append(s.seen, sha)
			continue
		}
		if s.linkOf[sha] != nil {
			continue // written by this State
		}
		a, fault := readAdmission(s.parse(r, "admission"))
		if fault != nil {
			s.bad[sha] = fault.Detail
			continue
		}
		k := &link{sha: sha, Admission: *a, timestamp: r.Timestamp()}
		s.linkOf[sha] = k
		s.links[a.Previous] = append(s.links[a.Previous], k)
		again = again || s.tip != nil && a.Seq <= s.tip.Seq
	}
	if again {
		s.restart()
	}
	if !s.staged {
		s.walk()
	}
}

// admitsMore reports whether the ledger has an admission that was not read.
func (s *State) admitsMore() bool {
	for r := range s.ledger.Added(s.read) {
		if r.Type() == TypeAdmission && s.linkOf[r.SHA()] == nil {
			return true
		}
	}
	return false
}

// walk follows the chain from the last link applied to its end, to a fork, or to
// a link that lists a record that is not here.
func (s *State) walk() {
	s.fault = nil
	for {
		var at ledger.Hash
		seq := 0
		if s.tip != nil {
			at, seq = s.tip.sha, s.tip.Seq
		}
		var next []*link
		for _, k := range s.links[at] {
			if k.Seq == seq+1 {
				next = append(next, k)
			}
		}
		if len(next) > 1 {
			s.fault = refuse(ReasonChain, "the admission chain forks after link %d: see reconcile", seq)
			return
		}
		if len(next) == 0 {
			break
		}
		records, complete := s.recordsOf(next[0])
		if !complete {
			s.fault = refuse(ReasonChain, "admission %d lists a record that is not on the branch: restore it", seq+1)
			return
		}
		s.take(next[0], records)
	}
	if n := len(s.linkOf) - len(s.chain); n > 0 {
		s.fault = refuse(ReasonChain, "%d admission records are not in the one chain: see reconcile", n)
	}
}

func (s *State) recordsOf(k *link) (list []ledger.Record, complete bool) {
	list = make([]ledger.Record, len(k.Verdicts))
	for i := range k.Verdicts {
		if list[i], complete = s.record(k.Verdicts[i].SHA); !complete {
			return nil, false
		}
	}
	return list, true
}

// take applies one link.
func (s *State) take(k *link, records []ledger.Record) {
	k.time = k.timestamp
	if s.tip != nil && k.time < s.tip.time {
		k.time = s.tip.time
	}
	s.tip = k
	s.chain = append(s.chain, k)
	for i := range k.Verdicts {
		v := &k.Verdicts[i]
		if s.listed[v.SHA] != nil {
			s.contradict(v.SHA, refuse(ReasonChain, "listed a second time"))
			continue
		}
		s.listed[v.SHA] = v
		if !v.Accepted {
			continue
		}
		if fault := s.admit(k.Principal, records[i], k); fault != nil {
			s.contradict(v.SHA, fault)
		}
	}
}

func (s *State) contradict(sha ledger.Hash, fault *Refusal) {
	s.contra = append(s.contra, Diagnostic{SHA: sha, Kind: Contradicted, Reason: fault.Reason, Detail: fault.Detail})
}

// admit gives a record its effect, or says why it cannot have one. It is the one
// judge: persist, the trusted jobs, the agent's server and the fold all ask it.
// Without a link it is only asked, and nothing changes.
func (s *State) admit(p Principal, r ledger.Record, k *link) *Refusal {
	switch r.Type() {
	case TypeChangeset:
		return s.admitChangeset(p, r, k)
	case TypeRef:
		return s.admitMovement(p, r, k)
	case TypeProposal:
		return s.admitProposal(p, r, k)
	case TypeReview:
		return s.admitReview(p, r, k)
	case TypeConflict:
		return s.admitConflict(p, r, k)
	case TypeMerge:
		return s.admitMerge(p, r, k)
	case TypeManifest:
		return s.admitManifest(p, r, k)
	}
	return refuse(ReasonTrustedOnly, "no record of this type is admitted")
}

// Authorizes returns why the state may not be used to write anything: a gap or a
// fork in the chain, or a ledger that was not read whole; nil when it may.
func (s *State) Authorizes() error {
	switch {
	case s.fault != nil:
		return s.fault
	case s.staged:
		return refuse(ReasonChain, "the state holds records that were not admitted: fold the branch anew")
	case s.ledger != nil:
		if detail := notWhole(s.ledger); detail != "" {
			return refuse(ReasonChain, "%s", detail)
		}
	}
	return nil
}

func (p *project) landed(i int32) bool { return int(i) < len(p.sets) && p.sets[i].landed }

// known returns an accepted changeset.
func (p *project) known(n Name) (*set, bool) {
	i, ok := p.byDigest[n.Digest]
	if !ok || p.sets[i].ID != n.ID {
		return nil, false
	}
	return p.sets[i], true
}

// delta lists the changesets that are reachable from to and in none of the views,
// in the order of their effect: parents first, the first parent's history before
// the second's, each once. ok is false when there are more than limit.
func (p *project) delta(to int32, limit int, not ...view) (list []int32, ok bool) {
	excluded := func(i int32) bool {
		return slices.ContainsFunc(not, func(v view) bool { return v.has(i) })
	}
	type step struct {
		set  int32
		next int
	}
	if excluded(to) {
		return nil, true
	}
	seen := map[int32]bool{to: true}
	stack := []step{{to, 0}}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		parents := p.sets[top.set].parents
		if top.next == len(parents) {
			list = append(list, top.set)
			stack = stack[:len(stack)-1]
			continue
		}
		parent := parents[top.next]
		top.next++
		if !seen[parent] && !excluded(parent) {
			if seen[parent] = true; len(seen) > limit {
				return nil, false
			}
			stack = append(stack, step{parent, 0})
		}
	}
	return list, true
}
