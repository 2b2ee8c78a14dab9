package branch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// archive is a whole history in a private temporary directory: the pack as it
// came, and in memory where each object stands in it.
type archive struct {
	dir  string
	file billy.File
	pack *packfile.Packfile
}

// spool fetches everything that the branch's head descends from. Head is zero,
// and there is no archive, when the branch does not exist.
func spool(ctx context.Context, r Remote, name string, limits Limits) (*archive, plumbing.Hash, error) {
	c, err := Connect(ctx, r, uploadPack)
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	defer c.Close()
	tip, err := c.Head(name)
	if err != nil || tip == "" {
		return nil, plumbing.ZeroHash, err
	}
	head, err := parseID(tip)
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	if len(c.refs.Shallows) > 0 {
		return nil, plumbing.ZeroHash, fmt.Errorf("%w: its history is not whole: fetch the rest", ErrShallow)
	}
	in, _, err := c.fetch(ctx, request{want: head}, maxHistoryPackBytes)
	if err != nil {
		return nil, plumbing.ZeroHash, err
	}
	defer in.Close()
	a := &archive{}
	if err := a.fill(in, limits); err != nil {
		a.close()
		c.Close()
		return nil, plumbing.ZeroHash, failure(ctx, err)
	}
	return a, head, nil
}

func (a *archive) fill(in io.Reader, limits Limits) error {
	noRoom := func(error) error {
		return fmt.Errorf("%w: the history cannot be spooled: make room in the temporary directory", ErrDirectory)
	}
	var err error
	if a.dir, err = os.MkdirTemp("", "ledger-history-"); err != nil {
		return noRoom(err)
	}
	files := osfs.New(a.dir, osfs.WithBoundOS())
	if a.file, err = files.Create("pack"); err != nil {
		return noRoom(err)
	}
	w := &spoolWriter{w: a.file}
	if _, err := io.Copy(w, in); w.failed {
		return noRoom(err)
	} else if err != nil {
		return packError(err)
	}
	if err := a.measure(limits); err != nil {
		return err
	}
	if _, err := a.file.Seek(0, io.SeekStart); err != nil {
		return noRoom(err)
	}
	index := new(idxfile.Writer)
	parser, err := packfile.NewParser(packfile.NewScanner(a.file), index)
	if err != nil {
		return packError(err)
	}
	if _, err := parser.Parse(); err != nil {
		return fmt.Errorf("%w: the history cannot be read", ErrMalformed)
	}
	places, err := index.Index()
	if err != nil {
		return fmt.Errorf("%w: the history cannot be read", ErrMalformed)
	}
	a.pack = packfile.NewPackfileWithCache(places, files, a.file, cache.NewObjectLRU(historyCacheBytes), 0)
	return nil
}

// measure inflates everything once, keeping nothing, so that no object over a
// bound is ever made.
func (a *archive) measure(limits Limits) error {
	if _, err := a.file.Seek(0, io.SeekStart); err != nil {
		return packError(err)
	}
	scanner := packfile.NewScanner(a.file)
	_, count, err := scanner.Header()
	if err != nil {
		return packError(err)
	}
	if count > maxHistoryObjects {
		return fmt.Errorf("%w: the history has %d objects, the limit is %d", ErrTooLarge, count, maxHistoryObjects)
	}
	most := max(limits.FileBytes, maxTreeBytes)
	var total int64
	for range count {
		h, err := scanner.NextObjectHeader()
		if err != nil {
			return packError(err)
		}
		size := h.Length
		if size > most {
			return tooLarge("a file in the history", size, most)
		}
		start := &firstBytes{limit: 20} // room for the two numbers that open a delta
		if _, _, err := scanner.NextObject(start); err != nil {
			return packError(err)
		}
		if h.Type.IsDelta() {
			if size, err = targetSize(start.text); err != nil {
				return err
			}
			if size > most {
				return tooLarge("a file in the history", size, most)
			}
		}
		if total += size; total > maxHistoryBytes {
			return tooLarge("the whole history", total, maxHistoryBytes)
		}
	}
	return nil
}

// object returns the content of an object of the history.
func (a *archive) object(kind plumbing.ObjectType, id plumbing.Hash) ([]byte, error) {
	o, err := a.pack.Get(id)
	if err == nil && o.Type() != kind {
		err = plumbing.ErrObjectNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the history lacks %s %s", ErrMalformed, kind, id)
	}
	r, err := o.Reader()
	if err != nil {
		return nil, fmt.Errorf("%w: the history cannot be read", ErrMalformed)
	}
	defer r.Close()
	data := make([]byte, o.Size()) // bounded by measure
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, fmt.Errorf("%w: the history cannot be read", ErrMalformed)
	}
	return data, nil
}

func (a *archive) close() {
	if a.file != nil {
		a.file.Close()
	}
	if a.dir != "" {
		os.RemoveAll(a.dir)
	}
}

// spoolWriter remembers that it was the disk that failed, not the remote.
type spoolWriter struct {
	w      io.Writer
	failed bool
}

func (s *spoolWriter) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	if err != nil {
		s.failed = true
		err = errors.New("no room")
	}
	return n, err
}
