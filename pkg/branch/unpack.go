package branch

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// unpacker reads a pack from a stream into a store, each object inflated once,
// every declared size checked before its bytes are read.
type unpacker struct {
	into   store
	limits Limits
	// keep tells which kinds of object are wanted; others are passed over.
	keep func(plumbing.ObjectType) bool

	used    map[plumbing.ObjectType]int64 // bytes by kind
	at      map[int64]plumbing.Hash       // of resolved objects, by offset
	waiting map[string][]delta            // by base: an id, or an offset
	pending int64                         // bytes of waiting deltas
}

type delta struct {
	offset int64
	data   []byte
}

func baseID(h plumbing.Hash) string { return h.String() }
func baseOffset(n int64) string     { return fmt.Sprint(n) }

// unpack reads one whole pack. With bases that are neither in it nor in the
// store already, it is malformed.
func (u *unpacker) unpack(r io.Reader) error {
	u.used = map[plumbing.ObjectType]int64{}
	u.at = map[int64]plumbing.Hash{}
	u.waiting = map[string][]delta{}
	scanner := packfile.NewScanner(r)
	_, count, err := scanner.Header()
	if err != nil {
		return packError(err)
	}
	if int64(count) > 8*int64(u.limits.Entries)+maxCommitsBytes/256 {
		return fmt.Errorf("%w: the branch has %d objects", ErrTooLarge, count)
	}
	for range count {
		h, err := scanner.NextObjectHeader()
		if err != nil {
			return packError(err)
		}
		if err := u.object(scanner, h); err != nil {
			return err
		}
	}
	if _, err := scanner.Checksum(); err != nil {
		return packError(err)
	}
	if u.keep == nil && len(u.waiting) > 0 {
		return fmt.Errorf("%w: the pack holds differences to objects that were not sent", ErrMalformed)
	}
	return nil
}

func (u *unpacker) object(scanner *packfile.Scanner, h *packfile.ObjectHeader) error {
	switch h.Type {
	case plumbing.OFSDeltaObject, plumbing.REFDeltaObject:
		// A delta is no longer than what it makes and its few headers.
		if h.Length > u.limits.FileBytes+maxTreeBytes {
			return tooLarge("a stored difference", h.Length, u.limits.FileBytes)
		}
		data, err := readObject(scanner, h)
		if err != nil {
			return err
		}
		d := delta{h.Offset, data}
		key := baseOffset(h.OffsetReference)
		id, ok := u.at[h.OffsetReference]
		if h.Type == plumbing.REFDeltaObject {
			key, id = baseID(h.Reference), h.Reference
			_, ok = u.into[id]
		}
		if ok {
			return u.apply(id, d)
		}
		if u.pending += int64(len(data)); u.pending > u.limits.TotalBytes {
			return tooLarge("what the server sends", u.pending, u.limits.TotalBytes)
		}
		u.waiting[key] = append(u.waiting[key], d)
		return nil
	case plumbing.BlobObject, plumbing.TreeObject, plumbing.CommitObject:
		if !u.wants(h.Type) {
			_, _, err := scanner.NextObject(io.Discard)
			return packError(err)
		}
		if err := u.charge(h.Type, h.Length); err != nil {
			return err
		}
		data, err := readObject(scanner, h)
		if err != nil {
			return err
		}
		return u.add(h.Type, h.Offset, data)
	case plumbing.TagObject:
		_, _, err := scanner.NextObject(io.Discard)
		return packError(err)
	}
	return fmt.Errorf("%w: the pack holds an object of unknown type", ErrMalformed)
}

func (u *unpacker) wants(kind plumbing.ObjectType) bool { return u.keep == nil || u.keep(kind) }

