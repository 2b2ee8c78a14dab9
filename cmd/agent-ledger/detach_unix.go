//go:build unix

package main

import "syscall"

// ofItsOwn gives a process a session of its own, so that what ends the step does
// not reach it.
func ofItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
