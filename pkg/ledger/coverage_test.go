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

// field is a ledger with two closed shards and the segment that replaces them.
type field struct {
	t       *testing.T
	root    string
	limits  Limits
	records []Record // of both sources
	sources []string
	segment Segment
}

func newField(t *testing.T) *field {
	t.Helper()
	f := &field{t: t, root: t.TempDir(), limits: smallLimits(), sources: []string{uuid(1), uuid(2)}}
	f.limits.MaxSegmentBytes = 8 << 10
	f.records = chain(t, 1, 4)
	put(t, f.root, fileName(1), lines(f.records[:2]...), closedMode)
	put(t, f.root, fileName(2), lines(f.records[2:]...), closedMode)
	put(t, f.root, fileName(3), lines(seal(t, 9, `"not compacted"`, f.records[3])), closedMode)
	f.segment = f.build(f.records...)
	return f
}

func (f *field) build(records ...Record) Segment {
	f.t.Helper()
	segment, err := BuildSegment(records, `{}`, f.limits.MaxSegmentBytes)
	if err != nil {
		f.t.Fatal(err)
	}
	return segment
}

func (f *field) retirement(current ...string) *Retirement {
	f.t.Helper()
	r, err := NewRetirement(f.root, f.limits, current)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { r.Close() })
	return r
}

// files lists shards and declarations.
func (f *field) files() (shards, declarations []string) {
	f.t.Helper()
	entries, err := os.ReadDir(f.coverage(""))
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	for _, e := range entries {
		declarations = append(declarations, e.Name())
	}
	return shardFiles(f.t, f.root), declarations
}

// coverage is the path of a declaration.
func (f *field) coverage(name string) string {
	return filepath.Join(f.root, filepath.FromSlash(CoverageDir), name)
}

// declaration is the file of the declaration that Replace would make.
func (f *field) declaration() (name, content string) {
	text, digits := Coverage{Replacement: f.segment.ID, Sources: f.sources}.text()
	return digits + ShardExt, string(text) + "\n"
}

func (f *field) putCoverage(name, content string) {
	f.t.Helper()
	if err := errors.Join(os.MkdirAll(f.coverage(""), 0o755), os.WriteFile(f.coverage(name), []byte(content), 0o644)); err != nil {
		f.t.Fatal(err)
	}
}

// done asks that the sources are gone, nothing is left over and no record is lost.
func (f *field) done(records ...Record) {
	f.t.Helper()
	shards, declarations := f.files()
	want := []string{fileName(3), f.segment.ID + ShardExt}
	slices.Sort(want)
	if !slices.Equal(shards, want) || len(declarations) != 0 {
		f.t.Errorf("shards %v and declarations %v are left, want %v", shards, declarations, want)
	}
	f.whole(records...)
}

// whole asks that every record of the sources, and those given, stand.
func (f *field) whole(records ...Record) {
	f.t.Helper()
	l := mustStand(f.t, f.root, f.limits, append(records, f.records...)...)
	if d := l.Diagnostics(); len(d) != 0 {
		f.t.Errorf("diagnostics %v", d)
	}
}

// kept asks that both sources stand as they were.
func (f *field) kept() {
	f.t.Helper()
	for i, want := range []string{lines(f.records[:2]...), lines(f.records[2:]...)} {
		if got, err := os.ReadFile(shardPath(f.root, fileName(i+1))); err != nil || string(got) != want {
			f.t.Errorf("source %d: %v", i+1, err)
		}
	}
}

// mustFail asks for an error that shows no path.
func (f *field) mustFail(retired []string, err error) {
	f.t.Helper()
	if err == nil || len(retired) != 0 {
		f.t.Errorf("retired %v, %v", retired, err)
		return
	}
	if strings.Contains(err.Error(), f.root) {
		f.t.Errorf("%q shows a path", err)
	}
}

