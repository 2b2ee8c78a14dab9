package persist

import (
	"errors"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// ErrBaseUnknown is what [Options].Base returns where the state that was restored
// cannot be told; then nothing on the branch is replaced.
var ErrBaseUnknown = errors.New("the state that was restored is not known")

// lazyBase reads what the staging was restored from when it is first needed: it
// can cost a fetch, and most runs add records only.
type lazyBase struct {
	load  func() (ledger.Snapshot, error)
	read  bool
	files map[string][]byte
	err   error
}

// file returns what stood at path, ok is false when nothing did.
func (b *lazyBase) file(path string) (content []byte, ok bool, err error) {
	if !b.read {
		b.read = true
		b.err = ErrBaseUnknown
		if b.load != nil {
			var s ledger.Snapshot
			s, b.err = b.load()
			b.files = s.Files
		}
	}
	content, ok = b.files[path]
	return content, ok, b.err
}
