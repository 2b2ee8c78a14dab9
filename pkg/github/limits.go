package github

import "time"

const (
	// MaxWait bounds one wait for a rate limit. A secondary limit is over in a few
	// minutes; a primary one can take an hour, which a runner should not sit out.
	MaxWait = 5 * time.Minute
	// MaxWaits bounds the waits of one request.
	MaxWaits = 5
	// MaxWaiting bounds all waits of one client together.
	MaxWaiting = 10 * time.Minute
	// MaxReads bounds how often a GET without a clear answer is sent.
	MaxReads = 4

	// defaultWait is what GitHub asks for where it names no time.
	defaultWait = time.Minute
	// waitSpread is the random part that is added to a wait, so that jobs that
	// were put off together do not come back together.
	waitSpread = 500 * time.Millisecond
	// firstReadPause bounds the random pause before a GET is sent again; doubles.
	firstReadPause = 500 * time.Millisecond

	// DefaultAnswerBytes bounds an answer where a Call names no bound: a page of
	// 100 comments of 64 KiB each is a little more than six million.
	DefaultAnswerBytes = 8 << 20
	// maxAnswerBytes is the most that a Call can ask for.
	maxAnswerBytes = 64 << 20

	// maxURLBytes bounds an address; longer ones are mistakes.
	maxURLBytes = 2048
	// maxTokenBytes bounds a token; servers refuse longer headers anyway.
	maxTokenBytes = 8192
	// maxSaysBytes bounds what is shown of a server's message.
	maxSaysBytes = 400
	// maxEventBytes bounds the event's payload; GitHub sends at most 25 MB.
	maxEventBytes = 25 << 20

	// callTime bounds one request with its answer.
	callTime = 3 * time.Minute
	// connectTime bounds reaching a server at all.
	connectTime = 15 * time.Second
)
