package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// maxCanonicalBytes bounds standard input of canonical: the largest shard that
// can be configured, far above any record.
const maxCanonicalBytes = 10240 << 10

var canonicalCommand = command{"canonical", "[--sha] < JSON", "print the canonical text of a JSON text, or its digest",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		sha := flags.Bool("sha", false, "print the digest instead of the text")
		return func(_ context.Context, s streams, args []string) error {
			if len(args) > 0 {
				return usagef("takes no arguments: give the JSON on standard input")
			}
			src, err := io.ReadAll(io.LimitReader(s.in, maxCanonicalBytes+1))
			if err != nil {
				return fmt.Errorf("failed to read standard input: %w", err)
			}
			if len(src) > maxCanonicalBytes {
				return fmt.Errorf("standard input is over %d bytes", maxCanonicalBytes)
			}
			text, err := canonical.Transform(src)
			if err != nil {
				return err
			}
			if *sha {
				text = []byte(canonical.Sum(text))
			}
			_, err = fmt.Fprintf(s.out, "%s\n", text)
			return err
		}
	}}

var verifyCommand = command{"verify", "[--json] DIR", "check every record; fails when anything is wrong",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		src := sourceFlags(flags)
		asJSON := flags.Bool("json", false, "print one JSON value, as ledger_status answers it")
		return func(ctx context.Context, s streams, args []string) error {
			l, err := src.open(ctx, args)
			if err != nil {
				return err
			}
			defer l.Close()
			status := l.Status()
			if *asJSON {
				err = printJSON(s.out, status)
			} else {
				printStatus(s.out, status)
			}
			if err == nil && len(status.Diagnostics) > 0 {
				err = errSilent
			}
			return err
		}
	}}

func printStatus(w io.Writer, status ledger.Status) {
	for _, d := range status.Diagnostics {
		fmt.Fprintln(w, d)
	}
	fmt.Fprintf(w, "%d records in %d shards: %d valid, %d invalid, %d incomplete; %d heads\n",
		status.Records, status.Shards, status.ValidRecords, status.InvalidRecords, status.IncompleteRecords, len(status.Heads))
}

var logCommand = command{"log", "[--json] DIR", "print the records in reconstruction order, one a line",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		src := sourceFlags(flags)
		asJSON := flags.Bool("json", false, "print one JSON array")
		return func(ctx context.Context, s streams, args []string) error {
			l, err := src.open(ctx, args)
			if err != nil {
				return err
			}
			defer l.Close()
			open, between, end := "", "\n", "\n"
			if *asJSON {
				open, between, end = "[", ",", "]\n"
			}
			w := bufio.NewWriter(s.out)
			w.WriteString(open)
			n := 0
			for r := range l.Records() {
				if n++; n > 1 {
					w.WriteString(between)
				}
				w.Write(r.Line())
			}
			if n > 0 || *asJSON {
				w.WriteString(end)
			}
			if n := len(l.Diagnostics()); n > 0 {
				fmt.Fprintf(s.err, "ledger log: %d diagnostics: ledger verify lists what was left out\n", n)
			}
			return w.Flush()
		}
	}}

var getCommand = command{"get", "[--json] ID|SHA DIR", "print the record with that id or digest",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		src := sourceFlags(flags)
		asJSON := flags.Bool("json", false, "print one JSON value: the record, null, or the conflict")
		return func(ctx context.Context, s streams, args []string) error {
			if len(args) == 0 {
				return usagef("which record? give its id or digest")
			}
			sha, isSHA := ledger.ParseHash(args[0])
			if !isSHA && !ledger.IsID(args[0]) {
				return usagef("%q is neither a record id nor a digest", args[0])
			}
			l, err := src.open(ctx, args[1:])
			if err != nil {
				return err
			}
			defer l.Close()
			var found []ledger.Record
			if r, ok := l.Get(sha); isSHA && ok {
				found = append(found, r)
			} else if !isSHA {
				found = l.GetID(args[0])
			}
			switch len(found) {
			case 1:
				_, err = fmt.Fprintf(s.out, "%s\n", found[0].Line())
				return err
			case 0:
				if *asJSON {
					fmt.Fprintln(s.out, "null")
					return errSilent
				}
				return fmt.Errorf("no record %s", args[0])
			}
			return printConflict(s, args[0], found, *asJSON)
		}
	}}

// printConflict names the records that have one id.
func printConflict(s streams, id string, found []ledger.Record, asJSON bool) error {
	shas := make([]ledger.Hash, len(found))
	for i, r := range found {
		shas[i] = r.SHA()
	}
	if asJSON {
		text, err := json.Marshal(map[string]any{"conflict": map[string]any{"id": id, "shas": shas}})
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s\n", text)
		return errSilent
	}
	return fmt.Errorf("%d records have the id %s: ask for one by digest: %v", len(found), id, shas)
}
