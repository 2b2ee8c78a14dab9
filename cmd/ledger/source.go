package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// source is where a ledger is read from: a folder or a branch.
type source struct {
	remote, name, branch *string
	limits               map[string]*string
}

// sourceFlags declares the flags that name a ledger and its limits.
func sourceFlags(flags *flag.FlagSet) *source {
	s := &source{
		remote: flags.String("remote", "", "git remote that holds the ledger: a path, file:// or https:// `URL`"),
		name:   flags.String("ledger", "memory", "`NAME` of the ledger on the remote"),
		branch: flags.String("branch", "", "`BRANCH` of the ledger (default ledgers/NAME)"),
	}
	s.limits = limitFlags(flags)
	return s
}

// limitFlags declares the limits, named like the inputs of the actions.
func limitFlags(flags *flag.FlagSet) map[string]*string {
	values := map[string]*string{}
	for _, spec := range ledger.LimitSpecs {
		values[spec.Name] = flags.String(spec.Name, strconv.Itoa(spec.Default), fmt.Sprintf("%d to %d", spec.Min, spec.Max))
	}
	return values
}

func parseLimits(values map[string]*string) (ledger.Limits, error) {
	limits, err := ledger.ParseLimits(func(name string) string { return *values[name] })
	if err != nil {
		return limits, usageError{err}
	}
	return limits, nil
}

// branchName returns the branch that the flags name.
func (s *source) branchName() string {
	if *s.branch != "" {
		return *s.branch
	}
	return "ledgers/" + *s.name
}

// remoteOf returns the remote that the flags name.
func (s *source) remoteOf() (branch.Remote, string, error) {
	if err := branch.CheckName(s.branchName()); err != nil {
		return branch.Remote{}, "", usageError{err}
	}
	// The token comes from the environment alone: arguments can be seen by all.
	remote, err := branch.ParseRemote(*s.remote, os.Getenv("GITHUB_TOKEN"), os.Getenv("GITHUB_SERVER_URL"))
	if err != nil {
		return branch.Remote{}, "", usageError{err}
	}
	return remote, s.branchName(), nil
}

// snapshot reads the branch; it must exist.
func (s *source) snapshot(ctx context.Context) (ledger.Snapshot, error) {
	remote, name, err := s.remoteOf()
	if err != nil {
		return ledger.Snapshot{}, err
	}
	snap, err := branch.Read(ctx, remote, name, branch.Limits{})
	if err == nil && snap.Head == "" {
		err = fmt.Errorf("the remote has no branch %s: give --ledger or --branch", name)
	}
	return snap, err
}

// open reads the ledger that the flags and the last argument name.
func (s *source) open(ctx context.Context, args []string) (*ledger.Ledger, error) {
	limits, err := parseLimits(s.limits)
	if err != nil {
		return nil, err
	}
	if err := s.check(args); err != nil {
		return nil, err
	}
	if *s.remote == "" {
		return ledger.Open(args[0], limits)
	}
	snap, err := s.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return ledger.OpenSnapshot(snap, limits), nil
}

// check refuses anything but one folder or a remote.
func (s *source) check(args []string) error {
	switch {
	case *s.remote == "" && len(args) == 0:
		return usagef("give a folder that holds ledger/shards, or --remote")
	case *s.remote == "" && len(args) > 1, *s.remote != "" && len(args) > 0:
		return usagef("%d arguments are too many: give one folder, last, or --remote", len(args))
	}
	return nil
}

// printJSON prints one JSON value on a line.
func printJSON(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
