package mcptools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve speaks to one client over in and out until in ends, and then answers what
// was asked before it returns. Losing the client is no error.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	session, err := s.mcp.Connect(ctx, newLines(in, out), nil)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- session.Wait() }()
	select {
	case err = <-done:
	case <-ctx.Done():
		session.Close()
		err = <-done
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// lines is a transport of one JSON-RPC message a line that survives bad ones.
type lines struct {
	incoming chan []byte // nil: a line that was too long, whose ends are in the next
	closed   chan struct{}
	close    sync.Once

	mu       sync.Mutex // guards out and waiting
	out      io.Writer
	waiting  map[jsonrpc.ID]int
	answered chan struct{} // has room for one signal that waiting shrank
}

func newLines(in io.Reader, out io.Writer) *lines {
	l := &lines{incoming: make(chan []byte), closed: make(chan struct{}), out: out,
		waiting: map[jsonrpc.ID]int{}, answered: make(chan struct{}, 1)}
	go l.receive(bufio.NewReaderSize(in, 64<<10))
	return l
}

// Connect makes lines a Transport of itself.
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

func (l *lines) SessionID() string { return "" }

func (l *lines) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

// receive reads lines until the input ends. Reading cannot be interrupted, so it
// runs by itself.
func (l *lines) receive(in *bufio.Reader) {
	defer close(l.incoming)
	for {
		line, tooLong, err := readLine(in)
		if tooLong {
			l.reject(idOf(line), -32600, "message is too long")
		} else if len(bytes.TrimSpace(line)) > 0 {
			select {
			case l.incoming <- line:
			case <-l.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads one line. Of one that is too long it returns only the two ends.
func readLine(in *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLineBytes {
			tooLong = true
		}
		if tooLong && len(line) > 2*keptOfLongLine {
			line = append(line[:keptOfLongLine], line[len(line)-keptOfLongLine:]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

var idMember = regexp.MustCompile(`"id"\s*:\s*("[^"\\]{0,200}"|-?[0-9]{1,15})\s*[,}]`)

// idOf finds the id of a message of which the middle is missing: before its
// parameters, or behind everything else.
func idOf(ends []byte) json.RawMessage {
	head, _, _ := bytes.Cut(ends, []byte(`"params"`))
	if len(head) > keptOfLongLine {
		head = head[:keptOfLongLine]
	}
	if m := idMember.FindSubmatch(head); m != nil {
		return m[1]
	}
	if m := idMember.FindSubmatchIndex(ends); m != nil && len(bytes.TrimSpace(ends[m[1]:])) == 0 {
		return ends[m[2]:m[3]]
	}
	return nil
}

// Read returns the next message. Lines that are none are answered here.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.closed:
			return nil, io.EOF
		case line, more := <-l.incoming:
			if !more {
				l.settle(ctx)
				return nil, io.EOF
			}
			if message := l.decode(line); message != nil {
				return message, nil
			}
		}
	}
}

func (l *lines) decode(line []byte) jsonrpc.Message {
	if !json.Valid(line) {
		l.reject(nil, -32700, "message is no JSON")
		return nil
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		l.reject(nil, -32600, "message is no JSON-RPC request, notification or response")
		return nil
	}
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		l.mu.Lock()
		l.waiting[request.ID]++
		l.mu.Unlock()
	}
	return message
}

// settle waits until what was asked is answered.
func (l *lines) settle(ctx context.Context) {
	timeout := time.NewTimer(answerTime)
	defer timeout.Stop()
	for {
		l.mu.Lock()
		n := len(l.waiting)
		l.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-l.answered:
		case <-l.closed:
			return
		case <-ctx.Done():
			return
		case <-timeout.C:
			return
		}
	}
}

// Write sends one message.
func (l *lines) Write(_ context.Context, message jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if response, ok := message.(*jsonrpc.Response); ok {
		if l.waiting[response.ID]--; l.waiting[response.ID] <= 0 {
			delete(l.waiting, response.ID)
		}
		defer func() {
			select {
			case l.answered <- struct{}{}:
			default:
			}
		}()
	}
	_, err = l.out.Write(append(text, '\n'))
	return err
}

// reject answers a line that is no message.
func (l *lines) reject(id json.RawMessage, code int, message string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message}})
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(append(text, '\n'))
}
