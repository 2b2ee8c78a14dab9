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
	defer context.AfterFunc(ctx, l.end)()
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

// lines is a transport of one JSON-RPC message a line that survives bad ones. It
// hands over one call at a time, so that all are carried out in the order in which
// they came, and what came too fast stays in the pipe.
type lines struct {
	incoming chan received
	ended    chan struct{} // nothing more is to be read
	end      func()
	closed   chan struct{} // nothing more can be read or written
	close    func()
	over     chan struct{} // Read has returned its last

	asked    bool          // the last call was not seen answered; only Read looks
	answered chan struct{} // one signal for each answer

	mu  sync.Mutex // guards out
	out io.Writer
}

func newLines(in io.Reader, out io.Writer) *lines {
	l := &lines{incoming: make(chan received), ended: make(chan struct{}), closed: make(chan struct{}), over: make(chan struct{}),
		answered: make(chan struct{}, 1), out: out}
	l.end = sync.OnceFunc(func() { close(l.ended) })
	l.close = sync.OnceFunc(func() { close(l.closed) })
	go l.receive(bufio.NewReaderSize(in, 64<<10))
	return l
}

// Connect makes lines a Transport of itself.
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

func (l *lines) SessionID() string { return "" }

func (l *lines) Close() error {
	l.close()
	return nil
}

// received is a line, or the two ends of one that is too long.
type received struct {
	text    []byte
	tooLong bool
}

// receive reads lines until the input ends. Reading cannot be interrupted, so it
// runs by itself. When it ends every line has been taken.
func (l *lines) receive(in *bufio.Reader) {
	defer l.end()
	for {
		text, tooLong, err := readLine(in)
		if tooLong || len(bytes.TrimSpace(text)) > 0 {
			select {
			case l.incoming <- received{text, tooLong}:
			case <-l.ended:
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
	for l.settled(ctx) {
		select {
		case line := <-l.incoming:
			message := l.decode(line)
			if message == nil {
				continue
			}
			if request, ok := message.(*jsonrpc.Request); ok {
				l.asked = request.IsCall()
			}
			return message, nil
		case <-ctx.Done():
		case <-l.ended:
		case <-l.closed:
		}
		break
	}
	close(l.over)
	return nil, io.EOF
}

// settled waits until the last call is answered; what the SDK writes once Read has
// ended is lost. It is false when nothing more is to be read.
func (l *lines) settled(ctx context.Context) bool {
	if !l.asked {
		return true
	}
	select {
	case <-l.answered:
		l.asked = false
		return true
	case <-l.closed:
		return false
	case <-ctx.Done():
	case <-l.ended:
	}
	select {
	case <-l.answered:
	case <-l.closed:
	case <-time.After(answerTime):
	}
	return false
}

// decode returns the message that line is, or answers it.
func (l *lines) decode(line received) jsonrpc.Message {
	message, bad := judge(line)
	if bad != nil {
		l.reject(bad)
		return nil
	}
	return message
}

// judge returns the message that line is, or why it is none. Every transport asks
// it.
func judge(line received) (jsonrpc.Message, *badLine) {
	if line.tooLong {
		return nil, &badLine{idOf(line.text), -32600, "message is too long"}
	}
	id, bad := checkEnvelope(line.text)
	if bad != nil {
		return nil, bad
	}
	message, err := jsonrpc.DecodeMessage(line.text)
	if err != nil {
		return nil, &badLine{id, -32600, notMessage}
	}
	if response, ok := message.(*jsonrpc.Response); ok && response.Result == nil && response.Error == nil {
		return nil, &badLine{id, -32600, notMessage}
	}
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() && request.Method == "subscriptions/listen" {
		// Nothing here changes that a client could subscribe to, and the SDK would
		// answer only when the session ends.
		return nil, &badLine{id, jsonrpc.CodeMethodNotFound, noMethod}
	}
	return message, nil
}

// Write sends one message.
func (l *lines) Write(_ context.Context, message jsonrpc.Message) error {
	response, isResponse := message.(*jsonrpc.Response)
	if isResponse && response.Error != nil {
		response.Error = said(response.Error)
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		l.close() // nobody would ever be told
		return err
	}
	if err := l.send(text); err != nil {
		return err
	}
	if isResponse {
		select {
		case l.answered <- struct{}{}:
		default:
		}
	}
	return nil
}

const noMethod = "there is no such method"

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
		text = noMethod
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
	if text, err := bad.answer(); err == nil {
		_ = l.send(text)
	}
}

// answer is the JSON-RPC answer to a line that is no message.
func (bad *badLine) answer() ([]byte, error) {
	id := bad.id
	if id == nil {
		id = json.RawMessage("null")
	}
	return json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   any             `json:"error"`
	}{"2.0", id, jsonrpc.Error{Code: int64(bad.code), Message: bad.text}})
}

// send writes one line. A client that takes none is gone.
func (l *lines) send(text []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(append(text, '\n'))
	if err != nil {
		l.close()
	}
	return err
}
