package branch

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Read fetches the branch as it stands now. A branch that does not exist, also
// in an empty repository, is a Snapshot whose Head is "". Errors are the kinds
// of this package.
func Read(ctx context.Context, r Remote, name string, limits Limits) (ledger.Snapshot, error) {
	reader, err := NewReader(r, name, limits)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	tip, err := reader.Read(ctx)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	return tip.Snapshot, nil
}

// Reader reads one branch repeatedly. It keeps the last state, so that reading
// again costs what is new. One goroutine uses it at a time.
type Reader struct {
	remote Remote
	name   string
	limits Limits

	last *Tip
	// ancestors are commits known to be the last head or before it.
	ancestors map[plumbing.Hash]bool
}

// NewReader checks the branch's name; nothing is opened yet.
func NewReader(r Remote, name string, limits Limits) (*Reader, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	return &Reader{remote: r, name: name, limits: limits.withDefaults()}, nil
}

// Read fetches the branch as it stands now.
func (r *Reader) Read(ctx context.Context) (*Tip, error) {
	if r.last != nil && r.last.head != plumbing.ZeroHash {
		switch tip, err := r.refresh(ctx); {
		case err == nil:
			return tip, nil
		case errors.Is(err, errStartOver):
		default:
			return nil, err
		}
	}
	c, head, err := r.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if head == "" {
		r.last, r.ancestors = emptyTip(r.limits), nil
		return r.last, nil
	}
	want, err := parseID(head)
	if err != nil {
		return nil, err
	}
	objects := store{}
	if _, err := r.receive(ctx, c, request{want: want, depth: 1}, objects); err != nil {
		return nil, err
	}
	return r.keep(want, objects, map[plumbing.Hash]bool{want: true})
}

// errStartOver: what is here is of no use for reading what is there now.
var errStartOver = errors.New("start over")

// refresh asks for what came after the last head. When that head is not an
// ancestor of the new one, or anything is missing, it answers errStartOver.
func (r *Reader) refresh(ctx context.Context) (*Tip, error) {
	last := r.last.head
	c, head, err := r.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	switch head {
	case r.last.Snapshot.Head:
		return r.last, nil
	case "":
		r.last, r.ancestors = emptyTip(r.limits), nil
		return r.last, nil
	}
	want, err := parseID(head)
	if err != nil {
		return nil, err
	}
	objects := make(store, len(r.last.objects))
	for id, o := range r.last.objects {
		objects[id] = o
	}
	known, err := r.receive(ctx, c, request{want: want, have: last, shallow: true}, objects)
	switch {
	case ctx.Err() != nil, errors.Is(err, ErrThrottled), errors.Is(err, ErrUnauthorized), errors.Is(err, ErrNotFound):
		return nil, err
	case err != nil || !known: // whatever it is, the plain way either works or says so
		return nil, errStartOver
	}
	ancestors := reachable(objects, want)
	if !ancestors[last] {
		return nil, errStartOver
	}
	for id := range r.ancestors {
		ancestors[id] = true
	}
	tip, err := r.keep(want, objects, ancestors)
	if err != nil {
		return nil, errStartOver
	}
	return tip, nil
}

func (r *Reader) connect(ctx context.Context) (*Conn, string, error) {
	c, err := Connect(ctx, r.remote, uploadPack)
	if err != nil {
		return nil, "", err
	}
	head, err := c.Head(r.name)
	if err != nil {
		c.Close()
		return nil, "", err
	}
	return c, head, nil
}

// receive fetches into objects; known tells whether the server has the commit
// that the request names as present. When it has not, nothing is received.
func (r *Reader) receive(ctx context.Context, c *Conn, q request, objects store) (known bool, err error) {
	pack, known, err := c.fetch(ctx, q, r.limits.TotalBytes+packSlack)
	if err != nil {
		return false, err
	}
	defer pack.Close()
	if !known && q.have != plumbing.ZeroHash {
		c.Close() // before pack.Close would wait for the rest
		return false, nil
	}
	u := &unpacker{into: objects, limits: r.limits}
	if q.commitsOnly {
		u.keep = func(kind plumbing.ObjectType) bool { return kind == plumbing.CommitObject }
	}
	if err := u.unpack(pack); err != nil {
		c.Close()
		return known, failure(ctx, err)
	}
	return known, nil
}

func (r *Reader) keep(head plumbing.Hash, objects store, ancestors map[plumbing.Hash]bool) (*Tip, error) {
	tip, err := newTip(head, objects, r.limits)
	if err != nil {
		return nil, err
	}
	r.last, r.ancestors = tip, ancestors
	return tip, nil
}

// reachable walks from head over the commits that are here; parents that are
// not here count as reached.
func reachable(objects store, head plumbing.Hash) map[plumbing.Hash]bool {
	seen := map[plumbing.Hash]bool{head: true}
	for todo := []plumbing.Hash{head}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		c, err := objects.commit(id)
		if err != nil {
			continue
		}
		for _, p := range c.parents {
			if !seen[p] {
				seen[p] = true
				todo = append(todo, p)
			}
		}
	}
	return seen
}

// Contains tells whether commit, an id in lower-case hex, is the head that was
// last read or one of its ancestors. [ErrMoved] means that the branch has moved
// since, in a way that leaves the question open: read again. A branch that
// stands elsewhere without the commit answers false.
func (r *Reader) Contains(ctx context.Context, commit string) (bool, error) {
	id, err := parseID(commit)
	if err != nil {
		return false, err
	}
	if r.ancestors[id] {
		return true, nil
	}
	if r.last != nil && r.last.head == plumbing.ZeroHash {
		return false, nil
	}
	c, head, err := r.connect(ctx)
	if err != nil {
		return false, err
	}
	defer c.Close()
	if head == "" {
		return false, nil
	}
	want, err := parseID(head)
	if err != nil || want == id {
		return want == id, err
	}
	if len(c.refs.Shallows) > 0 {
		return false, fmt.Errorf("%w: it cannot prove what came before: fetch its whole history", ErrShallow)
	}
	objects := store{}
	known, err := r.receive(ctx, c, request{want: want, have: id, commitsOnly: true}, objects)
	if err != nil || !known {
		return false, err
	}
	seen := reachable(objects, want)
	if !seen[id] {
		return false, nil
	}
	if r.last != nil && r.last.head != want {
		return false, fmt.Errorf("%w: read it again", ErrMoved)
	}
	if r.last != nil {
		r.ancestors[id] = true
	}
	return true, nil
}

// Contains tells whether commit is the branch's head or one of its ancestors.
// A branch that does not exist contains nothing.
func Contains(ctx context.Context, r Remote, name, commit string, limits Limits) (bool, error) {
	reader, err := NewReader(r, name, limits)
	if err != nil {
		return false, err
	}
	return reader.Contains(ctx, commit)
}
