package ledger

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// world is a ledger folder with writers, a reader, and strangers who write what
// they like, all taking turns as a seed says.
type world struct {
	t       *testing.T
	root    string
	limits  Limits
	rand    *rand.Rand
	writers []*Writer
	reader  *Ledger

	next   int      // number of the next record or shard of a stranger
	sealed []Record // everything that was ever written
	held   []Record // parents whose children stand already
	files  []string // shards of strangers that may still be written to
	torn   map[string]string
	bulk   bool // many records came at once
	log    []string
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, root: t.TempDir(), rand: rand.New(random(seed)), torn: map[string]string{},
		limits: Limits{MaxShards: 48, MaxSegmentBytes: 40 << 10, MaxRecordBytes: 1024, MaxPatchBytes: 1 << 20}}
	for i := range 2 + w.rand.IntN(2) {
		w.writers = append(w.writers, newWriter(t, w.root, w.limits, 1000*seed+uint64(i)))
	}
	w.reader = open(t, w.root, w.limits)
	return w
}

func (w *world) number() int { w.next++; return w.next }

func pick[T any](w *world, from []T) T { return from[w.rand.IntN(len(from))] }

// parents picks up to three records that were written at some time.
func (w *world) parents() []Record {
	var parents []Record
	for range min(w.rand.IntN(4), len(w.sealed)) {
		if p := pick(w, w.sealed); !slices.ContainsFunc(parents, func(r Record) bool { return r.SHA() == p.SHA() }) {
			parents = append(parents, p)
		}
	}
	return parents
}

// record makes a record that no writer wrote.
func (w *world) record(parents ...Record) Record {
	n := w.number()
	r := seal(w.t, n, fmt.Sprintf(`{"n":%d,"x":%q}`, n, strings.Repeat("é", w.rand.IntN(40))), parents...)
	w.sealed = append(w.sealed, r)
	return r
}

// write puts text into a shard of a stranger: a new one, or one that grows.
func (w *world) write(text string) {
	if len(w.files) == 0 || w.rand.IntN(4) == 0 {
		// Names sort before and after all that is there.
		file := fmt.Sprintf("%08x-0000-4000-8000-%012x%s", w.rand.Uint32(), w.number(), ShardExt)
		mode := os.FileMode(0o644)
		if w.rand.IntN(4) == 0 {
			mode = closedMode
		} else {
			w.files = append(w.files, file)
		}
		put(w.t, w.root, file, text, mode)
		return
	}
	file := pick(w, w.files)
	if rest := w.torn[file]; rest != "" && w.rand.IntN(2) == 0 {
		text = rest + text
	}
	delete(w.torn, file)
	extend(w.t, w.root, file, text)
}

// forget takes a file of a stranger out of the game.
func (w *world) forget(file string) {
	w.files = slices.DeleteFunc(w.files, func(f string) bool { return f == file })
	delete(w.torn, file)
}

