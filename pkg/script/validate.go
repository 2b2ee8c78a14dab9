package script

import (
	"bytes"
	"context"
	"fmt"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// File is one file as it would be committed. Text must be UTF-8.
type File struct {
	Path string // slash-separated, from the root of the branch
	Text string
}

// ValidationInput is what the validation script judges. Records are canonical
// record lines, with or without their newline.
type ValidationInput struct {
	Files   []File
	Records [][]byte
}

// ValidationReport says how the run went; it is filled as far as the run came,
// also beside an error.
type ValidationReport struct {
	Report
	// Reason is what the script gave for a rejection: untrusted text of at most
	// [MaxReasonBytes], to be shown only through the printer for such text.
	Reason string
}

// Report is what both kinds of runs tell.
type Report struct {
	// PrintedBytes counts what the script wrote to its standard output and error.
	PrintedBytes int64
	// Node is the version of node, such as "v20.20.2".
	Node string
	// Notices are fixed sentences about layers of the sandbox that this machine
	// does not offer.
	Notices []string
}

// Validate runs the validation script on what is about to be committed
// (specification, section 4.1). Only a nil error lets the commit go on: a
// rejection is [ErrRejected], and whatever keeps the script from giving its
// verdict is an error too.
func Validate(ctx context.Context, o Options, source []byte, input ValidationInput) (ValidationReport, error) {
	var report ValidationReport
	args, err := input.encode()
	if err != nil {
		return report, named("validation", err)
	}
	result, err := call(ctx, o, source, []string{"input"}, args, &report.Report)
	if err != nil {
		return report, named("validation", err)
	}
	ok, reason, err := decodeVerdict(result)
	if err != nil {
		return report, named("validation", err)
	}
	if !ok {
		report.Reason = reason
		return report, ErrRejected
	}
	return report, nil
}

func (in ValidationInput) encode() ([]byte, error) {
	var b builder
	b.raw(`[{"files":[`)
	for i, f := range in.Files {
		b.field(separator(i)+"{", "path")
		b.string(f.Path)
		b.field(",", "text")
		b.string(f.Text)
		b.raw("}")
	}
	b.raw(`],"records":[`)
	for i, line := range in.Records {
		line = bytes.TrimSuffix(line, []byte("\n"))
		if !canonical.Valid(line) {
			return nil, fmt.Errorf("%w: record %d is not canonical text", ErrInput, i+1)
		}
		b.raw(separator(i))
		b.value(line)
	}
	b.raw("]}]")
	return b.text, b.err
}

// named says which of the two scripts an error is about.
func named(which string, err error) error { return fmt.Errorf("%s script: %w", which, err) }
