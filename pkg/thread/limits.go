package thread

// Bounds of what is read. Over one of them is an error that names it.
const (
	// MaxArtifacts is how many artifacts of one thread are taken: the issue, its
	// comments, reviews and review comments. Some 160 pages; a thread with more is
	// never rendered from a part.
	MaxArtifacts = 16_384
	// MaxListingBytes bounds a listing file: a few pages of the largest comments
	// and thousands of usual ones.
	MaxListingBytes = 128 << 20
	// MaxBodyBytes bounds one body: GitHub takes 65,536 characters of at most four
	// bytes.
	MaxBodyBytes = 4 * 65_536
	// MaxID is the largest id: a larger integer is not exact in every JSON reader.
	MaxID = 1<<53 - 1
	// MaxRefs is how many ids a list of pinned or recorded comments holds.
	MaxRefs = 10_000

	// maxURLBytes bounds an address; GitHub's take some 200 bytes.
	maxURLBytes = 512
	// maxLoginBytes bounds a login: 39 characters on GitHub, more elsewhere, and
	// the suffix of a bot.
	maxLoginBytes = 100
	// maxNameChars is where a display name is cut, with a mark; it decides nothing.
	maxNameChars = 64
	// maxAssociationBytes bounds an association; the longest known has 22.
	maxAssociationBytes = 32
	// maxTimeBytes bounds the text of a time in a state that others wrote.
	maxTimeBytes = 40
	// maxSettingBytes bounds a marker, a prefix or an account of the configuration.
	maxSettingBytes = 200
	// maxSettings bounds a list of accounts or notice names.
	maxSettings = 100
)

// Bounds of step inputs.
const (
	// MaxValueChars (MAX_VALUE_CHARS) is how many code points of a value are kept.
	MaxValueChars = 2000
	// MaxInputs is how many inputs one step has.
	MaxInputs = 100
	// MaxInputsBytes bounds the text that step inputs are read from.
	MaxInputsBytes = 1 << 20

	// maxNameBytes bounds the name of an input, a step or an agent.
	maxNameBytes = 128
	// maxBindingChars bounds a binding and a detail, which are short expressions
	// and sentences.
	maxBindingChars = 500
	// maxInputsDepth bounds the nesting of a value.
	maxInputsDepth = 16
	// minSecretBytes is the shortest secret that is looked for inside a value; of
	// a shorter one only the whole value is compared, since it occurs by chance.
	minSecretBytes = 8
)

// Bounds of what is written.
const (
	// SchemaVersion is the generation of WorkflowState that is written.
	SchemaVersion = 5
	// MaxStateBytes bounds a state that is read.
	MaxStateBytes = 32 << 20
	// MaxCommentChars bounds the state comment, which is ASCII: GitHub refuses a
	// longer body.
	MaxCommentChars = 65_536
	// MaxStagedBytes bounds a trusted staging: every artifact in a record.
	MaxStagedBytes = 64 << 20
	// MaxStagedRecords bounds its records: every artifact new, every one deleted,
	// and the inputs of a step.
	MaxStagedRecords = 2*MaxArtifacts + MaxInputs + 1

	// minRecordBytes is the record bound from which on every artifact fits: its
	// payload, the envelope, and parents in a quarter of the record.
	minRecordBytes = 4 << 10
)

// Bounds of rendering.
const (
	// DefaultTail is the length of the tail that serves where there is no ledger.
	DefaultTail = 5
	// MaxUnverified is how many lines of the unverified appendix are shown.
	MaxUnverified = 20
	// MaxItemChars is how many code points of one trusted text are shown; GitHub
	// takes no longer comment.
	MaxItemChars = 65_536
	// MaxLineChars is how many code points of an unverified text are shown.
	MaxLineChars = 200
	// MaxTokens is the token budget when none is configured, so that no thread
	// makes a context that no model takes.
	MaxTokens = 1 << 20
	// MinTokens is the least budget: the headings and notices have to fit.
	MinTokens = 512
)