func TestRetirementLeavesTheReplacementAndNothingElse(t *testing.T) {
	f := newField(t)
	r := f.retirement()
	retired, err := r.Replace(f.segment, []string{f.sources[1], f.sources[0], f.sources[1]})
	if err != nil || !slices.Equal(retired, f.sources) {
		t.Fatalf("retired %v, %v", retired, err)
	}
	f.done()
	if info, err := os.Stat(shardPath(f.root, f.segment.ID+ShardExt)); err != nil || info.Mode().Perm() != closedMode {
		t.Errorf("the replacement has mode %v, %v", info.Mode(), err)
	}
	// The same again finds everything done.
	if retired, err := r.Replace(f.segment, f.sources); err != nil || len(retired) != 0 {
		t.Errorf("again: retired %v, %v", retired, err)
	}
	f.done()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestADeclarationIsOneCanonicalLineNamedByItsDigest(t *testing.T) {
	text, name := Coverage{Replacement: uuid(9), Sources: []string{uuid(1), uuid(2)}}.text()
	want := `{"replacement":"` + uuid(9) + `","sources":["` + uuid(1) + `","` + uuid(2) + `"]}`
	if string(text) != want || name != "600591eb0e07fc0bc3345322c914fdb720ab533196a702bcb1dfadc31192bea0" {
		t.Errorf("%s is named %s", text, name)
	}
}

func TestAReplacementThatLacksARecordRetiresNothing(t *testing.T) {
	f := newField(t)
	f.segment = f.build(f.records[:3]...)
	r := f.retirement()
	f.mustFail(r.Replace(f.segment, f.sources))
	f.kept()
	// Nor does it retire the source that it does cover.
	if _, err := os.Stat(shardPath(f.root, fileName(1))); err != nil {
		t.Error(err)
	}
	f.whole()
}

func TestCoverageThatNamesNoShardsIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	f := newField(t)
	for name, sources := range map[string][]string{
		"no sources": {}, "itself": {f.sources[0], f.segment.ID}, "a path": {"../" + f.sources[0]}, "a name that is no UUID": {"x"},
		"upper case": {strings.ToUpper("00000000-0000-4000-8000-00000000000a")},
	} {
		f.mustFail(f.retirement().Replace(f.segment, sources))
		if shards, declarations := f.files(); len(shards) != 3 || len(declarations) != 0 {
			t.Errorf("%s left %v and %v", name, shards, declarations)
		}
	}
	f.segment.ID = "../../x"
	f.mustFail(f.retirement().Replace(f.segment, f.sources))
	f.kept()
}

func TestAForgedDeclarationIsNeverHonoured(t *testing.T) {
	f := newField(t)
	// A perfect declaration and its replacement lie there before the run.
	name, content := f.declaration()
	f.putCoverage(name, content)
	put(t, f.root, f.segment.ID+ShardExt, string(f.segment.Content), closedMode)
	r := f.retirement()
	f.kept()
	f.mustFail(r.retire(Coverage{Replacement: f.segment.ID, Sources: f.sources}))
	f.kept()

	// Another replacement of this run does not carry it out either.
	other := f.build(f.records[:2]...)
	retired, err := r.Replace(other, f.sources[:1])
	if err != nil || !slices.Equal(retired, f.sources[:1]) {
		t.Fatalf("retired %v, %v", retired, err)
	}
	if _, declarations := f.files(); !slices.Equal(declarations, []string{name}) {
		t.Errorf("declarations %v", declarations)
	}
	f.whole()
}

