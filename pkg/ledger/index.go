package ledger

// index finds entries by a key. It keeps positions counted from one, so that the
// zero value means none and adding a key takes one look into the map.
type index[K comparable] map[K]int32

// add gives the key to position i unless another has it, and reports whether it
// was free.
func (x index[K]) add(key K, i int32) bool {
	n := len(x)
	// One look: a new key starts at zero, so the value becomes i+1.
	x[key] ^= i + 1
	if len(x) > n {
		return true
	}
	x[key] ^= i + 1 // as it was
	return false
}

// find returns the position of a key.
func (x index[K]) find(key K) (i int32, ok bool) {
	i = x[key]
	return i - 1, i != 0
}
