//go:build !linux

package memoryrun

func closeProcess() {}
