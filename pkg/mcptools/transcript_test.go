package mcptools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/repo-memory/ledger/pkg/ledger"
)

var update = flag.Bool("update", false, "write what the server says into testdata")

const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`
const initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`

// newWriter opens a ledger whose records depend on nothing but what is appended.
func newWriter(t testing.TB, dir string) *ledger.Writer {
	t.Helper()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w, err := ledger.NewWriter(dir, ledger.DefaultLimits(), ledger.WriterOptions{
		Clock:  func() time.Time { now = now.Add(time.Second); return now },
		Random: rand.NewChaCha8([32]byte{1}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// session is a client that speaks lines to a server.
type session struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *bufio.Reader
	pipe *io.PipeReader
	done chan error
}

// serve starts a session, without the handshake.
func serve(t testing.TB, s *Server) *session {
	t.Helper()
	inReader, in := io.Pipe()
	out, outWriter := io.Pipe()
	c := &session{t, in, bufio.NewReaderSize(out, 1<<20), out, make(chan error, 1)}
	go func() {
		c.done <- s.Serve(t.Context(), inReader, outWriter)
		outWriter.Close()
	}()
	t.Cleanup(func() { in.Close(); out.Close() })
	return c
}

func (c *session) start() *session {
	c.t.Helper()
	c.ask(handshake)
	c.send(initialized)
	return c
}

func (c *session) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c *session) answer() string {
	c.t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.t.Fatalf("no answer: %v %q", err, line)
	}
	return strings.TrimSuffix(line, "\n")
}

func (c *session) ask(line string) string {
	c.t.Helper()
	c.send(line)
	return c.answer()
}

// end closes the input and returns what came afterwards.
func (c *session) end() string {
	c.t.Helper()
	c.in.Close()
	rest, err := io.ReadAll(c.out)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := <-c.done; err != nil {
		c.t.Fatal(err)
	}
	return string(rest)
}

// TestTranscripts sends the lines that begin with > and compares the answers, the
// lines that begin with <. After >- no answer comes; >q is a Go string; behind >*
// {{x*5}} stands for xxxxx. A session
// begins with the handshake unless the archive's comment says "no handshake"; the
// other files of an archive are those of the ledger. With -update the answers are
// written.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), "private-folder")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, f := range archive.Files[1:] {
				path := filepath.Join(dir, f.Name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, f.Data, 0o444); err != nil {
					t.Fatal(err)
				}
			}
			server := New(newWriter(t, dir), Options{Version: "test"})
			defer server.Close()
			c := serve(t, server)
			if !bytes.Contains(archive.Comment, []byte("no handshake")) {
				c.start()
			}
			got := play(t, c, string(archive.Files[0].Data))
			if rest := c.end(); rest != "" {
				t.Errorf("the server said more than was asked: %s", rest)
			}
			if strings.Contains(got, filepath.Base(dir)) || strings.Contains(got, os.TempDir()) {
				t.Error("an answer shows a path")
			}
			for _, leak := range []string{"Go struct", "json:", "unmarshal", "sqlite", "SQL", ".go:", "goroutine"} {
				if strings.Contains(got, leak) {
					t.Errorf("an answer shows %q", leak)
				}
			}
			if *update {
				archive.Files[0].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want := string(archive.Files[0].Data); got != want {
				t.Errorf("%s", firstDifference(got, want))
			}
		})
	}
}

var repetition = regexp.MustCompile(`\{\{(.)\*(\d+)\}\}`)

// play sends the client's lines of a transcript and returns it with the answers.
func play(t *testing.T, c *session, transcript string) string {
	t.Helper()
	var got strings.Builder
	for line := range strings.Lines(transcript) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "<") {
			continue
		}
		got.WriteString(line + "\n")
		kind, text, _ := strings.Cut(line, " ")
		switch kind {
		case ">-":
			c.send(text)
			continue
		case ">q":
			raw, err := strconv.Unquote(text)
			if err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			text = raw
		case ">*":
			text = repetition.ReplaceAllStringFunc(text, func(m string) string {
				of := repetition.FindStringSubmatch(m)
				n, _ := strconv.Atoi(of[2])
				return strings.Repeat(of[1], n)
			})
		case ">":
		default:
			continue
		}
		answer := c.ask(text)
		if !json.Valid([]byte(answer)) {
			t.Errorf("the answer to %.200s is no JSON: %s", text, answer)
		}
		got.WriteString("< " + answer + "\n")
	}
	return got.String()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d:\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
