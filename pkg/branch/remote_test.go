package branch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestRemotesThatAreSpokenTo(t *testing.T) {
	dir := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		dir:                               dir,
		"file://" + filepath.ToSlash(dir): dir,
		"FILE://localhost" + filepath.ToSlash(dir): dir,
		"some/repo.git":               filepath.Join(here, "some", "repo.git"),
		"/a/b::c":                     "/a/b::c",
		"./a:b":                       filepath.Join(here, "a:b"),
		"https://github.com/o/r":      "https://github.com/o/r",
		"https://GitHub.com/O/r.git/": "https://github.com/O/r.git",
		"https://host:8443/a%20b":     "https://host:8443/a%20b",
		"http://127.0.0.1:8080/r.git": "http://127.0.0.1:8080/r.git",
		"http://[::1]/r.git":          "http://[::1]/r.git",
		"http://localhost/r.git":      "http://localhost/r.git",
	} {
		if runtime.GOOS == "windows" && (text[0] == '.' || text[0] == '/') {
			continue
		}
		if got, err := ParseRemote(text, "", ""); err != nil || got.URL != want {
			t.Errorf("%q: %q, %v", text, got.URL, err)
		}
	}
}

func TestRemotesThatAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "-x", "--upload-pack=touch x", "-oProxyCommand=x", "ext::sh -c id", "ext::https://h/x", "fd::0", "transport::address",
		"git@github.com:o/r", "host:path", "ssh://git@h/r", "git+ssh://h/r", "git://h/r", "ftp://h/r", "rsync://h/r",
		"https://user:sekret@h/r", "https://sekret@h/r", "https://h/r?token=sekret", "https://h/r#sekret", "https://h/r?", "https://h", "https:///r", "https://h:port/r",
		"http://github.com/o/r", "http://127.0.0.1.example.com/r", "http://localhost.example.com/r",
		"file://host/share", "file://", "a\nb", "/a\x00b", "/a\x7fb", "https://h/\r\nHost: x", "file:///a%0ab", "/a\xffb",
		strings.Repeat("a", maxURLBytes+1), "https://h\\@x/r",
	} {
		_, err := ParseRemote(text, "", "")
		if !errors.Is(err, ErrRemote) {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if strings.Contains(text, "@") && strings.Contains(err.Error(), "sekret") {
			t.Errorf("%q: the error repeats the credentials: %v", text, err)
		}
		if strings.ContainsAny(err.Error(), "\n\r\x00") {
			t.Errorf("%q: the error is more than one line", text)
		}
		if strings.HasPrefix(text, "ext::") && !strings.Contains(err.Error(), "remote helpers are not used") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestTokensAndServersThatAreRefused(t *testing.T) {
	for _, token := range []string{"sek ret", "sekret\n", "sekret\r\nX: y", "sekrét", "sekret\x00", strings.Repeat("sekret", maxTokenBytes)} {
		if _, err := ParseRemote("/r", token, ""); !errors.Is(err, ErrRemote) || strings.Contains(err.Error(), "sek") {
			t.Errorf("%q: %v", token[:min(20, len(token))], err)
		}
	}
	for _, server := range []string{"github.com", "http://github.com", "https://u:sekret@h", "https://h/path", "https://h?q", "ftp://h", "https://"} {
		if _, err := ParseRemote("/r", "t", server); !errors.Is(err, ErrRemote) || strings.Contains(err.Error(), "sekret") {
			t.Errorf("%q: %v", server, err)
		}
	}
}

func TestPrintingARemoteShowsNoToken(t *testing.T) {
	r, err := ParseRemote("https://github.com/o/r", "sekret", "https://github.com")
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		for _, v := range []any{r, &r, []Remote{r}, struct{ R Remote }{r}} {
			if s := fmt.Sprintf(verb, v); strings.Contains(s, "sekret") {
				t.Errorf("%s of %T: %s", verb, v, s)
			}
		}
	}
}

func TestARemoteMadeByHandIsCheckedBeforeUse(t *testing.T) {
	for _, url := range []string{"ext::sh -c id", "relative", "https://user:pw@h/r", "--upload-pack=x"} {
		if _, err := Connect(t.Context(), Remote{URL: url}, uploadPack); !errors.Is(err, ErrRemote) {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestBranchNames(t *testing.T) {
	for _, name := range []string{"ledgers/memory", "memory/a", "ledgers/A_b-9", "memory/" + strings.Repeat("a", 64)} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{
		"", "memory", "ledgers/", "main", "refs/heads/memory/a", "memory/a/b", "memory//a", "/memory/a", "memory/a/", "memory/.a", "memory/-a", "memory/_a",
		"memory/a.lock", "memory/a..b", "memory/a b", "memory/a\n", "memory/a\x00", "memory/é", "Memory/a", "memory/a~1", "memory/a^", "memory/a:b", "memory/@{u}",
		"memory/" + strings.Repeat("a", 65), "-memory/a", "+memory/a",
	} {
		if err := CheckName(name); !errors.Is(err, ErrName) || strings.ContainsAny(err.Error(), "\n\x00") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestPathsThatMayBeWritten(t *testing.T) {
	for _, p := range []string{
		"a", "ledger/shards/x.jsonl", "a b", "a:b", "é", ".gitattributes", ".github/x", ".gitx", "git", "x.git", "...", "..a",
		strings.Repeat("a", 255), strings.Repeat("a/", 2047) + "a",
	} {
		if err := CheckPath(p); err != nil {
			t.Error(err)
		}
	}
	for _, p := range []string{
		"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", `a\b`, `..\a`, "a\x00b", "a\nb", "a\x7f", "a\u0085b", "a\xff",
		".git", ".GIT/config", "a/.gIt", ".git.", ".git ", ".git. .", ".git::$INDEX_ALLOCATION", ".git:x", "git~1", "GIT~1/x", ".g\u200cit", "\ufeff.git", ".\u206agit",
		strings.Repeat("a", 256), strings.Repeat("a/", 2048) + "a",
	} {
		if err := CheckPath(p); !errors.Is(err, ErrPath) || strings.ContainsAny(err.Error(), "\n\x00\u200c\ufeff") {
			t.Errorf("%q: %v", p, err)
		}
	}
}
