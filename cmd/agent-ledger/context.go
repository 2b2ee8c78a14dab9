package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/mcptools"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
	"github.com/repo-memory/ledger/pkg/staging"
	"github.com/repo-memory/ledger/pkg/txlog"
)

// inputsContext ask for the accepted memory as a text for a prompt.
var inputsContext = []action.Input{
	{Name: "context-path", Kind: action.Path, Empty: "no such file is written",
		Help: "File that accepted memory is written to as Markdown for a prompt, marked as data; it takes memory-policy and memory-project."},
	{Name: "context-query", Empty: "the most recent memory comes first",
		Help: "Words by which the memory in context-path is ranked."},
}

var contextOutputs = []action.Output{
	{Name: "context-manifest", Help: "Id of the manifest that pins the memory in context-path; empty when there is no such file or nothing is accepted yet."},
	{Name: "context-digest", Help: "Digest of the context that the manifest pins; empty without one."},
}

// pinned is a context that was written.
type pinned struct{ manifest, digest string }

func (p pinned) report(a *action.Action) {
	a.SetOutput("context-manifest", p.manifest)
	a.SetOutput("context-digest", p.digest)
}

// writeContext writes the memory accepted at the head of shared main and stages
// the manifest that pins it.
func writeContext(a *action.Action, g *memoryrun.Agent, dir string, limits ledger.Limits) (out pinned, err error) {
	path := a.GetInput("context-path")
	if path == "" {
		return out, nil
	}
	if a.GetInput("memory-policy") == "" || a.GetInput("memory-project") == "" {
		return out, action.BadInput("context-path", "there is no reviewed memory to write: give memory-policy and memory-project")
	}
	if g == nil { // the warning says why; a prompt that includes the file still works
		return out, leave(path, "## Reviewed memory\n\nThis run has none.\n")
	}
	m := memoryOf(*g, dir)
	w, err := ledger.NewWriter(dir, limits, ledger.WriterOptions{Restored: m.Restored, Allow: allow(m)})
	if err != nil {
		return out, err
	}
	defer w.Close()
	s := memory.Fold(w.Ledger)
	if _, begun := s.Ref(g.Project, memory.SharedMain); !begun {
		return out, leave(path, "## Reviewed memory of "+g.Project+"\n\nNothing is accepted yet.\n")
	}
	c, manifest, err := s.ContextAt(memory.ContextQuery{Project: g.Project, Ref: memory.SharedMain, Query: a.GetInput("context-query")})
	if err != nil {
		return out, fmt.Errorf("the context cannot be made: %w", err)
	}
	if out.manifest, err = stagePin(w, s, m, manifest, dir, limits); err != nil {
		return out, err
	}
	out.digest = manifest.ContentDigest
	return out, leave(path, c.Markdown(out.manifest))
}

// stagePin appends the manifest as the server would, with its event. A policy that
// stops every writer leaves the context without one.
func stagePin(w *ledger.Writer, s *memory.State, m *mcptools.Memory, manifest *memory.Manifest, dir string, limits ledger.Limits) (string, error) {
	entry, refused := m.Policy.Writer(m.Principal)
	if refused != nil || s.Authorizes() != nil {
		return "", nil
	}
	q, err := s.Pin(memory.Agent{Principal: entry, Surface: "setup", Session: m.Session, Now: time.Now(), Random: m.Random, Limits: limits, Parents: len(w.Heads())}, manifest)
	if err != nil {
		return "", fmt.Errorf("the context cannot be pinned: %w", err)
	}
	log, err := txlog.OpenWriter(staging.LogPath(dir))
	if err != nil {
		return "", err
	}
	defer log.Close()
	for _, d := range q.Records {
		r, err := w.Append(d.Type, d.Payload)
		if err == nil {
			err = audit{log}.Append(r)
		}
		if err != nil {
			return "", fmt.Errorf("the context cannot be pinned: %w", err)
		}
	}
	return q.ID, nil
}

// leave writes a file of ours; what stands there is replaced, a link is not
// followed.
func leave(path, text string) error {
	failed := action.BadInput("context-path", "cannot be written; give the path of a file in a folder that can be written to")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return failed
	}
	f, err := os.CreateTemp(filepath.Dir(path), "context-*")
	if err != nil {
		return failed
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return failed
	}
	return nil
}
