package persist

import (
	"fmt"
	"strconv"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Kind says what an [Item] is.
type Kind string

const (
	// KindRecord is a staged line that is a record.
	KindRecord Kind = "record"
	// KindLine is a staged line that is none.
	KindLine Kind = "line"
	// KindShard is a staged shard, judged as a whole.
	KindShard Kind = "shard"
	// KindFile is an ordinary memory file.
	KindFile Kind = "file"
	// KindOther is anything else: what is no regular file, has a name that is not
	// taken, or stands in the ledger's folder without being a shard.
	KindOther Kind = "other"
)

// Item is one staged thing and what became of it. A shard that is taken apart
// is no item itself: each of its lines is one.
type Item struct {
	Kind Kind
	// Path is where it was staged, slash-separated from the root. A stranger
	// chose it and it can hold any bytes: print it through a printer for such
	// text, or use String.
	Path string
	// Line and Offset are where a line starts in its file, counted from 1 and in
	// bytes from 0; Line is 0 for whole files.
	Line   int
	Offset int
	// SHA is the record's digest, for records.
	SHA ledger.Hash
	// Rule is the rule of admission that refused a record, else "".
	Rule ledger.Rule
	// Reason says why it was taken, ignored or rejected, in words of our own. It
	// may name members of a refused line, in ASCII, and never holds a value.
	Reason string
}

// maxPathShown bounds the path in an item's text.
const maxPathShown = 200

// String is the item on one line of ASCII, its path quoted and cut with a mark.
func (i Item) String() string {
	s := fmt.Sprintf("%s %s", i.Kind, printable(i.Path))
	if i.Line != 0 {
		s += fmt.Sprintf(" line %d (byte %d)", i.Line, i.Offset)
	}
	return s + ": " + i.Reason
}

// printable quotes a path in ASCII and cuts it with a visible mark.
func printable(path string) string {
	cut := ""
	if len(path) > maxPathShown {
		path, cut = path[:maxPathShown], fmt.Sprintf("…(+%d bytes)", len(path)-maxPathShown)
	}
	return strconv.QuoteToASCII(path) + cut
}

// List counts items and names the first [MaxListed] of them, of the bad lines of
// one shard the first 100.
type List struct {
	Count int
	Items []Item
}

func (l *List) add(i Item) {
	if l.Count++; len(l.Items) < MaxListed {
		l.Items = append(l.Items, i)
	}
}

// join adds the items of another list.
func (l *List) join(other List) {
	l.Count += other.Count
	l.Items = append(l.Items, other.Items[:min(len(other.Items), MaxListed-len(l.Items))]...)
}
