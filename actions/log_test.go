package actions_test

import (
	"fmt"
	"strings"
	"time"
)

// event is one line of act's log.
type event struct {
	Job        string            `json:"job"`
	JobID      string            `json:"jobID"`
	Step       string            `json:"step"`
	StepID     []string          `json:"stepID"`
	StepResult string            `json:"stepResult"`
	JobResult  string            `json:"jobResult"`
	Level      string            `json:"level"`
	Msg        string            `json:"msg"`
	Raw        bool              `json:"raw_output"`
	Command    string            `json:"command"`
	Name       string            `json:"name"`
	Arg        string            `json:"arg"`
	Content    string            `json:"content"`
	Properties map[string]string `json:"kvPairs"`
	Matrix     map[string]any    `json:"matrix"`
	At         time.Time         `json:"-"` // when act printed it
}

// stamped keeps what is written, and when each line began.
type stamped struct {
	text  []byte
	times []time.Time
}

func (s *stamped) Write(p []byte) (int, error) {
	at := time.Now()
	for _, c := range p {
		if len(s.text) == 0 || s.text[len(s.text)-1] == '\n' {
			s.times = append(s.times, at)
		}
		s.text = append(s.text, c)
	}
	return len(p), nil
}

// run is what act did.
type run struct {
	code   int
	events []event
	log    string
}

// only is the part of a run that belongs to one combination of a job's matrix.
func (r run) only(name, value string) run {
	part := run{code: r.code}
	for _, e := range r.events {
		if e.Matrix[name] == value {
			part.events = append(part.events, e)
		}
	}
	return part
}

// readable is the log as a person would read it, for a test that failed.
func (r run) readable() string {
	var b strings.Builder
	for _, e := range r.events {
		if !strings.HasPrefix(e.Msg, "LocalRepositoryCache") {
			fmt.Fprintf(&b, "[%s] %s\n", e.JobID, strings.TrimSuffix(e.Msg, "\n"))
		}
	}
	return b.String()
}

// jobs are the jobs that ran and how each ended; one with a matrix has succeeded
// when all its combinations have.
func (r run) jobs() map[string]string {
	jobs := map[string]string{}
	for _, e := range r.events {
		if e.JobResult != "" && (jobs[e.JobID] == "" || jobs[e.JobID] == "success") {
			jobs[e.JobID] = e.JobResult
		}
	}
	return jobs
}

// outputs are the outputs of a step of a job.
func (r run) outputs(job, step string) map[string]string {
	outputs := map[string]string{}
	for _, e := range r.events {
		if e.JobID == job && e.Command == "set-output" && len(e.StepID) == 1 && e.StepID[0] == step {
			outputs[e.Name] = e.Arg
		}
	}
	return outputs
}

// summary is what the steps of a job wrote for people to read. act tells of it
// for the step inside an action and sometimes for the action again.
func (r run) summary(job string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, e := range r.events {
		if key := strings.Join(e.StepID[:min(1, len(e.StepID))], "") + e.Content; e.JobID == job && e.Command == "summary" && !seen[key] {
			seen[key] = true
			b.WriteString(e.Content)
		}
	}
	return b.String()
}

// annotations are a job's notices, warnings and errors: "warning persist: text".
func (r run) annotations(job string) []string {
	var list []string
	for _, e := range r.events {
		switch e.Command {
		case "notice", "warning", "error":
			if e.JobID == job {
				list = append(list, e.Command+" "+e.Properties["title"]+": "+e.Arg)
			}
		}
	}
	return list
}

// result is how a step of a job ended.
func (r run) result(job, step string) string {
	for _, e := range r.events {
		if e.JobID == job && len(e.StepID) == 1 && e.StepID[0] == step && e.StepResult != "" {
			if strings.Contains(e.Msg, " Main ") {
				return e.StepResult
			}
		}
	}
	return "not run"
}
