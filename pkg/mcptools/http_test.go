package mcptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/repo-memory/ledger/pkg/ledger"
)

const accessToken = "0123456789abcdefghijklmnopqrstuvwxyz-._~+/=="

// overHTTP serves a new ledger over HTTP for the test and returns the URL.
func overHTTP(t *testing.T, hosts ...string) string {
	t.Helper()
	url, _ := listening(t, newServer(t, nil), hosts...)
	return url
}

// listening serves s until the test ends or stop is called, which waits for it.
func listening(t *testing.T, s *Server, hosts ...string) (url string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.ServeHTTP(ctx, l, HTTPOptions{Token: accessToken, Hosts: hosts}) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return "http://" + l.Addr().String() + Endpoint, stop
}

// bearer sends the token with every request.
type bearer struct{}

func (bearer) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+accessToken)
	return http.DefaultTransport.RoundTrip(q)
}

func connectHTTP(t *testing.T, url string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// post sends one body as a client does, changed by change, and returns the answer.
func post(t *testing.T, url, body string, change func(*http.Request)) (status int, text string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+accessToken)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	if change != nil {
		change(q)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(read))
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`

func TestAClientUsesTheToolsOverHTTP(t *testing.T) {
	session := connectHTTP(t, overHTTP(t))
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 4 {
		t.Fatalf("%v, %v", tools, err)
	}
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ledger_append", Arguments: map[string]any{"type": "note", "payload": "<&>\u2028"}})
	if err != nil || result.IsError {
		t.Fatalf("%+v, %v", result, err)
	}
	var record struct{ ID, SHA string }
	if err := json.Unmarshal([]byte(result.Content[0].(*mcp.TextContent).Text), &record); err != nil || record.SHA == "" {
		t.Fatal(err, result.Content[0])
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "nope"}); err == nil || !strings.Contains(err.Error(), "there is no such tool") {
		t.Errorf("an unknown tool: %v", err)
	}
}

func TestWhoIsNotToBeLetInIsAnsweredBeforeTheBodyIsRead(t *testing.T) {
	url := overHTTP(t, "host.docker.internal")
	header := func(name string, values ...string) func(*http.Request) {
		return func(q *http.Request) {
			q.Header.Del(name)
			for _, v := range values {
				q.Header.Add(name, v)
			}
		}
	}
	host := func(name string) func(*http.Request) { return func(q *http.Request) { q.Host = name } }
	for name, test := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"as it should be":                {nil, 200},
		"no token":                       {header("Authorization"), 401},
		"another token":                  {header("Authorization", "Bearer "+accessToken+"="), 401},
		"a token's beginning":            {header("Authorization", "Bearer "+accessToken[:32]), 401},
		"another scheme":                 {header("Authorization", "Basic "+accessToken), 401},
		"two tokens":                     {header("Authorization", "Bearer "+accessToken, "Bearer x"), 401},
		"the scheme in small letters":    {header("Authorization", "bearer "+accessToken), 200},
		"a foreign host":                 {host("evil.example"), 403},
		"a foreign host with our port":   {host("evil.example:80"), 403},
		"a host that begins like ours":   {host("localhost.evil.example"), 403},
		"no host":                        {host("[::2]"), 403},
		"localhost":                      {host("LOCALHOST:1"), 200},
		"IPv6 loopback":                  {host("[::1]:80"), 200},
		"a host that was allowed":        {host("host.docker.internal:80"), 200},
		"a foreign origin":               {header("Origin", "http://evil.example"), 403},
		"a null origin":                  {header("Origin", "null"), 403},
		"another port of this machine":   {header("Origin", "http://127.0.0.1:1"), 403},
		"the page of another site":       {header("Sec-Fetch-Site", "cross-site"), 403},
		"another content type":           {header("Content-Type", "text/plain"), 415},
		"an answer it does not take":     {header("Accept", "application/json"), 400},
		"a session that does not exist":  {header("Mcp-Session-Id", "x\"<y>"), 404},
		"a protocol version of nowhere":  {header("MCP-Protocol-Version", "1999-01-01"), 400},
		"another method":                 {func(q *http.Request) { q.Method = http.MethodPut }, 405},
		"an origin of a method to read":  {func(q *http.Request) { q.Method = http.MethodGet; q.Header.Set("Origin", "http://evil.example") }, 403},
		"a stream without a session":     {func(q *http.Request) { q.Method = http.MethodGet }, 400},
		"another path":                   {func(q *http.Request) { q.URL.Path = "/" }, 404},
		"a path below":                   {func(q *http.Request) { q.URL.Path = "/mcp/x" }, 404},
		"another path without the token": {func(q *http.Request) { q.URL.Path = "/"; q.Header.Del("Authorization") }, 401},
	} {
		status, text := post(t, url, hello, test.change)
		if status != test.want {
			t.Errorf("%s: %d %s, want %d", name, status, text, test.want)
		}
		if said := sentences[status]; said != "" && !strings.Contains(text, said) && !strings.HasPrefix(text, "there is nothing here") {
			t.Errorf("%s: the answer is not ours: %q", name, text)
		}
		if status != 200 && (strings.Contains(text, "\n") || strings.Contains(text, "evil") || strings.Contains(text, "<y>") || strings.Contains(text, accessToken[:32])) {
			t.Errorf("%s: the answer says %q", name, text)
		}
	}
}

func TestABodyThatIsNoMessageIsAnsweredLikeALine(t *testing.T) {
	url := overHTTP(t)
	for name, test := range map[string]struct {
		body, want string
		status     int
	}{
		"no JSON":           {`{"jsonrpc"`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"message is no JSON"}}`, 400},
		"nothing":           {``, notMessage, 400},
		"a batch":           {"[" + hello + "]", notMessage, 400},
		"two messages":      {hello + hello, "message is no JSON", 400},
		"a repeated member": {`{"jsonrpc":"2.0","id":7,"method":"ping","method":"ping"}`, `"id":7,"error":{"code":-32600,"message":"message repeats a member"}`, 400},
		"a repeated id":     {`{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}`, `"id":null,"error":{"code":-32600,"message":"message repeats its id"}`, 400},
		"deep nesting":      {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `}}`, `"id":7,"error":{"code":-32600,"message":"message is nested too deep"}`, 400},
		"too long":          {`{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"` + strings.Repeat("x", maxLineBytes) + `","id":9}}`, `"id":7,"error":{"code":-32600,"message":"message is too long"}`, 413},
		"a subscription":    {`{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen"}`, noMethod, 400},
		"before initialize": {`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, "a session begins with initialize", 200},
	} {
		status, text := post(t, url, test.body, nil)
		if status != test.status || !strings.Contains(text, test.want) {
			t.Errorf("%s: %d %s, want %d %s", name, status, text, test.status, test.want)
		}
	}
}

func TestHalfAnErrorOfTheToolsArgumentsIsNeverShown(t *testing.T) {
	url := overHTTP(t)
	id := sessionOf(t, url)
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"SECRET-9"}}`:                                                               "there is no such tool",
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":"SECRET-9"}`:                                                                        "error",
		`{"jsonrpc":"2.0","id":7,"method":"SECRET-9"}`:                                                                                              noMethod,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ledger_append","arguments":{"type":"a","type":"b","payload":"SECRET-9"}}}`: "invalid arguments",
	} {
		_, text := post(t, url, body, func(q *http.Request) { q.Header.Set("Mcp-Session-Id", id) })
		if !strings.Contains(text, want) || strings.Contains(text, "SECRET") {
			t.Errorf("%s: %s", body, text)
		}
	}
}

