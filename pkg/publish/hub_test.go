package publish

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

const (
	testRepository = "octo/consumer"
	testToken      = "ghs_0123456789abcdefABCDEF"
)

// hub is a GitHub with one repository, and a token that may write it.
type hub struct {
	*githubtest.Server
	repo   *repo
	remote branch.Remote
}

func newHub(t testing.TB) *hub {
	t.Helper()
	s := githubtest.New(t, githubtest.Options{})
	s.Token(testToken, githubtest.Permissions{"contents": "write"})
	h := &hub{Server: s, repo: &repo{t: t, dir: s.Repo(testRepository), now: 1_700_000_000}}
	h.repo.commit("refs/heads/main", map[string]string{"README": "x"})
	var err error
	if h.remote, err = branch.ParseRemote(s.URL+"/"+testRepository, testToken, s.URL); err != nil {
		t.Fatal(err)
	}
	h.remote.Transport = s.Transport()
	return h
}

// options are quick ones with a client of the server, whose waits take no time.
func (h *hub) options(t testing.TB, mode Mode, client github.Options) Options {
	t.Helper()
	env := map[string]string{}
	for _, pair := range h.Env(testRepository) {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	if client.Sleep == nil {
		client.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	}
	client.Random = func() float64 { return 0 }
	o, err := quick(Options{}).Choose(mode, h.remote, func(name string) string { return env[name] }, client)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// how lists how the commits came to the branch, and fails where one was not
// guarded by its own parent.
func (h *hub) how(t testing.TB) []string {
	t.Helper()
	var list []string
	for _, c := range h.Commits(testRepository) {
		if c.Expected != c.Parent || c.Branch != testName || c.Token != testToken {
			t.Errorf("a commit that is not guarded: %+v", c)
		}
		list = append(list, c.How)
	}
	return list
}

// BenchmarkAPI compares an Update that adds one shard of 50 records to a branch of
// 50,000 through the API with the same by our own git push, over TLS to one server.
// The server's part of the API way is several git processes here, so that the ratio
// says what the way costs at most.
func BenchmarkAPI(b *testing.B) {
	h := newHub(b)
	h.repo.commit(testRef, benchmarkShards(50_000, "base"))
	h.repo.git("gc", "-q")
	took := map[Mode][]time.Duration{}
	for round := 0; b.Loop(); round++ {
		for _, mode := range []Mode{API, Git} {
			opts := h.options(b, mode, github.Options{})
			for path, text := range benchmarkShards(50, fmt.Sprint(mode, round)) {
				start := time.Now()
				if _, err := Update(context.Background(), h.remote, testName, opts, add(path, text)); err != nil {
					b.Fatal(err)
				}
				took[mode] = append(took[mode], time.Since(start))
			}
		}
	}
	median := func(mode Mode) float64 {
		slices.Sort(took[mode])
		return float64(took[mode][len(took[mode])/2].Microseconds()) / 1000
	}
	b.ReportMetric(median(API), "ms/API")
	b.ReportMetric(median(Git), "ms/push")
	b.ReportMetric(median(API)/median(Git), "ratio")
}
