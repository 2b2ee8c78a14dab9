package mcptools

import (
	"context"
	"encoding/json"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// pins remembers which manifest was made under which idempotency key: a manifest
// has none itself.
type pins struct {
	made  map[string]pin
	order []string // oldest first
}

type pin struct{ arguments, manifest string }

func (p *pins) remember(key string, one pin) {
	if p.made == nil {
		p.made = map[string]pin{}
	}
	if len(p.order) == maxIdempotencyKeys {
		delete(p.made, p.order[0])
		p.order = p.order[1:]
	}
	p.made[key] = one
	p.order = append(p.order, key)
}

// contextAnswer is a context with what pins it.
type contextAnswer struct {
	Context  json.RawMessage `json:"context"`
	Digest   string          `json:"content_digest"`
	Manifest string          `json:"manifest_id,omitzero"`
	Records  []ledger.Hash   `json:"records,omitzero"`
}

func (m *memoryTools) contextAt(_ context.Context, arguments []byte) (answer, error) {
	var in struct {
		Ref      string  `json:"ref_name"`
		Head     string  `json:"head_changeset_id"`
		Time     *string `json:"at_time"`
		Query    string  `json:"query"`
		Max      *int    `json:"max_memories"`
		Tokens   *int    `json:"max_tokens"`
		Baseline bool    `json:"include_baseline"`
		Manifest *string `json:"manifest_id"`
		Pin      bool    `json:"pin"`
		Key      *string `json:"idempotency_key"`
	}
	if err := decodeArguments(arguments, &in); err != nil {
		return answer{}, err
	}
	if in.Pin {
		if err := checkKey(in.Key); err != nil {
			return answer{}, err
		}
	} else if in.Key != nil {
		return answer{}, refusal("invalid arguments: idempotency_key goes with pin true")
	}
	if err := m.sync(); err != nil {
		return answer{}, err
	}
	if in.Manifest != nil {
		if given, err := canonical.Parse(arguments); err != nil || len(given.Members) != 1 {
			return answer{}, refusal("invalid arguments: manifest_id says everything; give it alone")
		}
		return m.contextOf(*in.Manifest)
	}
	var sent string
	if in.Pin {
		if v, err := canonical.Parse(arguments); err == nil {
			text, _ := v.Text()
			sent = string(text)
		}
		if made, known := m.pins.made[*in.Key]; known && made.arguments != sent {
			return answer{}, refusal("idempotency_key was used for another request; nothing was recorded")
		} else if known {
			a, err := m.contextOf(made.manifest)
			a.remarks = append(a.remarks, replayed)
			return a, err
		}
		if err := m.mayWrite(); err != nil {
			return answer{}, err
		}
	}
	q := memory.ContextQuery{Project: m.Project, Query: in.Query, Baseline: in.Baseline}
	for _, bound := range []struct {
		given *int
		to    *int
	}{{in.Max, &q.MaxMemories}, {in.Tokens, &q.MaxTokens}} {
		if bound.given != nil {
			// 0 would mean the default to the package; here it was asked for.
			if *bound.to = *bound.given; *bound.given == 0 {
				*bound.to = -1
			}
		}
	}
	ref, err := m.ref("ref_name", in.Ref)
	if err != nil {
		return answer{}, err
	}
	q.Ref = ref.Name
	switch {
	case in.Head != "" && in.Time != nil:
		return answer{}, refusal("invalid arguments: give head_changeset_id or at_time, not both")
	case in.Head != "":
		if q.Head, err = m.resolve("head_changeset_id", in.Head); err != nil {
			return answer{}, err
		}
	case in.Time != nil:
		if _, ok := ledger.ParseTime(*in.Time); !ok {
			return answer{}, refusal("invalid arguments: at_time must be a time like 2026-11-30T08:00:00.000Z")
		}
		head, ok := m.state.RefAt(m.Project, ref.Name, *in.Time)
		if !ok {
			return answer{}, refusal("refused: unknown: the ref did not exist at that time")
		}
		q.Head = head
	}
	c, f, err := m.state.ContextAt(q)
	if err != nil {
		return answer{}, err
	}
	out := contextAnswer{Context: c.Text(), Digest: f.ContentDigest}
	var remarks []string
	if in.Pin {
		request, err := m.state.Pin(m.agent(), f)
		if err != nil {
			return answer{}, err
		}
		if out.Records, remarks, err = m.append(request); err != nil {
			return answer{}, err
		}
		out.Manifest = request.ID
		m.pins.remember(*in.Key, pin{sent, request.ID})
	}
	a, err := marshal(out)
	a.remarks = remarks
	return a, err
}

// contextOf makes a context again from its manifest.
func (m *memoryTools) contextOf(id string) (answer, error) {
	f, err := m.manifest(id)
	if err != nil {
		return answer{}, err
	}
	c, err := m.state.ContextOf(f)
	if err != nil {
		return answer{}, err
	}
	return marshal(contextAnswer{Context: c.Text(), Digest: f.ContentDigest, Manifest: f.ID})
}
