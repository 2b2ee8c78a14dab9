package mcptools

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

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