// sessionOf begins a session and returns its id.
func sessionOf(t *testing.T, url string) string {
	t.Helper()
	q, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(hello)))
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := (&http.Client{Transport: bearer{}}).Do(q)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	id := answer.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("no session: %s", answer.Status)
	}
	return id
}

func TestSessionsAreBoundedAndCanBeEnded(t *testing.T) {
	url := overHTTP(t)
	var last string
	for range maxSessions {
		last = sessionOf(t, url)
	}
	if status, text := post(t, url, hello, nil); status != 503 || !strings.Contains(text, "too many sessions") {
		t.Errorf("%d %s", status, text)
	}
	if status, _ := post(t, url, "", func(q *http.Request) { q.Method = http.MethodDelete; q.Header.Set("Mcp-Session-Id", last) }); status != 204 {
		t.Errorf("ending a session: %d", status)
	}
	if status, text := post(t, url, hello, nil); status != 200 {
		t.Errorf("after one was ended: %d %s", status, text)
	}
}

func TestClientsTakeTurnsAndEveryRecordIsThereOnce(t *testing.T) {
	url := overHTTP(t)
	const clients, each = 6, 10
	failed := make(chan error, clients*each)
	for range clients {
		session := connectHTTP(t, url)
		go func() {
			for range each {
				_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ledger_append", Arguments: map[string]any{"type": "n", "payload": 1}})
				failed <- err
			}
		}()
	}
	for range clients * each {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	result, err := connectHTTP(t, url).CallTool(t.Context(), &mcp.CallToolParams{Name: "ledger_status"})
	if err != nil || !strings.Contains(result.Content[0].(*mcp.TextContent).Text, `"records":60`) || !strings.Contains(result.Content[0].(*mcp.TextContent).Text, `"diagnostics":[]`) {
		t.Errorf("%v, %v", result.Content, err)
	}
}

func TestAnOpenStreamEndsInOrderWhenTheServerStops(t *testing.T) {
	url, stop := listening(t, newServer(t, nil))
	id := sessionOf(t, url)
	q, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	q.Header.Set("Accept", "text/event-stream")
	q.Header.Set("Mcp-Session-Id", id)
	answer, err := (&http.Client{Transport: bearer{}}).Do(q)
	if err != nil || answer.StatusCode != 200 {
		t.Fatal(err, answer)
	}
	defer answer.Body.Close()
	stop()
	if _, err := io.ReadAll(answer.Body); err != nil {
		t.Errorf("the stream was cut: %v", err)
	}
}

// TestACallThatHasBegunIsAnsweredWhenTheServerStops holds a call in its audit, tells
// the server to stop, and lets the call go on once nobody else is let in.
func TestACallThatHasBegunIsAnsweredWhenTheServerStops(t *testing.T) {
	began, goOn := make(chan bool), make(chan bool)
	url, stop := listening(t, newServer(t, audits(func(ledger.Record) error {
		close(began)
		<-goOn
		return nil
	})))
	session := connectHTTP(t, url)
	answered := make(chan error, 1)
	go func() {
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "ledger_append", Arguments: map[string]any{"type": "n", "payload": 1}})
		if err == nil && result.IsError {
			err = errors.New("refused")
		}
		answered <- err
	}()
	<-began
	stopped := make(chan bool)
	go func() {
		stop()
		close(stopped)
	}()
	address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), Endpoint)
	for { // until the listener is closed
		c, err := net.Dial("tcp", address)
		if err != nil {
			break
		}
		c.Close()
	}
	close(goOn)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	<-stopped
}

