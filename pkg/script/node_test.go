package script

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestEachReleaseOfNodeGetsTheFlagsItKnows(t *testing.T) {
	const old, now, sqlite = "--experimental-permission", "--permission", "--no-experimental-sqlite"
	for _, c := range []struct {
		version version
		flags   []string // nil: refused
	}{
		{version{18, 20, 8}, nil},
		{version{19, 9, 0}, nil},
		{version{20, 0, 0}, []string{old}},
		{version{20, 20, 2}, []string{old}},
		{version{21, 7, 3}, nil},
		{version{22, 4, 1}, []string{old}},
		{version{22, 5, 0}, []string{old, sqlite}},
		{version{22, 12, 0}, []string{old, sqlite}},
		{version{22, 13, 0}, []string{now, sqlite}},
		{version{22, 23, 5}, []string{now, sqlite}},
		{version{23, 11, 1}, nil},
		{version{24, 0, 0}, []string{now, sqlite}},
		{version{25, 9, 0}, []string{now, sqlite}},
		{version{26, 0, 0}, nil},
		{version{0, 0, 0}, nil},
	} {
		t.Run(c.version.String(), func(t *testing.T) {
			flags, err := c.version.flags()
			if c.flags == nil {
				if !errors.Is(err, ErrNode) || flags != nil {
					t.Fatalf("got %v, %v; want a refusal", flags, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, flag := range []string{old, now, sqlite} {
				if slices.Contains(flags, flag) != slices.Contains(c.flags, flag) {
					t.Errorf("%s: got %v, want %v", flag, flags, c.flags)
				}
			}
			for _, prefix := range []string{"--no-addons", "--max-old-space-size=", "--input-type=commonjs"} {
				if !slices.ContainsFunc(flags, func(flag string) bool { return strings.HasPrefix(flag, prefix) }) {
					t.Errorf("%s is missing in %v", prefix, flags)
				}
			}
			if slices.ContainsFunc(flags, func(flag string) bool { return strings.HasPrefix(flag, "--allow") }) {
				t.Errorf("something is allowed in %v", flags)
			}
		})
	}
}
