package memory

import (
	"fmt"
	"strings"
)

// dump is everything that a State answers, but for its diagnostics.
func dump(s *State) string {
	var b strings.Builder
	seq, time := s.Seq()
	fmt.Fprintln(&b, seq, time)
	for _, project := range s.Projects() {
		for _, r := range s.Refs(project) {
			fmt.Fprintf(&b, "%s\n", canonicalJSON(r))
			for _, c := range s.Log(project, r.Head, 1<<20) {
				fmt.Fprintln(&b, " ", c.Name(), c.Seq, c.Record, c.Landed)
			}
			for _, baseline := range []bool{false, true} {
				if c, m, err := s.ContextAt(ContextQuery{Project: project, Ref: r.Name, Query: "port", Baseline: baseline}); err == nil {
					fmt.Fprintf(&b, "  %s %s\n", c.Text(), m.ContentDigest)
				} else {
					fmt.Fprintln(&b, "  ", err)
				}
			}
			for _, m := range s.MemoryAt(project, r.Head) {
				fmt.Fprintf(&b, "  %+v\n", m)
			}
		}
		for _, p := range s.Proposals(project) {
			fmt.Fprintf(&b, "%s %s %s %v %s\n", p.ID, p.Status, p.Merged, p.Approved, p.Record)
			for _, r := range p.Reviews {
				fmt.Fprintf(&b, "  %+v\n", r)
			}
		}
		for _, c := range s.Conflicts(project) {
			fmt.Fprintf(&b, "%s %s %s\n", c.ID, c.Type, c.Status)
		}
		for _, m := range s.Baseline(project) {
			fmt.Fprintln(&b, m.ID, m.Content)
		}
	}
	return b.String()
}
