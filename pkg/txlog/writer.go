package txlog

import (
	"fmt"
	"os"
	"sync"

	"github.com/repo-memory/ledger/pkg/regular"
)

// Writer appends events to a transaction log. It may be used from several
// goroutines, and several Writers, in one process or many, may share a log.
type Writer struct {
	mu   sync.Mutex
	path string
	file *os.File
}

// OpenWriter opens the log at path, which it creates with mode 0600 and durably
// if it is missing. It takes no link, no file with a second name and nothing that
// is not a regular file. The error names no path.
func OpenWriter(path string) (*Writer, error) {
	f, err := openAppend(path)
	if err != nil {
		return nil, fmt.Errorf("transaction log cannot be opened: %w", err)
	}
	if err := syncFolder(path); err != nil {
		f.Close()
		return nil, fmt.Errorf("transaction log cannot be synced: %w", err)
	}
	return &Writer{path: path, file: f}, nil
}

// Append writes one event after a durable append and syncs it. An error means a
// gap in the log and never that the append failed: it is reported apart
// (specification, section 5.2). It shows neither path nor payload. A log that
// would pass [MaxLogBytes] is full.
func (w *Writer) Append(e Event) error {
	if err := e.check(); err != nil {
		return fmt.Errorf("transaction log takes no such event: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	info, err := w.file.Stat()
	if err != nil {
		return fmt.Errorf("transaction log cannot be written: %w", regular.Cause(err))
	}
	// Someone may have removed, linked or replaced the log since it was opened;
	// what is written to it then would be read by nobody.
	if now, err := os.Lstat(w.path); err != nil || !os.SameFile(info, now) {
		return fmt.Errorf("transaction log cannot be written: %w", regular.ErrChanged)
	}
	if err := regular.Check(w.file, info); err != nil {
		return fmt.Errorf("transaction log cannot be written: %w", err)
	}
	text := append(e.Line(), '\n')
	torn, err := endsTorn(w.file, info.Size())
	if err != nil {
		return fmt.Errorf("transaction log cannot be written: %w", err)
	}
	if torn {
		text = append([]byte("\n"), text...)
	}
	if info.Size()+int64(len(text)) > MaxLogBytes {
		return fmt.Errorf("transaction log is full: %d bytes of %d; let the run end and start another", info.Size(), MaxLogBytes)
	}
	if _, err := w.file.Write(text); err != nil {
		return fmt.Errorf("transaction log cannot be written: %w", regular.Cause(err))
	}
	if err := w.file.Sync(); err != nil {
		return fmt.Errorf("transaction log cannot be synced: %w", regular.Cause(err))
	}
	return nil
}

// Close closes the log; its events stand already.
func (w *Writer) Close() error { return w.file.Close() }
