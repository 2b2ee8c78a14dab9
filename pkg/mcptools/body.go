package mcptools

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// readBody reads the message of a request, by the bound of a line.
func readBody(body io.Reader) (received, error) {
	text, err := io.ReadAll(io.LimitReader(body, maxLineBytes+1))
	if err != nil {
		return received{}, err
	}
	if len(text) > maxLineBytes {
		// Only the beginning is looked at for an id: the end did not come.
		return received{append(text[:keptOfLongLine:keptOfLongLine], "…"...), true}, nil
	}
	return received{text, false}, nil
}

func newBody(text []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(text)) }

// say answers with a fixed sentence.
func say(w http.ResponseWriter, status int, sentence string) {
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Del("Content-Length")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, sentence+"\n")
}

func sayJSON(w http.ResponseWriter, status int, text []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// sentences replace what the SDK says of a request that it refuses, which may hold
// what the request held.
var sentences = map[int]string{
	http.StatusBadRequest:           "the request is invalid: there is no such method, its parameters are missing, or the headers do not fit it (Accept must name application/json and text/event-stream, MCP-Protocol-Version what initialize agreed on)",
	http.StatusNotFound:             "there is no such session; begin one with initialize",
	http.StatusMethodNotAllowed:     "only POST, GET and DELETE are allowed",
	http.StatusConflict:             "the session has a stream already",
	http.StatusUnsupportedMediaType: "Content-Type must be application/json",
	http.StatusServiceUnavailable:   "there are too many sessions; end one with DELETE",
}

func sentenceOf(status int) string {
	if said, ok := sentences[status]; ok {
		return said
	}
	return "the request was not carried out"
}

// held keeps the answer to one message until it is whole, so that a slow client
// keeps nobody waiting and errors can be replaced.
type held struct {
	call   *jsonrpc.Request // nil for what needs no answer
	header http.Header
	status int
	text   bytes.Buffer
}

func (h *held) Header() http.Header { return h.header }
func (h *held) Flush()              {}

func (h *held) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

func (h *held) Write(text []byte) (int, error) {
	h.WriteHeader(http.StatusOK)
	return h.text.Write(text)
}

// release sends the answer. Errors get our words.
func (h *held) release(w http.ResponseWriter) {
	h.WriteHeader(http.StatusOK)
	text := h.text.Bytes()
	if media, _, _ := mime.ParseMediaType(h.header.Get("Content-Type")); media == "application/json" {
		if message, err := jsonrpc.DecodeMessage(text); err == nil {
			if response, ok := message.(*jsonrpc.Response); ok && response.Error != nil {
				response.Error = said(response.Error)
				if text, err = jsonrpc.EncodeMessage(response); err != nil {
					say(w, http.StatusInternalServerError, sentenceOf(0))
					return
				}
			}
			sayJSON(w, h.status, text)
			return
		}
	}
	if h.status == http.StatusBadRequest && h.call != nil {
		refusal := &jsonrpc.Response{ID: h.call.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: sentenceOf(h.status)}}
		if text, err := jsonrpc.EncodeMessage(refusal); err == nil {
			sayJSON(w, h.status, text)
			return
		}
	}
	if h.status >= http.StatusBadRequest {
		say(w, h.status, sentenceOf(h.status))
		return
	}
	w.WriteHeader(h.status)
	_, _ = w.Write(text)
}

// sayer replaces the text of refusals of requests without a message.
type sayer struct {
	http.ResponseWriter
	refused bool
}

func (s *sayer) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *sayer) Flush() { _ = http.NewResponseController(s.ResponseWriter).Flush() }

func (s *sayer) WriteHeader(status int) {
	if status >= http.StatusBadRequest && !s.refused {
		s.refused = true
		say(s.ResponseWriter, status, sentenceOf(status))
		return
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *sayer) Write(text []byte) (int, error) {
	if s.refused {
		return len(text), nil
	}
	return s.ResponseWriter.Write(text)
}
