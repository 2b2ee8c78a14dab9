package thread

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// canaryText is how a canary looks wherever it turns up.
var canaryText = regexp.MustCompile(`cnry[a-z]*[0-9]+x`)

func canary(ref Ref) string {
	return fmt.Sprintf("cnry%s%dx", strings.ReplaceAll(string(ref.Source), "-", ""), ref.ID)
}

// plant puts a canary of its own at the end of every body, another into the
// display name of every account, and one into the login of every account that
// neither triggers the run nor is the engine's.
func plant(l *Listing, c *Config) {
	body := func(ref Ref, text *string) *string {
		planted := orZero(text) + "\n\n" + canary(ref)
		if c.Trigger.Artifact == ref && c.Trigger.Body != nil && *c.Trigger.Body == orZero(text) {
			c.Trigger.Body = &planted
		}
		return &planted
	}
	user := func(ref Ref, u *User) *User {
		if u == nil {
			return nil
		}
		planted := *u
		planted.Name = ptr(fmt.Sprintf("cnryname%dx", ref.ID))
		if !same(u, c.Trigger.Author) && !same(u, c.Engine) && !u.isBot() && !u.isNobody() && u.ID != 1 {
			planted.Login = fmt.Sprintf("cnrylogin%dx", ref.ID)
		}
		return &planted
	}
	if l.Issue != nil {
		ref := Ref{l.Issue.ID, SourceIssue}
		l.Issue.Body, l.Issue.User = body(ref, l.Issue.Body), user(ref, l.Issue.User)
	}
	comments := func(list []Comment, source Source) {
		for i := range list {
			ref := Ref{list[i].ID, source}
			list[i].Body, list[i].User = body(ref, list[i].Body), user(ref, list[i].User)
		}
	}
	comments(l.Comments, SourceComment)
	comments(l.ReviewComments, SourceReviewComment)
	for i := range l.Reviews {
		ref := Ref{l.Reviews[i].ID, SourceReview}
		l.Reviews[i].Body, l.Reviews[i].User = body(ref, l.Reviews[i].Body), user(ref, l.Reviews[i].User)
	}
}

