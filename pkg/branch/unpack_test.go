package branch

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
)

// packItem is one object of a hand-made pack.
type packItem struct {
	kind    plumbing.ObjectType
	data    string
	declare int           // the size to declare; 0 is the true one
	base    plumbing.Hash // of a reference delta
	back    int           // of an offset delta: how many items back its base is
}

func pack(items ...packItem) []byte {
	var b bytes.Buffer
	b.WriteString("PACK\x00\x00\x00\x02")
	binary.Write(&b, binary.BigEndian, uint32(len(items)))
	var offsets []int
	for i, it := range items {
		offsets = append(offsets, b.Len())
		size := len(it.data)
		if it.declare != 0 {
			size = it.declare
		}
		first := byte(it.kind)<<4 | byte(size&15)
		size >>= 4
		for size > 0 {
			b.WriteByte(first | 0x80)
			first = byte(size & 0x7f)
			size >>= 7
		}
		b.WriteByte(first)
		switch it.kind {
		case plumbing.REFDeltaObject:
			b.Write(it.base[:])
		case plumbing.OFSDeltaObject:
			n := offsets[i] - offsets[i-it.back]
			enc := []byte{byte(n & 0x7f)}
			for n >>= 7; n > 0; n >>= 7 {
				n--
				enc = append([]byte{byte(0x80 | n&0x7f)}, enc...)
			}
			b.Write(enc)
		}
		z := zlib.NewWriter(&b)
		z.Write([]byte(it.data))
		z.Close()
	}
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	return b.Bytes()
}

func varint(n int) string {
	var b []byte
	for ; n >= 0x80; n >>= 7 {
		b = append(b, byte(n)|0x80)
	}
	return string(append(b, byte(n)))
}

// appendDelta makes base+tail from base (at most 127 bytes each).
func appendDelta(base, tail string) string {
	return varint(len(base)) + varint(len(base)+len(tail)) + "\x90" + string([]byte{byte(len(base))}) + string([]byte{byte(len(tail))}) + tail
}

func blobID(data string) plumbing.Hash {
	return plumbing.ComputeHash(plumbing.BlobObject, []byte(data))
}

func unpackInto(into store, limits Limits, p []byte) error {
	return (&unpacker{into: into, limits: limits.withDefaults()}).unpack(bytes.NewReader(p))
}

