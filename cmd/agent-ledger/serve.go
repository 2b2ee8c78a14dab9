package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/mcptools"
	"github.com/repo-memory/ledger/pkg/schema"
	"github.com/repo-memory/ledger/pkg/staging"
	"github.com/repo-memory/ledger/pkg/txlog"
)

// serve speaks MCP until the client is gone, or over HTTP until it is told to end.
func serve(ctx context.Context, a *action.Action) error {
	limits, err := ledger.ParseLimits(a.GetInput)
	if err != nil {
		return action.BadInput("max-record-kb", "%v", err)
	}
	dir := a.GetInput("directory")
	payloads, err := payloadSchema(a)
	if err != nil {
		return err
	}
	memory, err := servedMemory(a, dir)
	if err != nil {
		return err
	}
	w, err := ledger.NewWriter(dir, limits, ledger.WriterOptions{Restored: staging.Restored(dir), Allow: allow(memory)})
	if err != nil {
		return fmt.Errorf("the ledger cannot be served: %w", err)
	}
	defer w.Close()
	options := mcptools.Options{Version: action.Version(), Schema: payloads}
	if log, err := txlog.OpenWriter(staging.LogPath(dir)); err == nil {
		defer log.Close()
		options.Audit = audit{log}
	} else {
		// A log that cannot be written leaves a gap and never stops the ledger; each
		// append says so.
		a.Warningf("%v", err)
		options.Audit = noAudit{err}
	}
	// A client that closes its end is no reason to die in the middle of something.
	signal.Ignore(syscall.SIGPIPE)
	server := mcptools.New(w, options)
	defer server.Close()
	if memory != nil {
		if err := server.EnableMemory(*memory); err != nil {
			return fmt.Errorf("memory cannot be served: %w", err)
		}
	}
	if a.GetInput("transport") == "http" {
		return serveHTTP(ctx, a, server, dir)
	}
	return server.Serve(ctx, os.Stdin, os.Stdout)
}

// payloadSchema reads the schema of the payloads; nil is none.
func payloadSchema(a *action.Action) (*schema.Schema, error) {
	path := a.GetInput("payload-schema")
	if path == "" {
		return nil, nil
	}
	compiled, err := schema.ReadFile(path)
	if err != nil {
		return nil, action.BadInput("payload-schema", "%v", err)
	}
	return compiled, nil
}

// audit writes events to the transaction log.
type audit struct{ log *txlog.Writer }

func (a audit) Append(r ledger.Record) error { return a.log.Append(txlog.EventOf(r, time.Now())) }

// noAudit stands for a log that cannot be written.
type noAudit struct{ err error }

func (a noAudit) Append(ledger.Record) error { return a.err }
