package mcptools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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
	var all []string
	for i := range 12 {
		all = append(all, appending(fmt.Sprint(i+1), "note", `"x"`))
	}
	c.send(strings.Join(all, "\n"))
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

func TestCallsAreCarriedOutInTheOrderTheyComeIn(t *testing.T) {
	c := serve(t, newServer(t, nil)).start()
	const n = 20
	var all []string
	for i := range n {
		all = append(all, appending(fmt.Sprint(2*i), "note", "1"), status(fmt.Sprint(2*i+1)))
	}
	// The last one has an id that was used before, which is no matter by then.
	c.send(strings.Join(append(all, status("0")), "\n"))
	for i := range n {
		if answer := c.answer(); idPart(answer) != fmt.Sprint(2*i) || !strings.Contains(answer, `"id":"ldg-`) {
			t.Fatalf("append %d got %s", i, answer)
		}
		if answer := c.answer(); idPart(answer) != fmt.Sprint(2*i+1) || !strings.Contains(answer, fmt.Sprintf(`"records":%d,`, i+1)) {
			t.Fatalf("status %d got %s", i, answer)
		}
	}
	if answer := c.answer(); idPart(answer) != "0" || !strings.Contains(answer, fmt.Sprintf(`"records":%d,`, n)) {
		t.Errorf("got %s", answer)
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

func TestCallsStayInThePipeUntilTheOneBeforeIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 5
		reader, in := io.Pipe()
		l := newLines(reader, io.Discard)
		go func() {
			for i := range n {
				fmt.Fprintf(in, "%s\n%s\n", initialized, status(fmt.Sprint(i)))
			}
			in.Close()
		}()
		var calls []jsonrpc.ID
		notifications := 0
		go func() {
			for {
				message, err := l.Read(t.Context())
				if err != nil {
					return
				}
				if request := message.(*jsonrpc.Request); request.IsCall() {
					calls = append(calls, request.ID)
				} else {
					notifications++
				}
			}
		}()
		for i := range n {
			synctest.Wait()
			if len(calls) != i+1 || notifications != i+1 {
				t.Fatalf("%d calls and %d notifications were read, %d calls answered", len(calls), notifications, i)
			}
			if err := l.Write(t.Context(), &jsonrpc.Response{ID: calls[i]}); err != nil {
				t.Fatal(err)
			}
		}
		<-l.over
	})
}

func TestACallThatIsNotAnsweredIsGivenUpAtTheEnd(t *testing.T) {
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
