package mcptools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func status(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"ledger_status"}}`
}

func appending(id, typ, payload string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"ledger_append","arguments":{"type":"` + typ + `","payload":` + payload + `}}}`
}

func idPart(answer string) string {
	_, rest, _ := strings.Cut(answer, `"id":`)
	id, _, _ := strings.Cut(rest, ",")
	return id
}

func newServer(t testing.TB, audit Audit) *Server {
	t.Helper()
	s := New(newWriter(t, t.TempDir()), Options{Audit: audit})
	t.Cleanup(s.Close)
	return s
}

// pad makes a line of n bytes, with its line feed, by repeating what in place of @.
func pad(line string, what string, n int) string {
	return strings.Replace(line, "@", strings.Repeat(what, n-len(line)), 1)
}

func TestALongLineIsAnsweredUnderItsIDAndTheSessionGoesOn(t *testing.T) {
	blank := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{@"name":"ledger_status"}}`
	text := appending("7", "note", `"@"`)
	ok, tooLong, tooMuch := `"structuredContent"`, `"message":"message is too long"`, "record-size"
	for _, test := range []struct {
		name, line, what string
		bytes            int
		id, want         string
	}{
		{"below the reader's buffer", text, "x", 65535, "7", tooMuch},
		{"as long as the reader's buffer", text, "x", 65536, "7", tooMuch},
		{"one MiB", text, "x", 1 << 20, "7", tooMuch},
		{"as long as a line may be", blank, " ", maxLineBytes, "7", ok},
		{"one byte longer", blank, " ", maxLineBytes + 1, "7", tooLong},
		{"with its id behind the parameters", `{"method":"tools/call","params":{"p":"@"},"jsonrpc":"2.0","id":8}`, "x", maxLineBytes + 1, "8", tooLong},
		{"with method and version behind its id", `{"params":{"p":"@"} , "id" : "a-b" , "method":"tools/call","jsonrpc":"2.0"}`, "x", maxLineBytes + 1, `"a-b"`, tooLong},
		{"with an id among its parameters too", `{"jsonrpc":"2.0","id":9,"params":{"p":"@","id":5}}`, "x", maxLineBytes + 1, "9", tooLong},
		{"with an id among its parameters only", `{"jsonrpc":"2.0","params":{"id":4,"p":"@","id":5}}`, "x", maxLineBytes + 1, "null", tooLong},
		{"with an id that is no id", `{"jsonrpc":"2.0","id":1.5,"params":"@"}`, "x", maxLineBytes + 1, "null", tooLong},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := serve(t, newServer(t, nil)).start()
			answer := c.ask(strings.TrimSuffix(pad(test.line+"\n", test.what, test.bytes+1), "\n"))
			if idPart(answer) != test.id || !strings.Contains(answer, test.want) {
				t.Errorf("got %.300s", answer)
			}
			if next := c.ask(status("10")); idPart(next) != "10" || !strings.Contains(next, ok) {
				t.Errorf("the next call got %.300s", next)
			}
			c.end()
		})
	}
}

// zeros is an endless line.
type zeros struct{ left int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), z.left)
	z.left -= n
	clear(p[:n])
	return n, nil
}

func TestALineOfAnyLengthTakesBoundedMemory(t *testing.T) {
	line, tooLong, err := readLine(bufio.NewReaderSize(&zeros{64 << 20}, 64<<10))
	if !tooLong || err != io.EOF || len(line) > 2*keptOfLongLine || cap(line) > 2*maxLineBytes {
		t.Errorf("%v %v: %d bytes kept, %d held", tooLong, err, len(line), cap(line))
	}
}

func TestACallBeforeTheEndOfInputIsAnswered(t *testing.T) {
	dir := t.TempDir()
	s := New(newWriter(t, dir), Options{})
	defer s.Close()
	c := serve(t, s).start()
	for i := range 12 {
		c.send(appending(fmt.Sprint(i+1), "note", `"x"`))
	}
	rest := c.end()
	if n := strings.Count(rest, `"structuredContent"`); n != 12 {
		t.Errorf("%d of 12 calls were answered:\n%s", n, rest)
	}
	// The last line may lack its line feed.
	c = serve(t, s).start()
	if _, err := io.WriteString(c.in, status("77")); err != nil {
		t.Fatal(err)
	}
	if rest := c.end(); idPart(rest) != "77" {
		t.Errorf("got %q", rest)
	}
	l, err := ledger.Open(dir, ledger.DefaultLimits())
	if err != nil || l.Len() != 12 {
		t.Errorf("%v, %d records", err, l.Len())
	}
}

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

func TestACallWhoseIDIsInUseIsRefusedAndNothingWaitsForIt(t *testing.T) {
	inside, release := make(chan bool), make(chan bool)
	s := newServer(t, audits(func(ledger.Record) error { inside <- true; <-release; return nil }))
	c := serve(t, s).start()
	c.send(appending("1", "note", "1"))
	<-inside
	if answer := c.ask(status("1")); answer != `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"id is that of a call that is not answered yet"}}` {
		t.Errorf("got %s", answer)
	}
	release <- true
	if answer := c.answer(); idPart(answer) != "1" {
		t.Errorf("got %s", answer)
	}
	if answer := c.ask(status("1")); !strings.Contains(answer, "structuredContent") {
		t.Errorf("the id cannot be used again: %s", answer)
	}
	c.end()
}

func TestAServerThatIsToldToStopAnswersWhatItGot(t *testing.T) {
	inside, release := make(chan bool), make(chan bool)
	s := newServer(t, audits(func(ledger.Record) error { inside <- true; <-release; return nil }))
	ctx, cancel := context.WithCancel(t.Context())
	inReader, in := io.Pipe() // stays open
	defer in.Close()
	out, outWriter := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, inReader, outWriter); outWriter.Close() }()
	c := &session{t, in, bufio.NewReader(out), out, done}
	c.start()
	c.send(appending("1", "note", "1"))
	<-inside
	cancel()
	release <- true
	rest, err := io.ReadAll(c.out)
	if err != nil || idPart(string(rest)) != "1" || !strings.Contains(string(rest), "structuredContent") {
		t.Errorf("%v %s", err, rest)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAClientThatIsGoneEndsTheSession(t *testing.T) {
	for name, send := range map[string]string{"before it is answered": status("1"), "after a bad line": "no JSON"} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, newServer(t, nil)).start()
			c.pipe.CloseWithError(errors.New("write |1: broken pipe"))
			c.send(send) // the input stays open
			if err := <-c.done; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCallsBeyondThoseThatMayWaitStayInThePipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, in := io.Pipe()
		l := newLines(reader, io.Discard)
		go func() {
			for i := range 3 * maxWaiting {
				fmt.Fprintln(in, status(fmt.Sprint(i)))
			}
			in.Close()
		}()
		var read []jsonrpc.Message
		go func() {
			for {
				message, err := l.Read(t.Context())
				if err != nil {
					return
				}
				read = append(read, message)
			}
		}()
		for i := range 3 * maxWaiting {
			synctest.Wait()
			if want := min(maxWaiting+i, 3*maxWaiting); len(read) != want {
				t.Fatalf("%d calls were read and %d answered, want %d", len(read), i, want)
			}
			if err := l.Write(t.Context(), &jsonrpc.Response{ID: read[i].(*jsonrpc.Request).ID}); err != nil {
				t.Fatal(err)
			}
		}
		<-l.over
	})
}

func TestAClientThatReadsNoAnswerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLines(strings.NewReader(status("1")), io.Discard)
		began := time.Now() // the bubble's clock
		if _, err := l.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Read(t.Context()); err != io.EOF || time.Since(began) != answerTime {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}
