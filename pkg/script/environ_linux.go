package script

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// initialEnv returns the entries of the block that this process was started with,
// as any process of the same user sees it.
func initialEnv() ([]string, error) {
	block, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		return nil, fmt.Errorf("%w: /proc is not readable, so the environment cannot be checked", ErrSandbox)
	}
	return strings.Split(string(block), "\x00"), nil
}

// wipeInitialEnv overwrites the named entries with zeros where they lie, at the
// bottom of the stack. Go has copied the environment at start and never looks
// there again.
func wipeInitialEnv(names []string) error {
	failed := func(what string) error {
		return fmt.Errorf("%w: %s, so the environment of this process stays readable in /proc", ErrSecret, what)
	}
	start, end, err := initialEnvRange()
	if err != nil {
		return failed("its place is not known")
	}
	mem, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return failed("memory cannot be opened")
	}
	defer mem.Close()
	block := make([]byte, end-start)
	if _, err := mem.ReadAt(block, start); err != nil {
		return failed("memory cannot be read")
	}
	for at := 0; at < len(block); {
		entry, _, _ := bytes.Cut(block[at:], []byte{0})
		for _, name := range names {
			if _, found := cutName(string(entry), name); !found {
				continue
			}
			if _, err := mem.WriteAt(make([]byte, len(entry)), start+int64(at)); err != nil {
				return failed("memory cannot be written")
			}
			break
		}
		at += len(entry) + 1
	}
	left, err := initialEnv()
	if err != nil {
		return err
	}
	for _, entry := range left {
		for _, name := range names {
			if value, found := cutName(entry, name); found && value != "" {
				return failed(name + " is still there")
			}
		}
	}
	return nil
}

// initialEnvRange returns the addresses of the block: fields 50 and 51 of
// /proc/self/stat, counted from 1, of which the second ends with a parenthesis
// and may contain spaces.
func initialEnvRange() (start, end int64, err error) {
	const first, envStart, envEnd = 3, 50, 51
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return 0, 0, err
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= envEnd-first {
		return 0, 0, errors.New("too few fields")
	}
	if start, err = strconv.ParseInt(fields[envStart-first], 10, 64); err != nil {
		return 0, 0, err
	}
	if end, err = strconv.ParseInt(fields[envEnd-first], 10, 64); err != nil {
		return 0, 0, err
	}
	const most = 64 << 20 // the kernel allows far less
	if start <= 0 || end < start || end-start > most {
		return 0, 0, errors.New("no such range")
	}
	return start, end, nil
}