func TestADeclarationWithOtherContentUnderTheSameNameStopsTheRetirement(t *testing.T) {
	for what, place := range map[string]func(f *field, name, content string){
		"other sources": func(f *field, name, content string) {
			f.putCoverage(name, strings.Replace(content, uuid(2), uuid(3), 1))
		},
		"no newline":     func(f *field, name, content string) { f.putCoverage(name, strings.TrimSuffix(content, "\n")) },
		"a second line":  func(f *field, name, content string) { f.putCoverage(name, content+content) },
		"nothing":        func(f *field, name, content string) { f.putCoverage(name, "") },
		"more than fits": func(f *field, name, content string) { f.putCoverage(name, strings.Repeat("x", maxCoverageBytes+1)) },
		"a link to it": func(f *field, name, content string) {
			f.putCoverage("real", content)
			symlink(f.t, "real", f.coverage(name))
		},
		"a dangling link": func(f *field, name, content string) {
			f.putCoverage("real", "")
			symlink(f.t, "none", f.coverage(name))
		},
		"a hard link": func(f *field, name, content string) {
			f.putCoverage("real", content)
			if err := os.Link(f.coverage("real"), f.coverage(name)); err != nil {
				f.t.Fatal(err)
			}
		},
		"a folder": func(f *field, name, content string) {
			if err := os.MkdirAll(f.coverage(name), 0o755); err != nil {
				f.t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			f := newField(t)
			name, content := f.declaration()
			place(f, name, content)
			f.mustFail(f.retirement().Replace(f.segment, f.sources))
			f.kept()
			f.whole()
		})
	}
}

func symlink(t *testing.T, to, from string) {
	t.Helper()
	if err := os.Symlink(to, from); err != nil {
		t.Fatal(err)
	}
}

func TestADeclarationThatChangedSinceItWasMadeRetiresNothing(t *testing.T) {
	for what, change := range map[string]func(path, content string) error{
		"it is deleted": func(path, content string) error { return os.Remove(path) },
		"it is rewritten": func(path, content string) error {
			return errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, []byte("{}\n"), 0o644))
		},
		"it is moved and linked": func(path, content string) error {
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(filepath.Base(path)+".real", path))
		},
		"the folder is replaced by a link": func(path, content string) error {
			folder := filepath.Dir(path)
			return errors.Join(os.Rename(folder, folder+".real"), os.Symlink(filepath.Base(folder)+".real", folder))
		},
	} {
		t.Run(what, func(t *testing.T) {
			f := newField(t)
			r, c := f.retirement(), Coverage{Replacement: f.segment.ID, Sources: f.sources}
			if err := errors.Join(r.publish(f.segment), r.declare(c)); err != nil {
				t.Fatal(err)
			}
			name, content := f.declaration()
			if got, err := os.ReadFile(f.coverage(name)); err != nil || string(got) != content {
				t.Fatalf("declared %q, %v", got, err)
			}
			if err := change(f.coverage(name), content); err != nil {
				t.Fatal(err)
			}
			f.mustFail(r.retire(c))
			f.kept()
		})
	}
	// One that was made stands for no other.
	f := newField(t)
	r, c := f.retirement(), Coverage{Replacement: f.segment.ID, Sources: f.sources}
	if err := errors.Join(r.publish(f.segment), r.declare(c)); err != nil {
		t.Fatal(err)
	}
	f.mustFail(r.retire(Coverage{Replacement: f.segment.ID, Sources: f.sources[:1]}))
	f.kept()
	// Not even when a stranger declares it.
	text, digits := Coverage{Replacement: f.segment.ID, Sources: f.sources[:1]}.text()
	f.putCoverage(digits+ShardExt, string(text)+"\n")
	f.mustFail(r.retire(Coverage{Replacement: f.segment.ID, Sources: f.sources[:1]}))
	f.kept()
}

func TestShardsOfTheCurrentRunAreNeitherRetiredNorTakenAsReplacement(t *testing.T) {
	for _, current := range []string{uuid(1), uuid(2), ""} {
		f := newField(t)
		if current == "" {
			current = f.segment.ID
			put(t, f.root, current+ShardExt, string(f.segment.Content), closedMode)
		}
		before, _ := f.files()
		f.mustFail(f.retirement("00000000-0000-4000-8000-0000000000ff", current).Replace(f.segment, f.sources))
		f.kept()
		if after, declarations := f.files(); !slices.Equal(before, after) || len(declarations) != 0 {
			t.Errorf("current %s: %v and %v are left, want %v", current, after, declarations, before)
		}
	}
}

