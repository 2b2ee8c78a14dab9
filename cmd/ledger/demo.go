package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

var demoCommand = command{"demo", "[--keep FOLDER]", "run the whole life of a ledger on a local git remote, with the roles' real binaries",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		keep := flags.String("keep", "", "leave everything in this empty `FOLDER` (default: a temporary one, removed at the end)")
		return func(ctx context.Context, s streams, args []string) error {
			if len(args) > 0 {
				return usagef("takes no arguments")
			}
			dir := *keep
			if dir == "" {
				temp, err := os.MkdirTemp("", "ledger-demo-")
				if err != nil {
					return fmt.Errorf("failed to make a folder: %w", err)
				}
				defer removeAll(temp)
				dir = temp
			}
			dir, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			d := &demo{ctx: ctx, out: s, dir: dir}
			if err := d.run(); err != nil {
				return fmt.Errorf("the demonstration failed in step %d: %w", d.step, err)
			}
			return nil
		}
	}}

// demo is one life of a ledger. Each step states what it expects; anything else
// ends the demonstration with an error.
type demo struct {
	ctx    context.Context
	out    streams
	dir    string
	remote string
	shop   *workshop
	step   int
	runs   int
}

func (d *demo) run() error {
	for _, step := range []struct {
		title string
		do    func() error
	}{
		{"Build the roles and create a bare git remote", d.prepare},
		{"A first run: an agent appends over MCP; its log is merged and reported; a trusted job publishes", d.first},
		{"Two runs at once from the same commit, both published: the ledger has two heads", d.twoWriters},
		{"A later run appends once more: its record joins the two heads", d.join},
		{"A prompt-injected agent stages hostile files: refused, named, and the honest record is published", d.hostile},
		{"Maintenance: a read-only job plans, a trusted job proves and applies", d.compact},
		{"The same plan again is a no-op, and a forged one is rejected", d.again},
		{"The audit walks the branch's history, and the remote is shown", d.audit},
	} {
		d.step++
		fmt.Fprintf(d.out.out, "\n%d. %s\n", d.step, step.title)
		if err := step.do(); err != nil {
			return err
		}
	}
	fmt.Fprintln(d.out.out, "\nDone: nothing was lost, nothing was doubled, and nothing hostile got in.")
	return nil
}

// say prints a line below the step's title.
func (d *demo) say(format string, args ...any) {
	for line := range strings.Lines(strings.TrimRight(fmt.Sprintf(format, args...), "\n")) {
		fmt.Fprintf(d.out.out, "   %s\n", strings.TrimRight(line, "\n"))
	}
}

// expect turns a surprise into an error.
func expect(what string, got, want any) error {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("%s is %v, expected %v", what, got, want)
	}
	return nil
}

func (d *demo) prepare() error {
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	d.remote = filepath.Join(d.dir, "remote.git")
	if _, err := d.git("init", "-q", "--bare", d.remote); err != nil {
		return err
	}
	shop, err := newWorkshop(d.ctx, d.dir, roles...)
	if err != nil {
		return err
	}
	d.shop = shop
	d.say("%s, and the binaries %s", "remote.git", strings.Join(roles, ", "))
	return nil
}

// workflow is one run of a workflow: its agent's job, prepared.
type workflow struct {
	*demo
	id    string
	job   *job
	setup step
}

// begin starts a run: it restores the ledger for an agent.
func (d *demo) begin() (*workflow, error) {
	d.runs++
	id := fmt.Sprint(1000 + d.runs)
	job, err := d.shop.job("agent", id)
	if err != nil {
		return nil, err
	}
	setup, err := job.do("agent-ledger", []string{"setup"}, map[string]string{"remote": d.remote})
	if err != nil {
		return nil, err
	}
	return &workflow{d, id, job, setup}, nil
}

// agent connects an MCP client to the run's server process.
func (w *workflow) agent() (*agent, error) { return newAgent(w.ctx, w.setup.outputs["mcp-config"]) }

// appendAll appends payloads as the agent of the run.
func (w *workflow) appendAll(typ string, payloads ...any) (last appended, err error) {
	a, err := w.agent()
	if err != nil {
		return last, err
	}
	defer a.close()
	for _, payload := range payloads {
		if last, err = a.append(typ, payload); err != nil {
			return last, err
		}
		w.say("run %s appended %s with %d parents", w.id, last.ID, len(last.Parents))
	}
	return last, nil
}

// persist publishes what the run staged, from a copy, as an artifact brings it;
// tamper may change the copy before.
func (w *workflow) persist(tamper func(dir string) error) (step, error) {
	job, err := w.shop.job("persist", w.id)
	if err != nil {
		return step{}, err
	}
	artifact := filepath.Join(job.temp, "artifact")
	if err := os.CopyFS(artifact, os.DirFS(filepath.Dir(w.setup.outputs["directory"]))); err != nil {
		return step{}, err
	}
	dir := filepath.Join(artifact, filepath.Base(w.setup.outputs["directory"]))
	if tamper != nil {
		if err := tamper(dir); err != nil {
			return step{}, err
		}
	}
	return job.do("persist", nil, map[string]string{"remote": w.remote, "directory": dir, "base-commit": w.setup.outputs["base-commit"]})
}
