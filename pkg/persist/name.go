package persist

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// folder spells names so that those compare equal which some file system takes
// for one. It is not safe for concurrent use.
type folder struct{ caser cases.Caser }

func newFolder() *folder { return &folder{cases.Fold()} }

// twin is equal for names that differ in case or in how characters are composed.
func (f *folder) twin(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	return norm.NFC.String(f.caser.String(norm.NFD.String(name)))
}

// skeleton is equal for names that differ in case, composition, compatibility
// forms (full width, superscript), characters that do not show, and dots and
// spaces at the end.
func (f *folder) skeleton(name string) string {
	shown := strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, name)
	return strings.TrimRight(norm.NFKC.String(f.caser.String(norm.NFKC.String(shown))), ". ")
}

// nameFault says why one element of a path is not taken, or "". A hopeless one
// cannot stand on a branch either, so what is below it is not looked at.
func (f *folder) nameFault(name string, atRoot bool) (fault string, hopeless bool) {
	switch {
	case !utf8.ValidString(name):
		return "its name is not UTF-8", true
	case len(name) > maxNameBytes:
		return fmt.Sprintf("its name is longer than %d bytes", maxNameBytes), true
	case strings.ContainsFunc(name, unicode.IsControl):
		return "its name has a control character", true
	case strings.Contains(name, `\`):
		return "its name has a backslash", true
	}
	skeleton := f.skeleton(name)
	stem, _, _ := strings.Cut(skeleton, ":")
	switch {
	case strings.TrimRight(stem, ". ") == ".git", stem == "git~1":
		return "its name stands for git's own folder", true
	case name[0] == '.', strings.HasPrefix(skeleton, "."):
		return "its name starts with a dot", false
	case strings.HasSuffix(name, "."), strings.HasSuffix(name, " "):
		return "its name ends with a dot or a space", false
	case atRoot && skeleton == ledger.Dir && name != ledger.Dir:
		return "its name stands for the ledger's own folder", false
	case !norm.NFC.IsNormalString(name):
		return "its name is not in Unicode normalization form C", false
	case strings.ContainsFunc(name, isInvisible):
		return "its name has a character that does not show", false
	case strings.ContainsAny(name, `<>:"|?*`):
		return "its name has a character that not every file system takes", false
	case isDevice(skeleton):
		return "its name stands for a device on Windows", false
	case shortName.MatchString(skeleton):
		return "its name has the form of a short name on Windows", false
	case instructions[skeleton], strings.HasSuffix(skeleton, ".instructions.md"), strings.HasSuffix(skeleton, ".prompt.md"),
		strings.HasSuffix(skeleton, ".chatmode.md"), strings.HasSuffix(skeleton, ".agent.md"):
		return "agents take a file of this name for instructions", false
	}
	return "", false
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isInvisible reports whether r has no shape of its own: it formats, joins or
// directs text, or separates lines.
func isInvisible(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.IsSpace(r) && r != ' '
}

// shortName is how Windows spells a long name in eight characters, such as
// GITATT~1 or LEDGER~2.
var shortName = regexp.MustCompile(`^[^.~]{1,6}~[0-9]{1,6}(\.[^.]{0,3})?$`)

// deviceName matches the part of a folded name before its first dot. Compatibility
// forms are folded already, so that COM with a superscript digit is one as well.
var deviceName = regexp.MustCompile(`^(con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9]|lpt[0-9])$`)

func isDevice(skeleton string) bool {
	stem, _, _ := strings.Cut(skeleton, ".")
	stem, _, _ = strings.Cut(stem, ":")
	return deviceName.MatchString(strings.TrimRight(stem, " "))
}

// instructions are the folded names of files that coding agents read as
// instructions, or as what to start, wherever they lie. Those with a leading dot
// are refused for it.
var instructions = map[string]bool{
	"agent.md": true, "agents.md": true, "agents.local.md": true, "agents.override.md": true,
	"claude.md": true, "claude.local.md": true, "codex.md": true, "copilot.md": true, "copilot-instructions.md": true,
	"crush.md": true, "cursor.md": true, "gemini.md": true, "grok.md": true, "jules.md": true, "junie.md": true,
	"kiro.md": true, "opencode.md": true, "qwen.md": true, "skill.md": true, "skills.md": true, "warp.md": true,
	"windsurf.md": true, "llms.txt": true, "llms-full.txt": true,
	"mcp.json": true, "opencode.json": true, "crush.json": true,
}

// isShardPath reports whether path is that of a shard.
func isShardPath(path string) bool {
	file, ok := strings.CutPrefix(path, ledger.ShardDir+"/")
	id, isShard := strings.CutSuffix(file, ledger.ShardExt)
	return ok && isShard && ledger.IsUUID(id)
}

// pendingExt ends the name of a shard that a writer did not get to publish;
// nothing in it was ever acknowledged.
const pendingExt = ".pending"

func isPendingPath(path string) bool {
	file, ok := strings.CutPrefix(path, ledger.ShardDir+"/")
	id, pending := strings.CutSuffix(file, pendingExt)
	return ok && pending && ledger.IsUUID(id)
}

// ledgerFault says why a file below the ledger's folder that is no shard is not
// taken.
func ledgerFault(path string) string {
	switch {
	case path == ledger.Dir:
		return "stands where the ledger's own folder is"
	case strings.HasPrefix(path, ledger.CoverageDir+"/"):
		return "coverage declarations are made by maintenance only"
	case strings.HasPrefix(path, strings.TrimSuffix(ledger.CompactionFile, "/state.json")+"/"):
		return "the state of compaction is written by maintenance only"
	}
	return "is no shard: nothing else is taken from the ledger's folder"
}
