package persist

import (
	"bytes"
	"slices"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// madeMetadata are those of the shards that these roles make: persistence and the
// trusted jobs of Memory Git, and compaction.
var madeMetadata = []string{metadata, `{"compaction":"gh-aw/ledger-compaction-plan/v1"}`}

// otherWriter refuses Memory Git on a branch that somebody else writes to. The
// admission chain is worth what its writers are: another runtime that publishes
// what agents stage would publish a forged link, too. Such a writer leaves shards
// that are not named after what they hold. Those from before memory began are no
// reason; one that has records of Memory Git, or follows on one, is.
func (c *changer) otherWriter() *memory.Refusal {
	looked := map[string]bool{}
	for r := range c.ledger.Records() {
		if !c.concernsMemory(r) {
			continue
		}
		file, _, _ := c.ledger.Location(r.SHA())
		if looked[file] {
			continue
		}
		looked[file] = true
		if path := ledger.ShardDir + "/" + file; !isMade(path, c.snap.Files[path]) {
			return &memory.Refusal{Reason: memory.ReasonChain,
				Detail: "another writer than the roles of this ledger adds to the branch: keep memory on a branch of its own"}
		}
	}
	return nil
}

// concernsMemory reports whether a record is one of Memory Git or follows on one.
func (c *changer) concernsMemory(r ledger.Record) bool {
	return isMemory(r.Type()) || slices.ContainsFunc(r.Parents(), func(sha ledger.Hash) bool {
		parent, here := c.ledger.Get(sha)
		return here && isMemory(parent.Type())
	})
}

// isMade reports whether a shard has the name and bytes that these roles give it.
func isMade(path string, content []byte) bool {
	records, err := ledger.ReadSegment(content)
	return err == nil && slices.ContainsFunc(madeMetadata, func(metadata string) bool {
		segment, err := ledger.BuildSegment(records, metadata, len(content))
		return err == nil && ledger.ShardPath(segment.ID) == path && bytes.Equal(segment.Content, content)
	})
}
