package canonical

// MaxDepth is the deepest a value may stand in canonical text; the outermost
// value has depth 0. It is the bound of the reference runtime.
const MaxDepth = 32

// maxSyntaxDepth bounds recursion while reading text that may be deeper than
// MaxDepth, so that hostile nesting ends in an error and not in a full stack.
const maxSyntaxDepth = 10_000

// maxPathBytes bounds the path in an error, whose names a stranger chose: an
// error stays one readable line of a log. A longer path keeps its end, where
// the fault is.
const maxPathBytes = 160

// maxNameBytes bounds one name in such a path, so that at least two fit.
const maxNameBytes = 64

// exactDigits is how many significant decimal digits survive a double whatever
// they are: such a decimal is the shortest one for its double.
const exactDigits = 15

// maxDigits is how many significant digits the shortest decimal for a double
// has at most; a longer one is never canonical.
const maxDigits = 17

// maxIntegerDigits is how many digits an integer is written with at most; from
// 1e21 on a number has an exponent.
const maxIntegerDigits = 21

// maxNumberBytes is the length of the longest canonical number, such as
// -0.0000012345678901234567; a longer one is refused before it is converted.
const maxNumberBytes = 25