func TestAReplacementWhoseIdIsTakenChangesNothing(t *testing.T) {
	for what, place := range map[string]func(f *field, path string){
		"by other records": func(f *field, path string) {
			put(f.t, f.root, filepath.Base(path), lines(f.records[0]), closedMode)
		},
		"by the same with a line more": func(f *field, path string) {
			put(f.t, f.root, filepath.Base(path), string(f.segment.Content)+"\n", closedMode)
		},
		"by an empty file": func(f *field, path string) { put(f.t, f.root, filepath.Base(path), "", closedMode) },
		"by one over the bound": func(f *field, path string) {
			put(f.t, f.root, filepath.Base(path), strings.Repeat("\n", f.limits.MaxSegmentBytes+1), closedMode)
		},
		"by a folder": func(f *field, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				f.t.Fatal(err)
			}
		},
		"by a link to the same bytes": func(f *field, path string) {
			put(f.t, f.root, "real", string(f.segment.Content), closedMode)
			symlink(f.t, "real", path)
		},
		"by a dangling link": func(f *field, path string) { symlink(f.t, "nowhere", path) },
	} {
		t.Run(what, func(t *testing.T) {
			f := newField(t)
			path := shardPath(f.root, f.segment.ID+ShardExt)
			place(f, path)
			before, err := os.Lstat(path)
			if err != nil {
				t.Fatal(err)
			}
			retired, err := f.retirement().Replace(f.segment, f.sources)
			f.mustFail(retired, err)
			if !errors.Is(err, ErrCollision) {
				t.Errorf("%v, want a collision", err)
			}
			after, err := os.Lstat(path)
			if err != nil || !os.SameFile(before, after) || before.Size() != after.Size() {
				t.Errorf("what stood there was touched: %v", err)
			}
			f.kept()
			if _, declarations := f.files(); len(declarations) != 0 {
				t.Errorf("declared %v", declarations)
			}
		})
	}
}

func TestLinksInPlaceOfWhatRetirementReadsStopIt(t *testing.T) {
	for what, place := range map[string]func(f *field) error{
		"a source that is a link": func(f *field) error {
			path := shardPath(f.root, fileName(1))
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(fileName(1)+".real", path))
		},
		"a source that is a link to the other": func(f *field) error {
			path := shardPath(f.root, fileName(1))
			return errors.Join(os.Remove(path), os.Symlink(fileName(2), path))
		},
		"a source that is a folder": func(f *field) error {
			path := shardPath(f.root, fileName(1))
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o755))
		},
		"a coverage folder that is a link": func(f *field) error {
			return os.Symlink(f.t.TempDir(), strings.TrimSuffix(f.coverage(""), "/"))
		},
		"a coverage folder that is a link within": func(f *field) error {
			return os.Symlink("shards", strings.TrimSuffix(f.coverage(""), "/"))
		},
		"a coverage folder that is a file": func(f *field) error {
			return os.WriteFile(strings.TrimSuffix(f.coverage(""), "/"), nil, 0o644)
		},
	} {
		t.Run(what, func(t *testing.T) {
			f := newField(t)
			if err := place(f); err != nil {
				t.Fatal(err)
			}
			f.mustFail(f.retirement().Replace(f.segment, f.sources))
			if _, err := os.Lstat(shardPath(f.root, fileName(1))); err != nil {
				t.Errorf("a source is gone: %v", err)
			}
			if _, err := os.Lstat(shardPath(f.root, fileName(2))); err != nil {
				t.Errorf("a source is gone: %v", err)
			}
		})
	}
}

func TestASourceWithALineThatIsNoRecordStopsTheRetirement(t *testing.T) {
	for what, bad := range map[string]string{"junk": "junk\n", "an empty line": "\n", "a torn tail": `{"id":`, "a NUL": "\x00", "invalid UTF-8": "\xff\n"} {
		f := newField(t)
		put(t, f.root, fileName(2), lines(f.records[2:]...)+bad, closedMode)
		f.mustFail(f.retirement().Replace(f.segment, f.sources))
		for _, file := range []string{fileName(1), fileName(2)} {
			if _, err := os.Stat(shardPath(f.root, file)); err != nil {
				t.Errorf("%s: a source is gone: %v", what, err)
			}
		}
	}
	// So does an empty one, whose records nobody knows.
	f := newField(t)
	put(t, f.root, fileName(2), "", closedMode)
	f.mustFail(f.retirement().Replace(f.segment, f.sources))
}

