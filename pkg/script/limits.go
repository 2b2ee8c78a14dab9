package script

import "time"

const (
	// MaxScriptBytes bounds a script's source; it is the bound that the reference
	// runtime puts on a script in a workflow file.
	MaxScriptBytes = 64 << 10

	// MaxInputBytes bounds the JSON that a script is given. It is three times what
	// the largest change may hold, and its parsed form fits maxOldSpaceMiB.
	MaxInputBytes = 32 << 20

	// MaxSources bounds a selection; a compaction never takes more segments.
	MaxSources = 256

	// MaxReasonBytes bounds the reason of a rejection: a sentence, not a report.
	MaxReasonBytes = 500

	// DefaultTimeout is how long a script may run, from the start of its process.
	DefaultTimeout = 30 * time.Second

	// MaxTimeout is the longest that a caller may allow: persistence repeats the
	// script on every rebuild, and a job has hours at most.
	MaxTimeout = 10 * time.Minute
)

const (
	// maxResultBytes bounds the line on descriptor 3: 256 ids take 10 KB. It is
	// less than a pipe holds, so the harness cannot block on it.
	maxResultBytes = 32 << 10

	// maxPrintedBytes bounds standard output and error together. Nothing reads
	// them; a script that prints more is in a loop.
	maxPrintedBytes = 1 << 20

	// maxOldSpaceMiB is V8's heap. 32 MiB of small records parse into about 200 MiB.
	maxOldSpaceMiB = 512

	// maxDataBytes is RLIMIT_DATA, which counts private writable memory and so
	// bounds Buffers. Node 24 and 25 map 0.6 GB of it at start, for code that they
	// never write; the heap and a copy of the input need the rest.
	maxDataBytes = 2 << 30

	// maxAddressBytes is RLIMIT_AS. It only has to be finite and above what V8
	// reserves: 1.3 GB in Node 24, and 10 GB more for each WebAssembly memory.
	maxAddressBytes = 64 << 30

	// maxDescriptors is RLIMIT_NOFILE; node holds about 20.
	maxDescriptors = 64

	// canaryTimeout and versionTimeout are generous: both take 0.1 s on an idle
	// machine, and a busy one must not look like a hostile one.
	canaryTimeout  = 60 * time.Second
	versionTimeout = 60 * time.Second

	// drainTimeout is how long pipes may stay open after the process has ended.
	drainTimeout = 5 * time.Second
)
