package mcptools

import (
	"context"
	"strconv"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

func (m *memoryTools) status(_ context.Context, arguments []byte) (answer, error) {
	if err := decodeArguments(arguments, &struct{}{}); err != nil {
		return answer{}, err
	}
	if err := m.sync(); err != nil {
		return answer{}, err
	}
	seq, at := m.state.Seq()
	status := struct {
		Project     string         `json:"project_id"`
		Principal   string         `json:"principal"`
		Actor       string         `json:"actor"`
		Scopes      []memory.Scope `json:"scopes"`
		Begun       bool           `json:"begun"`
		ReadOnly    bool           `json:"read_only"`
		Main        memory.Name    `json:"shared_main,omitzero"`
		Admissions  int            `json:"admissions"`
		AdmittedAt  string         `json:"admitted_at,omitzero"`
		Refs        int            `json:"refs"`
		Proposals   map[string]int `json:"proposals"`
		Open        int            `json:"open_conflicts"`
		Staged      int            `json:"staged_records"`
		Diagnostics int            `json:"diagnostics"`
		Blocked     string         `json:"blocked,omitzero"`
		State       ledger.Hash    `json:"restored_state"`
	}{Project: m.Project, Principal: m.entry.ID, Actor: m.entry.Actor, Scopes: m.entry.Scopes, ReadOnly: m.Policy.ReadOnly,
		Admissions: seq, AdmittedAt: at, Proposals: map[string]int{}, Staged: m.pending, State: m.restored}
	if main, ok := m.state.Ref(m.Project, memory.SharedMain); ok {
		status.Begun, status.Main = true, main.Head
	}
	for _, r := range m.state.Refs(m.Project) {
		if m.state.MayRead(m.entry, m.Project, r.Name) {
			status.Refs++
		}
	}
	for _, p := range m.state.Proposals(m.Project) {
		status.Proposals[string(p.Status)]++
	}
	for _, c := range m.state.Conflicts(m.Project) {
		if c.Status == memory.ConflictOpen {
			status.Open++
		}
	}
	for _, d := range m.state.Diagnostics() {
		if d.Kind == memory.Unlisted && d.Count == 0 {
			continue // what this run staged is among them
		}
		status.Diagnostics += max(1, d.Count)
	}
	if m.authorizes != nil {
		status.Blocked = m.authorizes.Error()
	}
	return marshal(status)
}

// changesetRow is one changeset in a list.
type changesetRow struct {
	Name      string   `json:"changeset_id"`
	Ref       string   `json:"ref_name"`
	Parents   []string `json:"parent_ids"`
	Author    string   `json:"author"`
	Actor     string   `json:"actor"`
	CreatedAt string   `json:"created_at"`
	Message   string   `json:"message"`
	Ops       int      `json:"operations"`
	Landed    bool     `json:"landed"`
	Admitted  bool     `json:"admitted"`
}

func (m *memoryTools) row(c memory.ChangesetInfo) changesetRow {
	_, admitted := m.state.Verdict(c.Record)
	row := changesetRow{Name: c.Name().String(), Ref: c.Ref, Parents: []string{}, Author: c.Author.Principal, Actor: c.Author.Actor, CreatedAt: c.CreatedAt,
		Message: c.Message, Ops: len(c.Ops), Landed: c.Landed, Admitted: admitted}
	for _, parent := range c.Parents {
		row.Parents = append(row.Parents, parent.String())
	}
	return row
}

func (m *memoryTools) log(_ context.Context, arguments []byte) (answer, error) {
	var in struct {
		At    string  `json:"at"`
		Limit *int    `json:"limit"`
		After *string `json:"after"`
	}
	if err := decodeArguments(arguments, &in); err != nil {
		return answer{}, err
	}
	page, err := newPager(in.Limit)
	if err != nil {
		return answer{}, err
	}
	if err := m.sync(); err != nil {
		return answer{}, err
	}
	from := 0
	var head memory.Name
	if in.After != nil {
		parts, err := cut(*in.After, 2)
		if err != nil {
			return answer{}, err
		}
		if head, err = m.resolve("after", parts[0]); err != nil {
			return answer{}, errCursor
		}
		if from, err = position(parts[1], 1<<30); err != nil {
			return answer{}, err
		}
	} else if head, err = m.resolve("at", orMain(in.At)); err != nil {
		return answer{}, err
	}
	all := m.state.Log(m.Project, head, 1<<30)
	out := struct {
		Head       memory.Name    `json:"head_changeset_id"`
		Total      int            `json:"total"`
		Changesets []changesetRow `json:"changesets"`
		HasMore    bool           `json:"hasMore"`
		Next       string         `json:"nextCursor,omitzero"`
	}{Head: head, Total: len(all), Changesets: []changesetRow{}}
	for _, c := range all[min(from, len(all)):] {
		row := m.row(c)
		if !page.takes(row) {
			out.HasMore, out.Next = true, cursor(head.String(), strconv.Itoa(from+page.n))
			break
		}
		out.Changesets = append(out.Changesets, row)
	}
	return marshal(out)
}

func (m *memoryTools) refList(_ context.Context, arguments []byte) (answer, error) {
	var in struct {
		Limit *int   `json:"limit"`
		After string `json:"after"`
	}
	if err := decodeArguments(arguments, &in); err != nil {
		return answer{}, err
	}
	page, err := newPager(in.Limit)
	if err != nil {
		return answer{}, err
	}
	if err := m.sync(); err != nil {
		return answer{}, err
	}
	type row struct {
		Name      string      `json:"ref_name"`
		Head      memory.Name `json:"head_changeset_id"`
		Protected bool        `json:"protected"`
		Creator   string      `json:"creator"`
		Moves     int         `json:"movements"`
		Moved     string      `json:"moved_at"`
	}
	out := struct {
		Refs    []row  `json:"refs"`
		HasMore bool   `json:"hasMore"`
		Next    string `json:"nextCursor,omitzero"`
	}{Refs: []row{}}
	for _, r := range m.state.Refs(m.Project) {
		if r.Name <= in.After || !m.state.MayRead(m.entry, m.Project, r.Name) {
			continue
		}
		one := row{r.Name, r.Head, r.Protected, r.Creator, len(r.Log), r.Log[len(r.Log)-1].Time}
		if !page.takes(one) {
			out.HasMore, out.Next = true, out.Refs[len(out.Refs)-1].Name
			break
		}
		out.Refs = append(out.Refs, one)
	}
	return marshal(out)
}

func orMain(at string) string {
	if at == "" {
		return memory.SharedMain
	}
	return at
}
