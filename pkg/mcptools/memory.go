package mcptools

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// Memory configures the tools of Memory Git. What they write is judged as
// persistence will judge it; that is good manners, persistence is the security.
type Memory struct {
	Policy    *memory.Policy
	Principal string // the policy's id of whom the agent writes for
	Project   string
	// Session names the run in changesets; "" for none.
	Session string
	// Restored holds the file names of the shards that stood there before the run:
	// what they hold without an admission will never get one. nil when not known.
	Restored map[string]bool
	Clock    func() time.Time
	Random   io.Reader
}

// memoryTools is the state behind them.
type memoryTools struct {
	Memory
	server *Server
	entry  memory.Principal

	state      *memory.State
	authorizes error       // of the state as it was restored
	restored   ledger.Hash // its digest
	generation int
	read       int // records of the ledger that were looked at
	pending    int // staged records that have effect here
	pins       pins
}

// check says why the principal may not have the tools.
func (o *Memory) check() (memory.Principal, error) {
	entry, refused := o.Policy.Principal(o.Principal)
	switch {
	case refused != nil:
		return entry, refused
	case !entry.MayUse(o.Project):
		return entry, errors.New("memory-project is not one of the principal's in the memory policy")
	case !entry.Has(memory.ScopeRead):
		return entry, fmt.Errorf("the principal lacks the scope %s in the memory policy", memory.ScopeRead)
	}
	return entry, nil
}

// EnableMemory adds the tools of Memory Git. The writer has to let memory.Allow's
// types through. The error says why the principal may not have them.
func (s *Server) EnableMemory(o Memory) error {
	entry, err := o.check()
	if err != nil {
		return err
	}
	m := &memoryTools{Memory: o, server: s, entry: entry}
	s.memory = m
	for _, t := range m.tools() {
		s.add(t)
	}
	return nil
}

// sync brings in what the ledger has more: nothing of it is looked at twice.
func (m *memoryTools) sync() error {
	w := m.server.writer
	if err := w.Refresh(); err != nil {
		return errUnavailable
	}
	if m.state == nil || m.generation != w.Generation() || m.admitsMore() {
		m.state = memory.Fold(w.Ledger)
		m.authorizes, m.restored = m.state.Authorizes(), m.state.Digest()
		m.generation, m.read, m.pending = w.Generation(), w.Len(), 0
		for r := range w.Records() {
			m.stage(r)
		}
		return nil
	}
	m.state.Advance()
	for r := range w.Added(m.read) {
		m.read++
		m.stage(r)
	}
	return nil
}

func (m *memoryTools) admitsMore() bool {
	for r := range m.server.writer.Added(m.read) {
		if r.Type() == memory.TypeAdmission {
			return true
		}
	}
	return false
}

// stage gives a record of this run the effect that persistence will give it.
func (m *memoryTools) stage(r ledger.Record) {
	if !strings.HasPrefix(r.Type(), "memory.") {
		return
	}
	if _, listed := m.state.Verdict(r.SHA()); listed {
		return
	}
	if file, _, _ := m.server.writer.Location(r.SHA()); m.Restored[file] || !memory.Allow(m.Policy, m.Principal)(r.Type()) {
		return
	}
	if m.state.Stage(m.entry, r) == nil {
		m.pending++
	}
}

// agent is what the next record is made with.
func (m *memoryTools) agent() memory.Agent {
	w := m.server.writer
	const perParent = 74 // a digest in quotes and a comma, as the writer counts
	limits := w.Limits()
	return memory.Agent{Principal: m.entry, Surface: "mcp", Session: m.Session, Now: m.Clock(), Random: m.Random, Limits: limits,
		Parents: min(len(w.Heads()), ledger.MaxParents, max(1, limits.MaxRecordBytes/4/perParent))}
}

// mayWrite refuses every writer where the policy or the chain does.
func (m *memoryTools) mayWrite() error {
	if _, refused := m.Policy.Writer(m.Principal); refused != nil {
		return refused
	}
	return m.authorizes
}

// append appends the records of a request and returns their digests. What stands
// when a later one fails is completed by the same request.
func (m *memoryTools) append(q memory.Request) (shas []ledger.Hash, remarks []string, err error) {
	for i, d := range q.Records {
		r, err := m.server.writer.Append(d.Type, d.Payload)
		if err != nil {
			if i > 0 {
				return nil, nil, refusal(fmt.Sprintf("%d of %d records stand, and then: %s; ask again with the same idempotency_key to complete the request",
					i, len(q.Records), sentence(err)))
			}
			return nil, nil, err
		}
		shas = append(shas, r.SHA())
		if m.server.recorded(r) != nil && len(remarks) == 0 {
			remarks = append(remarks, "the records are durable; an audit event could not be written")
		}
	}
	return shas, remarks, m.sync()
}

const replayed = "replay: this request was carried out before; here is what it made"

// checkKey judges an idempotency key.
func checkKey(key *string) error {
	if key == nil {
		return refusal("invalid arguments: idempotency_key is missing")
	}
	if len(*key) == 0 || len(*key) > maxKeyBytes {
		return refusal(fmt.Sprintf("invalid arguments: idempotency_key must have 1 to %d bytes", maxKeyBytes))
	}
	return nil
}

// decodeArguments reads the arguments of a memory tool, which are of more types
// than strings.
func decodeArguments(arguments []byte, target any) error {
	err := decode(arguments, target)
	var fault *canonical.Error
	if errors.As(err, &fault) {
		return refusal("invalid arguments: " + fault.Error())
	}
	return err
}

// resolve reads "<id>@<digest>" or the name of a ref, and returns a changeset that
// the principal may read.
func (m *memoryTools) resolve(argument, text string) (memory.Name, error) {
	if strings.HasPrefix(text, "refs/") {
		ref, err := m.ref(argument, text)
		return ref.Head, err
	}
	name, ok := memory.ParseName(text)
	if !ok {
		return name, refusal("invalid arguments: " + argument + " must be a ref, or a changeset's name: its id, @ and its integrity digest")
	}
	if !m.state.MayReadChangeset(m.entry, m.Project, name) {
		return name, refusal("refused: unreadable: " + argument + " is no accepted changeset that this principal may read")
	}
	return name, nil
}

// ref returns a ref that the principal may read.
func (m *memoryTools) ref(argument, name string) (memory.RefInfo, error) {
	name = cmp.Or(name, memory.SharedMain)
	ref, there := m.state.Ref(m.Project, name)
	if !there || !m.state.MayRead(m.entry, m.Project, name) {
		if len(m.state.Refs(m.Project)) == 0 {
			return ref, refusal("refused: project: the project has no root yet; the job that persists this run makes it")
		}
		return ref, refusal("refused: unknown: " + argument + " is no ref that this principal may read")
	}
	return ref, nil
}
