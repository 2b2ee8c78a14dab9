package main

import (
	"context"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/persist"
	"github.com/repo-memory/ledger/pkg/script"
)

// verdict is what the validation script did, over all heads that it was asked for.
type verdict struct {
	runs    int
	printed int64  // bytes, never shown
	reason  string // of a rejection: untrusted text
	notices map[string]bool
}

// validator runs the workflow author's script on what is about to be committed;
// nil when there is none.
func (p *persister) validator(ctx context.Context) func([]persist.File, []ledger.Record) error {
	if p.script == nil {
		return nil
	}
	return func(files []persist.File, records []ledger.Record) error {
		// The token was read; the script must not find it, wherever it looks.
		if err := script.ScrubEnv(); err != nil {
			return err
		}
		var input script.ValidationInput
		for _, f := range files {
			input.Files = append(input.Files, script.File{Path: f.Path, Text: f.Text})
		}
		for _, r := range records {
			input.Records = append(input.Records, r.Line())
		}
		report, err := script.Validate(ctx, script.Options{}, p.script, input)
		v := &p.verdict
		v.runs, v.printed, v.reason = v.runs+1, v.printed+report.PrintedBytes, report.Reason
		for _, notice := range report.Notices {
			if v.notices == nil {
				v.notices = map[string]bool{}
			}
			if !v.notices[notice] {
				v.notices[notice] = true
				p.Noticef("%s", notice)
			}
		}
		return err
	}
}