// charge counts an object of n bytes against the bounds before it is made.
func (u *unpacker) charge(kind plumbing.ObjectType, n int64) error {
	each, all, what := u.limits.FileBytes, u.limits.TotalBytes, "file"
	switch kind {
	case plumbing.TreeObject:
		each, all, what = maxTreeBytes, maxTreesBytes, "directory"
	case plumbing.CommitObject:
		each, all, what = maxCommitBytes, maxCommitsBytes, "commit"
	}
	if n > each {
		return tooLarge("a "+what+" on the branch", n, each)
	}
	if u.used[kind] += n; u.used[kind] > all {
		return tooLarge("all that the branch holds as "+what, u.used[kind], all)
	}
	return nil
}

// add stores an object, and then everything that waited for it.
func (u *unpacker) add(kind plumbing.ObjectType, offset int64, data []byte) error {
	type item struct {
		offset int64
		id     plumbing.Hash
	}
	put := func(offset int64, data []byte) item {
		id := plumbing.ComputeHash(kind, data)
		u.into[id], u.at[offset] = stored{kind, data}, id
		return item{offset, id}
	}
	for todo := []item{put(offset, data)}; len(todo) > 0 && len(u.waiting) > 0; {
		base := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, key := range []string{baseID(base.id), baseOffset(base.offset)} {
			ready := u.waiting[key]
			delete(u.waiting, key)
			for _, d := range ready {
				u.pending -= int64(len(d.data))
				made, err := u.patch(u.into[base.id], d)
				if err != nil {
					return err
				}
				todo = append(todo, put(d.offset, made))
			}
		}
	}
	return nil
}

// apply makes an object from a difference to one that is stored.
func (u *unpacker) apply(base plumbing.Hash, d delta) error {
	from := u.into[base]
	made, err := u.patch(from, d)
	if err != nil {
		return err
	}
	return u.add(from.kind, d.offset, made)
}

func (u *unpacker) patch(base stored, d delta) ([]byte, error) {
	size, err := targetSize(d.data)
	if err != nil {
		return nil, err
	}
	if err := u.charge(base.kind, size); err != nil {
		return nil, err
	}
	made, err := packfile.PatchDelta(base.data, d.data)
	if err != nil || int64(len(made)) != size {
		return nil, fmt.Errorf("%w: the pack holds a broken difference", ErrMalformed)
	}
	return made, nil
}

// targetSize reads the second of the two numbers that open a delta: the size of
// what it makes.
func targetSize(delta []byte) (int64, error) {
	for field := range 2 {
		var n uint64
		for shift := 0; ; shift += 7 {
			if len(delta) == 0 || shift > 56 {
				return 0, fmt.Errorf("%w: the pack holds a broken difference", ErrMalformed)
			}
			b := delta[0]
			delta = delta[1:]
			n |= uint64(b&0x7f) << shift
			if b < 0x80 {
				break
			}
		}
		if field == 1 {
			return int64(n), nil
		}
	}
	panic("unreachable")
}

// readObject inflates an object into a slice of exactly its declared size.
func readObject(scanner *packfile.Scanner, h *packfile.ObjectHeader) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, h.Length))
	n, _, err := scanner.NextObject(b)
	if err != nil {
		return nil, packError(err)
	}
	if n != h.Length {
		return nil, fmt.Errorf("%w: an object is shorter than declared", ErrMalformed)
	}
	return b.Bytes(), nil
}

func tooLarge(what string, n, limit int64) error {
	return fmt.Errorf("%w: %s has %d bytes, the limit is %d", ErrTooLarge, what, n, limit)
}

// packError gives a failure while reading a pack its kind: a stream that broke
// off may be whole next time; anything else is malformed.
func packError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrTooLarge), errors.Is(err, ErrUnavailable):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, packfile.ErrEmptyPackfile):
		return fmt.Errorf("%w: the answer ends early", ErrUnavailable)
	case errors.Is(err, packfile.ErrMalformedPackFile), errors.Is(err, packfile.ErrInflatedSizeMismatch),
		errors.Is(err, packfile.ErrBadSignature), errors.Is(err, packfile.ErrUnsupportedVersion):
		return fmt.Errorf("%w: the pack cannot be read", ErrMalformed)
	}
	return fmt.Errorf("%w: %s", ErrUnavailable, Printable(err.Error(), 200))
}
