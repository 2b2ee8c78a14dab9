package main

import (
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/memory"
)

func TestTheDeclarationIsSound(t *testing.T) {
	if err := role.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := action.ParseHelp(role.Help()); err != nil {
		t.Fatal(err)
	}
}

func TestTheLongestLifeIsThatOfAnAuthorization(t *testing.T) {
	if maxLifeMinutes*time.Minute != memory.MaxEnvelopeLife {
		t.Errorf("%d minutes, an authorization stands %v", maxLifeMinutes, memory.MaxEnvelopeLife)
	}
}
