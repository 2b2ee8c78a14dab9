package action

import (
	"runtime/debug"
	"strings"
)

// version is set when a release is built:
// -ldflags "-X github.com/repo-memory/ledger/pkg/action.version=v1.2.3".
var version string

// Version returns the version of the binary: the release that it was built as,
// else what the Go toolchain recorded (a module version, or the commit, with
// +dirty for a changed tree), else "unknown".
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	var commit, dirty string
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = strings.ToLower(s.Value)
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if commit == "" {
		return "unknown"
	}
	return commit + dirty
}