func TestADamagedReplacementRetiresNothing(t *testing.T) {
	for what, damage := range map[string]func(path, content string) error{
		"it is deleted":   func(path, content string) error { return os.Remove(path) },
		"it is cut short": func(path, content string) error { return os.Truncate(path, int64(len(content)-1)) },
		"a byte is turned": func(path, content string) error {
			return os.WriteFile(path, []byte(strings.Replace(content, "chain", "chair", 1)), 0o644)
		},
		"a line is gone": func(path, content string) error {
			return os.WriteFile(path, []byte(content[strings.IndexByte(content, '\n')+1:]), 0o644)
		},
		"it is a link now": func(path, content string) error {
			return errors.Join(os.Rename(path, path+".real"), os.Symlink(filepath.Base(path)+".real", path))
		},
	} {
		t.Run(what, func(t *testing.T) {
			f := newField(t)
			r, c := f.retirement(), Coverage{Replacement: f.segment.ID, Sources: f.sources}
			if err := errors.Join(r.publish(f.segment), r.declare(c)); err != nil {
				t.Fatal(err)
			}
			if err := damage(shardPath(f.root, f.segment.ID+ShardExt), string(f.segment.Content)); err != nil {
				t.Fatal(err)
			}
			f.mustFail(r.retire(c))
			f.kept()
		})
	}
}

// A writer whose shard is the second source appends at one moment of the
// retirement: nothing that it acknowledges may be lost.
func TestAWriterThatExtendsASourceWhileItIsRetiredLosesNothing(t *testing.T) {
	for _, moment := range []string{"before the proof", "between the proof and the rename", "between the rename and the second look",
		"between the second look and the deletion", "after the deletion", "as the shard is put back"} {
		t.Run(moment, func(t *testing.T) {
			f := newField(t)
			w := newWriter(t, f.root, f.limits, 1)
			live := []Record{mustAppend(t, w, `"live"`)}
			source := w.ShardID()
			f.segment = f.build(append(live, f.records...)...)
			r, c := f.retirement(), Coverage{Replacement: f.segment.ID, Sources: append(slices.Clone(f.sources), source)}
			slices.Sort(c.Sources)
			if err := errors.Join(r.publish(f.segment), r.declare(c)); err != nil {
				t.Fatal(err)
			}
			kept := map[Hash]bool{}
			for _, record := range f.segment.Records {
				kept[record.SHA()] = true
			}
			name, aside := source+ShardExt, source+retiringExt
			// The writer does not look at the folder between its steps: a line goes
			// to the file that it has open.
			extend := func() {
				t.Helper()
				record := seal(t, 700+len(live), fmt.Sprint(len(live)), live[len(live)-1])
				line := []byte(lines(record))
				err := w.extendOwn(line)
				if err == nil && w.broken {
					err = w.write(line)
				}
				if err != nil {
					t.Fatal(err)
				}
				live = append(live, record)
			}
			rename := func(from, to string) {
				t.Helper()
				if err := r.dir.root.Rename(from, to); err != nil {
					t.Fatal(err)
				}
			}
			switch moment {
			case "before the proof":
				extend()
				f.mustFail(r.retire(c))
			case "between the proof and the rename":
				if err := r.covered(name, kept); err != nil {
					t.Fatal(err)
				}
				extend()
				if err := r.remove(source, kept); err == nil {
					t.Error("a record that nothing covers was deleted")
				}
			case "between the rename and the second look":
				rename(name, aside)
				extend()
				if err := r.covered(aside, kept); err == nil {
					t.Error("the second look does not see what was added")
				}
				rename(aside, name)
			case "between the second look and the deletion":
				rename(name, aside)
				if err := r.covered(aside, kept); err != nil {
					t.Fatal(err)
				}
				extend()
				if err := r.dir.root.Remove(aside); err != nil {
					t.Fatal(err)
				}
			case "after the deletion":
				if err := r.remove(source, kept); err != nil {
					t.Fatal(err)
				}
				extend()
			case "as the shard is put back":
				rename(name, aside)
				if _, err := w.file.WriteString(lines(seal(t, 600, `"being written"`))); err != nil {
					t.Fatal(err)
				}
				rename(aside, name)
				extend()
			}
			live = append(live, mustAppend(t, w, `"goes on"`))
			f.whole(live...)
			if err := w.Refresh(); err != nil {
				t.Fatal(err)
			}
			sameView(t, w.Ledger, open(t, f.root, f.limits))
			// Another run leaves everything in order, and no record behind.
			again := f.retirement(w.ShardID())
			all := append(slices.Clone(live), f.records...)
			f.segment = f.build(append(all, seal(t, 600, `"being written"`))...)
			var sources []string
			for _, file := range shardFiles(t, f.root) {
				if id := strings.TrimSuffix(file, ShardExt); id != w.ShardID() && id != f.segment.ID && file != fileName(3) && strings.HasSuffix(file, ShardExt) {
					sources = append(sources, id)
				}
			}
			if _, err := again.Replace(f.segment, sources); err != nil {
				t.Error(err)
			}
			f.whole(live...)
		})
	}
}

