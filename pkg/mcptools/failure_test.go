package mcptools

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// audits is an Audit that does what it is told.
type audits func(ledger.Record) error

func (a audits) Append(r ledger.Record) error { return a(r) }

func TestAnAuditThatFailsOrPanicsIsReportedApartAndTheRecordStands(t *testing.T) {
	for name, audit := range map[string]audits{
		"fails":  func(ledger.Record) error { return &os.PathError{Op: "write", Path: "/secret/log", Err: os.ErrClosed} },
		"panics": func(ledger.Record) error { panic("/secret/log") },
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, newServer(t, audit)).start()
			answer := c.ask(appending("1", "note", "1"))
			if !strings.Contains(answer, `{"type":"text","text":"the record is durable; its audit event could not be written"}`) ||
				!strings.Contains(answer, `"structuredContent":{"id":"ldg-`) || strings.Contains(answer, "isError") || strings.Contains(answer, "secret") {
				t.Errorf("got %s", answer)
			}
			if after := c.ask(status("2")); !strings.Contains(after, `"records":1,`) {
				t.Errorf("got %s", after)
			}
			c.end()
		})
	}
}

func TestEachRecordIsAuditedOnceAndAReplayIsNot(t *testing.T) {
	var events []string
	c := serve(t, newServer(t, audits(func(r ledger.Record) error { events = append(events, r.ID()); return nil }))).start()
	keyed := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ledger_append","arguments":{"type":"note","payload":1,"idempotency_key":"k"}}}`
	first, replay := c.ask(keyed), c.ask(keyed)
	c.ask(appending("2", "memory.x", "1"))
	c.end()
	if len(events) != 1 || !strings.Contains(first, events[0]) || !strings.Contains(replay, events[0]) {
		t.Errorf("events %v", events)
	}
}

func TestAToolThatPanicsAnswersAFixedSentenceAndTheSessionGoesOn(t *testing.T) {
	calls := 0
	w, err := ledger.NewWriter(t.TempDir(), ledger.DefaultLimits(), ledger.WriterOptions{Clock: func() time.Time {
		if calls++; calls == 1 {
			panic("/secret/clock")
		}
		return time.Now()
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := New(w, Options{})
	defer s.Close()
	c := serve(t, s).start()
	want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"the tool failed; ask ledger_status and ledger_query what was recorded before trying again"}],"isError":true}}`
	if answer := c.ask(appending("1", "note", "1")); answer != want {
		t.Errorf("got %s", answer)
	}
	if answer := c.ask(appending("2", "note", "1")); !strings.Contains(answer, "structuredContent") {
		t.Errorf("got %s", answer)
	}
	c.end()
}

// broken is a source of randomness that lasts for some bytes.
type broken struct{ left int }

func (b *broken) Read(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errors.New("open /secret/random: no such device")
	}
	return len(p), nil
}

func TestAnErrorThatNobodyForesawIsAFixedSentence(t *testing.T) {
	w, err := ledger.NewWriter(t.TempDir(), ledger.DefaultLimits(), ledger.WriterOptions{Random: &broken{16}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := New(w, Options{})
	defer s.Close()
	c := serve(t, s).start()
	want := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"the ledger cannot be read or written at the moment; try again"}],"isError":true}}`
	if answer := c.ask(appending("1", "note", "1")); answer != want {
		t.Errorf("got %s", answer)
	}
	c.end()
}

func TestALedgerThatIsTakenAwayIsAFixedSentence(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "private-folder")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := New(newWriter(t, dir), Options{})
	defer s.Close()
	c := serve(t, s).start()
	c.ask(appending("1", "note", "1"))
	if err := os.RemoveAll(filepath.Join(dir, "ledger")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ledger"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for i, call := range []string{status("1"), strings.Replace(status("2"), "status", "query", 1), appending("3", "note", "1")} {
		if answer := c.ask(call); !strings.Contains(answer, `"isError":true`) || strings.Contains(answer, "private-folder") {
			t.Errorf("call %d got %s", i, answer)
		}
	}
	c.end()
}
