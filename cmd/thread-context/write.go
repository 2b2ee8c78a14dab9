package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/regular"
)

// The files below the directory.
const (
	contextFile  = "context.md"
	stateFile    = "state.json"
	stagedFolder = "staged"
)

// mustBeFree refuses a folder that holds something already, which would travel as
// if it were of this run.
func mustBeFree(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return nil // made later, or an error then
	}
	entries, err := os.ReadDir(dir)
	switch {
	case !info.IsDir() || err != nil:
		return action.BadInput("directory", "is no folder that can be read, or a link; give another one")
	case len(entries) > 0:
		return action.BadInput("directory", "is not empty; give another one, or remove what an earlier run left there")
	}
	return nil
}

// write leaves the files, or none of them.
func (r *runner) write() (err error) {
	files := map[string][]byte{contextFile: []byte(r.rendered.Text), stateFile: r.state}
	for path, content := range r.staging.Files {
		files[stagedFolder+"/"+path] = content
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(r.dir)
		}
	}()
	if err := os.MkdirAll(filepath.Join(r.dir, stagedFolder), 0o755); err != nil {
		return fmt.Errorf("the directory cannot be made: %w", regular.Cause(err))
	}
	for path, content := range files {
		if err := writeNew(filepath.Join(r.dir, filepath.FromSlash(path)), content); err != nil {
			return fmt.Errorf("%s cannot be written: %w", path, regular.Cause(err))
		}
	}
	return nil
}

func writeNew(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if end := f.Close(); err == nil {
		err = end
	}
	return err
}