func TestAnInterruptedRetirementIsCompletedByTheNextRun(t *testing.T) {
	rename := func(f *field, from, to string) error {
		return os.Rename(shardPath(f.root, from), shardPath(f.root, to))
	}
	aside := func(n int) string { return uuid(n) + retiringExt }
	for _, c := range []struct {
		name string
		stop func(f *field, r *Retirement, c Coverage) error
		done []string // what the next run does not retire any more
	}{
		{"nothing was done", func(f *field, r *Retirement, c Coverage) error { return nil }, nil},
		{"the replacement was being written", func(f *field, r *Retirement, c Coverage) error {
			put(f.t, f.root, f.segment.ID+pendingExt, string(f.segment.Content[:30]), 0o600)
			return nil
		}, nil},
		{"the replacement stands", func(f *field, r *Retirement, c Coverage) error { return r.publish(f.segment) }, nil},
		{"the declaration was being written", func(f *field, r *Retirement, c Coverage) error {
			name, content := f.declaration()
			f.putCoverage(strings.TrimSuffix(name, ShardExt)+pendingExt, content[:9])
			return r.publish(f.segment)
		}, nil},
		{"the declaration stands", func(f *field, r *Retirement, c Coverage) error {
			return errors.Join(r.publish(f.segment), r.declare(c))
		}, nil},
		{"the first source was taken aside", func(f *field, r *Retirement, c Coverage) error {
			return errors.Join(r.publish(f.segment), r.declare(c), rename(f, fileName(1), aside(1)))
		}, nil},
		{"the first source is gone", func(f *field, r *Retirement, c Coverage) error {
			return errors.Join(r.publish(f.segment), r.declare(c), os.Remove(shardPath(f.root, fileName(1))))
		}, []string{uuid(1)}},
		{"the second source was taken aside", func(f *field, r *Retirement, c Coverage) error {
			return errors.Join(r.publish(f.segment), r.declare(c), os.Remove(shardPath(f.root, fileName(1))), rename(f, fileName(2), aside(2)))
		}, []string{uuid(1)}},
		{"both sources are gone", func(f *field, r *Retirement, c Coverage) error {
			return errors.Join(r.publish(f.segment), r.declare(c), os.Remove(shardPath(f.root, fileName(1))), os.Remove(shardPath(f.root, fileName(2))))
		}, []string{uuid(1), uuid(2)}},
		{"a source was taken aside and another run put a copy in its place", func(f *field, r *Retirement, c Coverage) error {
			err := errors.Join(r.publish(f.segment), r.declare(c), rename(f, fileName(1), aside(1)))
			put(f.t, f.root, fileName(1), lines(f.records[:2]...), closedMode)
			return err
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newField(t)
			first := f.retirement()
			if err := c.stop(f, first, Coverage{Replacement: f.segment.ID, Sources: f.sources}); err != nil {
				t.Fatal(err)
			}
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			retired, err := f.retirement().Replace(f.segment, f.sources)
			want := slices.DeleteFunc(slices.Clone(f.sources), func(id string) bool { return slices.Contains(c.done, id) })
			if err != nil || !slices.Equal(retired, want) {
				t.Errorf("retired %v, %v; want %v", retired, err, want)
			}
			f.done()
		})
	}
}

