package script

import (
	"os"
	"testing"
)

// helpers are what the test binary does when it is started again as a process of
// its own; see the tests that start it.
var helpers = map[string]func() int{}

const helperVariable = "LEDGER_SCRIPT_TEST_HELPER"

func TestMain(m *testing.M) {
	if helper := helpers[os.Getenv(helperVariable)]; helper != nil {
		os.Exit(helper())
	}
	// A job that runs these tests may have its token in the environment.
	if err := ScrubEnv(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
