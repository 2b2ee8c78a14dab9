package action

// Every bound of the package. Over a bound is an error, except in what is only
// shown: there the rest is replaced by a visible mark.
const (
	// maxInputBytes bounds one input. One environment string holds 128 KiB on
	// Linux and far less elsewhere; what is larger travels as a file.
	maxInputBytes = 16 << 10

	// maxListItems bounds the items of one List input.
	maxListItems = 1000

	// maxOutputBytes bounds one output: a consumer gets it as an environment
	// string (128 KiB with its name), and all outputs of a job share 1 MiB.
	maxOutputBytes = 64 << 10

	// maxSummaryBytes is what the runner takes as the summary of one step; it
	// drops a larger one whole.
	maxSummaryBytes = 1 << 20

	// maxEventBytes bounds the event's payload; GitHub sends at most 25 MB.
	maxEventBytes = 25 << 20

	// maxMessageBytes bounds one log line, annotation or error.
	maxMessageBytes = 4 << 10

	// minSecretBytes is the shortest secret that is replaced in what is shown;
	// shorter ones would make every text unreadable.
	minSecretBytes = 4

	// maxSpanBytes bounds one untrusted text inside a summary.
	maxSpanBytes = 200

	// MaxListed is how many entries a list shows after its count.
	MaxListed = 100

	// maxFences bounds the tries at a delimiter that the value does not hold;
	// with 128 random bits the second is never needed.
	maxFences = 8
)
