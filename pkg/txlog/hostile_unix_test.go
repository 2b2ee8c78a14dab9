//go:build unix

package txlog

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// odd are the things that can stand in place of a file; make returns the path.
var odd = map[string]func(t *testing.T, dir string) string{
	"a folder": func(t *testing.T, dir string) string { return at(t, os.Mkdir(dir+"/x", 0o700), dir+"/x") },
	"a pipe":   func(t *testing.T, dir string) string { return at(t, syscall.Mkfifo(dir+"/x", 0o600), dir+"/x") },
	"a link to a file": func(t *testing.T, dir string) string {
		write(t, dir+"/target", []byte(base+"\n"))
		return at(t, os.Symlink(dir+"/target", dir+"/x"), dir+"/x")
	},
	"a link to nothing": func(t *testing.T, dir string) string { return at(t, os.Symlink(dir+"/created", dir+"/x"), dir+"/x") },
	"a link to a pipe": func(t *testing.T, dir string) string {
		must(t, syscall.Mkfifo(dir+"/pipe", 0o600))
		return at(t, os.Symlink(dir+"/pipe", dir+"/x"), dir+"/x")
	},
	"a hard link": func(t *testing.T, dir string) string {
		write(t, dir+"/target", []byte(base+"\n"))
		return at(t, os.Link(dir+"/target", dir+"/x"), dir+"/x")
	},
	"a device":          func(*testing.T, string) string { return "/dev/zero" },
	"a terminal device": func(*testing.T, string) string { return "/dev/tty" },
	"a socket": func(t *testing.T, dir string) string {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		must(t, err)
		t.Cleanup(func() { syscall.Close(fd) })
		// The address of a socket is short; dir may not be.
		t.Chdir(dir)
		return at(t, syscall.Bind(fd, &syscall.SockaddrUnix{Name: "x"}), dir+"/x")
	},
	"a file below a file": func(t *testing.T, dir string) string { write(t, dir+"/f", nil); return dir + "/f/x" },
}

func at(t *testing.T, err error, path string) string {
	t.Helper()
	must(t, err)
	return path
}

func TestOddThingsInPlaceOfTheLogAreWarningsAndNeverHang(t *testing.T) {
	for name, make := range odd {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			log, output := make(t, dir), filepath.Join(dir, "output")
			write(t, output, []byte("{}\n"))
			r := Merge(log, output)
			if r.Added != 0 || len(r.Warnings) != 1 || strings.Contains(r.Warnings[0], dir) || read(t, output) != "{}\n" {
				t.Errorf("%+v", r)
			}
			if _, err := OpenWriter(log); err == nil || strings.Contains(err.Error(), dir) {
				t.Errorf("writer: %v", err)
			}
			if _, err := Read(log); err == nil || strings.Contains(err.Error(), dir) {
				t.Errorf("read: %v", err)
			}
			if _, err := os.Lstat(dir + "/created"); err == nil {
				t.Error("the target of a link was created")
			}
		})
	}
}

func TestOddThingsInPlaceOfTheOutputAreWarningsAndNeverHang(t *testing.T) {
	for name, make := range odd {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			log := filepath.Join(dir, "log")
			write(t, log, []byte(with("aaaa", "cccc")+"\n"))
			output := make(t, dir)
			r := Merge(log, output)
			if r.Added != 0 || len(r.Warnings) != 1 || strings.Contains(r.Warnings[0], dir) || r.Info != "No ledger audit entries to merge" {
				t.Errorf("%+v", r)
			}
			if _, err := os.Lstat(dir + "/created"); err == nil {
				t.Error("the target of a link was created")
			}
			if data, err := os.ReadFile(dir + "/target"); err == nil && string(data) != base+"\n" {
				t.Errorf("the target was changed: %q", data)
			}
		})
	}
}

func TestALogThatIsTheSafeOutputFileItselfIsRefused(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	write(t, log, []byte(base+"\n"))
	must(t, os.Symlink(dir, filepath.Join(dir, "detour")))
	must(t, os.Symlink(log, filepath.Join(dir, "link")))
	for _, output := range []string{log, dir + "/./log", dir + "/detour/log", dir + "/link"} {
		r := Merge(log, output)
		if r.Added != 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "is the safe-output file itself") || read(t, log) != base+"\n" {
			t.Errorf("%s: %+v", output, r)
		}
	}
}

func TestALogThatCannotBeReadIsAWarning(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	write(t, log, []byte(base+"\n"))
	must(t, os.Chmod(log, 0))
	r := Merge(log, filepath.Join(dir, "output"))
	// Root may read everything.
	if os.Geteuid() == 0 {
		if r.Added != 1 {
			t.Errorf("%+v", r)
		}
		return
	}
	if r.Added != 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "cannot be read") {
		t.Errorf("%+v", r)
	}
}

func TestAFileThatIsReplacedBetweenLookAndOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "x"), filepath.Join(dir, "other")
	write(t, path, nil)
	before, err := os.Lstat(path)
	must(t, err)
	held, err := os.Open(path) // so that no other file gets its number
	must(t, err)
	defer held.Close()
	for name, replace := range map[string]func() error{
		"by a link":          func() error { return os.Symlink(other, path) },
		"by another file":    func() error { return os.Rename(other, path) },
		"by a pipe":          func() error { return syscall.Mkfifo(path, 0o600) },
		"by its second name": func() error { return firstError(os.Rename(other, path), os.Link(path, other)) },
	} {
		write(t, other, nil)
		must(t, os.Remove(path))
		must(t, replace())
		for _, seen := range []os.FileInfo{before, nil} {
			if seen == nil && name == "by another file" {
				continue
			}
			if f, err := openSeen(path, seen); err == nil {
				t.Errorf("%s: opened", name)
				f.Close()
			}
		}
	}
}
