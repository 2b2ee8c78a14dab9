package persist

import (
	"fmt"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func TestMemoryFilesLeaveRoomForShards(t *testing.T) {
	c := &changer{snap: ledger.Snapshot{Files: map[string][]byte{"ledger/shards/x.jsonl": nil}}}
	for i := range maxMemoryEntries - 3 {
		c.snap.Files[fmt.Sprintf("%d.md", i)] = nil
	}
	memory := c.memoryEntries()
	if len(memory) != maxMemoryEntries-3 {
		t.Fatalf("%d entries counted: what stands below ledger/ is none", len(memory))
	}
	if memory.take("a/b/c/d.md") {
		t.Error("a file with its folders passed the bound")
	}
	if !memory.take("a/b/d.md") {
		t.Error("a file that just fits with its folders was refused")
	}
	if memory.take("e.md") {
		t.Error("a file over the bound was taken")
	}
	if !memory.take("a/b/d.md") || !memory.take("7.md") {
		t.Error("a file that stands there already was refused")
	}
}

func TestAPathThatNotEveryRunnerCanHoldIsRefused(t *testing.T) {
	options, err := Options{Limits: ledger.DefaultLimits()}.check()
	if err != nil {
		t.Fatal(err)
	}
	c := &changer{Staged: &Staged{options: options}}
	long := strings.Repeat("d/", (maxPathBytes-4)/2) + "f.md"
	if fault := c.fileFault(&entry{path: long}); len(long) != maxPathBytes || fault != "" {
		t.Errorf("a path of %d bytes: %s", len(long), fault)
	}
	if fault := c.fileFault(&entry{path: "x" + long}); !strings.Contains(fault, "at most 512") {
		t.Errorf("a path over the bound: %q", fault)
	}
}
