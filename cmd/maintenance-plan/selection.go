package main

import (
	"context"
	"strings"

	"github.com/repo-memory/ledger/pkg/compaction"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/script"
)

// What became of the selection script.
const (
	scriptNone   = "none"
	scriptRan    = "ran"
	scriptFailed = "failed"
)

// selectByScript asks the workflow author's script. Whatever goes wrong with it
// is a warning and no plan: compaction fails open, and the built-in selection
// can serve the next run. Only a cancelled run is an error.
func (p *planner) selectByScript(ctx context.Context, path string) error {
	offered, reason := p.inventory.Offer()
	if reason != "" {
		p.selection = compaction.Selection{Eligible: len(offered), Reason: reason}
		return nil
	}
	sources, err := p.callScript(ctx, path, offered)
	if err == nil {
		p.selection, err = p.inventory.Propose(sources)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	p.script = scriptRan
	if err != nil {
		p.script = scriptFailed
		p.selection = compaction.Selection{Eligible: len(offered), Reason: "the selection script gave no selection"}
		p.Warningf("no plan: %v; without selection-script the built-in selection serves", err)
	}
	return nil
}

func (p *planner) callScript(ctx context.Context, path string, offered []compaction.Segment) ([]string, error) {
	source, err := script.ReadFile(path)
	if err != nil {
		return nil, err
	}
	// The branch is read; from here on nobody needs the token.
	if err := script.ScrubEnv(); err != nil {
		return nil, err
	}
	selection, err := script.Select(ctx, script.Options{}, source, describe(offered), script.SelectionOptions{
		Ledger: p.config.Ledger, Branch: p.config.Branch, Trigger: string(p.trigger),
		MinSegments: p.config.MinSegments, MaxSegments: p.config.MaxSegments, MaxSegmentBytes: int64(p.config.MaxSegmentBytes),
	})
	for _, notice := range selection.Notices {
		p.Noticef("%s", notice)
	}
	if selection.PrintedBytes > 0 {
		p.Infof("the selection script printed %d bytes, which are not shown", selection.PrintedBytes)
	}
	return selection.Sources, err
}

// describe is what the script learns of the segments: no payload.
func describe(segments []compaction.Segment) []script.Segment {
	described := make([]script.Segment, len(segments))
	for i, s := range segments {
		d := script.Segment{ID: s.ID, SHA256: s.SHA256.String(), Bytes: int64(s.Bytes), Types: map[string]int{}}
		for _, r := range s.Records {
			d.Records = append(d.Records, r.SHA().String())
			// A type that is no UTF-8 must not keep the script from running.
			d.Types[strings.ToValidUTF8(r.Type(), "\ufffd")]++
			at := r.Timestamp()
			if _, ok := ledger.ParseTime(at); !ok {
				continue // a year that no clock of a runner shows
			}
			if d.Oldest == "" || at < d.Oldest {
				d.Oldest = at
			}
			d.Newest = max(d.Newest, at)
		}
		described[i] = d
	}
	return described
}
