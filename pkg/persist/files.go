package persist

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// addFiles judges the ordinary files and adds what is taken.
func (c *changer) addFiles() error {
	var taken []*entry
	matched, eligible := 0, 0
	for _, e := range c.files {
		item := Item{Kind: KindFile, Path: e.path}
		if reason := c.fileFault(e); reason != "" {
			c.report.reject(item, reason)
			continue
		}
		eligible++
		if !c.matches(e.path) {
			c.report.reject(item, "matches no file-glob")
			continue
		}
		matched++
		ignored, rejected, err := c.compare(e)
		switch {
		case err != nil:
			return err
		case ignored != "":
			c.report.ignore(item, ignored)
		case rejected != "":
			c.report.reject(item, rejected)
		default:
			taken = append(taken, e)
		}
	}
	if eligible > 0 && matched == 0 {
		c.report.warnf("file-glob matches none of the %s that differ from the branch: patterns are matched with paths from the root of the branch", plural(eligible, "file"))
	}
	memory := c.memoryEntries()
	for _, e := range c.withoutTwins(taken) {
		old, replaced := c.snap.Files[e.path]
		if !memory.take(e.path) {
			c.report.reject(Item{Kind: KindFile, Path: e.path}, fmt.Sprintf("the branch would have more than %d memory files and folders: remove what is not needed from it", maxMemoryEntries))
			continue
		}
		c.add[e.path] = e.content
		c.report.Files++
		c.report.FileBytes += grown(old, e.content)
		if replaced {
			c.report.Replaced++
			c.report.accept(Item{Kind: KindFile, Path: e.path}, "replaced")
		} else {
			c.report.accept(Item{Kind: KindFile, Path: e.path}, "added")
		}
	}
	return c.boundFiles()
}

// entries are the memory files of a branch, with the folders that hold them.
type entries map[string]bool

// memoryEntries counts what stands on the branch.
func (c *changer) memoryEntries() entries {
	all := entries{}
	for file := range c.snap.Files {
		if !strings.HasPrefix(file, ledger.Dir+"/") {
			all.add(file)
		}
	}
	return all
}

// add counts a file and the folders above it.
func (e entries) add(file string) {
	for ; file != "." && !e[file]; file = path.Dir(file) {
		e[file] = true
	}
}

// take adds a file if the bound allows it and its folders.
func (e entries) take(file string) bool {
	more := 0
	for at := file; at != "." && !e[at]; at = path.Dir(at) {
		more++
	}
	if more > 0 && len(e)+more > maxMemoryEntries {
		return false
	}
	e.add(file)
	return true
}

// fileFault says why a file is not taken, whatever is on the branch.
func (c *changer) fileFault(e *entry) string {
	limits := c.options.Files
	name := strings.ToLower(e.path)
	allowed := false
	for _, ext := range limits.Extensions {
		allowed = allowed || strings.HasSuffix(name, ext)
	}
	switch {
	case len(e.path) > maxPathBytes:
		return fmt.Sprintf("its path has %d bytes, at most %d can be restored everywhere", len(e.path), maxPathBytes)
	case !allowed:
		return "its extension is none of allowed-extensions"
	case len(e.content) > limits.MaxFileBytes:
		return fmt.Sprintf("file is %d bytes, max-file-kb allows %d", len(e.content), limits.MaxFileBytes)
	case !utf8.Valid(e.content):
		return fmt.Sprintf("no text: invalid UTF-8 at byte %d", invalidAt(e.content))
	case bytes.IndexByte(e.content, 0) >= 0:
		return fmt.Sprintf("no text: NUL at byte %d", bytes.IndexByte(e.content, 0))
	}
	return ""
}

func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// matches reports whether file-glob takes a path.
func (c *changer) matches(path string) bool {
	for _, glob := range c.options.Files.Globs {
		if doublestar.MatchUnvalidated(glob, path) {
			return true
		}
	}
	return len(c.options.Files.Globs) == 0
}

// compare tells an edit from an old copy. The file differs from the branch; it
// is taken when the branch has not changed it since the staging was restored.
func (c *changer) compare(e *entry) (ignored, rejected string, err error) {
	standing, there := c.snap.Files[e.path]
	restored, had, err := c.base.file(e.path)
	switch {
	case errors.Is(err, ErrBaseUnknown) && there:
		return "", "differs from the branch, and without the commit that was restored an edit cannot be told from an old copy", nil
	case errors.Is(err, ErrBaseUnknown):
		return "", "", nil
	case err != nil:
		return "", "", fmt.Errorf("the state that was restored cannot be read: %w", err)
	case had && bytes.Equal(restored, e.content):
		return "as it was restored; the branch has moved on", "", nil
	case had != there, !bytes.Equal(restored, standing):
		return "", "conflict: it changed on the branch since base-commit; restore the branch and make the edit again", nil
	}
	return "", "", nil
}

// boundFiles applies the bounds on all files together.
func (c *changer) boundFiles() error {
	r, limits := &c.report, c.options.Files
	if r.Files > limits.MaxFiles {
		return &LimitError{"max-file-count", "files added or replaced", int64(r.Files), int64(limits.MaxFiles),
			"raise max-file-count, or let one run write fewer files"}
	}
	if r.FileBytes > limits.MaxPatchBytes {
		return &LimitError{"max-memory-patch-kb", "bytes added to files", int64(r.FileBytes), int64(limits.MaxPatchBytes),
			"raise max-memory-patch-kb, or let one run write less"}
	}
	return nil
}

// grown counts the bytes of the lines of text that old does not have. Lines
// that stay cost nothing, however large the file around them is.
func grown(old, text []byte) int {
	if len(old) == 0 {
		return len(text)
	}
	had := map[string]int{}
	for line := range bytes.Lines(old) {
		had[string(line)]++
	}
	n := 0
	for line := range bytes.Lines(text) {
		if had[string(line)] > 0 {
			had[string(line)]--
			continue
		}
		n += len(line)
	}
	return n
}
