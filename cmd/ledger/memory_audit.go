package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
)

// bindingFlags declare where the authorizations of a ledger are good.
func bindingFlags(flags *flag.FlagSet) (server, repository *string) {
	return flags.String("server", "github.com", "`HOST` that authorizations are bound to"),
		flags.String("repository-id", "", "numeric `ID` of the repository that authorizations are bound to")
}

// audited is what verify and reconcile answer.
type audited struct {
	Seq         int                 `json:"seq"`
	Records     int                 `json:"records"`
	Ledger      []string            `json:"ledger_diagnostics"`
	Diagnostics []memory.Diagnostic `json:"diagnostics"`
	Findings    []memory.Finding    `json:"findings"`
	Keys        bool                `json:"keys_checked"`
}

func auditing(name, summary string, all bool) command {
	return command{"memory " + name, "[--json] [--repository-id ID] DIR", summary, func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		src := memoryFlags(flags)
		asJSON := flags.Bool("json", false, "print one JSON value")
		server, repository := bindingFlags(flags)
		return func(ctx context.Context, s streams, args []string) error {
			keys, err := environmentKeys(memoryrun.KeysVariable)
			if err != nil {
				return usageError{err}
			}
			if keys != nil && *repository == "" {
				return usagef("with keys, --repository-id says where the authorizations are good")
			}
			l, err := src.source.open(ctx, args)
			if err != nil {
				return err
			}
			defer l.Close()
			state := memory.Fold(l)
			a := audited{Records: l.Len(), Keys: keys != nil, Ledger: []string{}, Diagnostics: []memory.Diagnostic{}}
			a.Seq, _ = state.Seq()
			a.Findings = state.Reconcile(keys, memory.Binding{Server: *server, Repository: *repository, Ledger: *src.name, Branch: src.branchName()})
			if all {
				a.Diagnostics = state.Diagnostics()
				for _, d := range l.Diagnostics() {
					a.Ledger = append(a.Ledger, d.String())
				}
			}
			wrong := len(a.Findings) + len(a.Ledger)
			for _, d := range a.Diagnostics {
				if d.Kind == memory.Contradicted || d.Kind == memory.NoLink {
					wrong++
				}
			}
			if *asJSON {
				err = printJSON(s.out, a)
			} else {
				printAudit(s, a)
			}
			if err == nil && wrong > 0 {
				err = errSilent
			}
			return err
		}
	}}
}

func printAudit(s streams, a audited) {
	for _, d := range a.Ledger {
		fmt.Fprintln(s.out, d)
	}
	for _, d := range a.Diagnostics {
		switch {
		case d.Count > 0:
			fmt.Fprintf(s.out, "%s: %d more\n", d.Kind, d.Count)
		case d.Reason == "":
			fmt.Fprintf(s.out, "%s: %s\n", d.Kind, d.SHA)
		default:
			fmt.Fprintf(s.out, "%s: %s: %s: %s\n", d.Kind, d.SHA, d.Reason, d.Detail)
		}
	}
	for _, f := range a.Findings {
		if f.Seq > 0 {
			fmt.Fprintf(s.out, "admission %d, record %s: ", f.Seq, f.Record)
		}
		fmt.Fprintln(s.out, f.Detail)
	}
	signed := "signatures were not checked: there are no keys"
	if a.Keys {
		signed = "every signature was checked"
	}
	fmt.Fprintf(s.out, "%d admissions: %d findings, %d records without effect; %s\n", a.Seq, len(a.Findings), len(a.Diagnostics), signed)
}

var (
	memoryVerifyCommand = auditing("verify", "check every digest, the admission chain and, with keys, every signature", true)

	memoryReconcileCommand = auditing("reconcile", "check that merge records alone lead to every protected head; writes nothing", false)
)