func TestAServerThatWouldLetInEverybodyDoesNotStart(t *testing.T) {
	for name, test := range map[string]struct {
		address string
		options HTTPOptions
	}{
		"no token":      {"127.0.0.1:0", HTTPOptions{}},
		"a short token": {"127.0.0.1:0", HTTPOptions{Token: accessToken[:31]}},
		"a long token":  {"127.0.0.1:0", HTTPOptions{Token: strings.Repeat("x", 2000)}},
		"a line break":  {"127.0.0.1:0", HTTPOptions{Token: accessToken[:40] + "\n"}},
		"all addresses": {":0", HTTPOptions{Token: accessToken}},
		"any host":      {"127.0.0.1:0", HTTPOptions{Token: accessToken, Hosts: []string{"*"}}},
		"a port":        {"127.0.0.1:0", HTTPOptions{Token: accessToken, Hosts: []string{"a:1"}}},
	} {
		l, err := net.Listen("tcp", test.address)
		if err != nil {
			t.Fatal(err)
		}
		err = newServer(t, nil).ServeHTTP(t.Context(), l, test.options)
		if err == nil || (test.options.Token != "" && strings.Contains(err.Error(), test.options.Token)) {
			t.Errorf("%s: %v", name, err)
		}
		if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
			c.Close()
			t.Errorf("%s: the listener was left open", name)
		}
	}
}
