package main

import (
	"testing"

	"github.com/repo-memory/ledger/pkg/action"
)

func TestTheDeclarationIsSound(t *testing.T) {
	if err := role.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := action.ParseHelp(role.Help()); err != nil {
		t.Fatal(err)
	}
}
