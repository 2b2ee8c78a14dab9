package txlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/repo-memory/ledger/pkg/regular"
)

// appendEntries appends those of the entries that the output does not hold yet
// with one write. On an error nothing that stood there has changed.
func appendEntries(path, logPath string, entries [][]byte) (added, present int, err error) {
	f, err := openAppend(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	// Between the first look and now the output may have become the log.
	if same(f, logPath) {
		return 0, 0, errors.New("is the ledger transaction log itself")
	}
	info, err := f.Stat()
	if err != nil {
		return 0, 0, regular.Cause(err)
	}
	size := info.Size()
	if size > maxOutputBytes {
		return 0, 0, fmt.Errorf("%w: %d bytes, the limit is %d", regular.ErrTooLarge, size, maxOutputBytes)
	}
	standing, err := findLines(io.NewSectionReader(f, 0, size), entries)
	if err != nil {
		return 0, 0, regular.Cause(err)
	}
	var text []byte
	for _, entry := range entries {
		if standing[string(entry)] {
			present++
			continue
		}
		text = append(append(text, entry...), '\n')
		added++
	}
	if added == 0 {
		return 0, present, nil
	}
	torn, err := endsTorn(f, size)
	if err != nil {
		return 0, 0, err
	}
	if torn {
		text = append([]byte("\n"), text...)
	}
	if _, err := f.Write(text); err != nil {
		return 0, 0, fmt.Errorf("written in part only: %w", regular.Cause(err))
	}
	if err := f.Close(); err != nil {
		return 0, 0, fmt.Errorf("written in part only: %w", regular.Cause(err))
	}
	return added, present, nil
}

// findLines returns which of the wanted lines r holds, byte for byte. It keeps
// no other line, however long.
func findLines(r io.Reader, wanted [][]byte) (map[string]bool, error) {
	found := make(map[string]bool, len(wanted))
	longest := 0
	for _, line := range wanted {
		found[string(line)] = false
		longest = max(longest, len(line))
	}
	in := bufio.NewReaderSize(r, max(longest+1, 64<<10))
	for {
		line, err := in.ReadSlice('\n')
		for err == bufio.ErrBufferFull {
			line = nil
			_, err = in.ReadSlice('\n')
		}
		if line = bytes.TrimSuffix(line, []byte("\n")); len(line) > 0 {
			if _, ok := found[string(line)]; ok {
				found[string(line)] = true
			}
		}
		if err == io.EOF {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
