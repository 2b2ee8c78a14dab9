package memory

// trie is a persistent map from small numbers to values: set returns a new trie
// that shares all but one path with the old. The zero trie is empty.
type trie[T any] struct {
	root  *node[T]
	shift uint // of the root's index
}

const (
	trieBits = 4
	trieFan  = 1 << trieBits
	trieMask = trieFan - 1
)

// node is a branch (kids) or a leaf (vals).
type node[T any] struct {
	kids []*node[T]
	vals []T
}

func (t trie[T]) get(i int32) (v T) {
	n := t.root
	if n == nil || uint64(i)>>(t.shift+trieBits) != 0 {
		return v
	}
	for shift := t.shift; shift > 0; shift -= trieBits {
		if n = n.kids[uint(i)>>shift&trieMask]; n == nil {
			return v
		}
	}
	return n.vals[i&trieMask]
}

func (t trie[T]) set(i int32, v T) trie[T] {
	if t.root == nil {
		for uint64(i)>>(t.shift+trieBits) != 0 {
			t.shift += trieBits
		}
	}
	for uint64(i)>>(t.shift+trieBits) != 0 {
		up := &node[T]{kids: make([]*node[T], trieFan)}
		up.kids[0] = t.root
		t.root, t.shift = up, t.shift+trieBits
	}
	t.root = t.root.set(i, v, t.shift)
	return t
}

func (n *node[T]) set(i int32, v T, shift uint) *node[T] {
	c := &node[T]{}
	if shift == 0 {
		c.vals = make([]T, trieFan)
		if n != nil {
			copy(c.vals, n.vals)
		}
		c.vals[i&trieMask] = v
		return c
	}
	c.kids = make([]*node[T], trieFan)
	if n != nil {
		copy(c.kids, n.kids)
	}
	at := uint(i) >> shift & trieMask
	c.kids[at] = c.kids[at].set(i, v, shift-trieBits)
	return c
}

// each calls yield with all values in the order of their numbers, zero values of
// touched leaves among them.
func (t trie[T]) each(yield func(i int32, v T)) {
	if t.root != nil {
		t.root.each(0, t.shift, yield)
	}
}

func (n *node[T]) each(base int32, shift uint, yield func(int32, T)) {
	if shift == 0 {
		for i, v := range n.vals {
			yield(base+int32(i), v)
		}
		return
	}
	for i, kid := range n.kids {
		if kid != nil {
			kid.each(base+int32(i)<<shift, shift-trieBits, yield)
		}
	}
}
