package thread

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// Staging is a trusted staging: the records that thread-context made, as shards,
// for persist to publish.
type Staging struct {
	// Files are its files by slash-separated path from the staging directory; all
	// are shards.
	Files map[string][]byte
	// Records are the records, oldest first: each names the one before as its
	// parent, the first the heads of the ledger.
	Records []ledger.Record
	// Digest is [StagedDigest] of Files.
	Digest string
}

// Stage seals entries into records that continue base, one chain at now, and
// packs them into shards. random makes their ids. Nothing is cut and no bound of
// a run applies; a record bound too small for an entry is an error here, so that
// publishing never fails for size. No entries are a staging without files.
func Stage(base *ledger.Ledger, entries []Entry, now time.Time, random io.Reader) (*Staging, error) {
	limits := base.Limits()
	if err := base.Whole(); err != nil {
		return nil, err
	}
	if limits.MaxRecordBytes < minRecordBytes && len(entries) > 0 {
		return nil, &ConfigError{"max-record-kb", fmt.Sprintf("must be at least %d for a thread's records", minRecordBytes>>10)}
	}
	if len(entries) > MaxStagedRecords {
		return nil, fmt.Errorf("staging has %d records, at most %d are taken", len(entries), MaxStagedRecords)
	}
	s := &Staging{}
	parents := base.Heads()
	parents = slices.Clone(parents[:min(len(parents), ledger.MaxParents, limits.MaxRecordBytes/4/parentBytes)])
	for _, e := range entries {
		uuid, err := ledger.NewUUID(random)
		if err != nil {
			return nil, err
		}
		r, err := ledger.Seal(ledger.Draft{ID: "ldg-" + uuid, Parents: parents, Payload: e.Payload, Timestamp: ledger.FormatTime(now), Type: e.Type})
		if err != nil {
			return nil, err
		}
		if n := len(r.Line()) + 1; n > limits.MaxRecordBytes {
			return nil, &ConfigError{"max-record-kb", fmt.Sprintf("allows %d bytes and a record of this thread has %d: raise it", limits.MaxRecordBytes, n)}
		}
		s.Records, parents = append(s.Records, r), []ledger.Hash{r.SHA()}
	}
	var err error
	if s.Files, err = pack(s.Records, limits.MaxSegmentBytes); err != nil {
		return nil, err
	}
	s.Digest = StagedDigest(s.Files)
	return s, nil
}

// parentBytes is what a parent takes: a digest in quotes and a comma.
const parentBytes = 74

// pack puts records into shards, each as full as it gets.
func pack(records []ledger.Record, maxBytes int) (map[string][]byte, error) {
	files := map[string][]byte{}
	for first := 0; first < len(records); {
		size, end := 0, first
		for ; end < len(records) && size+len(records[end].Line())+1 <= maxBytes; end++ {
			size += len(records[end].Line()) + 1
		}
		segment, err := ledger.BuildSegment(records[first:end], "{}", maxBytes)
		if err != nil {
			return nil, fmt.Errorf("failed to pack the staging: %w", err)
		}
		files[ledger.ShardPath(segment.ID)], first = segment.Content, end
	}
	return files, nil
}

// StagedDigest is what the output staged-digest holds: the SHA-256, as "sha256:"
// and 64 lower-case hexadecimal digits, of one line for every file of the staging
// in byte order of the paths: the SHA-256 of its content in 64 lower-case
// hexadecimal digits, two spaces, the path with slashes from the staging
// directory, and a line feed. That is what sha256sum prints. No files give the
// digest of no lines.
func StagedDigest(files map[string][]byte) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(files)) {
		b.WriteString(strings.TrimPrefix(canonical.Sum(files[path]), "sha256:") + "  " + path + "\n")
	}
	return canonical.Sum([]byte(b.String()))
}

// ErrStaging: a trusted staging is not the one that its digest names, or holds
// what none does. Nothing of it may be published; it is bad input, not a failure.
var ErrStaging = errors.New("trusted staging refused")

