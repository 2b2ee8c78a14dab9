// Package staging is the agreement between the role that prepares an agent's
// folder and the role that persists what the agent left there: which files stand
// where, and the manifest that says that there was such a run at all.
//
// # Files
//
// With DIR the agent's folder, named like the ledger:
//
//	DIR/ledger/shards/...     restored shards (mode 0444) and those of this run
//	DIR/...                   ordinary memory files
//	DIR.manifest.json         the manifest
//	DIR.transactions.jsonl    the transaction log
//	DIR.mcp.json              the configuration of MCP clients; stays on the machine
//	DIR.restored.json         the digests of the restored shards; stays on the machine
//
// No name starts with a dot, since artifacts leave hidden files out. DIR, the
// manifest and the log travel together as one artifact, whose root is the folder
// that DIR stands in.
//
// # Manifest
//
// One JSON object and a newline, with exactly these members:
//
//	version  1
//	ledger   the ledger's name
//	branch   its branch
//	base     the commit that was restored, "" when there was no branch
//	run      the workflow run's id, "" outside a workflow
//	attempt  the run's attempt, 0 outside a workflow
//	writer   a UUID version 4 made for this preparation
//
// A manifest is written by a step that the agent cannot run before, but stands
// where the agent can change it: it says what should be looked for and
// authorizes nothing.
package staging

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/regular"
)

const (
	// maxManifestBytes bounds a manifest, which takes some 400 bytes.
	maxManifestBytes = 4 << 10
	// maxRunDigits bounds a run id, a decimal that GitHub counts up.
	maxRunDigits = 20

	manifestVersion = 1
)

// ErrMissing: there is no manifest. The job that should have left it did not
// run, or its artifact is another one.
var ErrMissing = errors.New("there is no manifest beside the staging folder: run agent-ledger setup in the agent's job, and give persist that job's artifact")

// ManifestPath returns where the manifest of the agent's folder dir stands.
func ManifestPath(dir string) string { return filepath.Clean(dir) + ".manifest.json" }

// LogPath returns where the transaction log of the agent's folder dir stands.
func LogPath(dir string) string { return filepath.Clean(dir) + ".transactions.jsonl" }

// ConfigPath returns where the MCP clients' configuration for dir stands.
func ConfigPath(dir string) string { return filepath.Clean(dir) + ".mcp.json" }

// Manifest says what was prepared; see the package comment.
type Manifest struct {
	Version int    `json:"version"`
	Ledger  string `json:"ledger"`
	Branch  string `json:"branch"`
	Base    string `json:"base"`
	Run     string `json:"run"`
	Attempt int    `json:"attempt"`
	Writer  string `json:"writer"`
}

var (
	ledgerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	branchName = regexp.MustCompile(`^(ledgers|memory)/[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	commitID   = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})?$`)
	runID      = regexp.MustCompile(fmt.Sprintf(`^[0-9]{0,%d}$`, maxRunDigits))
)

// check refuses a member that has not its form.
func (m Manifest) check() error {
	bad := func(member string) error {
		return fmt.Errorf("manifest is invalid: member %s: prepare the folder again with agent-ledger setup", member)
	}
	switch {
	case m.Version != manifestVersion:
		return bad("version")
	case !ledgerName.MatchString(m.Ledger):
		return bad("ledger")
	case !branchName.MatchString(m.Branch):
		return bad("branch")
	case !commitID.MatchString(m.Base):
		return bad("base")
	case !runID.MatchString(m.Run):
		return bad("run")
	case m.Attempt < 0:
		return bad("attempt")
	case !ledger.IsUUID(m.Writer):
		return bad("writer")
	}
	return nil
}

// Write leaves the manifest of the agent's folder dir, in one step and in place
// of an earlier one. Version is filled in.
func Write(dir string, m Manifest) error {
	m.Version = manifestVersion
	if err := m.check(); err != nil {
		return err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("failed to write the manifest: %w", err)
	}
	path := ManifestPath(dir)
	if err := os.WriteFile(path+".pending", append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("failed to write the manifest: %w", regular.Cause(err))
	}
	if err := os.Rename(path+".pending", path); err != nil {
		return fmt.Errorf("failed to write the manifest: %w", regular.Cause(err))
	}
	return nil
}

// Read reads the manifest of the agent's folder dir, strictly and without
// following links. Errors are one line without paths; a manifest that is not
// there is ErrMissing.
func Read(dir string) (Manifest, error) {
	text, err := regular.ReadFile(ManifestPath(dir), maxManifestBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, ErrMissing
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("failed to read the manifest: %w", err)
	}
	var m Manifest
	if err := canonical.Decode(text, &m); err != nil {
		return Manifest{}, fmt.Errorf("manifest is invalid: %w", err)
	}
	if err := m.check(); err != nil {
		return Manifest{}, err
	}
	return m, nil
}
