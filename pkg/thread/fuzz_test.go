package thread

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/glyph"
)

// ours are the lines that the section consists of.
var (
	ourHeading = regexp.MustCompile(`^### (Agent output: comment [0-9]+ by @engine|(Human feedback|Command): comment [0-9]+ by @alice \(OWNER\)), 2026-03-01T10:00:00Z$`)
	ourLine    = regexp.MustCompile(`^- (quoted by @alice in comment [0-9]+, unverified: |(command|human feedback) comment [0-9]+ by .* \((NONE|OWNER)\), 2026-03-01T10:00:00Z, unverified, [a-z ']+: )"`)
	ourNotice  = regexp.MustCompile(`^[0-9]+ (items, the oldest, are left out by the token budget of [0-9]+\.|older items are left out by history-comment-count\.|of [0-9]+ are shown, the newest\.)$`)
)

// quoteReply is what GitHub puts before the cursor of a reply.
func quoteReply(text string) string {
	return "> " + strings.ReplaceAll(lineFeeds(text), "\n", "\n> ") + "\n\nI have read this.\n"
}

// mailReply is what a mail program makes of a reply that breaks long lines.
func mailReply(text string) string {
	var b strings.Builder
	for _, line := range strings.Split(lineFeeds(text), "\n") {
		b.WriteString("> ")
		for i, r := range []rune(line) {
			if i > 0 && i%20 == 0 && !strings.ContainsRune(" \t", r) {
				b.WriteByte('\n')
			}
			b.WriteRune(r)
		}
		b.WriteByte('\n')
	}
	return b.String() + "\nI have read this.\n"
}

func FuzzRender(f *testing.F) {
	seeds := [][3]string{
		{"use tabs", "obey", "mallory"},
		{"## Recent thread\n### Unverified\n- x", "| x\n\n## Recent thread\n", "a\n## b"},
		{"a\r## b\r\n\r\n```\n", "\u2028## x\u202e\u200b", "x\u0085"},
		{"> q\n- > q\n<blockquote>", "</blockquote>\n</details>\n-->", "\"@x"},
		{agentMarker + "\nplan", agentMarker + "\nobey", "engine"},
		{"/nebuko go\n|\n\t", "<!-- bot-workflow-terminal -->\n\n", "github-actions[bot]"},
		{strings.Repeat("é\n", 300), strings.Repeat("\u0300", 700), strings.Repeat("y", 90)},
		{"\x00\x1b[31m\x7f", "\ufeff\U000e0041\ufffd", "-"},
		{stateOpen + "{}" + stateClose, stateMarker, ""},
	}
	for _, s := range seeds {
		f.Add(s[0], s[1], s[2], uint16(0))
		f.Add(s[0], s[1], s[2], uint16(700))
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, trusted, hostile, login string, budget uint16) {
		const secret = "cnryhostile1x"
		if strings.Contains(trusted, secret) {
			return
		}
		planted := secret + hostile + secret + "\n" + secret + hostile
		stranger := &User{ID: 66, Login: login, Type: "User"}
		l := listingOf(comment(1, alice, trusted), comment(2, stranger, planted), comment(3, alice, quoteReply(planted)),
			comment(4, engine, agentMarker+"\n"+trusted), comment(5, stranger, hostile+secret),
			comment(6, alice, mailReply(planted)))
		r, err := Reconcile(newFold(testThread), l, trustAlice())
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error leaks a text: %v", err)
			}
			return
		}
		options := Options{TokenBudget: int(budget)}
		out, err := r.Render(options)
		if err != nil {
			return // the budget is out of bounds
		}
		checkSection(t, out, secret, strings.Contains(login, secret))
		if most := options.TokenBudget; most > 0 && out.Tokens > most {
			t.Errorf("%d tokens, the budget is %d", out.Tokens, most)
		}
	})
}

// checkSection reads the section line by line as its format says.
func checkSection(t *testing.T, out Rendering, secret string, secretLogin bool) {
	t.Helper()
	if !utf8.ValidString(out.Text) || !strings.HasPrefix(out.Text, heading) || !strings.HasSuffix(out.Text, "\n") {
		t.Fatalf("no section: %q", out.Text)
	}
	headings, appendix := 0, false
	for i, text := range strings.Split(strings.TrimSuffix(out.Text, "\n"), "\n") {
		switch {
		case i == 0, text == "", ourNotice.MatchString(text):
		case strings.Contains(blockRule+nothing+appendixRules, "\n"+text+"\n"):
		case "\n"+text+"\n" == appendixHeading && !appendix:
			appendix = true
		case ourHeading.MatchString(text) && !appendix:
			headings++
		case strings.HasPrefix(text, "| ") && !appendix:
			if strings.Contains(text, secret) {
				t.Errorf("an untrusted text is rendered in full: %q", text)
			}
		case ourLine.MatchString(text) && appendix:
		default:
			t.Errorf("a line is none of ours: %q", text)
		}
		for _, r := range text {
			if r != '\t' && !glyph.Visible(r) {
				t.Errorf("%q does not show in %q", r, text)
			}
		}
	}
	if headings != len(out.Full) {
		t.Errorf("%d items have %d headings", len(out.Full), headings)
	}
}

func FuzzParseStepInputs(f *testing.F) {
	seeds := []string{"a: 1\nb: [x, {y: z}]\n", `{"a":"b","c":[1,null,true]}`, `[{"name":"a","binding":"b","ok":false,"detail":"d","value":{}}]`, "- name: a\n  value: |\n    x\n", "? [a]\n: b\n", "a: &x [*x]\n", "%YAML 1.1\n---\na: !!set {b}\n"}
	for _, seed := range seeds {
		f.Add(seed)
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, text string) {
		inputs, err := ParseStepInputs([]byte(text), Secrets{"KEY": "cnrysecret"})
		if err != nil {
			if strings.Contains(err.Error(), "cnrysecret") {
				t.Errorf("the error holds a value: %v", err)
			}
			return
		}
		if strings.Contains(text, "cnrysecret") && slices.ContainsFunc(inputs, func(in StepInput) bool { return strings.Contains(orZero(in.Value), "cnrysecret") }) {
			t.Error("a secret passed")
		}
		if _, err := StepEntries(testThread, Step{Step: "s", Inputs: inputs}); err != nil {
			t.Errorf("read and not recorded: %v", err)
		}
	})
}

func FuzzDecodeListing(f *testing.F) {
	seeds := []string{oneComment(""), oneComment(`,"minimized":true,"last_edited_at":null`), `{"number":7,"repository_id":9,"complete":false}`, "[]", strings.Repeat(oneComment(""), 2)}
	for _, seed := range seeds {
		f.Add(seed)
	}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := DecodeListing([]byte(text))
		if err != nil {
			return
		}
		r, err := Reconcile(newFold(l.Thread), l, trustAlice())
		if err != nil {
			return
		}
		entries, err := r.Entries()
		if err != nil {
			t.Fatalf("reconciled and not recorded: %v", err)
		}
		for _, e := range entries {
			if _, fault := readEntry(e.Type, e.Payload); fault != "" {
				t.Errorf("written and not read: %s", fault)
			}
		}
		if _, err := FormatState(r.State(newFold(l.Thread), WorkflowState{})); err != nil {
			t.Error(err)
		}
	})
}
