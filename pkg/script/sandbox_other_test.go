//go:build !linux

package script

import (
	"context"
	"errors"
	"os"
	"testing"
)

func TestElsewhereNoScriptRuns(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Validate(context.Background(), Options{Node: self}, []byte("1"), ValidationInput{}); !errors.Is(err, ErrSandbox) {
		t.Fatalf("got %v, want %v", err, ErrSandbox)
	}
}
