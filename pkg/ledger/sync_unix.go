//go:build unix

package ledger

import "os"

// syncFolder makes the names in a folder durable.
func syncFolder(f *os.File) error { return f.Sync() }
