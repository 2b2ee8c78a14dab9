package action_test

import (
	"strconv"
	"testing"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/ledger"
)

func TestTheDeclaredLimitsAreThoseThatTheLedgerParses(t *testing.T) {
	if len(action.InputsLimits) != len(ledger.LimitSpecs) {
		t.Fatalf("%d inputs, %d limits", len(action.InputsLimits), len(ledger.LimitSpecs))
	}
	for i, spec := range ledger.LimitSpecs {
		in := action.InputsLimits[i]
		if in.Name != spec.Name || in.Min != spec.Min || in.Max != spec.Max || in.Default != strconv.Itoa(spec.Default) || (in.Kind == action.KiB) != spec.KiB {
			t.Errorf("input %+v, limit %+v", in, spec)
		}
	}
}
