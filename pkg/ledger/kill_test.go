package ledger

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	// childDir makes a run of the test binary a writer in that folder.
	childDir = "LEDGER_TEST_APPEND_DIR"
	// childRecords is how many records it appends.
	childRecords = 200
)

// killLimits let a child rotate a few times.
func killLimits() Limits {
	return Limits{MaxShards: 1024, MaxSegmentBytes: 8 << 10, MaxRecordBytes: 1 << 10, MaxPatchBytes: 1 << 20}
}

func TestMain(m *testing.M) {
	if root := os.Getenv(childDir); root != "" {
		appendAndAcknowledge(root)
		return
	}
	os.Exit(m.Run())
}

// appendAndAcknowledge prints the digest of each record once Append returned it.
func appendAndAcknowledge(root string) {
	w, err := NewWriter(root, killLimits(), WriterOptions{})
	for i := 0; err == nil && i < childRecords; i++ {
		var r Record
		if r, err = w.Append("note", fmt.Appendf(nil, `{"n":%d,"x":"%0*d"}`, i, i%300, i)); err == nil {
			fmt.Println(r.SHA())
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// victim is a child and the digests that it acknowledged.
type victim struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
	acked []string
}

func startVictim(t *testing.T, root string) *victim {
	t.Helper()
	v := &victim{cmd: exec.Command(os.Args[0])}
	v.cmd.Env = append(os.Environ(), childDir+"="+root)
	v.cmd.Stderr = os.Stderr
	out, err := v.cmd.StdoutPipe()
	if err == nil {
		err = v.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	v.lines = bufio.NewScanner(out)
	return v
}

// await reads n acknowledgements, or all when the child ends before.
func (v *victim) await(n int) {
	for range n {
		if !v.lines.Scan() {
			return
		}
		v.acked = append(v.acked, v.lines.Text())
	}
}

// kill kills the child with SIGKILL and reads what it had acknowledged. A line
// that was cut was not.
func (v *victim) kill(t *testing.T) {
	t.Helper()
	if err := v.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	v.await(childRecords)
	if n := len(v.acked); n > 0 && len(v.acked[n-1]) != hashLen {
		v.acked = v.acked[:n-1]
	}
	_ = v.cmd.Wait()
}

// mustHold asks that every acknowledged record stands once, that the only thing
// a reader may complain about is a torn last line, and returns the ledger.
func mustHold(t *testing.T, root string, acked []string) *Ledger {
	t.Helper()
	l := open(t, root, killLimits())
	for _, text := range acked {
		sha, ok := ParseHash(text)
		if !ok || !l.Has(sha) {
			t.Fatalf("the acknowledged record %q is gone", text)
		}
	}
	times := map[string]int{}
	for _, file := range shardFiles(t, root) {
		content, err := os.ReadFile(shardPath(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ShardExt) {
			for line := range strings.Lines(string(content)) {
				if r, fault := ParseLine([]byte(strings.TrimSuffix(line, "\n"))); fault == "" && strings.HasSuffix(line, "\n") {
					times[r.SHA().String()]++
				}
			}
		}
	}
	for sha, n := range times {
		if n != 1 {
			t.Errorf("%s stands %d times", sha, n)
		}
	}
	for _, d := range l.Diagnostics() {
		if d.Code != TruncatedRecord {
			t.Errorf("unreadable: %v", d)
		}
	}
	return l
}

func TestKilledAtAnyMomentAWriterLosesNothingThatItAcknowledged(t *testing.T) {
	for _, children := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d at once", children), func(t *testing.T) {
			root, random := t.TempDir(), rand.New(random(uint64(children)))
			var acked []string
			for range 5 / children {
				victims := make([]*victim, children)
				for i := range victims {
					victims[i] = startVictim(t, root)
				}
				// The last of them survives and ends by itself.
				for _, v := range victims[:max(1, children-1)] {
					v.await(1 + random.IntN(childRecords*3/4))
					v.kill(t)
					acked = append(acked, v.acked...)
				}
				if children > 1 {
					survivor := victims[children-1]
					survivor.await(childRecords + 1)
					if err := survivor.cmd.Wait(); err != nil || len(survivor.acked) != childRecords {
						t.Errorf("the survivor acknowledged %d records: %v", len(survivor.acked), err)
					}
					acked = append(acked, survivor.acked...)
				}
				l := mustHold(t, root, acked)
				w := newWriter(t, root, killLimits(), random.Uint64())
				r := mustAppend(t, w, `"after the kill"`)
				if want := min(len(l.Heads()), len(r.Parents())+1); len(r.Parents()) != want && len(r.Parents()) < 3 {
					t.Errorf("a new writer joins %d of %d heads", len(r.Parents()), len(l.Heads()))
				}
				acked = append(acked, r.SHA().String())
				sameView(t, w.Ledger, mustHold(t, root, acked))
			}
		})
	}
}
