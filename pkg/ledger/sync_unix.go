//go:build unix

package ledger

import "os"

// syncFolder makes the names in a folder, or what a file holds that was opened
// for reading, durable.
func syncFolder(f *os.File) error { return f.Sync() }
