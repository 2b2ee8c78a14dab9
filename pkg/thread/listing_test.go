package thread

import (
	"fmt"
	"strings"
	"testing"
)

const minimalIssue = `"issue":{"id":1,"html_url":"https://github.com/o/r/issues/7","user":{"id":1,"login":"a","type":"User","site_admin":false},"body":null,"created_at":"2026-03-01T10:00:00Z","author_association":"OWNER","labels":[{"name":"x"}]}`

func oneComment(members string) string {
	return `{"repository_id":9,"number":7,"complete":true,` + minimalIssue + `,"comments":[{"id":5,"html_url":"https://github.com/o/r/issues/7#issuecomment-5","user":null,"body":"cnrybody","created_at":"2026-03-01T10:00:00Z","updated_at":"2026-03-01T10:00:00Z","author_association":"NONE"` + members + `}]}`
}

func TestDecodeListing(t *testing.T) {
	plain := oneComment("")
	for name, c := range map[string]struct{ text, want string }{
		"a listing of the API's objects is read":         {plain, ""},
		"members that the API adds to items are ignored": {oneComment(`,"reactions":{"+1":3,"heart":0},"performed_via_github_app":null`), ""},
		"glued arrays are refused":                       {"[" + plain + "][" + plain + "]", "one JSON text"},
		"glued objects are refused":                      {plain + plain, "one JSON text"},
		"an array is refused":                            {"[" + plain + "]", "no object"},
		"a misspelled source is refused":                 {strings.Replace(plain, `"comments":[`, `"coments":[`, 1), "has a member that is none of"},
		"a source in another case is refused":            {strings.Replace(plain, `"comments":[`, `"Comments":[`, 1), "has a member that is none of"},
		"a source that is there twice is refused":        {strings.Replace(plain, `"comments":[`, `"comments":[],"comments":[`, 1), "duplicate"},
		"one that does not say whether it is complete":   {strings.Replace(plain, `"complete":true,`, "", 1), "complete: true only"},
		"complete in words is refused":                   {strings.Replace(plain, `"complete":true`, `"complete":"yes"`, 1), "no object"},
		"one of no thread is refused":                    {strings.Replace(plain, `"number":7,`, "", 1), "number"},
		"one of thread 0 is refused":                     {strings.Replace(plain, `"number":7`, `"number":0`, 1), "repository id and a number"},
		"an id of 0 is refused":                          {strings.Replace(plain, `"id":5`, `"id":0`, 1), "id must be"},
		"an id that a double changes is refused":         {strings.Replace(plain, `"id":5`, `"id":9007199254740993`, 1), "id must be"},
		"a negative id is refused":                       {strings.Replace(plain, `"id":5`, `"id":-5`, 1), "id must be"},
		"a fractional id is refused":                     {strings.Replace(plain, `"id":5`, `"id":5.5`, 1), "does not fit"},
		"a second id is refused":                         {oneComment(`,"id":6`), "duplicate"},
		"a time that is none is refused":                 {strings.Replace(plain, `"created_at":"2026-03-01T10:00:00Z","updated_at"`, `"created_at":"yesterday","updated_at"`, 1), "created_at is no time"},
		"a time of another zone is refused":              {strings.Replace(plain, `"created_at":"2026-03-01T10:00:00Z","updated_at"`, `"created_at":"2026-03-01T10:00:00+01:00","updated_at"`, 1), "created_at is no time"},
		"an update time that is none is refused":         {strings.Replace(plain, `"updated_at":"2026-03-01T10:00:00Z"`, `"updated_at":"x"`, 1), "updated_at is no time"},
		"a last edit that is none is refused":            {oneComment(`,"last_edited_at":"x"`), "does not fit"},
		"an address of another kind is refused":          {strings.Replace(plain, `https://github.com/o/r/issues/7#`, `javascript:alert(1)#`, 1), "no web address"},
		"an address with a line feed is refused":         {strings.Replace(plain, `issues/7#`, `issues/7\n#`, 1), "no web address"},
		"a body over GitHub's bound is refused":          {strings.Replace(plain, "cnrybody", strings.Repeat("x", MaxBodyBytes+1), 1), "body is over"},
		"a body with an unpaired surrogate is refused":   {strings.Replace(plain, "cnrybody", `\ud800`, 1), "unpaired surrogate"},
		"a body of invalid UTF-8 is refused":             {strings.Replace(plain, "cnrybody", "\xff", 1), "invalid UTF-8"},
		"a login over its bound is refused":              {strings.Replace(plain, `"user":null`, `"user":{"id":2,"login":"`+strings.Repeat("x", 101)+`"}`, 1), "no usable id"},
		"a body that is no text is refused":              {strings.Replace(plain, `"cnrybody"`, `{"a":1}`, 1), "does not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := DecodeListing([]byte(c.text))
			if c.want == "" {
				if err != nil || l.Len() != 2 {
					t.Fatalf("not read: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "cnrybody") {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if err != nil && l != nil {
				t.Error("a refused listing is half read")
			}
		})
	}
}

func TestAThreadOverTheBoundIsNoThread(t *testing.T) {
	for n, want := range map[int]bool{MaxArtifacts - 1: true, MaxArtifacts: false} {
		l := listingOf()
		for i := range n {
			l.Comments = append(l.Comments, comment(int64(i+1), mallory, "x"))
		}
		if _, err := Reconcile(newFold(testThread), l, trustAlice()); (err == nil) != want {
			t.Errorf("%d artifacts: %v", n+1, err)
		}
	}
}

func TestThreadsOfManyPagesAreReadWhole(t *testing.T) {
	for _, n := range []int{31, 100, 101, 250, 10_050} {
		l := listingOf()
		for i := range n {
			l.Comments = append(l.Comments, comment(int64(i+1), alice, fmt.Sprint("note ", i)))
		}
		r, out := reconcileAll(t, l, Options{})
		if len(r.New) != n+1 || len(out.Full) != n {
			t.Errorf("%d comments: %d recorded, %d rendered", n, len(r.New), len(out.Full))
		}
	}
}

func TestAgrees(t *testing.T) {
	l := listingOf(comment(5, alice, "x"), comment(5, alice, "x"), comment(6, alice, "y"))
	if !l.Agrees() {
		t.Error("an issue that states nothing does not agree")
	}
	for stated, want := range map[int]bool{1: false, 2: true, 3: false} {
		l.Issue.Comments = &stated
		if l.Agrees() != want {
			t.Errorf("%d stated, 2 listed: %v", stated, !want)
		}
	}
}

func TestADisplayNameIsCutWithAMark(t *testing.T) {
	u := *mallory
	u.Name = ptr(strings.Repeat("é", 65))
	r, _ := reconcileAll(t, listingOf(comment(5, &u, "x")), Options{})
	if got := r.New[1].UserName; got != strings.Repeat("é", 64)+"…" {
		t.Errorf("name %q", got)
	}
}

func TestParseRefs(t *testing.T) {
	got, err := ParseRefs(" 5,review:6\nreview-comment:7\thttps://github.com/o/r/issues/7#issuecomment-8 https://github.com/o/r/pull/7#discussion_r9 https://ghe.example/o/r/pull/7#pullrequestreview-10")
	want := []Ref{{5, SourceComment}, {6, SourceReview}, {7, SourceReviewComment}, {8, SourceComment}, {9, SourceReviewComment}, {10, SourceReview}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := ParseRefs(" \n"); err != nil || got == nil || len(got) != 0 {
		t.Errorf("no text is %v, %v", got, err)
	}
	for _, text := range []string{"0", "-1", "5x", "issue:5", "comment:", "9007199254740992", "99999999999999999999", "https://github.com/o/r/issues/7", "#5", "5;6"} {
		if got, err := ParseRefs("1 " + text); err == nil {
			t.Errorf("%q is %v", text, got)
		} else if !strings.Contains(err.Error(), "entry 2") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := ParseRefs(strings.Repeat("1 ", MaxRefs+1)); err == nil {
		t.Error("more than the bound is taken")
	}
}

func TestParseTrigger(t *testing.T) {
	for text, want := range map[string]bool{
		"2026-03-01T12:00:00Z": true, "2026-03-01T13:05:00Z": true, "2026-03-01T12:00:00.5Z": true,
		"2026-03-01T13:05:01Z": false, "": false, "null": false, "2026-13-01T00:00:00Z": false, "9999-01-01T00:00:00Z": false,
		"2026-03-01T12:00:00+00:00": false, "2026-03-01": false, "1970-01-01T00:00:00Z": false, "0001-01-01T00:00:00Z": false,
	} {
		if at, ok := ParseTrigger(text, now); ok != want || ok == at.IsZero() {
			t.Errorf("%q: %v %v", text, at, ok)
		}
	}
}
