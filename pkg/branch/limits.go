package branch

import "time"

// Limits bounds what one branch may hold. The zero value of a field means its
// default. A branch over a bound is an error ([ErrTooLarge]), never cut.
type Limits struct {
	Entries    int   // files, directories and irregular entries together
	FileBytes  int64 // one file
	TotalBytes int64 // all files, each path counted
	Depth      int   // path components
}

const (
	// DefaultEntries admits the 8,192 shards that maintenance must be able to
	// read, a coverage declaration for each, and as many ordinary files.
	DefaultEntries = 32_768
	// DefaultFileBytes is above the largest segment that can be configured
	// (10,240 KiB), with room for files that others keep on the branch.
	DefaultFileBytes = 16 << 20
	// DefaultTotalBytes is what a runner can hold in memory twice; 8,192
	// shards of 48 KiB, or 1,024 of 384 KiB, are well below it.
	DefaultTotalBytes = 512 << 20
	// DefaultDepth is five times what the ledger layout needs.
	DefaultDepth = 16
)

const (
	// maxPathBytes bounds one path; a file system takes no longer one.
	maxPathBytes = 4096
	// maxNameBytes bounds one component, as common file systems do.
	maxNameBytes = 255
	// maxURLBytes bounds a remote; longer ones are mistakes.
	maxURLBytes = 2048
	// maxTokenBytes bounds a token; servers refuse longer headers anyway.
	maxTokenBytes = 8192

	// maxAdvertisementBytes bounds the list of references that a server sends
	// first: about 400,000 references.
	maxAdvertisementBytes = 64 << 20
	// maxTreeBytes bounds one directory object: 32,768 entries with long names.
	maxTreeBytes = 8 << 20
	// maxTreesBytes bounds all directory objects of one pack.
	maxTreesBytes = 64 << 20
	// maxCommitBytes bounds one commit object; messages are a few lines.
	maxCommitBytes = 1 << 20
	// maxCommitsBytes bounds all commit objects of one pack, and so the length
	// of a walk that proves an ancestry: about a million commits.
	maxCommitsBytes = 256 << 20
	// packSlack is what a pack may be larger than the files in it: headers, and
	// directories and commits, which have bounds of their own.
	packSlack = 64 << 20

	// maxHistoryPackBytes bounds the compressed history that an audit spools to
	// disk, as large as repositories on common hosts are meant to be.
	maxHistoryPackBytes = 2 << 30
	// maxHistoryObjects bounds what an audit indexes in memory, some 300 bytes
	// each.
	maxHistoryObjects = 2_000_000
	// maxHistoryBytes bounds the work of inflating a history once.
	maxHistoryBytes = 64 << 30
	// historyCacheBytes is what an audit keeps inflated at a time.
	historyCacheBytes = 64 << 20

	// maxDiagnosticBytes bounds what is kept of a child's or a server's
	// complaint.
	maxDiagnosticBytes = 2048

	// conversationTime bounds one fetch or push as a whole, so that a server
	// that stops answering cannot hold a job for hours.
	conversationTime = 10 * time.Minute
	// connectTime bounds reaching a server at all.
	connectTime = 15 * time.Second
	// answerTime bounds the wait for the first byte of an answer; hooks of a
	// server run inside it.
	answerTime = 3 * time.Minute
	// childGrace is how long a cancelled or finished git child may take to end.
	childGrace = 5 * time.Second
)

func (l Limits) withDefaults() Limits {
	if l.Entries == 0 {
		l.Entries = DefaultEntries
	}
	if l.FileBytes == 0 {
		l.FileBytes = DefaultFileBytes
	}
	if l.TotalBytes == 0 {
		l.TotalBytes = DefaultTotalBytes
	}
	if l.Depth == 0 {
		l.Depth = DefaultDepth
	}
	return l
}