func TestDifferencesAreResolvedInWhateverOrderTheyCome(t *testing.T) {
	const b = plumbing.BlobObject
	one, two, three := "one", "one-two", "one-two-three"
	base := packItem{kind: b, data: one}
	for name, c := range map[string]struct {
		items []packItem
		have  string
	}{
		"offset, base first": {items: []packItem{base, {kind: plumbing.OFSDeltaObject, data: appendDelta(one, "-two"), back: 1},
			{kind: plumbing.OFSDeltaObject, data: appendDelta(two, "-three"), back: 1}}},
		"reference, base last": {items: []packItem{
			{kind: plumbing.REFDeltaObject, data: appendDelta(two, "-three"), base: blobID(two)},
			{kind: plumbing.REFDeltaObject, data: appendDelta(one, "-two"), base: blobID(one)}, base}},
		"an offset to a reference that waits": {items: []packItem{
			{kind: plumbing.REFDeltaObject, data: appendDelta(one, "-two"), base: blobID(one)},
			{kind: plumbing.OFSDeltaObject, data: appendDelta(two, "-three"), back: 1}, base}},
		"a base that was here before": {have: one, items: []packItem{
			{kind: plumbing.REFDeltaObject, data: appendDelta(one, "-two"), base: blobID(one)},
			{kind: plumbing.OFSDeltaObject, data: appendDelta(two, "-three"), back: 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			got := store{}
			if c.have != "" {
				got[blobID(c.have)] = stored{b, []byte(c.have)}
			}
			if err := unpackInto(got, Limits{}, pack(c.items...)); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{one, two, three} {
				if string(got[blobID(want)].data) != want {
					t.Errorf("%q is missing", want)
				}
			}
		})
	}
}

func TestAPackIsHeldToTheBoundsWhileItIsRead(t *testing.T) {
	const b = plumbing.BlobObject
	x := strings.Repeat("x", 100)
	copies := func(n int) string { // n copies of a 100-byte base
		return varint(100) + varint(100*n) + strings.Repeat("\x90\x64", n)
	}
	limits := Limits{FileBytes: 1000, TotalBytes: 2000}
	for name, c := range map[string]struct {
		items []packItem
		want  error
	}{
		"within":                         {[]packItem{{kind: b, data: x}, {kind: plumbing.OFSDeltaObject, data: copies(10), back: 1}}, nil},
		"a file over the bound":          {[]packItem{{kind: b, data: strings.Repeat("x", 1001)}}, ErrTooLarge},
		"a file that declares too much":  {[]packItem{{kind: b, data: "x", declare: 1 << 40}}, ErrTooLarge},
		"all files over the bound":       {[]packItem{{kind: b, data: strings.Repeat("x", 1000)}, {kind: b, data: strings.Repeat("y", 1000)}, {kind: b, data: "z"}}, ErrTooLarge},
		"a difference that grows":        {[]packItem{{kind: b, data: x}, {kind: plumbing.OFSDeltaObject, data: copies(11), back: 1}}, ErrTooLarge},
		"a difference that says it does": {[]packItem{{kind: b, data: x}, {kind: plumbing.OFSDeltaObject, data: varint(100) + varint(1<<50), back: 1}}, ErrTooLarge},
		"many differences that grow": {[]packItem{{kind: b, data: x}, {kind: plumbing.OFSDeltaObject, data: copies(9), back: 1},
			{kind: plumbing.OFSDeltaObject, data: copies(10), back: 2}, {kind: plumbing.OFSDeltaObject, data: copies(8), back: 3}}, ErrTooLarge},
		"differences that wait in vain": {[]packItem{{kind: plumbing.REFDeltaObject, data: copies(1), base: blobID("none")}}, ErrMalformed},
		"a longer object than declared": {[]packItem{{kind: b, data: x, declare: 99}}, ErrMalformed},
		"a shorter one":                 {[]packItem{{kind: b, data: x, declare: 101}}, ErrMalformed},
		"a broken difference":           {[]packItem{{kind: b, data: x}, {kind: plumbing.OFSDeltaObject, data: varint(100) + varint(50) + "\x90\x64", back: 1}}, ErrMalformed},
		"a difference to another size":  {[]packItem{{kind: b, data: x}, {kind: plumbing.OFSDeltaObject, data: varint(99) + varint(100) + "\x90\x64", back: 1}}, ErrMalformed},
		"an empty difference":           {[]packItem{{kind: b, data: x}, {kind: plumbing.OFSDeltaObject, data: "", back: 1}}, ErrMalformed},
		"a kind that git does not have": {[]packItem{{kind: 5, data: x}}, ErrMalformed},
		"a directory over its bound":    {[]packItem{{kind: plumbing.TreeObject, data: "x", declare: maxTreeBytes + 1}}, ErrTooLarge},
		"a commit over its bound":       {[]packItem{{kind: plumbing.CommitObject, data: "x", declare: maxCommitBytes + 1}}, ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if err := unpackInto(store{}, limits, pack(c.items...)); !errors.Is(err, c.want) || c.want == nil && err != nil {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	t.Run("a count over the bound", func(t *testing.T) {
		p := pack()
		binary.BigEndian.PutUint32(p[8:], 1<<31)
		if err := unpackInto(store{}, limits, p); !errors.Is(err, ErrTooLarge) {
			t.Errorf("got %v", err)
		}
	})
}

func FuzzUnpack(f *testing.F) {
	one := "one"
	seeds := [][]byte{
		pack(),
		pack(packItem{kind: plumbing.BlobObject, data: one}, packItem{kind: plumbing.OFSDeltaObject, data: appendDelta(one, "-two"), back: 1}),
		pack(packItem{kind: plumbing.REFDeltaObject, data: appendDelta(one, "-two"), base: blobID(one)}, packItem{kind: plumbing.BlobObject, data: one}),
		pack(packItem{kind: plumbing.TreeObject, data: "100644 a\x00" + strings.Repeat("x", 20)}, packItem{kind: plumbing.CommitObject, data: "tree " + strings.Repeat("1", 40) + "\n\nm"}),
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		got := store{}
		err := unpackInto(got, Limits{Entries: 10, FileBytes: 1000, TotalBytes: 4000}, p)
		var total int
		for id, o := range got {
			total += len(o.data)
			if plumbing.ComputeHash(o.kind, o.data) != id {
				t.Errorf("an object under another's id")
			}
			if o.kind == plumbing.BlobObject && len(o.data) > 1000 {
				t.Errorf("an object of %d bytes", len(o.data))
			}
			if o.kind == plumbing.TreeObject {
				parseTree(o.data)
			}
			if o.kind == plumbing.CommitObject {
				parseCommit(id, o.data)
			}
		}
		if err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrTooLarge) && !errors.Is(err, ErrUnavailable) {
			t.Errorf("an error without kind: %v", err)
		}
	})
}

func FuzzTree(f *testing.F) {
	id := strings.Repeat("\x01", 20)
	for _, s := range []string{"", "100644 a\x00" + id, "100644 a\x00" + id + "40000 a.\x00" + id, "40000 a\x00" + id + "100644 a0\x00" + id, "120000 \xff\x00" + id, "0 a\x00" + id} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data)
		if err != nil {
			if entries != nil {
				t.Error("entries besides an error")
			}
			return
		}
		// What was accepted is written again byte for byte.
		var b bytes.Buffer
		for _, e := range entries {
			fmt.Fprintf(&b, "%s %s\x00%s", e.Mode, e.Name, e.Hash[:])
		}
		if !bytes.Equal(b.Bytes(), data) {
			t.Errorf("%q became %q", data, b.Bytes())
		}
	})
}
