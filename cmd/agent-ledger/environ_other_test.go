//go:build !linux

package main

import "runtime"

const onlyForItsOwner = runtime.GOOS != "windows"

// noSecretIn: only Linux shows the environment of another process.
func noSecretIn(int) error { return nil }
