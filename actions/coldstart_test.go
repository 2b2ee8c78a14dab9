package actions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// startingJob runs an action that does nothing, of the same repository, because act
// copies that for each step, and the largest action of ours in turn. Ours is given a name that its binary refuses before it does anything else,
// so its first line is the first thing that it does.
func startingJob(rounds int) string {
	var b strings.Builder
	b.WriteString("name: Starting\non: workflow_dispatch\npermissions: {}\njobs:\n  start:\n    runs-on: ubuntu-latest\n    permissions:\n      contents: read\n    steps:\n")
	for i := range rounds {
		fmt.Fprintf(&b, "      - id: nothing-%d\n        uses: OWNER/ledger/actions/nothing@v1\n      - id: ours-%d\n        continue-on-error: true\n        uses: OWNER/ledger/actions/agent-ledger@v1\n        with: {ledger: '-'}\n", i, i)
	}
	return b.String()
}

// BenchmarkColdStart measures, in one run of act, how long after the start of its
// step an installed action prints the first line of its binary, from the tool cache
// and, once, with the download; beside it, an action that does nothing. "budget" is
// the median from the cache as a part of 3 times nothing and 60 ms: at most 1.
//
//	go test ./actions -run '^$' -bench ColdStart -benchtime 1x
func BenchmarkColdStart(b *testing.B) {
	const rounds = 11
	for b.Loop() {
		c := onRelease(b)
		dir := filepath.Join(b.TempDir(), "suite")
		if err := os.CopyFS(dir, os.DirFS(c.suite)); err != nil {
			b.Fatal(err)
		}
		c.suite = dir
		write(b, filepath.Join(dir, "actions", "nothing", "action.yml"), "name: Nothing\ndescription: nothing\nruns:\n  using: composite\n  steps:\n    - {shell: bash, run: ':'}\n")
		r := c.run(b, "starting.yml", startingJob(rounds), "{}")
		var none, ours []time.Duration
		for i := range rounds {
			none = append(none, r.took(b, fmt.Sprintf("nothing-%d", i), func(e event) bool { return strings.Contains(e.Msg, "Success - Main OWNER/") }))
			ours = append(ours, r.took(b, fmt.Sprintf("ours-%d", i), func(e event) bool { return e.Command == "error" && e.Properties["title"] == "agent-ledger" }))
		}
		fresh := ours[0]
		slices.Sort(none)
		ours = ours[1:]
		slices.Sort(ours)
		n, o := none[len(none)/2], ours[len(ours)/2]
		ms := func(d time.Duration) float64 { return d.Seconds() * 1000 }
		b.ReportMetric(ms(n), "ms/nothing")
		b.ReportMetric(ms(o), "ms/cached")
		b.ReportMetric(ms(fresh), "ms/fresh")
		b.ReportMetric(ms(o)/(3*ms(n)+60), "budget")
	}
}

// took is the time from the start of a step to the first event of that kind.
func (r run) took(t testing.TB, step string, kind func(event) bool) time.Duration {
	t.Helper()
	var from time.Time
	for _, e := range r.events {
		switch {
		case len(e.StepID) == 0 || e.StepID[0] != step:
		case strings.Contains(e.Msg, "Run Main OWNER/"):
			from = e.At
		case !from.IsZero() && kind(e):
			return e.At.Sub(from)
		}
	}
	t.Fatalf("step %s never came so far\n%s", step, r.readable())
	return 0
}
