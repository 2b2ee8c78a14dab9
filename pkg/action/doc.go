// Package action is the shell around every role binary: it reads inputs, writes
// outputs, annotations and the job summary, and is the only way in which text
// that a stranger chose reaches a log, an annotation or a summary. It knows the
// GitHub Actions runner's files and commands and nothing of ledgers, git or the
// network, and depends on the standard library and package glyph only.
//
// # A binary
//
// A role is declared once, as a [Role]; --help, the tests that compare it with
// action.yml and README, and the parsing of inputs all read that declaration:
//
//	func main() { action.Main(role, run) }
//
// Exit codes: 0 done, also when there was nothing to do; 1 failed; 2 bad input
// (an [*InputError], or an argument that the binary does not have).
//
// # Inputs
//
// Input max-record-kb is the environment variable INPUT_MAX_RECORD_KB: upper
// case, hyphens as underscores, because some shells drop variables with a
// hyphen. All inputs are checked before the role starts. A variable that is not
// set means the default. One that is set to the empty text means what the
// declaration says in [Input.Empty]; where it says nothing and there is a
// default, that is an error, and so is an empty required input. No value is
// trimmed: white space at either end, CR, LF, NUL, other control characters and
// invalid UTF-8 are errors, except that a [List] has one item a line or between
// commas and is trimmed per item, and that [Lines] keep white space and line ends. Booleans are true or false and nothing else.
// Sizes are whole KiB, made bytes once.
//
// # Outputs
//
// With GITHUB_OUTPUT each output is appended to that file: name=value and a line
// feed for one line of text; for an output declared as [Output.Lines]
//
//	name<<ledger_<32 random hex digits>
//	value
//	ledger_<the same digits>
//
// where the delimiter is made for that write and does not occur in the value.
// Nothing that a value holds can end it, so no value can set another output.
// Outside Actions "name=value" goes to standard output; in a run of Actions
// without GITHUB_OUTPUT every output is an error.
//
// # Untrusted text
//
// [Quote] (logs, errors), [Code] (Markdown) and [Block] (several lines) spell any
// bytes visibly: characters that do not print, that change the direction of
// text, or that have no width become \u{202e}, bytes that are not UTF-8 \x{ff},
// a backslash \\; what is over the bound is replaced by a mark that says how
// much. What they return can neither end its fence, nor be a workflow command
// (a line that starts with :: or holds ##[), nor be HTML, a mention or a link.
// Log lines, annotations and errors pass the same escaping once more as a whole,
// and the value of every [Secret] input is replaced by ***, so that a forgotten
// call is not a hole.
package action
