package listing

const (
	// DefaultRequests bounds the requests of one run: a thread of 10,000 comments
	// takes some 200. MaxRequests is the most that can be configured: what a token
	// of a run has in an hour.
	DefaultRequests = 500
	MaxRequests     = 5000

	// maxPasses bounds how often a thread is read that changes meanwhile.
	maxPasses = 3
	// pageItems is GitHub's largest page.
	pageItems = 100
	// maxPageBytes bounds one page: 100 texts of 65,536 characters, escaped.
	maxPageBytes = 64 << 20
	// maxURLBytes bounds the address of a next page.
	maxURLBytes = 2048
)
