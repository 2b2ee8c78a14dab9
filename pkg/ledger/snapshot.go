package ledger

// Snapshot is what one branch holds at one commit, read once and never changed
// afterwards: the functions that turn a Snapshot into a Change may be called
// again with a newer one.
type Snapshot struct {
	// Head is the commit's object id in lower-case hex, or "" when the branch
	// does not exist yet.
	Head string
	// Files holds every regular file by its slash-separated path from the root.
	Files map[string][]byte
	// Irregular names the entries that are not regular files (symbolic links,
	// submodules), by path; they are never followed, and the value says what
	// each is.
	Irregular map[string]string
}

// Change is one commit to be made on top of a Snapshot: files to write whole
// and files to remove, both by slash-separated path from the root.
type Change struct {
	Add     map[string][]byte
	Delete  []string
	Message string
}

// Empty reports whether the change does nothing. An empty change means that the
// work already stands on the branch; it is how a retried run, or one whose reply
// was lost, finds out that it has nothing left to do.
func (c Change) Empty() bool { return len(c.Add) == 0 && len(c.Delete) == 0 }