// steps are what may happen; names go to the log of a failure.
var steps = []struct {
	name   string
	weight int // 0: what is not noticed unless the views are brought up to date before and after
	do     func(w *world)
}{
	{"a writer appends", 10, func(w *world) {
		writer := pick(w, w.writers)
		r, err := writer.Append("note", []byte(fill(2+w.rand.IntN(300))))
		if err == nil {
			w.sealed = append(w.sealed, r)
			return
		}
		if refusal, ok := err.(*Refusal); !ok || refusal.Rule != RuleShardCount && refusal.Rule != RuleNotWhole {
			w.t.Errorf("append: %v", err)
		}
	}},
	{"a valid record", 6, func(w *world) { w.write(lines(w.record(w.parents()...))) }},
	{"three valid records", 3, func(w *world) {
		a := w.record(w.parents()...)
		b := w.record(a)
		w.write(lines(b, w.record(a, b), a))
	}},
	{"an orphan whose parent comes later", 3, func(w *world) {
		parent := w.record(w.parents()...)
		w.held = append(w.held, parent)
		w.write(lines(w.record(parent)))
	}},
	{"the parent of an orphan", 4, func(w *world) {
		if len(w.held) > 0 {
			w.write(lines(w.held[0]))
			w.held = w.held[1:]
		}
	}},
	{"a duplicate", 3, func(w *world) {
		if len(w.sealed) > 0 {
			w.write(lines(pick(w, w.sealed)))
		}
	}},
	{"another record with an id that is taken", 3, func(w *world) {
		if len(w.sealed) > 0 {
			twin := sealDraft(w.t, Draft{ID: pick(w, w.sealed).ID(), Payload: fmt.Appendf(nil, "%d", w.number()), Type: "twin"}, w.parents()...)
			w.sealed = append(w.sealed, twin)
			w.write(lines(twin))
		}
	}},
	{"a torn line", 3, func(w *world) {
		text := lines(w.record(w.parents()...))
		cut := 1 + w.rand.IntN(len(text)-1)
		w.write(text[:cut])
		if len(w.files) > 0 {
			file := w.files[len(w.files)-1]
			if content, err := os.ReadFile(shardPath(w.root, file)); err == nil && strings.HasSuffix(string(content), text[:cut]) {
				w.torn[file] = text[cut:]
			}
		}
	}},
	{"lines that are no records", 3, func(w *world) {
		w.write(pick(w, []string{"\n", "{}\n", "junk\n", "\xff\xfe\n", "\ufeff\n", strings.Repeat("\n", 150), "\x00", "", "é", "\xc3"}))
	}},
	{"more records than are put in place one at a time", 1, func(w *world) {
		if w.bulk {
			return // once makes every view large enough
		}
		for range 3 {
			var small []Record
			for range maxInserts / 2 {
				small = append(small, seal(w.t, w.number(), `1`))
			}
			put(w.t, w.root, fileName(w.number()), lines(small...), closedMode)
		}
		w.bulk = true
	}},
	{"a shard is deleted", 2, func(w *world) {
		if files := shardFiles(w.t, w.root); len(files) > 0 {
			file := pick(w, files)
			if err := os.RemoveAll(shardPath(w.root, file)); err != nil {
				w.t.Fatal(err)
			}
			w.forget(file)
		}
	}},
	{"a shard is closed", 2, func(w *world) {
		if len(w.files) > 0 {
			file := pick(w, w.files)
			if err := os.Chmod(shardPath(w.root, file), closedMode); err != nil {
				w.t.Fatal(err)
			}
			w.forget(file)
		}
	}},
	{"a shard is cut short", 0, func(w *world) {
		if len(w.files) > 0 {
			file := pick(w, w.files)
			info, err := os.Stat(shardPath(w.root, file))
			if err == nil && info.Size() > 0 {
				err = os.Truncate(shardPath(w.root, file), w.rand.Int64N(info.Size()))
			}
			if err != nil {
				w.t.Fatal(err)
			}
			delete(w.torn, file)
		}
	}},
	{"a shard is written over in place", 0, func(w *world) {
		if len(w.files) > 0 {
			file := pick(w, w.files)
			content, err := os.ReadFile(shardPath(w.root, file))
			if err != nil || len(content) == 0 {
				return
			}
			content[w.rand.IntN(len(content))] ^= 1
			put(w.t, w.root, file, string(content), 0o644)
			// File times may be too coarse to tell two changes apart.
			at := noon.Add(time.Duration(w.number()) * time.Second)
			if err := os.Chtimes(shardPath(w.root, file), at, at); err != nil {
				w.t.Fatal(err)
			}
		}
	}},
	{"a shard grows over its bound", 1, func(w *world) {
		if len(w.files) > 0 {
			extend(w.t, w.root, pick(w, w.files), strings.Repeat("x", w.limits.MaxSegmentBytes))
		}
	}},
	{"something that is no shard", 2, func(w *world) {
		n := w.number()
		put(w.t, w.root, "notes.txt", "", 0o644)
		switch w.rand.IntN(5) {
		case 0:
			put(w.t, w.root, fmt.Sprintf("shard-%d%s", n, ShardExt), lines(w.record()), 0o644)
		case 1:
			put(w.t, w.root, uuid(n)+pendingExt, lines(w.record()), 0o600)
		case 2:
			put(w.t, w.root, uuid(n)+retiringExt, lines(w.record()), 0o600)
		case 3:
			if err := os.Symlink("notes.txt", shardPath(w.root, fileName(n))); err != nil {
				w.t.Fatal(err)
			}
		default:
			if err := os.Mkdir(shardPath(w.root, fileName(n)), 0o755); err != nil {
				w.t.Fatal(err)
			}
		}
	}},
	{"what was no shard is replaced by one", 2, func(w *world) {
		for _, file := range shardFiles(w.t, w.root) {
			info, err := os.Lstat(shardPath(w.root, file))
			if err == nil && !info.Mode().IsRegular() {
				if err := os.Remove(shardPath(w.root, file)); err != nil {
					w.t.Fatal(err)
				}
				put(w.t, w.root, file, lines(w.record(w.parents()...)), 0o644)
				w.files = append(w.files, file)
				return
			}
		}
	}},
	{"a writer's own shard is written to by another and the writer goes on", 2, func(w *world) {
		writer := pick(w, w.writers)
		if writer.file == nil {
			return
		}
		if _, err := os.Lstat(shardPath(w.root, writer.dir.own)); err != nil {
			return
		}
		text := lines(w.record())
		extend(w.t, w.root, writer.dir.own, pick(w, []string{"x", "\n", text, text[:50]}))
		// Where no shard may be added, the view of this writer alone stays behind.
		r, err := writer.Append("note", []byte(`"goes on"`))
		if err != nil {
			w.reopen(slices.Index(w.writers, writer))
			return
		}
		w.sealed = append(w.sealed, r)
		mustStand(w.t, w.root, w.limits, r)
	}},
	{"a writer ends and another takes its place", 2, func(w *world) { w.reopen(w.rand.IntN(len(w.writers))) }},
}

