// Command persist publishes what an agent staged. It takes the whole staging for
// hostile: records pass the one admission and are written anew, memory files are
// judged by name, size and text, and what is left is one commit guarded by the
// head that it was made for (specification, sections 3, 5.5 and 8). It never
// compacts.
package main

import (
	"context"
	"errors"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/persist"
	"github.com/repo-memory/ledger/pkg/publish"
	"github.com/repo-memory/ledger/pkg/schema"
	"github.com/repo-memory/ledger/pkg/script"
	"github.com/repo-memory/ledger/pkg/staging"
	"github.com/repo-memory/ledger/pkg/txlog"
)

func main() { action.Main(role, run) }

func run(ctx context.Context, a *action.Action) error {
	p := &persister{Action: a, outcome: persistedFalse}
	err := p.configure()
	if err == nil {
		err = p.readTrusted()
	}
	if err == nil {
		err = p.readMemory()
	}
	if err == nil {
		err = p.publishTrusted(ctx)
	}
	if err == nil {
		err = p.persist(ctx)
	}
	p.tell(err)
	return err
}

// What the output persisted says.
const (
	persistedTrue  = "true"
	persistedNone  = "none"
	persistedFalse = "false"
)

// persister is one run of the role.
type persister struct {
	*action.Action
	remote branch.Remote
	write  publish.Options
	dir    string
	limits ledger.Limits
	files  persist.FileLimits
	schema *schema.Schema // nil: every payload is taken
	script []byte         // nil: none

	manifest staging.Manifest
	base     string          // commit that the staging was restored from, "" for none
	log      *txlog.Listing  // nil: none
	seen     ledger.Snapshot // the one that the last change was made for
	verdict  verdict
	trusted  trusted
	memory   persist.Memory

	outcome string
	report  persist.Report
	update  publish.Result
}

// configure reads the inputs.
func (p *persister) configure() error {
	var err error
	p.dir = p.GetInput("directory")
	if p.remote, p.write, err = publish.FromInputs(p.Action); err != nil {
		return err
	}
	if p.limits, err = ledger.ParseLimits(p.GetInput); err != nil {
		return action.BadInput("max-record-kb", "%v", err)
	}
	p.files = persist.FileLimits{
		MaxFileBytes: p.BytesInput("max-file-kb"), MaxFiles: p.IntInput("max-file-count"), MaxPatchBytes: p.BytesInput("max-memory-patch-kb"),
		Extensions: p.ListInput("allowed-extensions"), Globs: p.ListInput("file-glob"),
	}
	var bad *persist.InputError
	if errors.As(p.files.Check(), &bad) {
		return action.BadInput(bad.Input, "%s", bad.Problem)
	}
	if file := p.GetInput("payload-schema"); file != "" {
		if p.schema, err = schema.ReadFile(file); err != nil {
			return action.BadInput("payload-schema", "%v", err)
		}
	}
	if file := p.GetInput("validation-script"); file != "" {
		if p.script, err = script.ReadFile(file); err != nil {
			return action.BadInput("validation-script", "%v", err)
		}
	}
	return nil
}
