package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fill is a payload of that many bytes.
func fill(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }

func TestAFullShardIsClosedAndTheNextRecordStartsAnother(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	w := newWriter(t, root, limits, 1)
	var records []Record
	ids := []string{w.ShardID()}
	for range 12 {
		records = append(records, mustAppend(t, w, fill(300)))
		if id := w.ShardID(); id != ids[len(ids)-1] {
			ids = append(ids, id)
		}
	}
	if len(ids) < 3 {
		t.Fatalf("only %d shards", len(ids))
	}
	l := mustStand(t, root, limits, records...)
	sameView(t, w.Ledger, l)
	shards := l.Shards()
	for _, s := range shards {
		info, err := os.Stat(shardPath(root, s.File))
		if err != nil {
			t.Fatal(err)
		}
		last := s.ID == ids[len(ids)-1]
		if closed := info.Mode().Perm() == closedMode; closed == last || info.Size() > int64(limits.MaxSegmentBytes) {
			t.Errorf("shard of %d bytes has mode %v; written to: %v", info.Size(), info.Mode(), last)
		}
	}
	if len(shards) != len(ids) {
		t.Errorf("%d shards, want those of %v", len(shards), ids)
	}
	// A closed shard is full: the record after its last would not have fit.
	for i, r := range records[1:] {
		before, _, _ := l.Location(records[i].SHA())
		file, offset, _ := l.Location(r.SHA())
		if file != before {
			at := slices.IndexFunc(shards, func(s Shard) bool { return s.File == before })
			if offset != 0 || shards[at].Bytes+int64(len(r.Line()))+1 <= int64(limits.MaxSegmentBytes) {
				t.Errorf("a new shard was started at offset %d while the last had %d bytes", offset, shards[at].Bytes)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range shardFiles(t, root) {
		if info, err := os.Stat(shardPath(root, file)); err != nil || info.Mode().Perm() != closedMode {
			t.Errorf("after Close %s has mode %v, %v", file, info.Mode(), err)
		}
	}
}

func TestARecordMayFillAShardToItsBoundAndNotOneByteMore(t *testing.T) {
	for extra, shards := range map[int]int{0: 1, 1: 2} {
		root, limits := t.TempDir(), smallLimits()
		limits.MaxRecordBytes = limits.MaxSegmentBytes
		w := newWriter(t, root, limits, 1)
		first := len(mustAppend(t, w, fill(700)).Line()) + 1
		frame := len(seal(t, 1, `""`, seal(t, 2, `1`)).Line()) + 1
		mustAppend(t, w, fill(limits.MaxSegmentBytes-first-frame+2+extra))
		if got := len(shardFiles(t, root)); got != shards {
			t.Errorf("%d bytes over the bound: %d shards, want %d", extra, got, shards)
		}
		sameView(t, w.Ledger, open(t, root, limits))
	}
}

func TestTwoWritersAlternateAndJoinEachOthersHeads(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	a, b := newWriter(t, root, limits, 1), newWriter(t, root, limits, 2)
	last := mustAppend(t, a, `"a"`)
	records := []Record{last}
	for i := range 24 {
		w := []*Writer{b, a}[i%2]
		r := mustAppend(t, w, fill(200))
		if parents := r.Parents(); len(parents) != 1 || parents[0] != last.SHA() {
			t.Fatalf("record %d names %v, want the other writer's %s", i, parents, last.SHA())
		}
		last = r
		records = append(records, r)
	}
	l := mustStand(t, root, limits, records...)
	if l.Len() != len(records) || len(l.Heads()) != 1 {
		t.Errorf("%d records, heads %v", l.Len(), l.Heads())
	}
	if err := errors.Join(a.Refresh(), b.Refresh()); err != nil {
		t.Fatal(err)
	}
	sameView(t, a.Ledger, l)
	sameView(t, b.Ledger, l)
	if a.ShardID() == b.ShardID() {
		t.Error("two writers have one shard")
	}
}

func TestConcurrentHeadsAreJoinedByTheNextAppend(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	one, two := seal(t, 1, `1`), seal(t, 2, `2`)
	put(t, root, fileName(1), lines(one), closedMode)
	put(t, root, fileName(2), lines(two), closedMode)
	w := newWriter(t, root, limits, 1)
	r := mustAppend(t, w, `"join"`)
	want := []Hash{one.SHA(), two.SHA()}
	slices.SortFunc(want, Hash.Compare)
	if !slices.Equal(r.Parents(), want) || !slices.Equal(w.Heads(), []Hash{r.SHA()}) {
		t.Errorf("parents %v, heads %v", r.Parents(), w.Heads())
	}
}

func TestClosedShardsAreNeverOpenedAgain(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	restored := seal(t, 1, `"restored"`)
	put(t, root, fileName(1), lines(restored), closedMode)
	w := newWriter(t, root, limits, 1)
	for range 12 {
		mustAppend(t, w, fill(300))
	}
	closed := 0
	for _, file := range shardFiles(t, root) {
		if file == w.ShardID()+ShardExt {
			continue
		}
		// Overwritten in place, whoever reads it again loses its records.
		closed++
		content, err := os.ReadFile(shardPath(root, file))
		if err != nil {
			t.Fatal(err)
		}
		put(t, root, file, strings.Repeat("\n", len(content)), 0o644)
	}
	if closed < 3 {
		t.Fatalf("only %d closed shards", closed)
	}
	records := w.Len()
	for range 12 {
		mustAppend(t, w, fill(300))
	}
	// The shards of others that appear are read, and still no other.
	stranger := seal(t, 2, `"stranger"`)
	put(t, root, fileName(2), lines(stranger), 0o644)
	mustAppend(t, w, `1`)
	extend(t, root, fileName(2), lines(seal(t, 3, `3`, stranger)))
	if err := os.Chmod(shardPath(root, fileName(2)), closedMode); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, w, `1`)
	put(t, root, fileName(2), "closed by now", 0o644)
	mustAppend(t, w, `1`)
	if w.Len() != records+17 || len(w.Diagnostics()) != 0 || !w.Has(restored.SHA()) || len(w.Heads()) != 1 {
		t.Errorf("%d records, want %d; diagnostics %v", w.Len(), records+17, w.Diagnostics())
	}
}

func TestTheOwnShardIsNotLookedAtAgainAfterTheLedgerWasReadAnew(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	w := newWriter(t, root, limits, 1)
	first := mustAppend(t, w, `1`)
	// A copy that sorts before the record makes the order of shards matter.
	put(t, root, fileName(1), lines(first), closedMode)
	mustAppend(t, w, `2`)
	read := w.Generation()
	for range 5 {
		mustAppend(t, w, `3`)
	}
	if w.Generation() != read {
		t.Errorf("the ledger was read anew %d times", w.Generation()-read)
	}
	if len(shardFiles(t, root)) != 2 {
		t.Errorf("the own shard was given up: %v", shardFiles(t, root))
	}
	sameView(t, w.Ledger, open(t, root, limits))
}

func TestATornTailOfAnEarlierCrashNeitherSwallowsNorJoinsTheNextRecord(t *testing.T) {
	first, torn := seal(t, 1, `"first"`), seal(t, 2, `"torn"`)
	whole := lines(first) + string(torn.Line())
	for name, content := range map[string]string{
		"half a record":            whole[:len(whole)-20],
		"all but the newline":      whole,
		"one byte":                 lines(first) + "{",
		"zeros":                    lines(first) + strings.Repeat("\x00", 512),
		"a cut character":          lines(first) + "\xf0\x9f",
		"no whole record at all":   string(first.Line())[:30],
		"an empty file":            "",
		"a byte order mark":        "\ufeff",
		"half a byte order mark":   "\xef\xbb",
		"whole records after junk": "junk\n" + lines(first),
	} {
		t.Run(name, func(t *testing.T) {
			root, limits := t.TempDir(), smallLimits()
			put(t, root, fileName(1), content, 0o644)
			w := newWriter(t, root, limits, 1)
			a, b := mustAppend(t, w, `"a"`), mustAppend(t, w, `"b"`)
			sameView(t, w.Ledger, mustStand(t, root, limits, a, b))
			if got, err := os.ReadFile(shardPath(root, fileName(1))); err != nil || string(got) != content {
				t.Errorf("the shard of the crashed writer was changed: %q, %v", got, err)
			}
			if own := w.ShardID() + ShardExt; own == fileName(1) {
				t.Error("a writer took up another's shard")
			}
			// The torn line may be completed later, by whoever wrote it.
			if strings.HasPrefix(whole, content) && strings.HasPrefix(content, lines(first)) {
				extend(t, root, fileName(1), whole[len(content):]+"\n")
				c := mustAppend(t, w, `"c"`)
				l := mustStand(t, root, limits, a, b, c, torn)
				sameView(t, w.Ledger, l)
				if !slices.Contains(c.Parents(), torn.SHA()) {
					t.Error("the completed record is not joined")
				}
			}
		})
	}
}

// meddle describes what a stranger does to the writer's own shard.
type meddle struct {
	name string
	with func(t *testing.T, root, file string)
	lost bool // earlier records of the shard are gone
	// blind: the writer's own view may still hold them, as long as the size of
	// its shard is what it was.
	blind bool
}

var meddling = []meddle{
	{"garbage without newline is added", func(t *testing.T, root, file string) { extend(t, root, file, `{"id":"ldg-`) }, false, false},
	{"a garbage line is added", func(t *testing.T, root, file string) { extend(t, root, file, "garbage\n") }, false, false},
	{"a valid record is added", func(t *testing.T, root, file string) { extend(t, root, file, lines(seal(t, 77, `"theirs"`))) }, false, false},
	{"the newline is cut off", func(t *testing.T, root, file string) {
		info, err := os.Stat(shardPath(root, file))
		if err == nil {
			err = os.Truncate(shardPath(root, file), info.Size()-1)
		}
		if err != nil {
			t.Fatal(err)
		}
	}, true, false},
	{"the newline is overwritten", func(t *testing.T, root, file string) {
		content, err := os.ReadFile(shardPath(root, file))
		if err != nil {
			t.Fatal(err)
		}
		put(t, root, file, string(content[:len(content)-1])+"x", 0o600)
	}, true, false},
	{"it is emptied", func(t *testing.T, root, file string) {
		if err := os.Truncate(shardPath(root, file), 0); err != nil {
			t.Fatal(err)
		}
	}, true, false},
	{"it is overwritten by newlines", func(t *testing.T, root, file string) {
		content, err := os.ReadFile(shardPath(root, file))
		if err != nil {
			t.Fatal(err)
		}
		put(t, root, file, strings.Repeat("\n", len(content)), 0o600)
	}, true, true},
	{"it is deleted", func(t *testing.T, root, file string) {
		if err := os.Remove(shardPath(root, file)); err != nil {
			t.Fatal(err)
		}
	}, true, false},
	{"it is renamed to another shard", func(t *testing.T, root, file string) {
		if err := os.Rename(shardPath(root, file), shardPath(root, fileName(99))); err != nil {
			t.Fatal(err)
		}
	}, false, false},
	{"it is taken aside by a retirement", func(t *testing.T, root, file string) {
		if err := os.Rename(shardPath(root, file), shardPath(root, strings.TrimSuffix(file, ShardExt)+retiringExt)); err != nil {
			t.Fatal(err)
		}
	}, true, false},
	{"it is replaced by a copy", func(t *testing.T, root, file string) {
		content, err := os.ReadFile(shardPath(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(shardPath(root, file)); err != nil {
			t.Fatal(err)
		}
		put(t, root, file, string(content), 0o644)
	}, false, false},
	{"it is replaced by another file", func(t *testing.T, root, file string) {
		if err := os.Remove(shardPath(root, file)); err != nil {
			t.Fatal(err)
		}
		put(t, root, file, lines(seal(t, 78, `"theirs"`)), 0o644)
	}, true, false},
	{"it is replaced by a folder", func(t *testing.T, root, file string) {
		if err := os.Remove(shardPath(root, file)); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(shardPath(root, file), 0o755); err != nil {
			t.Fatal(err)
		}
	}, true, false},
	{"it is replaced by a link to itself elsewhere", func(t *testing.T, root, file string) {
		elsewhere := filepath.Join(t.TempDir(), "elsewhere")
		if err := os.Rename(shardPath(root, file), elsewhere); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(elsewhere, shardPath(root, file)); err != nil {
			t.Fatal(err)
		}
	}, true, false},
	{"the whole shard folder is renamed away", func(t *testing.T, root, file string) {
		folder := filepath.Dir(shardPath(root, file))
		if err := os.Rename(folder, folder+".away"); err != nil {
			t.Fatal(err)
		}
	}, true, false},
	{"the whole shard folder is replaced by an empty one", func(t *testing.T, root, file string) {
		folder := filepath.Dir(shardPath(root, file))
		if err := errors.Join(os.Rename(folder, folder+".away"), os.Mkdir(folder, 0o755)); err != nil {
			t.Fatal(err)
		}
	}, true, false},
	{"the ledger folder is deleted", func(t *testing.T, root, file string) {
		if err := os.RemoveAll(filepath.Join(root, Dir)); err != nil {
			t.Fatal(err)
		}
	}, true, false},
}

func TestWhateverAStrangerDoesToTheOwnShardTheNextRecordIsDurableAndReadable(t *testing.T) {
	for _, m := range meddling {
		t.Run(m.name, func(t *testing.T) {
			root, limits := t.TempDir(), smallLimits()
			w := newWriter(t, root, limits, 1)
			before := []Record{mustAppend(t, w, `"one"`), mustAppend(t, w, `"two"`)}
			m.with(t, root, w.ShardID()+ShardExt)
			after := []Record{mustAppend(t, w, `"three"`)}
			mustStand(t, root, limits, after...)
			after = append(after, mustAppend(t, w, `"four"`), mustAppend(t, w, `"five"`))
			if !m.lost {
				after = append(after, before...)
			}
			l := mustStand(t, root, limits, after...)
			if err := w.Refresh(); err != nil {
				t.Fatal(err)
			}
			if !m.blind {
				sameView(t, w.Ledger, l)
			}
		})
	}
}

// The same again in the moment between the last look at the shard and the write.
func TestAStrangerBetweenTheLookAndTheWriteSwallowsNoRecord(t *testing.T) {
	for _, m := range meddling {
		t.Run(m.name, func(t *testing.T) {
			root, limits := t.TempDir(), smallLimits()
			w := newWriter(t, root, limits, 1)
			before := []Record{mustAppend(t, w, `"one"`), mustAppend(t, w, `"two"`)}
			r := seal(t, 50, `"three"`, before[1])
			line := append(slices.Clone(r.Line()), '\n')
			m.with(t, root, w.ShardID()+ShardExt)
			// What write does once fits has said yes.
			err := w.extendOwn(line)
			if err == nil && w.broken {
				err = w.write(line)
			}
			if err != nil {
				t.Fatal(err)
			}
			mustStand(t, root, limits, r)
			after := []Record{r, mustAppend(t, w, `"four"`), mustAppend(t, w, `"five"`)}
			if !m.lost {
				after = append(after, before...)
			}
			l := mustStand(t, root, limits, after...)
			if err := w.Refresh(); err != nil {
				t.Fatal(err)
			}
			if !m.blind {
				sameView(t, w.Ledger, l)
			}
		})
	}
}

func TestAShardFolderThatAppearsAfterOpeningIsRead(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	w, reader := newWriter(t, root, limits, 1), open(t, root, limits)
	theirs := seal(t, 1, `"theirs"`)
	put(t, root, fileName(1), lines(theirs), 0o644)
	if err := reader.Refresh(); err != nil || !reader.Has(theirs.SHA()) {
		t.Errorf("a reader does not see it: %v", err)
	}
	r := mustAppend(t, w, `1`)
	if !slices.Equal(r.Parents(), []Hash{theirs.SHA()}) {
		t.Errorf("parents %v", r.Parents())
	}
	if err := reader.Refresh(); err != nil {
		t.Fatal(err)
	}
	sameView(t, reader, w.Ledger)
}

func TestOneWhoCameBeforeTheFolderSeesWhichOfTwoRecordsComesFirst(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	reader, w := open(t, root, limits), newWriter(t, root, limits, 1)
	r := mustAppend(t, w, `1`)
	if err := reader.Refresh(); err != nil {
		t.Fatal(err)
	}
	twin := sealDraft(t, Draft{ID: r.ID(), Payload: []byte(`2`), Type: "twin"})
	put(t, root, fileName(1), lines(twin), closedMode)
	if err := errors.Join(reader.Refresh(), w.Refresh()); err != nil {
		t.Fatal(err)
	}
	fresh := open(t, root, limits)
	sameView(t, reader, fresh)
	sameView(t, w.Ledger, fresh)
}

func TestAShardFolderThatAppearsBetweenTheLookAndTheWriteIsReadNext(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	w := newWriter(t, root, limits, 1)
	theirs := seal(t, 1, `"theirs"`)
	put(t, root, fileName(1), lines(theirs), 0o644)
	ours := seal(t, 2, `"ours"`)
	if err := w.create([]byte(lines(ours))); err != nil {
		t.Fatal(err)
	}
	if r := mustAppend(t, w, `1`); len(r.Parents()) != 2 {
		t.Errorf("parents %v", r.Parents())
	}
	sameView(t, w.Ledger, open(t, root, limits))
}

func TestALedgerFolderThatIsALinkOrAFileIsRefused(t *testing.T) {
	for _, dir := range []string{Dir, ShardDir} {
		for name, place := range map[string]func(path string) error{
			"a link to a folder": func(path string) error {
				elsewhere := t.TempDir()
				if err := os.MkdirAll(filepath.Join(elsewhere, "shards"), 0o755); err != nil {
					return err
				}
				return os.Symlink(elsewhere, path)
			},
			"a link within the ledger": func(path string) error {
				sibling := path + ".real"
				if err := os.MkdirAll(filepath.Join(sibling, "shards"), 0o755); err != nil {
					return err
				}
				return os.Symlink(filepath.Base(sibling), path)
			},
			"a dangling link": func(path string) error { return os.Symlink("nowhere", path) },
			"a file":          func(path string) error { return os.WriteFile(path, nil, 0o644) },
		} {
			for _, late := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s is %s, late %v", dir, name, late), func(t *testing.T) {
					root, limits := t.TempDir(), smallLimits()
					path := filepath.Join(root, filepath.FromSlash(dir))
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					var w *Writer
					if late {
						w = newWriter(t, root, limits, 1)
					}
					if err := place(path); err != nil {
						t.Fatal(err)
					}
					if l, err := Open(root, limits); !errors.Is(err, ErrDirectory) || l != nil {
						t.Errorf("Open: %v", err)
					}
					if w, err := NewWriter(root, limits, options(1)); !errors.Is(err, ErrDirectory) || w != nil {
						t.Errorf("NewWriter: %v", err)
					}
					if late {
						_, err := w.Append("note", []byte(`1`))
						mustRefuse(t, err, RuleUnavailable, "", root)
					}
					if r, err := NewRetirement(root, limits, nil); err == nil || r != nil || strings.Contains(err.Error(), root) {
						t.Errorf("NewRetirement: %v", err)
					}
				})
			}
		}
	}
}

func TestAFolderThatBecomesALinkAfterOpeningIsRefused(t *testing.T) {
	for _, dir := range []string{Dir, ShardDir} {
		root, limits := t.TempDir(), smallLimits()
		w := newWriter(t, root, limits, 1)
		mustAppend(t, w, `1`)
		path, elsewhere := filepath.Join(root, filepath.FromSlash(dir)), filepath.Join(t.TempDir(), "elsewhere")
		if err := errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Append("note", []byte(`2`)); dir == ShardDir {
			mustRefuse(t, err, RuleUnavailable, "", root)
		} else if err != nil {
			// The same folder under a linked one is still the ledger's.
			mustRefuse(t, err, RuleUnavailable, "", root)
		}
	}
}

func TestPendingShardsAreIgnored(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	pending := uuid(1) + pendingExt
	put(t, root, pending, lines(seal(t, 1, `1`)), 0o600)
	w := newWriter(t, root, limits, 1)
	a := mustAppend(t, w, `2`)
	if l := mustStand(t, root, limits, a); l.Len() != 1 || len(l.Diagnostics()) != 0 || len(l.Shards()) != 1 {
		t.Errorf("%d records, %v", l.Len(), l.Diagnostics())
	}
	if len(a.Parents()) != 0 {
		t.Errorf("a pending record is named as parent")
	}
	if _, err := os.Stat(shardPath(root, pending)); err != nil {
		t.Errorf("another writer's pending shard was touched: %v", err)
	}
}

func TestANameThatIsTakenIsLeftToItsOwner(t *testing.T) {
	for _, ext := range []string{ShardExt, pendingExt} {
		for name, place := range map[string]func(t *testing.T, root, file string){
			"a file":       func(t *testing.T, root, file string) { put(t, root, file, lines(seal(t, 1, `"theirs"`)), 0o644) },
			"an empty one": func(t *testing.T, root, file string) { put(t, root, file, "", 0o644) },
			"a folder": func(t *testing.T, root, file string) {
				if err := os.MkdirAll(shardPath(root, file), 0o755); err != nil {
					t.Fatal(err)
				}
			},
			"a dangling link": func(t *testing.T, root, file string) {
				put(t, root, "x", "", 0o644)
				if err := os.Symlink("nowhere", shardPath(root, file)); err != nil {
					t.Fatal(err)
				}
			},
		} {
			t.Run(ext+" is "+name, func(t *testing.T) {
				root, limits := t.TempDir(), smallLimits()
				w := newWriter(t, root, limits, 1)
				file := w.ShardID() + ext
				place(t, root, file)
				before, err := os.Lstat(shardPath(root, file))
				if err != nil {
					t.Fatal(err)
				}
				a, b := mustAppend(t, w, `"a"`), mustAppend(t, w, `"b"`)
				sameView(t, w.Ledger, mustStand(t, root, limits, a, b))
				after, err := os.Lstat(shardPath(root, file))
				if err != nil || !os.SameFile(before, after) || before.Size() != after.Size() {
					t.Errorf("what stood there was touched: %v", err)
				}
			})
		}
	}
}

func TestAppendAfterCloseWritesOverNothing(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	w := newWriter(t, root, limits, 1)
	a := mustAppend(t, w, `"a"`)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	records := []Record{a}
	if b, err := w.Append("note", []byte(`"b"`)); err == nil {
		records = append(records, b)
	}
	mustStand(t, root, limits, records...)
}

func TestTheShardBoundStopsANewShardAndNotTheOwnOne(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	limits.MaxShards = 3
	put(t, root, fileName(1), lines(seal(t, 1, `1`)), closedMode)
	put(t, root, fileName(2), "", closedMode)
	w := newWriter(t, root, limits, 1)
	var records []Record
	for {
		r, err := w.Append("note", []byte(fill(400)))
		if err != nil {
			mustRefuse(t, err, RuleShardCount, "", root, "xxx")
			break
		}
		if records = append(records, r); len(records) > 10 {
			t.Fatal("the bound stops nothing")
		}
	}
	if len(records) < 2 || len(shardFiles(t, root)) != 3 {
		t.Errorf("%d records in %v", len(records), shardFiles(t, root))
	}
	// What still fits into the own shard is admitted.
	records = append(records, mustAppend(t, w, `1`))
	l := mustStand(t, root, limits, records...)
	if l.Whole() != nil {
		t.Error(l.Whole())
	}
	if err := w.Refresh(); err != nil {
		t.Fatal(err)
	}
	sameView(t, w.Ledger, open(t, root, limits))
}

func TestALedgerThatWasNotReadWholeIsNotAppendedTo(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	limits.MaxShards = 3
	for i := range 4 {
		put(t, root, fileName(i), lines(seal(t, i, `1`)), closedMode)
	}
	w := newWriter(t, root, limits, 1)
	_, err := w.Append("note", []byte(`1`))
	mustRefuse(t, err, RuleNotWhole, "", root)
	if w.Whole() == nil || w.Len() != 3 || len(shardFiles(t, root)) != 4 {
		t.Errorf("%d records in %v", w.Len(), shardFiles(t, root))
	}
	// Once compacted it is again, and it stops being when shards appear.
	if err := os.Remove(shardPath(root, fileName(3))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(shardPath(root, fileName(2))); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, w, `1`)
	put(t, root, fileName(5), lines(seal(t, 5, `1`)), closedMode)
	_, err = w.Append("note", []byte(`2`))
	mustRefuse(t, err, RuleNotWhole, "", root)
	sameView(t, w.Ledger, open(t, root, limits))
}

func TestThePatchBoundCountsWhatTheRunAddsWithNewlines(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	put(t, root, fileName(1), lines(chain(t, 1, 4)...), closedMode)
	probe := newWriter(t, t.TempDir(), limits, 1)
	size := len(mustAppend(t, probe, fill(300)).Line()) + 1 + len(mustAppend(t, probe, fill(300)).Line()) + 1
	for spare, want := range map[int]int{0: 2, -1: 1} {
		root := t.TempDir()
		limits.MaxPatchBytes = size + spare
		w := newWriter(t, root, limits, 1)
		admitted := 0
		for range 3 {
			_, err := w.Append("note", []byte(fill(300)))
			if err == nil {
				admitted++
				continue
			}
			mustRefuse(t, err, RulePatchSize, "", "xxx", root)
		}
		if l := open(t, root, limits); admitted != want || l.Len() != want {
			t.Errorf("with %d bytes to spare %d records are admitted, %d stand; want %d", spare, admitted, l.Len(), want)
		}
	}
}

func TestHeadsShrinkWithEveryAppendAndARecordStaysWithinAQuarterOfItsBound(t *testing.T) {
	for _, c := range []struct{ recordBytes, heads, join int }{
		{1 << 10, 30, 3}, {4 << 10, 130, 13}, {32 << 10, 10_000, MaxParents},
	} {
		root := t.TempDir()
		limits := Limits{MaxShards: 1024, MaxSegmentBytes: 512 << 10, MaxRecordBytes: c.recordBytes, MaxPatchBytes: 1 << 20}
		var content strings.Builder
		for i, shard := 0, 0; i < c.heads; i++ {
			content.WriteString(lines(seal(t, i, `1`)))
			if content.Len() > limits.MaxSegmentBytes-1000 || i == c.heads-1 {
				put(t, root, fileName(shard), content.String(), closedMode)
				content.Reset()
				shard++
			}
		}
		w := newWriter(t, root, limits, 1)
		if got := len(w.Heads()); got != c.heads {
			t.Fatalf("%d heads, want %d", got, c.heads)
		}
		heads := c.heads
		for range 20 {
			r := mustAppend(t, w, `1`)
			n := len(r.Parents())
			if n != min(c.join, heads) || n*(hashLen+3) > c.recordBytes/4 {
				t.Fatalf("%d of %d heads are joined, %d bytes", n, heads, n*(hashLen+3))
			}
			if heads -= n - 1; len(w.Heads()) != heads {
				t.Fatalf("%d heads are left, want %d", len(w.Heads()), heads)
			}
		}
		if heads != max(1, c.heads-20*(c.join-1)) {
			t.Errorf("%d heads are left", heads)
		}
		// Three quarters of a record are left for the payload and the frame.
		mustAppend(t, w, fill(c.recordBytes*3/4-300))
		sameView(t, w.Ledger, open(t, root, limits))
	}
}

func TestAThousandShardsOfNewlinesOpenWithBoundedDiagnostics(t *testing.T) {
	limits := DefaultLimits()
	limits.MaxSegmentBytes = 4 << 10
	newlines := []byte(strings.Repeat("\n", limits.MaxSegmentBytes))
	snap := Snapshot{Files: map[string][]byte{}}
	for i := range limits.MaxShards - 1 {
		snap.Files[ShardPath(uuid(i))] = newlines
	}
	r := seal(t, 1, `"between newlines"`)
	snap.Files[ShardPath(uuid(5000))] = []byte(strings.Repeat("\n", 3000) + lines(r) + strings.Repeat("\n", 10))
	bad := (limits.MaxShards-1)*limits.MaxSegmentBytes + 3010

	l := OpenSnapshot(snap, limits)
	status := l.Status()
	if !l.Has(r.SHA()) || status.Records != bad+1 || status.InvalidRecords != bad || status.ValidRecords != 1 {
		t.Errorf("%d records, %d invalid, %d valid; want %d", status.Records, status.InvalidRecords, status.ValidRecords, bad)
	}
	if n, most := len(status.Diagnostics), limits.MaxShards*(maxShardFaults+1); n > most || n < limits.MaxShards*maxShardFaults {
		t.Errorf("%d diagnostics, want at most %d", n, most)
	}
}

func TestNoErrorShowsAPath(t *testing.T) {
	root, limits := t.TempDir(), smallLimits()
	check := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s: no error", what)
		} else if text := err.Error(); strings.Contains(text, root) || strings.Contains(text, filepath.Base(root)) || strings.Contains(text, Dir+string(filepath.Separator)) && !strings.Contains(text, ShardDir) {
			t.Errorf("%s shows a path: %s", what, text)
		}
	}
	_, err := Open(filepath.Join(root, "absent"), limits)
	check("a folder that is absent", err)
	put(t, root, "x", "", 0o644)
	_, err = Open(shardPath(root, "x"), limits)
	check("a folder that is a file", err)

	w := newWriter(t, root, limits, 1)
	mustAppend(t, w, `1`)
	if err := w.file.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = w.Append("note", []byte(`2`))
	check("a shard whose file is closed", err)
	check("closing it", w.Close())

	w = newWriter(t, root, limits, 2)
	mustAppend(t, w, `1`)
	if err := errors.Join(w.dir.handle.Close(), w.dir.root.Close()); err != nil {
		t.Fatal(err)
	}
	check("closing a folder twice", w.Close())

	r, err := NewRetirement(root, limits, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.dir.handle.Close(), r.dir.root.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = r.Replace(Segment{ID: uuid(1), Content: []byte("x")}, []string{uuid(2)})
	check("replacing in a folder that was closed", err)
	check("closing a retirement twice", r.Close())
}
