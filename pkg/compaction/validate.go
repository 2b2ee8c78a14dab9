package compaction

import (
	"bytes"
	"slices"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// RejectedError is why a plan was refused as a whole.
type RejectedError struct {
	// Reason is one of a closed set of phrases; it holds nothing of the plan.
	Reason string
}

func (e *RejectedError) Error() string { return "Rejected ledger compaction plan: " + e.Reason }

// ParsePlan reads a plan that anyone may have written, for the configured ledger
// and no other (specification, section 5.3). The error is a [*RejectedError].
func ParsePlan(text []byte, c Config) (*Plan, error) {
	p := &Plan{}
	if reason := p.parse(text, c); reason != "" {
		return nil, &RejectedError{Reason: reason}
	}
	return p, nil
}

// parse fills p and returns why it cannot be trusted to be well-formed, "" when
// it can.
func (p *Plan) parse(text []byte, c Config) string {
	if len(text) == 0 || len(text) > MaxPlanBytes {
		return "invalid plan file"
	}
	if bytes.Count(text, []byte{','}) > maxPlanCommas {
		return "too many values"
	}
	v, err := canonical.ParseStrict(text, maxPlanDepth)
	if err != nil {
		switch err.(*canonical.Error).Rule {
		case canonical.Duplicate:
			return "member name that occurs twice"
		case canonical.Depth:
			return "unexpected plan structure"
		}
		return "malformed JSON"
	}
	if !hasExactly(v, "base_commit", "branch", "created_at", "ledger", "plan_id", "replacement", "sources", "trigger", "version") {
		return "unexpected plan structure"
	}
	if reason := p.parseHead(v, c); reason != "" {
		return reason
	}
	if reason := p.parseSources(member(v, "sources"), c); reason != "" {
		return reason
	}
	if reason := p.parseReplacement(member(v, "replacement"), c); reason != "" {
		return reason
	}
	id, ok := member(v, "plan_id").hash()
	if p.id = p.computeID(); !ok || id != p.id {
		return "plan_id does not match plan contents"
	}
	return ""
}

// parseHead reads what is no segment. A value of another type reads as "",
// which none of the members may be.
func (p *Plan) parseHead(v canonical.Value, c Config) string {
	read := func(name string) string {
		s, ok := member(v, name).text()
		if !ok {
			return ""
		}
		return s
	}
	p.ledger, p.branch, p.trigger = read("ledger"), read("branch"), Trigger(read("trigger"))
	p.createdAt, p.baseCommit = read("created_at"), read("base_commit")
	switch {
	case read("version") != PlanVersion:
		return "unsupported plan version"
	case p.ledger != c.Ledger:
		return "plan targets a different ledger"
	case p.branch != c.Branch:
		return "plan targets a different branch"
	case p.trigger != Scheduled && p.trigger != Requested:
		return "invalid trigger"
	}
	if _, ok := parseInstant(p.createdAt); !ok {
		return "invalid created_at"
	}
	if !commitForm.MatchString(p.baseCommit) {
		return "invalid base_commit"
	}
	return ""
}

func (p *Plan) parseSources(v value, c Config) string {
	if n := len(v.Items); v.Kind != canonical.Array || n == 0 || n > min(c.MaxSegments, MaxPlanSources) {
		return "invalid source count"
	}
	records := 0
	for i := range v.Items {
		var last string
		if i > 0 {
			last = p.sources[i-1].Segment
		}
		id, reason := parseIdentity(value(v.Items[i]), "source", c, func(segment string) string {
			if segment <= last {
				return "sources must be unique and sorted"
			}
			return ""
		})
		if reason != "" {
			return reason
		}
		if records += len(id.Records); records > MaxPlanRecords {
			return "too many records"
		}
		p.sources = append(p.sources, id)
	}
	return ""
}

func (p *Plan) parseReplacement(v value, c Config) string {
	var reason string
	p.replacement, reason = parseIdentity(v, "replacement", c, func(segment string) string {
		if slices.ContainsFunc(p.sources, func(s Identity) bool { return s.Segment == segment }) {
			return "replacement cannot also be a source"
		}
		return ""
	})
	if reason != "" {
		return reason
	}
	kept := make(map[ledger.Hash]bool, len(p.replacement.Records))
	for _, sha := range p.replacement.Records {
		kept[sha] = true
	}
	for _, s := range p.sources {
		for _, sha := range s.Records {
			if !kept[sha] {
				return "replacement does not preserve every source record"
			}
		}
	}
	return ""
}

// parseIdentity reads one segment of a plan; what is "source" or "replacement",
// and place judges its id among the others.
func parseIdentity(v value, what string, c Config, place func(segment string) string) (id Identity, reason string) {
	object := canonical.Value(v)
	if !hasExactly(object, "bytes", "records", "segment", "sha256") {
		return id, "unexpected " + what + " structure"
	}
	var ok bool
	if id.Segment, ok = member(object, "segment").text(); !ok || !ledger.IsUUID(id.Segment) {
		return id, "invalid " + what + " segment identity"
	}
	if reason := place(id.Segment); reason != "" {
		return id, reason
	}
	if id.SHA256, ok = member(object, "sha256").hash(); !ok {
		return id, "invalid " + what + " digest"
	}
	if id.Bytes, ok = member(object, "bytes").integer(c.MaxSegmentBytes); !ok {
		return id, "invalid " + what + " size"
	}
	if id.Records, ok = member(object, "records").ascending(MaxPlanRecords); !ok {
		return id, "invalid " + what + " record identities"
	}
	return id, ""
}
