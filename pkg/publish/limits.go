package publish

import "time"

const (
	// MaxAttempts bounds the rounds of one Update, so that eight writers on one
	// branch all come through and a hopeless one ends in a minute.
	MaxAttempts = 16
	// maxThrottled bounds the rounds that a server may put off with "later".
	maxThrottled = 5
	// maxRetryAfter bounds each such pause, whatever the server asks for.
	maxRetryAfter = 60 * time.Second
	// firstPause and longestPause bound the random pause between rounds, which
	// doubles: one push takes some tens of milliseconds.
	firstPause   = 50 * time.Millisecond
	longestPause = 3 * time.Second

	// MaxAPIBytes bounds the contents of one commit through GitHub's API: in base64
	// 40 million bytes, which users report to work where 50 million do not. More
	// goes by git push.
	MaxAPIBytes = 30_000_000
	// maxFirstFiles bounds the files of a new branch that are sent through the API,
	// one request each: GitHub takes some 80 such requests a minute. More goes by
	// git push.
	maxFirstFiles = 50

	// maxSubjectBytes keeps a commit's first line readable in a list.
	maxSubjectBytes = 200
	// maxMessageBytes bounds the whole message; lists of ids have other places.
	maxMessageBytes = 16 << 10
	// maxReportBytes bounds a server's answer to a push, its hooks' talk included.
	maxReportBytes = 4 << 20
	// maxTalkBytes bounds what is kept of that talk.
	maxTalkBytes = 8 << 10
)