func TestASourceTakenAsideIsPutBackByTheNextRunWithAllThatItHolds(t *testing.T) {
	f := newField(t)
	more := seal(t, 50, `"nowhere else"`)
	if err := os.Rename(shardPath(f.root, fileName(1)), shardPath(f.root, uuid(1)+retiringExt)); err != nil {
		t.Fatal(err)
	}
	extend(t, f.root, uuid(1)+retiringExt, lines(more))
	// A bound that was lowered since does not keep it away.
	narrow := f.limits
	narrow.MaxSegmentBytes = 100
	if _, err := NewRetirement(f.root, narrow, nil); err != nil {
		t.Fatal(err)
	}
	f.whole(more)

	// Where another file took its name, it goes under one of its own.
	f = newField(t)
	put(t, f.root, uuid(1)+retiringExt, lines(more), closedMode)
	f.retirement()
	f.whole(more)
	f.kept()
	retired, err := f.retirement().Replace(f.segment, f.sources)
	if err != nil || !slices.Equal(retired, f.sources) {
		t.Errorf("retired %v, %v", retired, err)
	}
	f.whole(more)
}

func TestWhatNoRetirementTookAsideIsLeftAlone(t *testing.T) {
	f := newField(t)
	put(t, f.root, "x"+retiringExt, lines(seal(t, 50, `1`)), 0o644)
	put(t, f.root, "target", lines(seal(t, 51, `1`)), 0o644)
	symlink(t, "target", shardPath(f.root, uuid(50)+retiringExt))
	if err := os.Mkdir(shardPath(f.root, uuid(51)+retiringExt), 0o755); err != nil {
		t.Fatal(err)
	}
	before := shardFiles(t, f.root)
	retired, err := f.retirement().Replace(f.segment, f.sources)
	if err != nil || !slices.Equal(retired, f.sources) {
		t.Errorf("retired %v, %v", retired, err)
	}
	for _, file := range before {
		if !strings.HasSuffix(file, ShardExt) && !slices.Contains(shardFiles(t, f.root), file) {
			t.Errorf("%s was touched", file)
		}
	}
	f.whole()
}

func TestAFailedRetirementSaysWhichShardAndKeepsTheRest(t *testing.T) {
	f := newField(t)
	r, c := f.retirement(), Coverage{Replacement: f.segment.ID, Sources: f.sources}
	if err := errors.Join(r.publish(f.segment), r.declare(c)); err != nil {
		t.Fatal(err)
	}
	// The second source cannot be taken aside: another file has the name.
	more := lines(seal(t, 50, `"nowhere else"`))
	put(t, f.root, uuid(2)+retiringExt, more, 0o644)
	retired, err := r.retire(c)
	if !slices.Equal(retired, f.sources[:1]) || err == nil || !strings.Contains(err.Error(), uuid(2)) || strings.Contains(err.Error(), f.root) {
		t.Errorf("retired %v, %v", retired, err)
	}
	if got, err := os.ReadFile(shardPath(f.root, uuid(2)+retiringExt)); err != nil || string(got) != more {
		t.Errorf("what stood there was written over: %q, %v", got, err)
	}
	f.whole()
}

