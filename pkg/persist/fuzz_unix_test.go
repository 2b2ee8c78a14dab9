//go:build unix

package persist

import (
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// builder makes a tree below a directory as the bytes of a program say. It knows
// the names and contents that this package is about and takes others from the
// program as they are.
type builder struct {
	program  []byte
	folders  []string
	names    []string
	contents []string
}

func (b *builder) next() int {
	if len(b.program) == 0 {
		return 0
	}
	n := b.program[0]
	b.program = b.program[1:]
	return int(n)
}

// text takes up to 40 bytes of the program.
func (b *builder) text() string {
	n := min(b.next()%40, len(b.program))
	text := string(b.program[:n])
	b.program = b.program[n:]
	return text
}

func (b *builder) pick(list []string) string {
	n := b.next()
	if n >= 240 {
		return b.text()
	}
	return list[n%len(list)]
}

// content joins up to four pieces.
func (b *builder) content() string {
	var text strings.Builder
	for range b.next() % 5 {
		text.WriteString(b.pick(b.contents))
	}
	return text.String()
}

// build runs the program. What the file system refuses is left out, and nothing
// is written through a link that leads out of dir.
func (b *builder) build(t *testing.T, dir string) {
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	b.folders = []string{""}
	for len(b.program) > 0 {
		op := b.next()
		at := path.Join(b.folders[b.next()%len(b.folders)], b.pick(b.names))
		if at == "" || !filepath.IsLocal(at) || strings.Contains(at, "\x00") {
			continue
		}
		_ = root.MkdirAll(path.Dir(at), 0o755)
		switch op % 8 {
		case 0, 1, 2:
			b.write(root, at, b.content(), 0)
		case 3:
			if root.Mkdir(at, 0o755) == nil {
				b.folders = append(b.folders, at)
			}
		case 4:
			_ = root.Symlink(b.pick([]string{"/etc", "/etc/hostname", ".", "..", "a.md", "ledger"}), at)
		case 5:
			must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644))
			if _, err := root.Lstat(at); err == nil || root.Rename("pipe", at) != nil {
				must(t, root.Remove("pipe"))
			}
		case 6:
			_ = root.Link(b.pick(b.names), at)
		case 7:
			b.write(root, at, "", []int64{200 << 10, maxEntryBytes + 1}[b.next()%2])
		}
	}
}

// write makes a new file, padded to size if that is larger.
func (b *builder) write(root *os.Root, at, text string, size int64) {
	f, err := root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.WriteString(text)
	if size > 0 {
		_ = f.Truncate(size)
	}
}

// program spells a tree of files, by their places in names and contents.
func program(files ...[2]byte) []byte {
	var p []byte
	for _, f := range files {
		p = append(p, 0, 0, f[0], 1, f[1])
	}
	return p
}

