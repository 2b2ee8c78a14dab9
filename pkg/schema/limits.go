package schema

// MaxBytes bounds the text of a schema. One that says what a record of at most
// 1 MiB holds takes some KiB.
const MaxBytes = 64 << 10

const (
	// maxDepth is how deep schemas may nest; payloads nest at most 29 deep.
	maxDepth = 32
	// maxTextDepth is how deep the text of such schemas nests: two levels for each
	// (properties and the schema in it), and a list in the innermost.
	maxTextDepth = 2*maxDepth + 2
	// maxSchemas bounds how many schemas one holds, and so the work on one value.
	maxSchemas = 4096
	// maxPathBytes bounds a path in what an agent is told; maxNameBytes one name.
	maxPathBytes = 160
	maxNameBytes = 64
)
