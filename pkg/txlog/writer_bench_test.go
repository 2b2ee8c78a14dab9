package txlog

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkAppend is to be compared with BenchmarkRaw: one write and one sync of
// the same bytes.
func BenchmarkAppend(b *testing.B) {
	var w *Writer
	for i := range b.N {
		if i%5000 == 0 { // a log takes some 10,000 events
			log := filepath.Join(b.TempDir(), "log")
			var err error
			w, err = OpenWriter(log)
			must(b, err)
		}
		must(b, w.Append(event(i)))
	}
}

func BenchmarkRaw(b *testing.B) {
	f, err := os.OpenFile(filepath.Join(b.TempDir(), "log"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	must(b, err)
	line := append(event(1).Line(), '\n')
	for b.Loop() {
		_, err := f.Write(line)
		must(b, err)
		must(b, f.Sync())
	}
}
