package main

import (
	"crypto/rand"
	"path/filepath"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/mcptools"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
	"github.com/repo-memory/ledger/pkg/staging"
)

// configuredMemory finds out whom the agent may write memory for; nil where there
// is no such thing, with why if somebody asked for it. An agent gets no tools for
// what persistence would refuse as a whole.
func configuredMemory(a *action.Action, read func(*action.Action) (memoryrun.Agent, error)) (g *memoryrun.Agent, why string, err error) {
	agent, err := read(a)
	switch {
	case err != nil:
		return nil, "", err
	case agent.Policy == nil && a.GetInput("memory-policy") == "":
		return nil, "", nil
	case agent.Policy == nil:
		return nil, "there is no memory policy", nil
	case agent.Project == "":
		return nil, "memory-project is not given", nil
	}
	if _, err := agent.Entry(); err != nil {
		return nil, err.Error(), nil
	}
	return &agent, "", nil
}

// memoryEnv sets the server's inputs about memory as setup resolved them: the
// server knows less of the run.
func memoryEnv(a *action.Action, env map[string]string) {
	g, _, err := configuredMemory(a, memoryrun.ReadAgent)
	if err != nil || g == nil {
		return
	}
	path, err := filepath.Abs(a.GetInput("memory-policy"))
	if err != nil {
		return
	}
	for i, value := range []string{path, g.Project, g.Principal} {
		env[memoryrun.InputsAgent[i].Variable()] = value
	}
}

// servedMemory is what the server's tools get; nil for none.
func servedMemory(a *action.Action, dir string) (*mcptools.Memory, error) {
	g, why, err := configuredMemory(a, memoryrun.ServedAgent)
	if why != "" {
		a.Warningf("there are no memory tools: %s", why)
	}
	if err != nil || g == nil {
		return nil, err
	}
	return memoryOf(*g, dir), nil
}

func memoryOf(g memoryrun.Agent, dir string) *mcptools.Memory {
	m := &mcptools.Memory{Policy: g.Policy, Principal: g.Principal, Project: g.Project, Restored: staging.Restored(dir), Clock: time.Now, Random: rand.Reader}
	if manifest, err := staging.Read(dir); err == nil {
		m.Session = manifest.Writer
	}
	return m
}

// allow lets the types of memory through to their tools.
func allow(m *mcptools.Memory) func(string) bool {
	if m == nil {
		return nil
	}
	return memory.Allow(m.Policy, m.Principal)
}
