package txlog

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// event returns a valid event whose digest is i.
func event(i int) Event {
	hash, _ := ledger.ParseHash(sha(i))
	return Event{At: when, ID: id, Type: "note", Timestamp: when, SHA: hash}
}

func TestAnEventStartsOnAFreshLineAfterATornOne(t *testing.T) {
	whole := string(event(1).Line())
	for name, prior := range map[string]string{
		"torn": `{"operation":"append","rec`, "complete but for its line feed": whole, "empty": "", "ended": whole + "\n", "zero bytes": "\x00\x00",
	} {
		log := filepath.Join(t.TempDir(), "log")
		write(t, log, []byte(prior))
		w, err := OpenWriter(log)
		must(t, err)
		must(t, w.Append(event(2)))
		must(t, w.Append(event(3)))
		must(t, w.Close())
		want := prior
		if prior != "" && !strings.HasSuffix(prior, "\n") {
			want += "\n"
		}
		want += string(event(2).Line()) + "\n" + string(event(3).Line()) + "\n"
		if got := read(t, log); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestALineTornWhileTheLogIsOpenDoesNotSwallowTheNextEvent(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w, err := OpenWriter(log)
	must(t, err)
	defer w.Close()
	must(t, w.Append(event(1)))
	write(t, log, []byte(read(t, log)+`{"torn`))
	must(t, w.Append(event(2)))
	l, err := Read(log)
	if err != nil || len(l.Events) != 2 || l.Dropped != 1 || l.Faults[0].Line != 2 {
		t.Errorf("%+v %v", l, err)
	}
}

func TestTheWriterTakesNoInvalidEvent(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	w, err := OpenWriter(log)
	must(t, err)
	defer w.Close()
	for name, change := range map[string]func(*Event){
		"id": func(e *Event) { e.ID = "secret" }, "type": func(e *Event) { e.Type = "a\nsecret" }, "time": func(e *Event) { e.At = "secret" },
		"parents": func(e *Event) { e.Parents = []ledger.Hash{e.SHA, e.SHA} },
	} {
		e := event(1)
		change(&e)
		if err := w.Append(e); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if read(t, log) != "" {
		t.Error("something was written")
	}
}

func TestTheLogNeverGrowsBeyondWhatIsMerged(t *testing.T) {
	line := len(event(1).Line()) + 1
	for over, fits := range map[int]bool{0: true, 1: false} {
		log := filepath.Join(t.TempDir(), "log")
		write(t, log, []byte(strings.Repeat(" ", MaxLogBytes-line-1+over)+"\n"))
		w, err := OpenWriter(log)
		must(t, err)
		defer w.Close()
		if err := w.Append(event(1)); (err == nil) != fits || !fits && !strings.Contains(err.Error(), "full") {
			t.Errorf("%d over: %v", over, err)
		}
		if err := w.Append(event(2)); err == nil {
			t.Errorf("%d over: a second event was taken", over)
		}
		r := Merge(log, filepath.Join(t.TempDir(), "out"))
		if (r.Added == 1) != fits || r.Warnings != nil {
			t.Errorf("%d over: %+v", over, r)
		}
	}
}

func TestTwoWritersInOneProcessAndTwoMoreInOthersKeepEveryEventWhole(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	const each = 50
	var wait sync.WaitGroup
	for n := range 2 {
		w, err := OpenWriter(log)
		must(t, err)
		defer w.Close()
		for half := range 2 {
			wait.Go(func() {
				for i := range each / 2 {
					if err := w.Append(event(n*each + half*each/2 + i)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	for n := 2; n < 4; n++ {
		wait.Go(func() {
			exe, _ := os.Executable()
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), "TXLOG_TEST_LOG="+log, fmt.Sprintf("TXLOG_TEST_FIRST=%d", n*each))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wait.Wait()
	l, err := Read(log)
	if err != nil || len(l.Events) != 4*each || l.Dropped != 0 || l.Duplicate != 0 {
		t.Errorf("%d events, %d dropped, %v", len(l.Events), l.Dropped, err)
	}
}

// TestMain is also a process that writes 50 events.
func TestMain(m *testing.M) {
	log := os.Getenv("TXLOG_TEST_LOG")
	if log == "" {
		os.Exit(m.Run())
	}
	var first int
	fmt.Sscan(os.Getenv("TXLOG_TEST_FIRST"), &first)
	w, err := OpenWriter(log)
	for i := 0; err == nil && i < 50; i++ {
		err = w.Append(event(first + i))
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func TestALogThatIsGoneOrReplacedIsReportedWithoutItsPath(t *testing.T) {
	for name, harm := range map[string]func(log string) error{
		"removed":  os.Remove,
		"replaced": func(log string) error { return os.Rename(log, log+"2") },
		"linked":   func(log string) error { return os.Link(log, log+"2") },
		"a link":   func(log string) error { return firstError(os.Rename(log, log+"2"), os.Symlink(log+"2", log)) },
		"a folder": func(log string) error { return firstError(os.Remove(log), os.Mkdir(log, 0o700)) },
	} {
		log := filepath.Join(t.TempDir(), "secretname")
		w, err := OpenWriter(log)
		must(t, err)
		must(t, harm(log))
		if err := w.Append(event(1)); err == nil || strings.Contains(err.Error(), "secretname") {
			t.Errorf("%s: %v", name, err)
		}
		w.Close()
		if err := w.Append(event(1)); err == nil || strings.Contains(err.Error(), "secretname") {
			t.Errorf("%s, closed: %v", name, err)
		}
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