func FuzzStaging(f *testing.F) {
	old := chain(f, 1, 3)
	added := chain(f, 10, 3, old[2].SHA())
	twin := seal(f, ledger.Draft{ID: recordID(1), Payload: []byte("1"), Timestamp: ledger.FormatTime(now), Type: "note"})
	reserved := seal(f, ledger.Draft{ID: recordID(40), Payload: []byte("1"), Timestamp: ledger.FormatTime(now), Type: "memory.ref"})
	head := branchOf(map[string]string{
		shard(1): lines(old...), "a.md": "old\n", "Notes/x.md": "x", ".gitattributes": "*.jsonl -text\n", "ledger/compaction/state.json": "{}\n",
	})
	head.Irregular["link.md"] = "symbolic link"
	names := []string{
		shard(1), shard(2), shard(3), shard(4), "ledger/shards/x.jsonl", "ledger/shards", "ledger", "ledger/coverage/c.jsonl",
		"ledger/compaction/state.json", strings.TrimSuffix(shard(2), ".jsonl") + ".pending", "a.md", "A.md", "b.json", "c/d.txt", "c/D.txt", "C/d.csv",
		"link.md", "link.md/x.md", "notes/y.md", "Notes/x.md", "Notes", ".git/config", ".gitattributes", "AGENTS.md", "Ledger/x.md", "ledger.", "CON.jsonl",
		"cafe\u0301.md", "caf\u00e9.md", "x\u202ey.md", "a\\b.md", "a\nb.md", "\xff.md", "big.md", "x.png", strings.Repeat("n", 250) + ".md",
		strings.Repeat("d/", 20) + "x.md",
	}
	contents := []string{
		"", "\n", "old\n", "text\n", "\x00", "\xff\n", "\ufeff", "\r\n", lines(old...), lines(old[:1]...), lines(added...), lines(added[0]), lines(added[1]),
		lines(added[2]), lines(twin), lines(reserved), lines(record(f, 60)), string(added[0].Line()), `{"id":1}` + "\n", "<<<<<<< HEAD\n",
		strings.Repeat("x", 300) + "\n", strings.Repeat("long ", 1000), "*.jsonl -text\n",
	}
	f.Add([]byte{})
	for i := range names {
		f.Add(program([2]byte{byte(i), 10}, [2]byte{10, 3}))
	}
	for i := range contents {
		f.Add(program([2]byte{1, byte(i)}, [2]byte{13, byte(i)}, [2]byte{2, 11}))
	}
	f.Add(program([2]byte{0, 8}, [2]byte{1, 12}, [2]byte{2, 13}, [2]byte{3, 11}, [2]byte{1, 17}, [2]byte{14, 2}))
	for op := byte(3); op < 8; op++ {
		f.Add(append(program([2]byte{10, 3}, [2]byte{2, 10}), op, 0, 1, 10, op, 0, 12, 3, op, 0, 6, 1))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<10 {
			return
		}
		dir := t.TempDir()
		b := &builder{program: text, names: names, contents: contents}
		b.build(t, dir)
		o := based(head)
		o.Limits.MaxShards = 8
		s, err := Prepare(dir, o)
		if err != nil {
			t.Fatalf("a staging within the bounds cannot be read: %v", err)
		}
		c, r, err := s.Change(head)
		var limit *LimitError
		if err != nil {
			if !errors.As(err, &limit) || !c.Empty() {
				t.Fatalf("a change is made, or no bound passed: %v", err)
			}
			return
		}
		wellFormed(t, head, c, r)
		oneOutcome(t, s, r)
		for _, at := range slices.Sorted(maps.Keys(c.Add)) {
			if err := branch.CheckPath(at); err != nil {
				t.Errorf("the change adds a bad path: %v", err)
			}
			if strings.HasPrefix(strings.ToLower(at), "ledger") != isShardPath(at) {
				t.Errorf("the change adds %q", at)
			}
		}
		next := apply(head, c)
		if again, _, err := s.Change(next); err != nil || !again.Empty() {
			t.Errorf("persisting again adds %d files: %v", len(again.Add), err)
		}
	})
}

// oneOutcome checks that every staged entry is one item, or each of its lines is.
func oneOutcome(t *testing.T, s *Staged, r Report) {
	t.Helper()
	whole, line := map[string]int{}, map[string]int{}
	for _, l := range []List{r.Accepted, r.Ignored, r.Rejected} {
		if len(l.Items) != l.Count {
			return // more than are listed
		}
		for _, i := range l.Items {
			if i.Reason == "" {
				t.Errorf("%s has no reason", i)
			}
			if i.Line == 0 {
				whole[i.Path]++
			} else {
				line[i.Path]++
			}
		}
	}
	for _, e := range s.entries {
		n := strings.Count(string(e.content), "\n")
		if len(e.content) > 0 && e.content[len(e.content)-1] != '\n' {
			n++
		}
		if !(whole[e.path] == 1 && line[e.path] == 0 || whole[e.path] == 0 && line[e.path] == n) {
			t.Errorf("%q is %d items and %d lines of %d", e.path, whole[e.path], line[e.path], n)
		}
		delete(whole, e.path)
		delete(line, e.path)
	}
	if len(whole)+len(line) > 0 {
		t.Errorf("items that were not staged: %v, %v", whole, line)
	}
}
