package main

const (
	// maxEntries bounds the entries that are decoded, as for audit entries.
	maxEntries = 1 << 16

	// maxEntryBytes bounds one entry: a request has two short texts.
	maxEntryBytes = 8 << 10

	// maxReasonBytes bounds the reason: it is for people to read.
	maxReasonBytes = 1024

	// maxDispatches bounds the input max; a run that compacts more ledgers than
	// these had better wait for the night.
	maxDispatches = 16

	// maxTries bounds how often one workflow is dispatched while the server's answer
	// is unclear.
	maxTries = 3
)
