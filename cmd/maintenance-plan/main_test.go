package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/compaction/compactiontest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"maintenance-plan": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: compactiontest.Setup, Cmds: compactiontest.Commands()})
}

func TestTheDeclarationIsSound(t *testing.T) {
	if err := role.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := action.ParseHelp(role.Help()); err != nil {
		t.Fatal(err)
	}
}
