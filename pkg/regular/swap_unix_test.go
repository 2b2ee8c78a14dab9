//go:build unix

package regular

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A stranger replaces the file in the moment between the look and the opening.
func TestAFileThatIsReplacedWhileItIsOpenedIsNotRead(t *testing.T) {
	for _, c := range []struct {
		name string
		swap func(path string) error
		want error // of Open
		in   error // of OpenIn, where it differs: a root follows links within
	}{
		{"it stays", func(string) error { return nil }, nil, nil},
		{"by another file", func(path string) error { return os.Rename(path+".twin", path) }, ErrChanged, nil},
		{"by a link to another file", func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink(filepath.Base(path)+".twin", path))
		}, ErrKind, ErrChanged},
		{"by a link to itself elsewhere", func(path string) error {
			return errors.Join(os.Rename(path, path+".moved"), os.Symlink(filepath.Base(path)+".moved", path))
		}, ErrKind, errStays},
		{"by a link out of the folder", func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink("/etc/hostname", path))
		}, ErrKind, errAny},
		{"by a link to a pipe", func(path string) error {
			return errors.Join(os.Remove(path), syscall.Mkfifo(path+".pipe", 0o600), os.Symlink(filepath.Base(path)+".pipe", path))
		}, ErrKind, nil},
		{"by a pipe that nobody writes to", func(path string) error {
			return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600))
		}, ErrKind, nil},
		{"by a folder", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, ErrKind, nil},
		{"by a second link to it", func(path string) error { return os.Link(path, path+".second") }, ErrLinked, nil},
		{"by nothing", os.Remove, os.ErrNotExist, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, rooted := range []bool{false, true} {
				dir := t.TempDir()
				path := filepath.Join(dir, "file")
				for _, name := range []string{path, path + ".twin"} {
					if err := os.WriteFile(name, []byte(filepath.Base(name)), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				root, err := os.OpenRoot(dir)
				if err != nil {
					t.Fatal(err)
				}
				defer root.Close()
				name, lstat, opener, want := path, os.Lstat, openPath, c.want
				if rooted {
					name, lstat, opener = "file", root.Lstat, openBelow(root)
					if c.in != nil {
						want = c.in
					}
				}
				look := func(name string) (os.FileInfo, error) {
					info, err := lstat(name)
					if swapErr := c.swap(path); swapErr != nil {
						t.Fatal(swapErr)
					}
					return info, err
				}
				f, err := open(name, look, opener, 1)
				switch {
				case want == errAny && err == nil, want == errStays && err != nil:
					t.Errorf("rooted %v: %v", rooted, err)
				case want != errAny && want != errStays && !errors.Is(err, want):
					t.Errorf("rooted %v: %v, want %v", rooted, err, want)
				}
				if err != nil {
					if f != nil || strings.Contains(err.Error(), dir) {
						t.Errorf("rooted %v: a file beside %v", rooted, err)
					}
					continue
				}
				if got, err := Read(f, 100); err != nil || string(got) != "file" {
					t.Errorf("rooted %v: read %q, %v", rooted, got, err)
				}
				f.Close()
			}
		})
	}
}

var (
	errAny   = errors.New("any error")
	errStays = errors.New("none: it is the very file that was looked at")
)

func TestNothingLeadsOutOfARoot(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600), os.Symlink(outside, filepath.Join(dir, "folder")),
		os.Mkdir(filepath.Join(dir, "real"), 0o700), os.WriteFile(filepath.Join(dir, "real", "file"), []byte("file"), 0o600),
		os.Symlink("real", filepath.Join(dir, "within")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, opens := range map[string]bool{
		"real/file": true, "within/file": true, "folder/secret": false, "../" + filepath.Base(outside) + "/secret": false,
		outside + "/secret": false, "": false, ".": false, "real": false, "real/file/x": false,
	} {
		for _, opener := range []func(*os.Root, string) (*os.File, error){OpenIn, OpenShared} {
			f, err := opener(root, name)
			if (err == nil) != opens {
				t.Errorf("%q: %v", name, err)
			}
			if err != nil && (strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), outside)) {
				t.Errorf("%q shows a path", err)
			}
			f.Close()
		}
	}
}

func TestASocketIsNoRegularFile(t *testing.T) {
	// A socket's path must be short.
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if f, err := Open(path); !errors.Is(err, ErrKind) {
		t.Errorf("%v, %v", f, err)
	}
}

func TestOnlyOpenSharedTakesAFileWithTwoNames(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "a"), []byte("a"), 0o600), os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b"))); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f, err := OpenShared(root, "b")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := Read(f, 1); err != nil || string(got) != "a" {
		t.Errorf("%q, %v", got, err)
	}
	if err := Check(f, nil); !errors.Is(err, ErrLinked) {
		t.Errorf("Check: %v", err)
	}
	if _, err := OpenIn(root, "b"); !errors.Is(err, ErrLinked) {
		t.Errorf("OpenIn: %v", err)
	}
	if _, err := ReadFile(filepath.Join(dir, "b"), 10); !errors.Is(err, ErrLinked) {
		t.Errorf("ReadFile: %v", err)
	}
}
