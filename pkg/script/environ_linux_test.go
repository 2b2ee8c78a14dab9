package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func init() { helpers["scrub"] = scrubHelper }

// scrubHelper says step by step what stands in its environment.
func scrubHelper() int {
	const marker = "marker-4711"
	say := func(what string, ok bool) {
		if !ok {
			fmt.Println("FAIL:", what)
		}
	}
	block := func() string {
		text, err := os.ReadFile("/proc/self/environ")
		if err != nil {
			return marker // looks like a failure
		}
		return string(text)
	}
	validate := func() error {
		_, err := Validate(context.Background(), Options{Node: "/missing/node"}, []byte("1"), ValidationInput{})
		return err
	}
	say("a token in the environment must stop a script", errors.Is(validate(), ErrSecret))
	for _, name := range append(SecretNames(), "OTHER") {
		os.Unsetenv(name)
	}
	err := validate()
	say("a token in the first block must stop a script", errors.Is(err, ErrSecret))
	say("the error must name the variable and not its value", strings.Contains(err.Error(), "INPUT_TOKEN") && !strings.Contains(err.Error(), marker))
	say("the block must still have the token", strings.Contains(block(), marker))
	say("scrubbing must work", ScrubEnv("OTHER") == nil)
	say("the block must have no token", !strings.Contains(block(), marker))
	say("other variables must stay", os.Getenv("KEPT") == "kept" && strings.Contains(block(), "KEPT=kept\x00"))
	say("a name that begins like a token must stay", strings.Contains(block(), "INPUT_TOKEN_KIND=kept\x00"))
	say("a scrubbed process must get as far as looking for node", errors.Is(validate(), ErrNode))
	say("scrubbing twice must work", ScrubEnv("OTHER") == nil)
	fmt.Println("done")
	return 0
}

func TestScrubbingWipesTokensFromTheBlockThatProcShows(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{helperVariable + "=scrub", "KEPT=kept", "INPUT_TOKEN_KIND=kept", "OTHER=marker-4711"}
	for _, name := range SecretNames() {
		cmd.Env = append(cmd.Env, name+"=marker-4711")
	}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestASetTokenStopsEveryScriptBeforeItStarts(t *testing.T) {
	for _, name := range SecretNames() {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "marker-4711")
			_, err := Select(context.Background(), Options{Node: "/missing/node"}, []byte("1"), nil, SelectionOptions{})
			if !errors.Is(err, ErrSecret) || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "4711") {
				t.Fatalf("got %v, want %v that names %s", err, ErrSecret, name)
			}
		})
	}
	t.Run("an empty token is none", func(t *testing.T) {
		t.Setenv("GITHUB_TOKEN", "")
		_, err := Select(context.Background(), Options{Node: "/missing/node"}, []byte("1"), nil, SelectionOptions{})
		if !errors.Is(err, ErrNode) {
			t.Fatalf("got %v, want %v", err, ErrNode)
		}
	})
}

func TestTheNamesOfSecretsCannotBeChangedByACaller(t *testing.T) {
	SecretNames()[0] = "X"
	if slices.Contains(SecretNames(), "X") {
		t.Fatal("a caller changed the list")
	}
}
