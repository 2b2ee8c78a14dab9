package persist

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Bounds of what is read from a staging directory. Over one of them the
// directory counts as unreadable and nothing is persisted.
const (
	// maxEntries bounds files and folders together: as many as a ledger branch
	// may hold, since an unchanged restore of one is a staging too.
	maxEntries = 32_768
	// maxDepth bounds path elements, as a ledger branch does. What lies deeper is
	// rejected as one item, unread.
	maxDepth = 16
	// maxEntryBytes bounds one file: above the largest segment that can be
	// configured, and what a branch may hold. A larger one is rejected, unread.
	maxEntryBytes = 16 << 20
	// maxStagedBytes bounds all files together, which are held in memory; it is
	// the bound of a branch.
	maxStagedBytes = 512 << 20
	// maxPathBytes bounds the path of a memory file, so that it can be restored and
	// copied below the folders of any runner and system.
	maxPathBytes = 512
	// maxMemoryEntries bounds the memory files of a branch with their folders, at
	// half of what a branch may hold: shards always have the other half.
	maxMemoryEntries = 16_384
	// maxNameBytes bounds one path element, as common file systems do.
	maxNameBytes = 255

	// maxMadeBytes bounds what the admission of one staging adds beside it:
	// conflicts, 256 for each proposal and about 1 KiB each, and the chain. It is
	// apart from max-patch-kb, which bounds what an agent may add.
	maxMadeBytes = 8 << 20

	// readBatch is how many names are taken from a folder at a time, so that one
	// with millions of entries is left early.
	readBatch = 1024
)

const (
	// MaxListed is how many items each list of a [Report] names; all are counted.
	MaxListed = 1000
	// maxLinesListed is how many bad lines of one shard are named, so that 1,024
	// shards of newlines do not fill the memory with remarks.
	maxLinesListed = 100
)

// minRecordBytes is the length of the shortest line that can be a record: one
// with a bare id, no parents, a payload of one digit and a type of one letter.
// Shorter lines are refused unread, so that a shard of newlines costs a scan.
const minRecordBytes = len(`{"id":"00000000-0000-4000-8000-000000000000","parents":[],"payload":0,"sha":"sha256:` +
	`0000000000000000000000000000000000000000000000000000000000000000","timestamp":"2026-11-30T04:00:00.000Z","type":"a","version":1}`)

// FileLimits bound the ordinary memory files that one run adds or replaces.
// Sizes are in bytes; a zero field means its default.
type FileLimits struct {
	// MaxFileBytes bounds one file (max-file-kb).
	MaxFileBytes int
	// MaxFiles bounds how many files one run adds or replaces (max-file-count).
	MaxFiles int
	// MaxPatchBytes bounds what those files add (max-memory-patch-kb): the bytes
	// of their lines that the version on the branch does not have.
	MaxPatchBytes int
	// Extensions are the endings of names that are taken, each with its dot and
	// in lower case (allowed-extensions).
	Extensions []string
	// Globs are doublestar patterns; when there are any, a file must match one of
	// them with its path from the root (file-glob).
	Globs []string
}

// FileLimitSpecs describe the configured file limits as ledger.LimitSpecs does
// for the ledger's: name, unit, bounds and default.
var FileLimitSpecs = []struct {
	Name              string
	KiB               bool
	Min, Max, Default int
}{
	{"max-file-kb", true, 1, 10240, 100},
	{"max-file-count", false, 1, 10000, 100},
	{"max-memory-patch-kb", true, 1, 10240, 10},
}

// DefaultExtensions are the endings taken when the configuration says nothing.
var DefaultExtensions = []string{".json", ".jsonl", ".txt", ".md", ".csv"}

func (f FileLimits) withDefaults() FileLimits {
	set := func(field *int, spec int) {
		if *field == 0 {
			*field = FileLimitSpecs[spec].Default
			if FileLimitSpecs[spec].KiB {
				*field <<= 10
			}
		}
	}
	set(&f.MaxFileBytes, 0)
	set(&f.MaxFiles, 1)
	set(&f.MaxPatchBytes, 2)
	if f.Extensions == nil {
		f.Extensions = DefaultExtensions
	}
	return f
}

// InputError is a setting that cannot be meant.
type InputError struct {
	// Input is its name, such as file-glob.
	Input string
	// Problem says what is wrong and what is wanted, on one line.
	Problem string
}

func (e *InputError) Error() string { return e.Input + ": " + e.Problem }

// Check reports the first extension or glob that cannot be meant, as an
// *[InputError].
func (f FileLimits) Check() error {
	for _, ext := range f.Extensions {
		if len(ext) < 2 || ext[0] != '.' || strings.ContainsAny(ext[1:], `/\`) || ext != strings.ToLower(ext) {
			return &InputError{"allowed-extensions", printable(ext) + " is no extension: write it with its dot and in lower case, like .md"}
		}
	}
	for _, glob := range f.Globs {
		if !doublestar.ValidatePattern(glob) || strings.HasPrefix(glob, "/") {
			return &InputError{"file-glob", printable(glob) + " is no pattern of a path from the root, like notes/**/*.md"}
		}
	}
	return nil
}

// LimitError is a bound on the whole change, or on the staging directory, that
// was passed. Nothing is persisted then; the bound is never widened and nothing
// is cut to fit.
type LimitError struct {
	// Limit is the name of the input, or of the fixed bound.
	Limit string
	// What was measured, in words, such as "bytes of records".
	What string
	// Measured and Allowed are in the unit that What names.
	Measured, Allowed int64
	// Advice says what to do.
	Advice string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s: the change has %d %s, %d are allowed: %s", e.Limit, e.Measured, e.What, e.Allowed, e.Advice)
}

// warnLimits reports ledger limits above their file limit (specification,
// section 7). Only the size of one file has a counterpart among the ledger's
// limits that is meant alike: the other file limits count ordinary files alone.
func warnLimits(l ledger.Limits, f FileLimits) []string {
	if l.MaxSegmentBytes > f.MaxFileBytes {
		return []string{fmt.Sprintf("max-segment-kb (%d) exceeds max-file-kb (%d): whoever bounds the files of this branch by max-file-kb refuses its shards",
			l.MaxSegmentBytes>>10, f.MaxFileBytes>>10)}
	}
	return nil
}
