package mcptools

import (
	"context"
	"strconv"

	"github.com/repo-memory/ledger/pkg/memory"
)

func (m *memoryTools) diff(_ context.Context, arguments []byte) (answer, error) {
	var in struct {
		Base   string  `json:"base"`
		Target *string `json:"target"`
		Limit  *int    `json:"limit"`
		After  *string `json:"after"`
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
	base, target := orMain(in.Base), ""
	switch {
	case in.After != nil:
		parts, err := cut(*in.After, 3)
		if err != nil {
			return answer{}, err
		}
		base, target = parts[0], parts[1]
		if from, err = position(parts[2], 1<<30); err != nil {
			return answer{}, err
		}
	case in.Target == nil:
		return answer{}, refusal("invalid arguments: target is missing")
	default:
		target = *in.Target
	}
	baseName, err := m.resolve("base", base)
	if err != nil {
		return answer{}, err
	}
	targetName, err := m.resolve("target", target)
	if err != nil {
		return answer{}, err
	}
	d, err := m.state.Diff(m.Project, baseName, targetName)
	if err != nil {
		return answer{}, err
	}
	out := struct {
		*memory.Diff
		Counts  map[string]int `json:"counts"`
		HasMore bool           `json:"hasMore"`
		Next    string         `json:"nextCursor,omitzero"`
	}{Diff: d, Counts: map[string]int{}}
	skip, seen := from, 0
	for _, s := range []struct {
		name string
		list *[]memory.DiffEntry
	}{{"memories_added", &d.Added}, {"corrections_proposed", &d.Corrections}, {"records_superseded", &d.Superseded}, {"relationships_added", &d.Relationships},
		{"decisions_changed", &d.Decisions}, {"tasks_or_flags_changed", &d.Tasks}, {"duplicates_detected", &d.Duplicates},
		{"permissions_or_visibility_affected", &d.Permissions}, {"evidence_added_or_removed", &d.Evidence}} {
		out.Counts[s.name] = len(*s.list)
		*s.list = paged(page, *s.list, skip, &seen)
	}
	out.Counts["unresolved_conflicts"] = len(d.Conflicts)
	d.Conflicts = paged(page, d.Conflicts, skip, &seen)
	if page.full {
		out.HasMore, out.Next = true, cursor(baseName.String(), targetName.String(), strconv.Itoa(from+page.n))
	}
	return marshal(out)
}

// paged returns the part of a list that is on the page, when skip entries of all
// lists together stand on those before it.
func paged[T any](page *pager, list []T, skip int, seen *int) []T {
	kept := []T{}
	for _, e := range list {
		if *seen++; *seen > skip && page.takes(e) {
			kept = append(kept, e)
		}
	}
	return kept
}
