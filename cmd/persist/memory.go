package main

import (
	"strconv"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/memoryrun"
	"github.com/repo-memory/ledger/pkg/persist"
)

var memoryOutputs = []action.Output{
	{Name: "memory-accepted", Help: "Number of staged records of reviewed memory that have effect."},
	{Name: "memory-refused", Help: "Number of staged records of reviewed memory that are refused or published without effect; the summary names them."},
	{Name: "memory-state", Help: "Digest of what reviewed memory is afterwards, the same for everyone who folds the branch; empty when none was staged."},
}

// readMemory finds out under whom memory is admitted. What is wrong with the
// policy refuses memory and nothing else.
func (p *persister) readMemory() error {
	agent, err := memoryrun.ReadAgent(p.Action)
	if err != nil {
		if agent.Refused == nil {
			return err
		}
		p.Warningf("reviewed memory is not admitted: %v", err)
	}
	p.memory = persist.Memory{Policy: agent.Policy, Principal: agent.Principal, Project: agent.Project, Refused: agent.Refused,
		Workflow: agent.Run.Workflow, Run: agent.Run.ID}
	return nil
}

// refusedMemory counts the staged records of memory without effect.
func refusedMemory(r *persist.Report) int {
	if r.Memory == nil {
		return 0
	}
	return r.Memory.Without.Count + r.Memory.Rejected
}

// tellMemory writes the outputs and annotations of reviewed memory.
func (p *persister) tellMemory(r *persist.Report) {
	accepted, state := 0, ""
	if r.Memory != nil {
		accepted, state = r.Memory.Accepted, r.Memory.State.String()
	}
	p.SetOutput("memory-state", state)
	p.SetOutput("memory-accepted", strconv.Itoa(accepted))
	p.SetOutput("memory-refused", strconv.Itoa(refusedMemory(r)))
	m := r.Memory
	if m == nil {
		return
	}
	if m.Refused != nil {
		p.Warningf("reviewed memory is not admitted: %v", m.Refused)
	}
	if m.Without.Count > 0 {
		p.Warningf("%d records of reviewed memory were published without effect; the summary names them and says why", m.Without.Count)
		p.Group("Memory without effect")
		for _, i := range m.Without.Items[:min(len(m.Without.Items), action.MaxListed)] {
			p.Infof("%s", i)
		}
		p.EndGroup()
	}
}

// summarizeMemory adds what became of reviewed memory to the job's summary.
func (p *persister) summarizeMemory(s *action.Summary, r *persist.Report) {
	m := r.Memory
	if m == nil {
		return
	}
	s.Line("**Reviewed memory**, as %s.", orNone(p.memory.Principal))
	if m.Refused != nil {
		s.Line("Nothing of it was admitted: %s", m.Refused.Error())
	}
	s.Table([]string{"", ""},
		[]any{action.Markdown("records with effect"), m.Accepted},
		[]any{action.Markdown("records without effect"), m.Without.Count},
		[]any{action.Markdown("records that were refused"), m.Rejected},
		[]any{action.Markdown("records added by the admission"), m.Made},
		[]any{action.Markdown("state"), m.State})
	list(s, "Memory without effect", m.Without)
}
