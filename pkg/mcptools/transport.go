package mcptools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Serve speaks to one client over in and out until in ends or ctx is done, and
// then answers what was asked before it returns. Losing the client is no error.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	l := newLines(in, out)
	session, err := s.mcp.Connect(ctx, l, nil)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { l.stop.Do(func() { close(l.stopped) }) })()
	done := make(chan struct{})
	go func() {
		_ = session.Wait() // says only that the client is gone
		close(done)
	}()
	<-l.over
	select {
	case <-done:
	case <-time.After(answerTime): // an answer is stuck in a pipe that nobody reads
	}
	return nil
}

// lines is a transport of one JSON-RPC message a line that survives bad ones.
type lines struct {
	incoming chan []byte
	stopped  chan struct{} // nothing more is to be read
	stop     sync.Once
	closed   chan struct{} // nothing more can be read or written
	close    sync.Once
	over     chan struct{} // Read has returned its last

	mu       sync.Mutex // guards out and waiting
	out      io.Writer
	waiting  map[jsonrpc.ID]bool // calls that were read and are not answered
	answered chan struct{}       // has room for one signal that waiting shrank
}

func newLines(in io.Reader, out io.Writer) *lines {
	l := &lines{incoming: make(chan []byte), stopped: make(chan struct{}), closed: make(chan struct{}), over: make(chan struct{}),
		out: out, waiting: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1)}
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
			l.reject(&badLine{idOf(line), -32600, "message is too long"})
		} else if len(bytes.TrimSpace(line)) > 0 {
			select {
			case l.incoming <- line:
			case <-l.stopped:
				return
			case <-l.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Read returns the next message. Lines that are none are answered here.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for l.wait(ctx, maxWaiting-1, nil) {
		select {
		case <-ctx.Done():
		case <-l.closed:
		case <-l.stopped:
		case line, more := <-l.incoming:
			if !more {
				l.stop.Do(func() { close(l.stopped) })
			} else if message := l.decode(line); message != nil {
				return message, nil
			}
		}
	}
	// What was asked is answered first: what is written later is lost.
	timeout := time.NewTimer(answerTime)
	defer timeout.Stop()
	l.wait(ctx, 0, timeout.C)
	close(l.over)
	return nil, io.EOF
}

// wait waits until at most n calls wait for their answers. It is false when it
// was in vain, and with a timeout, which is for the end, it minds no stop.
func (l *lines) wait(ctx context.Context, n int, timeout <-chan time.Time) bool {
	stopped := l.stopped
	if timeout != nil {
		stopped = nil
	}
	for {
		select {
		case <-stopped:
			return false
		case <-l.closed:
			return false
		default:
		}
		if ctx.Err() != nil && timeout == nil {
			return false
		}
		l.mu.Lock()
		waiting := len(l.waiting)
		l.mu.Unlock()
		if waiting <= n {
			return true
		}
		select {
		case <-l.answered:
		case <-stopped:
		case <-l.closed:
		case <-timeout:
			return false
		}
	}
}

// decode returns the message that line is, or answers it.
func (l *lines) decode(line []byte) jsonrpc.Message {
	id, bad := checkEnvelope(line)
	if bad != nil {
		l.reject(bad)
		return nil
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		l.reject(&badLine{id, -32600, notMessage})
		return nil
	}
	// A subscription is answered when it ends, so nobody can wait for it.
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() && request.Method != "subscriptions/listen" {
		l.mu.Lock()
		used := l.waiting[request.ID]
		l.waiting[request.ID] = true
		l.mu.Unlock()
		if used {
			l.reject(&badLine{nil, -32600, "id is that of a call that is not answered yet"})
			return nil
		}
	}
	return message
}

// Write sends one message.
func (l *lines) Write(_ context.Context, message jsonrpc.Message) error {
	response, isResponse := message.(*jsonrpc.Response)
	if isResponse && response.Error != nil {
		response.Error = said(response.Error)
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if isResponse {
		delete(l.waiting, response.ID)
		select {
		case l.answered <- struct{}{}:
		default:
		}
	}
	return l.send(text)
}

// said replaces the SDK's text of an error, which may hold that of a decoder, by
// a fixed one.
func said(err error) error {
	code, text := int64(-32603), "the request was not carried out; a session begins with initialize"
	var wire *jsonrpc.Error
	if errors.As(err, &wire) && wire.Code != 0 {
		code = wire.Code
	}
	switch code {
	case jsonrpc.CodeInvalidRequest:
		text = "the request is invalid"
	case jsonrpc.CodeMethodNotFound:
		text = "there is no such method"
	case jsonrpc.CodeInvalidParams:
		text = "there is no such tool, or the parameters are invalid; ask tools/list"
	}
	answer := &jsonrpc.Error{Code: code, Message: text}
	if code == mcp.CodeUnsupportedProtocolVersion {
		answer.Message, answer.Data = "the protocol version is not supported", wire.Data
	}
	return answer
}

// reject answers a line that is no message.
func (l *lines) reject(bad *badLine) {
	id := bad.id
	if id == nil {
		id = json.RawMessage("null")
	}
	text, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   any             `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: int64(bad.code), Message: bad.text}})
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.send(text)
}

// send writes one line; the caller holds mu. A client that takes none is gone.
func (l *lines) send(text []byte) error {
	_, err := l.out.Write(append(text, '\n'))
	if err != nil {
		_ = l.Close()
	}
	return err
}
