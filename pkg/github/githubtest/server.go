package githubtest

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options are what a test may choose; the zero value serves.
type Options struct {
	// Now is the clock of comments and commits; time.Now by default.
	Now func() time.Time
	// RateLimit is how many requests the REST and the GraphQL bucket hold each;
	// 5000 by default. A conditional request that is answered with 304 costs none.
	RateLimit int
}

// Server is a GitHub. Its methods may be called from several goroutines.
type Server struct {
	// URL is https://127.0.0.1:PORT.
	URL string
	// CertFile is the PEM file with the authority that signed the server's
	// certificate: a value for SSL_CERT_FILE. All servers of a process share it.
	CertFile string

	t    testing.TB
	http *httptest.Server
	pool *x509.CertPool
	root string // of the repositories
	home string // of git's children: empty
	opts Options

	mu       sync.Mutex
	repos    map[string]*repository
	tokens   map[string]*identity
	queues   []*queue
	requests []*Request
	used     map[string]int // of each rate limit bucket
	sequence int            // of ids
}

// New starts a server, which ends with the test.
func New(t testing.TB, opts Options) *Server {
	t.Helper()
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.RateLimit == 0 {
		opts.RateLimit = 5000
	}
	dir := t.TempDir()
	s := &Server{t: t, opts: opts, root: filepath.Join(dir, "repositories"), home: filepath.Join(dir, "home"),
		CertFile: filepath.Join(dir, "ca.pem"), pool: x509.NewCertPool(),
		repos: map[string]*repository{}, tokens: map[string]*identity{}, used: map[string]int{}}
	for _, folder := range []string{s.root, s.home} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ca, err := theAuthority()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.CertFile, ca.pem, 0o644); err != nil {
		t.Fatal(err)
	}
	s.pool.AppendCertsFromPEM(ca.pem)
	s.http = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.http.TLS = &tls.Config{Certificates: []tls.Certificate{ca.leaf}}
	s.http.EnableHTTP2 = true                           // as GitHub; whoever asks for HTTP/1.1 gets it
	s.http.Config.ErrorLog = log.New(io.Discard, "", 0) // connections are dropped on purpose
	s.http.StartTLS()
	t.Cleanup(s.http.Close)
	s.URL = s.http.URL
	return s
}

// Transport trusts the server's authority and nothing else.
func (s *Server) Transport() *http.Transport {
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.pool}}
	s.t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// Client uses [Server.Transport].
func (s *Server) Client() *http.Client { return &http.Client{Transport: s.Transport()} }

// Env is what the runner of this GitHub says in a run of the repository.
func (s *Server) Env(repo string) []string {
	return []string{
		"GITHUB_SERVER_URL=" + s.URL,
		"GITHUB_API_URL=" + s.URL + "/api/v3",
		"GITHUB_GRAPHQL_URL=" + s.URL + "/api/graphql",
		"GITHUB_REPOSITORY=" + repo,
		"SSL_CERT_FILE=" + s.CertFile,
	}
}

// serve records a request, lets the script have it, and hands it on.
func (s *Server) serve(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxBodyBytes))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	// A CGI program wants to know the length.
	q.Body, q.ContentLength, q.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	r := s.record(q, body)
	reply, ok := s.next(r)
	if ok && reply.Do != nil {
		reply.Do()
	}
	switch {
	case !ok || reply.serves():
		s.finish(r, w, func(w http.ResponseWriter) { s.route(w, q, r, body) })
	case reply.After:
		s.route(httptest.NewRecorder(), q, r, body)
		fallthrough
	default:
		s.finish(r, w, reply.write)
	}
}

// route serves a request.
func (s *Server) route(w http.ResponseWriter, q *http.Request, r *Request, body []byte) {
	path := q.URL.Path
	switch {
	case path == "/api/graphql" && q.Method == http.MethodPost:
		s.graphql(w, r, body)
	case strings.HasPrefix(path, "/api/v3/"):
		s.rest(w, q, r, body)
	case isGit(path):
		s.git(w, q, r, body)
	default:
		fail(w, http.StatusNotFound, "Not Found")
	}
}