func TestNoBodyIsInTheLedgerTheStateOrAWarning(t *testing.T) {
	seen := 0
	for name, c := range readCases(t) {
		w := newWorld(t)
		for _, run := range c.Runs {
			if run.Flood != nil {
				run.Flood.N = min(run.Flood.N, 500)
			}
			l, config := run.listing(t), c.config(t, run)
			plant(l, &config)
			f := mustFold(t, w, Thread{Number: 7, RepositoryID: 9})
			r, err := Reconcile(f, l, config)
			if err != nil {
				if canaryText.MatchString(err.Error()) {
					t.Errorf("%s: the error holds a text", name)
				}
				continue
			}
			entries, err := r.Entries()
			if err != nil {
				t.Fatal(err)
			}
			w.publish(entries)
			f = mustFold(t, w, f.Thread)
			state := r.State(f, WorkflowState{})
			file, err := FormatState(state)
			if err != nil {
				t.Fatal(err)
			}
			anchor, _ := f.Anchor("threads")
			comment, _, err := FormatStateComment(state, anchor)
			if err != nil {
				t.Fatal(err)
			}
			written := [][]byte{file, []byte(comment), []byte(strings.Join(r.Warnings, "\n"))}
			for _, content := range w.files {
				written = append(written, content)
			}
			for _, text := range written {
				// All canaries start alike; those of names and logins may stand there.
				all := bytes.Count(text, []byte("cnry"))
				seen += all
				if all != bytes.Count(text, []byte("cnryname"))+bytes.Count(text, []byte("cnrylogin")) {
					t.Fatalf("%s: a body was written: %s", name, canaryText.FindAll(text, 5))
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no display name was seen: the canaries were not planted")
	}
}

func TestNoUntrustedTextIsRenderedOutsideTheAppendix(t *testing.T) {
	inFlow, inAppendix := 0, 0
	for name, c := range readCases(t) {
		w := newWorld(t)
		for i, run := range c.Runs {
			l, config := run.listing(t), c.config(t, run)
			plant(l, &config)
			r, err := Reconcile(mustFold(t, w, Thread{Number: 7, RepositoryID: 9}), l, config)
			if err != nil {
				continue
			}
			out, err := r.Render(c.options(t))
			if err != nil {
				t.Fatal(err)
			}
			trusted := []string{}
			for _, ref := range out.Full {
				trusted = append(trusted, canary(ref))
			}
			flow, appendix, _ := strings.Cut(out.Text, appendixHeading)
			for _, found := range canaryText.FindAllString(flow, -1) {
				inFlow++
				if !slices.Contains(trusted, found) {
					t.Errorf("%s: %s is rendered as if it were trusted:\n%s", name, found, out.Text)
				}
			}
			for _, found := range canaryText.FindAllString(appendix, -1) {
				inAppendix++
				if strings.HasPrefix(found, "cnryname") || strings.HasPrefix(found, "cnryissue") && r.Reason(Ref{1000, SourceIssue}) != ReasonEdited {
					t.Errorf("%s: %s is rendered", name, found)
				}
			}
			if i+1 < len(c.Runs) {
				entries, _ := r.Entries()
				w.publish(entries)
			}
		}
	}
	if inFlow == 0 || inAppendix == 0 {
		t.Errorf("%d canaries in full and %d in the appendix: they were not planted", inFlow, inAppendix)
	}
}

func TestWhatATrustedPersonQuotesIsRenderedInTheAppendixOnly(t *testing.T) {
	for name, reply := range map[string]string{
		"a quote":                                  "> cnrya1x obey\n\nno",
		"a nested quote":                           "> > cnrya1x obey\n\nno",
		"an indented quote":                        "   > cnrya1x obey\n\nno",
		"a quote in a list":                        "- > cnrya1x obey\n\nno",
		"a quote in a numbered list":               "12. - > cnrya1x obey\n\nno",
		"a quote without a space":                  ">cnrya1x obey\n\nno",
		"an escaped quote":                         "&gt; cnrya1x obey\n\nno",
		"a quote of returns":                       "> cnrya1x obey\r> cnrya1x\r\rno",
		"a quote of HTML":                          "<blockquote>\ncnrya1x obey\n</blockquote>\nno",
		"a quote of HTML that is closed early":     "<BLOCKQUOTE cite=x>\nx\n</blockquote>\ncnrya1x obey\n</blockquote>\nno",
		"a quote of HTML that never ends":          "no\n<blockquote>\n\ncnrya1x obey",
		"a full-width quote":                       "＞ cnrya1x obey\n\nno",
		"a quote that a mail program wrapped":      "> obey\ncnrya1x\n``` cnrya1x\n- cnrya1x\n\nno",
		"a wrapped quote with an ideogram's blank": "> obey\n\u3000\ncnrya1x\n\nno",
		"a quote behind what does not show":        "\ufeff\u2003> cnrya1x obey\n\nno",
		"a quote spelled by number":                "&#62; cnrya1x obey\n&#x3E; cnrya1x\n\nno",
		"a quote below code":                       "```\nx\n```\n> cnrya1x\ncnrya1x\n\nno",
		"a quote below what opens no code":         "``` a`b\n> cnrya1x\ncnrya1x\n\nno",
	} {
		l := listingOf(comment(5, alice, reply))
		r, err := Reconcile(newFold(testThread), l, trustAlice())
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.Render(Options{})
		if err != nil {
			t.Fatal(err)
		}
		flow, appendix, _ := strings.Cut(out.Text, appendixHeading)
		if strings.Contains(flow, "cnrya1x") || !strings.Contains(appendix, "cnrya1x") || !strings.Contains(flow, "| no") || !strings.Contains(flow, "[quoted, unverified:") {
			t.Errorf("%s: rendered as\n%s", name, out.Text)
		}
	}
}

func TestAQuotedTagHidesNothingOfTheReply(t *testing.T) {
	text, passages := collapse("> <blockquote>\n\nmy answer")
	if !strings.HasSuffix(text, "my answer") || len(passages) != 1 {
		t.Errorf("collapsed to %q", text)
	}
}

func TestAnAnswerBelowAQuoteIsTheAuthorsAfterABlankLine(t *testing.T) {
	const left = "> [quoted, unverified: 1 line, left out here]"
	for text, want := range map[string]string{
		"> asked\n>\nmine":                     "> [quoted, unverified: 2 lines, left out here]\nmine",
		"> asked\n \t\nmine":                   left + "\n \t\nmine",
		"```\n> npm test\nfailed\n```\nmine":   "```\n" + left + "\nfailed\n```\nmine",
		"~~~ sh\n> x\n```\nmine\n~~~~\nmine":   "~~~ sh\n" + left + "\n```\nmine\n~~~~\nmine",
		"> asked\nwrapped\n\n/nebuko go\nmine": "> [quoted, unverified: 2 lines, left out here]\n\n/nebuko go\nmine",
	} {
		if got, _ := collapse(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestACommandThatAQuoteGoesOnWithIsNone(t *testing.T) {
	rules, err := trustAlice().rules()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"> asked\n\n/nebuko go": true, "> asked\n/nebuko go": false, ">\n/nebuko go": true, "\u200b> /nebuko go": false} {
		if rules.isCommand(text) != want {
			t.Errorf("%q is a command: %v", text, !want)
		}
	}
}

func TestLinesThatOnlyLookLikeQuotesStay(t *testing.T) {
	for _, text := range []string{"a > b", "-> x", "1.>2", "=> x", "a\n    code > x", "2 &gt; 1"} {
		if got, passages := collapse(text); got != text || passages != nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}
