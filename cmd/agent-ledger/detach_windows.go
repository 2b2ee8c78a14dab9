package main

import "syscall"

// detachedProcess is DETACHED_PROCESS: no console, so that closing the step's does
// not reach it.
const detachedProcess = 0x8

// ofItsOwn gives a process a group of its own and no console.
func ofItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