func (w *world) reopen(i int) {
	if err := w.writers[i].Close(); err != nil {
		w.t.Fatal(err)
	}
	w.writers[i] = newWriter(w.t, w.root, w.limits, w.rand.Uint64())
}

// round lets a few things happen, or one of those that need to be alone.
func (w *world) round() {
	total, alone := 0, []int{}
	for i, s := range steps {
		total += s.weight
		if s.weight == 0 {
			alone = append(alone, i)
		}
	}
	do := func(i int) {
		w.log = append(w.log, steps[i].name)
		steps[i].do(w)
	}
	if w.rand.IntN(5) == 0 {
		do(pick(w, alone))
	} else {
		for range 1 + w.rand.IntN(4) {
			n, i := w.rand.IntN(total), 0
			for ; n >= steps[i].weight; i++ {
				n -= steps[i].weight
			}
			do(i)
		}
	}
	w.log = append(w.log, "-")
}

func TestARefreshedViewIsThatOfAFreshReaderWhateverHappened(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, seed)
			for range 25 {
				w.round()
				fresh, err := Open(w.root, w.limits)
				if err != nil {
					t.Fatal(err)
				}
				views := []*Ledger{w.reader}
				for _, writer := range w.writers {
					views = append(views, writer.Ledger)
				}
				for i, view := range views {
					if err := view.Refresh(); err != nil {
						t.Fatal(err)
					}
					sameView(t, view, fresh)
					if t.Failed() {
						t.Fatalf("view %d differs after %s", i, strings.Join(w.log, "; "))
					}
				}
				if err := fresh.Close(); err != nil {
					t.Fatal(err)
				}
			}
			var closed error
			for _, writer := range w.writers {
				closed = errors.Join(closed, writer.Close())
			}
			if closed != nil {
				t.Error(closed)
			}
		})
	}
}