func refused(problem string) error { return fmt.Errorf("%w: %s", ErrStaging, problem) }

// OpenStaging judges a trusted staging that came over an untrusted job: files
// are all regular files of its directory by slash-separated path, digest is
// the staged-digest that the job which made it set as an output. It must be there
// and match before anything else is looked at; then every file must be a shard,
// every line a record of this package's types in their form, and the records one
// chain. Errors wrap [ErrStaging].
func OpenStaging(files map[string][]byte, digest string) (*Staging, error) {
	if digest == "" {
		return nil, refused("there is no staged-digest: pass the output of the job that made it")
	}
	if _, ok := ledger.ParseHash(digest); !ok || StagedDigest(files) != digest {
		return nil, refused("it is not the one that staged-digest names: something changed it on the way")
	}
	s := &Staging{Files: files, Digest: digest}
	size := 0
	for path, content := range files {
		id, ok := ledger.ShardID(strings.TrimPrefix(path, ledger.ShardDir+"/"))
		if size += len(content); size > MaxStagedBytes {
			return nil, refused(fmt.Sprintf("it is over %d bytes", MaxStagedBytes))
		}
		records, err := ledger.ReadSegment(content)
		if !ok || path != ledger.ShardPath(id) || err != nil {
			return nil, refused("a file in it is no shard")
		}
		s.Records = append(s.Records, records...)
	}
	if len(s.Records) > MaxStagedRecords {
		return nil, refused(fmt.Sprintf("it has over %d records", MaxStagedRecords))
	}
	for _, r := range s.Records {
		if _, fault := readEntry(r.Type(), r.Payload()); fault != "" {
			return nil, refused("a record in it is none of the thread ledger's: " + fault)
		}
	}
	return s, s.order()
}

// order puts the records into the order of their chain: it starts at the one whose
// parents are not in the staging, and each has one child there, but the last.
func (s *Staging) order() error {
	child := make(map[ledger.Hash]int, len(s.Records)) // by parent
	own := make(map[ledger.Hash]bool, len(s.Records))
	for _, r := range s.Records {
		own[r.SHA()] = true
	}
	next, ok := 0, false
	for i, r := range s.Records {
		if parents := r.Parents(); len(parents) == 1 && own[parents[0]] {
			child[parents[0]] = i
		} else {
			next, ok = i, true
		}
	}
	chain := make([]ledger.Record, 0, len(s.Records))
	for ; ok; next, ok = child[s.Records[next].SHA()] {
		chain = append(chain, s.Records[next])
	}
	if len(chain) != len(s.Records) {
		return refused("its records are more than one chain")
	}
	s.Records = chain
	return nil
}

// Next returns the records that the next commit adds to base: the oldest that are
// not there, as many as the patch bound takes and at least one; left counts those
// after them. No records and none left mean that the whole staging stands. Call it
// with the branch as it is before every commit, until nothing is left: it
// depends on its arguments alone, so a lost reply or another writer's commit
// changes nothing. Errors: base is not whole, or admission refuses a record, which
// no bound on a run's size ever does.
func (s *Staging) Next(base *ledger.Ledger, now time.Time) (records []ledger.Record, left int, err error) {
	if err := base.Whole(); err != nil {
		return nil, 0, err
	}
	rest := slices.DeleteFunc(slices.Clone(s.Records), func(r ledger.Record) bool { return base.Has(r.SHA()) })
	size := 0
	for _, r := range rest {
		size += len(r.Line()) + 1
		if size > base.Limits().MaxPatchBytes && len(records) > 0 {
			break
		}
		records = append(records, r)
	}
	judge := ledger.Admission{Base: base, Now: now, Allow: IsType}
	for i, refusal := range judge.Admit(records) {
		if refusal != nil {
			return nil, 0, fmt.Errorf("record %d of the trusted staging is not admitted: %w", len(s.Records)-len(rest)+i+1, refusal)
		}
	}
	return records, len(rest) - len(records), nil
}
