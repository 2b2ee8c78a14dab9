//go:build !linux

package ledger

// coarseTimes: nothing is known of the granularity of file times here.
const coarseTimes = true
