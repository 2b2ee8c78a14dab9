package mcptools

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Endpoint is the path at which [Server.ServeHTTP] speaks.
const Endpoint = "/mcp"

// HTTPOptions say who may talk to the server over HTTP.
type HTTPOptions struct {
	// Token is what clients must send as their bearer token: 32 bytes to 1 KiB of
	// letters, digits and -._~+/=.
	Token string
	// Hosts are names by which clients may call the server, without a port, beside
	// loopback and the address that it listens on. A gateway in a container says
	// host.docker.internal.
	Hosts []string
}

// ServeHTTP speaks to clients that reach l until ctx is done, then answers the
// calls that have begun, which takes 5 seconds at most, and closes l. Options that
// would let in everybody are an error.
func (s *Server) ServeHTTP(ctx context.Context, l net.Listener, options HTTPOptions) error {
	gate, err := newGate(l.Addr(), options)
	if err != nil {
		l.Close()
		return err
	}
	sessions := &endpoint{server: s, stopping: ctx, places: make(chan struct{}, maxRequests),
		sdk: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
			JSONResponse: true, SessionTimeout: sessionTime, MaxRequestBodyBytes: maxLineBytes,
			DisableLocalhostProtection: true, // the gate knows which hosts are allowed
		})}
	server := &http.Server{
		Handler: gate.let(sessions), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaderBytes,
		DisableGeneralOptionsHandler: true, // OPTIONS * is answered by the gate, too
		ErrorLog:                     log.New(io.Discard, "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return errors.Join(errors.New("the server cannot listen any longer"), err)
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	if server.Shutdown(last) != nil {
		_ = server.Close() // a client takes no answer
	}
	for session := range s.mcp.Sessions() {
		_ = session.Close()
	}
	return nil
}

// endpoint hands requests that were let in to the SDK.
type endpoint struct {
	server   *Server
	sdk      http.Handler
	stopping context.Context
	places   chan struct{} // one for each message in memory
	opening  sync.Mutex    // held while a session is made, so that the bound holds
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	switch q.Method {
	case http.MethodPost:
		e.post(w, q)
	case http.MethodGet: // a stream that lasts; nothing is ever sent on it
		ctx, cancel := context.WithCancel(q.Context())
		defer context.AfterFunc(e.stopping, cancel)()
		defer cancel()
		e.sdk.ServeHTTP(&sayer{ResponseWriter: w}, q.WithContext(ctx))
	default:
		e.sdk.ServeHTTP(&sayer{ResponseWriter: w}, q)
	}
}

// post carries out one message.
func (e *endpoint) post(w http.ResponseWriter, q *http.Request) {
	select {
	case e.places <- struct{}{}:
		defer func() { <-e.places }()
	case <-q.Context().Done():
		return
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime))
	line, err := readBody(q.Body)
	if err != nil {
		say(w, http.StatusBadRequest, "the request's body did not arrive")
		return
	}
	_ = control.SetReadDeadline(time.Time{})
	message, bad := judge(line)
	if bad != nil {
		status := http.StatusBadRequest
		if line.tooLong {
			status = http.StatusRequestEntityTooLarge
		}
		text, err := bad.answer()
		if err != nil {
			status = http.StatusInternalServerError
		}
		sayJSON(w, status, text)
		return
	}
	q.Body = newBody(line.text)
	answer := &held{header: w.Header()}
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		answer.call = request
	}
	e.carryOut(answer, q)
	_ = control.SetWriteDeadline(time.Now().Add(bodyTime))
	answer.release(w)
	_ = control.SetWriteDeadline(time.Time{})
}

// carryOut gives a message to the SDK. One that names no session makes one.
func (e *endpoint) carryOut(w http.ResponseWriter, q *http.Request) {
	if q.Header.Get("Mcp-Session-Id") == "" {
		e.opening.Lock()
		defer e.opening.Unlock()
		n := 0
		for range e.server.mcp.Sessions() {
			n++
		}
		if n >= maxSessions {
			w.Header().Set("Retry-After", "60")
			say(w, http.StatusServiceUnavailable, "there are too many sessions; end one with DELETE")
			return
		}
	}
	e.sdk.ServeHTTP(w, q)
}
