package txlog

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/repo-memory/ledger/pkg/regular"
	"github.com/repo-memory/ledger/pkg/safeoutput"
)

// Report is what a merge did. Nothing in it was chosen by who wrote the log but
// the counts.
type Report struct {
	// Added lines were appended to the safe-output file, Present ones stood there
	// already.
	Added, Present int
	// Duplicate counts events for a digest that was seen before, Dropped all
	// other lines that were not kept; Faults names the first [MaxFaults] of those.
	Duplicate, Dropped int
	Faults             []Fault
	// Conflicts counts events that name an id under another digest than an
	// earlier event did. Both are kept: which one is real, only the shards say.
	Conflicts int
	// Info is one sentence on the outcome, Warnings what a person should look at.
	Info     string
	Warnings []string
}

func (r *Report) warnf(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// Merge appends the events of the transaction log at logPath to the safe-output
// file at outputPath, which it creates if there is something to write. It never
// fails and changes nothing that stands in the output (specification, section
// 5.2); whatever is wrong is a warning in the Report. An empty outputPath, and a
// log that does not exist, are no warning.
func Merge(logPath, outputPath string) Report {
	if outputPath == "" {
		return Report{Info: "No safe-output file configured; skipping ledger audit merge"}
	}
	return unfailing(func() Report { return merge(logPath, outputPath) })
}

const nothing = "No ledger audit entries to merge"

// unfailing turns a panic into a warning: the log is hostile and the step must
// not fail, so that a fault of ours is a gap like any other.
func unfailing(merge func() Report) (r Report) {
	defer func() {
		if recover() != nil {
			r = Report{Info: nothing, Warnings: []string{"Ledger audit merge met an internal fault; skipping ledger audit merge"}}
		}
	}()
	return merge()
}

func merge(logPath, outputPath string) Report {
	r := Report{Info: nothing}
	log := readLog(logPath, outputPath, &r)
	g := newGatherer()
	number := 0
	for line := range bytes.Lines(log) {
		number++
		if line = bytes.TrimFunc(line, safeoutput.IsBlank); len(line) == 0 {
			continue
		}
		if number > maxLines {
			g.drop(number, "more lines than are read")
			continue
		}
		g.add(number, line)
	}
	r.Duplicate, r.Dropped, r.Faults, r.Conflicts = g.duplicate, g.dropped, g.faults, g.conflicts
	if g.dropped > 0 {
		r.warnf("Dropped %d malformed or excess ledger audit %s", g.dropped, plural(g.dropped))
	}
	if len(g.events) == 0 {
		return r
	}
	entries := make([][]byte, len(g.events))
	for i, e := range g.events {
		entries[i] = e.Entry()
	}
	added, present, err := appendEntries(outputPath, logPath, entries)
	if err != nil {
		r.warnf("Safe-output file: %v; skipping ledger audit merge", err)
		return r
	}
	r.Added, r.Present = added, present
	r.Info = fmt.Sprintf("Merged %d ledger audit %s into the safe-output file", added, plural(added))
	if present > 0 {
		r.Info += fmt.Sprintf("; %d already there", present)
	}
	return r
}

func plural(n int) string {
	if n == 1 {
		return "entry"
	}
	return "entries"
}

// readLog returns the bytes of the log, nil where there is none to merge.
func readLog(logPath, outputPath string, r *Report) []byte {
	if logPath == "" {
		return nil
	}
	f, err := regular.Open(logPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		r.warnf("Ledger transaction log %s; skipping ledger audit merge", complaint(err))
		return nil
	}
	defer f.Close()
	if same(f, outputPath) {
		r.warnf("Ledger transaction log is the safe-output file itself; skipping ledger audit merge")
		return nil
	}
	data, err := regular.Read(f, MaxLogBytes)
	if err != nil {
		r.warnf("Ledger transaction log %s; skipping ledger audit merge", complaint(err))
		return nil
	}
	return data
}

// complaint says what is wrong with the log, as the end of a sentence.
func complaint(err error) string {
	switch {
	case errors.Is(err, regular.ErrKind):
		return "is not a regular file"
	case errors.Is(err, regular.ErrLinked):
		return "has more than one link"
	case errors.Is(err, regular.ErrTooLarge):
		return fmt.Sprintf("exceeds %d bytes", MaxLogBytes)
	}
	return "cannot be read"
}

// same reports whether the open file is what path leads to, links followed.
func same(f *os.File, path string) bool {
	a, errA := f.Stat()
	b, errB := os.Stat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}
