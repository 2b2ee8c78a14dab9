package mcptools

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// timed is an answer that remembers the deadlines of its connection.
type timed struct {
	*httptest.ResponseRecorder
	read, write time.Time
}

func (w *timed) SetReadDeadline(t time.Time) error  { w.read = t; return nil }
func (w *timed) SetWriteDeadline(t time.Time) error { w.write = t; return nil }

// TestNobodyHoldsAConnectionWithABodyThatDoesNotArrive looks at what a connection is
// left with when the gate is done: net/http then waits for the rest of the body.
func TestNobodyHoldsAConnectionWithABodyThatDoesNotArrive(t *testing.T) {
	gate, err := newGate(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, HTTPOptions{Token: accessToken})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method, host, token string
		body                string
		status              int // 0 is let in
	}{
		"a stranger":               {"POST", "localhost", "wrong", "x", http.StatusUnauthorized},
		"a page of another host":   {"POST", "evil.example", accessToken, "x", http.StatusForbidden},
		"a client":                 {"POST", "localhost", accessToken, "x", 0},
		"a stream":                 {"GET", "localhost", accessToken, "", 0},
		"the end of a session":     {"DELETE", "localhost", accessToken, "x", 0},
		"a question for what goes": {"OPTIONS", "localhost", "wrong", "", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			w := &timed{ResponseRecorder: httptest.NewRecorder()}
			through := false
			q := httptest.NewRequest(c.method, Endpoint, strings.NewReader(c.body))
			q.Host = c.host
			q.Header.Set("Authorization", "Bearer "+c.token)
			gate.let(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				through = true
				if !w.read.IsZero() || !w.write.IsZero() {
					t.Error("who is let in has a deadline before the server gives it one")
				}
			})).ServeHTTP(w, q)
			if through != (c.status == 0) || !through && w.Code != c.status {
				t.Errorf("let in: %v, status %d", through, w.Code)
			}
			if closes := w.Header().Get("Connection") == "close"; closes == through {
				t.Errorf("let in: %v, closes: %v", through, closes)
			}
			if w.read.IsZero() || !through && w.write.IsZero() {
				t.Error("the connection has no deadline")
			}
		})
	}
}

// FuzzWhoIsLetInNamesThisMachineAndHasTheToken asks the gate with any headers. Who
// gets through named loopback, came from nowhere else, and knows the whole token.
func FuzzWhoIsLetInNamesThisMachineAndHasTheToken(f *testing.F) {
	for _, seed := range [][4]string{
		{"localhost:80", "", "Bearer " + accessToken, "same-origin"}, {"[::1]", "http://[::1]", "bearer " + accessToken, ""},
		{"127.0.0.1.evil.example", "null", "Bearer", "cross-site"}, {"evil@localhost", "http://localhost@evil.example", accessToken, "none"},
		{"localhost", "file://", "Bearer " + accessToken, "same-site"}, {"[localhost", "localhost", "Bearer  " + accessToken, "x"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	gate, err := newGate(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, HTTPOptions{Token: accessToken})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, host, origin, authorization, site string) {
		through := false
		handler := gate.let(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { through = true }))
		q := httptest.NewRequest(http.MethodPost, Endpoint, nil)
		q.Host = host
		q.Header["Authorization"] = []string{authorization}
		if origin != "" {
			q.Header["Origin"] = []string{origin}
		}
		if site != "" {
			q.Header["Sec-Fetch-Site"] = []string{site}
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, q)
		if text := w.Body.String(); !through && (w.Code < 400 || strings.Count(text, "\n") != 1) {
			t.Errorf("%d %q", w.Code, text)
		}
		if !through {
			return
		}
		here := func(name string) bool {
			name = strings.ToLower(name)
			return strings.Contains(name, "localhost") || strings.Contains(name, "127.0.0.1") || strings.Contains(name, "::1")
		}
		if _, token, _ := strings.Cut(authorization, " "); !here(host) || origin != "" && !here(origin) || token != accessToken || site == "cross-site" {
			t.Errorf("let in: host %q, origin %q, authorization %q, site %q", host, origin, authorization, site)
		}
	})
}
