package persist

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/repo-memory/ledger/pkg/regular"
)

// Staged is a staging directory as it was read once, with the options that it
// is judged by. Its content never changes; Change may be called with one head
// after another, one call at a time.
type Staged struct {
	options Options
	entries []*entry // in order of path
	base    *lazyBase
}

// entry is one thing that stands in a staging directory.
type entry struct {
	path string
	// content is that of a regular file, never nil then. What is no such file
	// has none and a fault.
	content []byte
	// fault says why the entry is not taken, or "". One that is on the branch as
	// it is here is ignored all the same: a restored copy of what others wrote.
	fault string
	lines *shardLines // of a staged shard, read when first needed
}

// Prepare reads the staging directory dir, which a stranger filled (specification,
// sections 5.5 and 8). It reads regular files with one link, follows no links,
// and never waits for a pipe; everything else is kept as a fault of one entry.
// An error means that the directory as a whole cannot be read: it is missing
// (fs.ErrNotExist) or a link, a folder or file cannot be read, or a bound on the
// whole is passed (a *[LimitError]). Errors show no path outside of dir.
func Prepare(dir string, options Options) (*Staged, error) {
	options, err := options.check()
	if err != nil {
		return nil, err
	}
	s := &scan{own: options.Own, fold: newFolder()}
	if err := s.directory(dir); err != nil {
		return nil, fmt.Errorf("staging directory: %w", err)
	}
	return &Staged{options: options, entries: s.entries, base: &lazyBase{load: options.Base}}, nil
}

// Empty reports whether the staging holds nothing but what belongs to the runtime.
func (s *Staged) Empty() bool {
	return !slices.ContainsFunc(s.entries, func(e *entry) bool { _, own := s.options.Own[e.path]; return !own })
}

// scan is one pass over a staging directory.
type scan struct {
	own     map[string]string
	fold    *folder
	entries []*entry
	seen    int   // entries met
	bytes   int64 // read
}

func (s *scan) directory(dir string) error {
	before, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("it does not exist, give the one that holds what the agent staged: %w", fs.ErrNotExist)
	case err != nil:
		return fmt.Errorf("it cannot be opened: %w", regular.Cause(err))
	case !before.IsDir():
		return errors.New("it is a link or no directory")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("it cannot be opened: %w", regular.Cause(err))
	}
	defer root.Close()
	if err := sameFolder(root, before); err != nil {
		return err
	}
	return s.folder(root, "", "", 1)
}

// folder reads what is in root, which stands at prefix; fault is what is wrong
// with the name of a folder on the way.
func (s *scan) folder(root *os.Root, prefix, fault string, depth int) error {
	names, err := s.list(root, prefix)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := prefix + name
		bad, hopeless := s.fold.nameFault(name, prefix == "")
		if fault != "" {
			bad = fault
		}
		if hopeless {
			s.add(path, nil, bad)
			continue
		}
		info, err := root.Lstat(name)
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", printable(path), regular.Cause(err))
		}
		switch {
		case !info.IsDir():
			err = s.file(root, name, path, bad)
		case depth == maxDepth:
			s.add(path, nil, fmt.Sprintf("nested more than %d deep", maxDepth))
		case isShardPath(path):
			s.add(path, nil, "a folder where a shard should be")
		default:
			err = s.below(root, name, path, bad, depth, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// below reads the folder called name.
func (s *scan) below(root *os.Root, name, path, fault string, depth int, before os.FileInfo) error {
	sub, err := root.OpenRoot(name)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", printable(path), regular.Cause(err))
	}
	defer sub.Close()
	if err := sameFolder(sub, before); err != nil {
		return fmt.Errorf("%s: %w", printable(path), err)
	}
	return s.folder(sub, path+"/", fault, depth+1)
}

// file reads the file called name, or finds out why it is not read.
func (s *scan) file(root *os.Root, name, path, fault string) error {
	f, err := regular.OpenIn(root, name)
	if err == nil {
		defer f.Close()
		var content []byte
		if content, err = s.read(f); err == nil {
			s.add(path, content, fault)
			return nil
		}
	}
	var limit *LimitError
	switch {
	case errors.As(err, &limit):
		return err
	case errors.Is(err, regular.ErrKind):
		s.add(path, nil, "a link, pipe, socket or device, and no regular file")
	case errors.Is(err, regular.ErrLinked):
		s.add(path, nil, "has more than one link")
	case errors.Is(err, regular.ErrChanged):
		s.add(path, nil, "was replaced while it was read")
	case errors.Is(err, regular.ErrTooLarge):
		s.add(path, nil, fmt.Sprintf("larger than %d bytes", maxEntryBytes))
	default:
		return fmt.Errorf("%s cannot be read: %w", printable(path), err)
	}
	return nil
}

// read reads f within the bounds of one file and of all.
func (s *scan) read(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, regular.Cause(err)
	}
	// The size is looked at first, so that a file that pretends to be huge is
	// rejected and costs the other files nothing.
	if info.Size() > maxEntryBytes {
		return nil, regular.ErrTooLarge
	}
	if s.bytes+info.Size() > maxStagedBytes {
		return nil, &LimitError{"staging directory", "bytes of files", s.bytes + info.Size(), maxStagedBytes, "stage less in one run"}
	}
	content, err := regular.Read(f, maxEntryBytes)
	s.bytes += int64(len(content))
	if content == nil {
		content = []byte{}
	}
	return content, err
}

// list returns the names in a folder, sorted.
func (s *scan) list(root *os.Root, prefix string) ([]string, error) {
	f, err := root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("%s cannot be listed: %w", folderName(prefix), regular.Cause(err))
	}
	defer f.Close()
	var names []string
	for {
		some, err := f.Readdirnames(readBatch)
		names = append(names, some...)
		if s.seen += len(some); s.seen > maxEntries {
			return nil, &LimitError{"staging directory", "files and folders or more", int64(s.seen), maxEntries, "stage less in one run"}
		}
		if err == io.EOF {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s cannot be listed: %w", folderName(prefix), regular.Cause(err))
		}
	}
}

func (s *scan) add(path string, content []byte, fault string) {
	s.entries = append(s.entries, &entry{path: path, content: content, fault: fault})
}

// sameFolder makes sure that what was opened is what was looked at.
func sameFolder(root *os.Root, before os.FileInfo) error {
	info, err := root.Stat(".")
	if err != nil {
		return fmt.Errorf("it cannot be opened: %w", regular.Cause(err))
	}
	if !os.SameFile(before, info) {
		return errors.New("it was replaced while it was opened")
	}
	return nil
}

func folderName(prefix string) string {
	if prefix == "" {
		return "it"
	}
	return printable(prefix)
}
