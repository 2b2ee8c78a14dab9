package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// bench measures what the ledger costs against the least that the work must
// cost, in one run on one machine, so that its ratios can be compared.
type bench struct {
	ctx     context.Context
	out     streams
	dir     string // scratch, on the disk that is measured
	limits  ledger.Limits
	records int
	fixture *fixture
	shop    *workshop
	Results []result `json:"results"`
}

// result is one figure. Ratio is Took over Base; Goal is what it should stay
// under, of the ratio when there is a base and of Took otherwise.
type result struct {
	Name  string  `json:"name"`
	Took  float64 `json:"took"`
	Base  float64 `json:"base,omitempty"`
	Ratio float64 `json:"ratio,omitempty"`
	Unit  string  `json:"unit"`
	Goal  float64 `json:"goal"`
}

// against reports a duration as a multiple of another.
func (b *bench) against(name string, took, base time.Duration, goal float64) {
	b.report(result{Name: name, Took: ms(took), Base: ms(base), Ratio: float64(took) / float64(base), Unit: "ms", Goal: goal})
}

// within reports a duration by itself.
func (b *bench) within(name string, took time.Duration, goal float64) {
	b.report(result{Name: name, Took: ms(took), Unit: "ms", Goal: goal})
}

func (b *bench) report(r result) {
	b.Results = append(b.Results, r)
	if r.Base != 0 {
		fmt.Fprintf(b.out.err, "%-58s %6.2f x (goal %g x; %.3f over %.3f %s)\n", r.Name, r.Ratio, r.Goal, r.Took, r.Base, r.Unit)
		return
	}
	fmt.Fprintf(b.out.err, "%-58s %8.3f %s (goal %g %s)\n", r.Name, r.Took, r.Unit, r.Goal, r.Unit)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

func mean(d []time.Duration) time.Duration {
	var sum time.Duration
	for _, x := range d {
		sum += x
	}
	return sum / time.Duration(len(d))
}

// timed returns how long f takes.
func timed(f func() error) (time.Duration, error) {
	start := time.Now()
	err := f()
	return time.Since(start), err
}

var benchCommand = command{"bench", "[--records N] [--memory] [--json]", "measure appends, opening, queries, memory and persisting, as ratios",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		records := flags.Int("records", 50_000, "records of the ledger that is measured")
		dir := flags.String("dir", "", "scratch `FOLDER`, on the disk to measure (default: a temporary one)")
		asJSON := flags.Bool("json", false, "print one JSON value")
		reviewed := flags.Bool("memory", false, "measure reviewed memory instead")
		probe := flags.String("probe-memory", "", "open the ledger in `FOLDER`, print this process's peak memory in bytes, and stop")
		return func(ctx context.Context, s streams, args []string) error {
			if len(args) > 0 || *records < 1000 {
				return usagef("takes no arguments, and at least 1000 records")
			}
			if *probe != "" {
				return probeMemory(s, *probe)
			}
			scratch, err := os.MkdirTemp(*dir, "ledger-bench-")
			if err != nil {
				return fmt.Errorf("failed to make a scratch folder: %w", err)
			}
			defer removeAll(scratch)
			b := &bench{ctx: ctx, out: s, dir: scratch, limits: ledger.DefaultLimits(), records: *records, fixture: newFixture()}
			measures := []func() error{b.opening, b.appending, b.querying, b.memory, b.serving, b.persisting}
			if *reviewed {
				measures = []func() error{b.reviewed}
			}
			for _, measure := range measures {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := measure(); err != nil {
					return err
				}
			}
			if *asJSON {
				return printJSON(s.out, b.Results)
			}
			return nil
		}
	}}

// removeAll removes a folder with read-only files in it.
func removeAll(dir string) { _ = os.RemoveAll(dir) }

// folder returns a new folder below the scratch one.
func (b *bench) folder(name string) (string, error) {
	dir := filepath.Join(b.dir, name)
	return dir, os.MkdirAll(dir, 0o755)
}
