package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// Rule names why admission refused a record.
type Rule string

const (
	RuleType        Rule = "type"             // length or characters of the type
	RuleReserved    Rule = "reserved-type"    // a type of memory.* or thread.* without a policy
	RulePayload     Rule = "payload"          // JSON that cannot be kept exactly or compacted
	RuleRecordSize  Rule = "record-size"      // the line is over the record bound
	RuleID          Rule = "id"               // an id without prefix, or one that is taken
	RuleKnown       Rule = "already-recorded" // the very record is on the branch
	RuleParent      Rule = "parent"           // a parent that is neither on the branch nor admitted
	RuleFuture      Rule = "timestamp"        // too far ahead of the clock, or outside years 0 to 9999
	RuleHeads       Rule = "new-heads"        // more new heads than one staging may add
	RulePatchSize   Rule = "patch-size"       // the run adds more than the patch bound
	RuleShardCount  Rule = "shard-count"      // no further shard may be created
	RuleNotWhole    Rule = "not-whole"        // the ledger was not read whole
	RuleUnavailable Rule = "unavailable"      // the shard directory cannot be written
)

// Refusal is why a record was not admitted: the rule, and where in the record.
type Refusal struct {
	Rule Rule
	// Path leads to the part at fault, such as "payload.items[3]"; "" when there
	// is no one part. It may hold names that a stranger chose, in ASCII.
	Path string
	// Detail says what is wrong and what to do; it never holds a value.
	Detail string
}

func (r *Refusal) Error() string {
	if r.Path == "" {
		return fmt.Sprintf("%s: %s", r.Rule, r.Detail)
	}
	return fmt.Sprintf("%s: %s: %s", r.Rule, r.Path, r.Detail)
}

// reservedTypes are the prefixes of types that only trusted code may admit.
var reservedTypes = []string{"memory.", "thread."}

// IsReserved reports whether a type takes a policy to be admitted.
func IsReserved(typ string) bool {
	return slices.ContainsFunc(reservedTypes, func(prefix string) bool { return strings.HasPrefix(typ, prefix) })
}

// Admission is what a record is judged against.
type Admission struct {
	// Base is the ledger on the branch, or the one an agent serves.
	Base *Ledger
	// Now is the time of the judge.
	Now time.Time
	// Allow admits a reserved type; nil admits none.
	Allow func(typ string) bool
	// Payload judges the payload of a record whose type is not reserved, once it is
	// known to be strict; nil takes all. It is where a payload schema goes.
	Payload func(payload []byte) *Refusal
}

// Admit judges candidates, in an order in which parents come first, and returns
// one verdict for each: nil is admission. It is the one gate that everything a
// stranger wants recorded passes, whether it asks to append or staged a line
// (specification, sections 3 and 8). A record whose parent was refused is
// refused too; of two candidates with one id neither is admitted.
func (a Admission) Admit(candidates []Record) []*Refusal {
	verdicts := make([]*Refusal, len(candidates))
	uses := make(map[string]int, len(candidates))
	for _, r := range candidates {
		uses[r.ID()]++
	}
	admitted := make(map[Hash]int, len(candidates))
	for i, r := range candidates {
		if verdicts[i] = a.judge(r); verdicts[i] != nil {
			continue
		}
		if uses[r.ID()] > 1 {
			verdicts[i] = &Refusal{RuleID, "id", "staged more than once"}
			continue
		}
		for j, parent := range r.Parents() {
			if _, staged := admitted[parent]; !staged && !a.Base.Has(parent) {
				verdicts[i] = &Refusal{RuleParent, fmt.Sprintf("parents[%d]", j), "neither on the branch nor admitted with this record"}
				break
			}
		}
		if verdicts[i] == nil {
			admitted[r.SHA()] = i
		}
	}
	limitHeads(candidates, verdicts, admitted)
	return verdicts
}