func TestTheCompactionStateIsReplacedInOneStep(t *testing.T) {
	f := newField(t)
	r := f.retirement()
	path := filepath.Join(f.root, filepath.FromSlash(CompactionFile))
	read := func(want string) {
		t.Helper()
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil || len(entries) != 1 {
			t.Errorf("%v, %v", entries, err)
		}
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			t.Errorf("%v, %v", info, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
	}
	for _, content := range []string{"{}\n", `{"a":1}` + "\n"} {
		if err := r.WriteState([]byte(content)); err != nil {
			t.Fatal(err)
		}
		read(content)
	}
	// A link in its place is replaced and not followed.
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.WriteFile(elsewhere, nil, 0o644), os.Remove(path), os.Symlink(elsewhere, path)); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteState([]byte("x")); err != nil {
		t.Fatal(err)
	}
	read("x")
	if got, err := os.ReadFile(elsewhere); err != nil || len(got) != 0 {
		t.Errorf("the link was followed: %q, %v", got, err)
	}
	// A linked folder is refused.
	folder := filepath.Dir(path)
	if err := errors.Join(os.Rename(folder, folder+".real"), os.Symlink(filepath.Base(folder)+".real", folder)); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteState([]byte("y")); !errors.Is(err, ErrDirectory) {
		t.Errorf("a linked folder: %v", err)
	}
}

func TestAFolderIsReadAsASnapshotWithoutFollowingLinks(t *testing.T) {
	f := newField(t)
	state := filepath.Join(f.root, filepath.FromSlash(CompactionFile))
	if err := errors.Join(os.MkdirAll(filepath.Dir(state), 0o755), os.WriteFile(state, []byte("{}"), 0o644)); err != nil {
		t.Fatal(err)
	}
	put(t, f.root, uuid(8)+pendingExt, "x", 0o644)
	put(t, f.root, fileName(7), strings.Repeat("x", maxSegmentBytes+1), 0o644)
	symlink(t, fileName(1), shardPath(f.root, fileName(6)))
	if err := os.Mkdir(shardPath(f.root, fileName(5)), 0o755); err != nil {
		t.Fatal(err)
	}
	snap, err := SnapshotFolder(f.root)
	if err != nil {
		t.Fatal(err)
	}
	if len(snap.Files) != 4 || len(snap.Irregular) != 3 || string(snap.Files[CompactionFile]) != "{}" || snap.Head != "" {
		t.Errorf("%d files, irregular %v", len(snap.Files), snap.Irregular)
	}
	for n := 5; n <= 7; n++ {
		if snap.Irregular[ShardPath(uuid(n))] == "" {
			t.Errorf("%d is not named", n)
		}
	}
	for n := 1; n <= 3; n++ {
		content, err := os.ReadFile(shardPath(f.root, fileName(n)))
		if err != nil || string(snap.Files[ShardPath(uuid(n))]) != string(content) {
			t.Errorf("shard %d: %v", n, err)
		}
	}
	a, b := OpenSnapshot(snap, f.limits), open(t, f.root, f.limits)
	if !slices.Equal(a.Heads(), b.Heads()) || !slices.Equal(a.Diagnostics(), b.Diagnostics()) {
		t.Errorf("heads %v, want %v; diagnostics %v, want %v", a.Heads(), b.Heads(), a.Diagnostics(), b.Diagnostics())
	}
	// Nothing there yet is an empty ledger, a link or a missing folder an error.
	if snap, err := SnapshotFolder(t.TempDir()); err != nil || len(snap.Files) != 0 {
		t.Errorf("an empty folder: %v, %v", snap, err)
	}
	root := t.TempDir()
	if _, err := SnapshotFolder(filepath.Join(root, "absent")); err == nil || strings.Contains(err.Error(), root) {
		t.Errorf("an absent folder: %v", err)
	}
	symlink(t, filepath.Join(f.root, Dir), filepath.Join(root, Dir))
	if _, err := SnapshotFolder(root); err == nil || strings.Contains(err.Error(), root) {
		t.Errorf("a linked folder: %v", err)
	}
}
