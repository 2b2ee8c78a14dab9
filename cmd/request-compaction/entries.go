package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/safeoutput"
)

// requestType is the type of every entry that is ours.
const requestType = "ledger_request_compaction"

// request is one ledger to be compacted. Reason is the agent's own text.
type request struct {
	entry          int
	ledger, reason string
}

// rejection is an entry that asks for nothing; why shows nothing of it.
type rejection struct {
	entry int
	why   string
}

// choice is what the entries come to.
type choice struct {
	requests []request
	rejected []rejection
	// repeated entries ask for a ledger that was asked for; other ones are not ours.
	repeated, other int
}

// wireRequest is an entry as JSON.
type wireRequest struct {
	Type   string                    `json:"type"`
	Ledger *string                   `json:"ledger"`
	Reason *string                   `json:"reason"`
	Others map[string]jsontext.Value `json:",embed"`
}

// choose reads a safe output.
func choose(data []byte, c config) choice {
	var out choice
	for number, text := range safeoutput.Entries(data) {
		if number > maxEntries {
			out.rejected = append(out.rejected, rejection{number, fmt.Sprintf("more than %d entries; the rest is not read", maxEntries)})
			break
		}
		r, ours, err := parse(text, c.ledgers)
		switch {
		case !ours:
			out.other++
		case err != nil:
			out.rejected = append(out.rejected, rejection{number, err.Error()})
		case slices.ContainsFunc(out.requests, func(o request) bool { return o.ledger == r.ledger }):
			out.repeated++
		case len(out.requests) == c.max:
			out.rejected = append(out.rejected, rejection{number, fmt.Sprintf("over the limit of %d for one run", c.max)})
		default:
			r.entry = number
			out.requests = append(out.requests, r)
		}
	}
	return out
}

// parse reads one entry. What cannot be read is ours when it names our type: a
// request that is spelled badly should not vanish without a word.
func parse(text []byte, ledgers []string) (r request, ours bool, err error) {
	named := bytes.Contains(text, []byte(requestType))
	if len(text) > maxEntryBytes {
		return r, named, fmt.Errorf("%d bytes, over the limit of %d", len(text), maxEntryBytes)
	}
	var head struct {
		Type string `json:"type"`
	}
	if err := canonical.Decode(text, &head, canonical.AllowUnknown); err != nil {
		return r, named, errors.New("not a strict JSON object with a type: " + safeoutput.Rule(err))
	}
	if head.Type != requestType {
		return r, false, nil
	}
	var w wireRequest
	if err := canonical.Decode(text, &w, canonical.AllowUnknown); err != nil {
		return r, true, errors.New("ledger and reason must be texts: " + safeoutput.Rule(err))
	}
	if safeoutput.LookAlike(w.Others, "type", "ledger", "reason") {
		return r, true, errors.New("a member name that can be taken for another one")
	}
	if w.Reason != nil {
		if r.reason = *w.Reason; len(r.reason) > maxReasonBytes {
			return r, true, fmt.Errorf("reason of %d bytes, over the limit of %d", len(r.reason), maxReasonBytes)
		}
	}
	switch {
	case w.Ledger != nil && *w.Ledger != "":
		r.ledger = *w.Ledger
	case len(ledgers) == 1:
		r.ledger = ledgers[0]
	default:
		return r, true, errors.New("ledger is missing, and there is more than one")
	}
	if !slices.Contains(ledgers, r.ledger) {
		return r, true, errors.New("ledger is none of those that may be asked for")
	}
	return r, true, nil
}
