package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// removePlan removes what an earlier run left at the plan's path.
func removePlan(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.New("a file of an earlier run stands in the plan's place and cannot be removed; give another path as plan")
	}
	return nil
}

// writePlan writes the plan whole or not at all.
func writePlan(path string, text []byte) error {
	failed := errors.New("the plan file cannot be written; give the path of a file in a writable directory as plan")
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return failed
	}
	f, err := os.CreateTemp(dir, ".plan-*")
	if err != nil {
		return failed
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return failed
	}
	return nil
}