// judge applies the rules that look at one record only.
func (a Admission) judge(r Record) *Refusal {
	limits := a.Base.Limits()
	if n := len(r.Line()) + 1; n > limits.MaxRecordBytes {
		return &Refusal{RuleRecordSize, "", fmt.Sprintf("record is %d bytes, max-record-kb allows %d: store less in one record", n, limits.MaxRecordBytes)}
	}
	if refusal := a.judgeType(r.Type()); refusal != nil {
		return refusal
	}
	if _, refusal := StrictPayload(r.Payload()); refusal != nil {
		return refusal
	}
	if a.Payload != nil && !IsReserved(r.Type()) {
		if refusal := a.Payload(r.Payload()); refusal != nil {
			return refusal
		}
	}
	if !strings.HasPrefix(r.ID(), idPrefix) {
		return &Refusal{RuleID, "id", "must start with " + idPrefix}
	}
	if a.Base.Has(r.SHA()) {
		return &Refusal{RuleKnown, "sha", "this record is on the branch already"}
	}
	if a.Base.HasID(r.ID()) {
		return &Refusal{RuleID, "id", "another record on the branch has this id"}
	}
	t, ok := ParseTime(r.Timestamp())
	if !ok {
		return &Refusal{RuleFuture, "timestamp", "must have a year of four digits"}
	}
	if t.Sub(a.Now) > MaxFutureSeconds*time.Second {
		return &Refusal{RuleFuture, "timestamp", fmt.Sprintf("more than %d seconds in the future", MaxFutureSeconds)}
	}
	return nil
}

func (a Admission) judgeType(typ string) *Refusal {
	if n := canonical.Units(typ); n < 1 || n > MaxTypeUnits {
		return &Refusal{RuleType, "type", fmt.Sprintf("must have 1 to %d characters, has %d", MaxTypeUnits, n)}
	}
	if !utf8.ValidString(typ) {
		return &Refusal{RuleType, "type", "has an unpaired surrogate"}
	}
	if strings.ContainsFunc(typ, unicode.IsControl) {
		return &Refusal{RuleType, "type", "has a control character"}
	}
	if IsReserved(typ) && (a.Allow == nil || !a.Allow(typ)) {
		return &Refusal{RuleReserved, "type", "types of memory.* and thread.* are written by their own tools and jobs only"}
	}
	return nil
}

// StrictPayload reads a payload that a stranger sent as JSON text and returns its
// canonical text.
func StrictPayload(payload []byte) ([]byte, *Refusal) {
	v, err := canonical.ParseStrict(payload, MaxPayloadDepth)
	if err == nil {
		payload, err = v.Text()
	}
	if err == nil {
		return payload, nil
	}
	fault := err.(*canonical.Error)
	detail := string(fault.Rule)
	if fault.Rule == canonical.Depth {
		detail = fmt.Sprintf("nested more than %d deep: it could never be compacted", MaxPayloadDepth)
	}
	return nil, &Refusal{RulePayload, "payload" + fault.Path, detail}
}

// limitHeads keeps the MaxNewHeads heads whose histories are longest, with their
// ancestors, and refuses what leads to other heads only.
func limitHeads(candidates []Record, verdicts []*Refusal, admitted map[Hash]int) {
	level := make([]int, len(candidates))
	isParent := make([]bool, len(candidates))
	for i, r := range candidates {
		if verdicts[i] != nil {
			continue
		}
		for _, parent := range r.Parents() {
			if p, staged := admitted[parent]; staged {
				isParent[p] = true
				level[i] = max(level[i], level[p]+1)
			}
		}
	}
	var heads []int
	for i := range candidates {
		if verdicts[i] == nil && !isParent[i] {
			heads = append(heads, i)
		}
	}
	if len(heads) <= MaxNewHeads {
		return
	}
	slices.SortStableFunc(heads, func(a, b int) int { return level[b] - level[a] })
	keep := make([]bool, len(candidates))
	for _, i := range heads[:MaxNewHeads] {
		keep[i] = true
	}
	for i := len(candidates) - 1; i >= 0; i-- {
		if !keep[i] {
			continue
		}
		for _, parent := range candidates[i].Parents() {
			if p, staged := admitted[parent]; staged {
				keep[p] = true
			}
		}
	}
	for i := range candidates {
		if verdicts[i] == nil && !keep[i] {
			verdicts[i] = &Refusal{RuleHeads, "", fmt.Sprintf("staging adds %d heads, at most %d are admitted: append to what is there", len(heads), MaxNewHeads)}
		}
	}
}
