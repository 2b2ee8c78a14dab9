package githubtest

const (
	// maxBodyBytes bounds a request; createCommitOnBranch fails at GitHub some way
	// above 40 MB of contents.
	maxBodyBytes = 64 << 20

	// maxKeptBytes bounds the body that is recorded of an API request.
	maxKeptBytes = 1 << 20

	// maxPage and defaultPage are GitHub's.
	maxPage, defaultPage = 100, 30

	// maxInputs is how many inputs a workflow dispatch takes.
	maxInputs = 25

	// maxComment is how many characters a comment has at most.
	maxComment = 65536
)
