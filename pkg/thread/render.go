package thread

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Options say how much of a thread is rendered.
type Options struct {
	// HistoryCount (history-comment-count) keeps the last N relevant items; zero
	// or less keeps all.
	HistoryCount int
	// Pinned artifacts are rendered besides those, gated like the rest.
	Pinned []Ref
	// TokenBudget bounds the section; zero is [MaxTokens].
	TokenBudget int
}

// Check returns the first option that cannot be meant, as a *[ConfigError].
func (o Options) Check() error {
	if len(o.Pinned) > MaxRefs || slices.ContainsFunc(o.Pinned, func(ref Ref) bool { return !ref.valid() }) {
		return &ConfigError{"pinned-comments", fmt.Sprintf("must be at most %d ids", MaxRefs)}
	}
	if o.TokenBudget != 0 && (o.TokenBudget < MinTokens || o.TokenBudget > MaxTokens) {
		return &ConfigError{"token-budget", fmt.Sprintf("must be %d to %d", MinTokens, MaxTokens)}
	}
	return nil
}

// Rendering is the section "Recent thread" and what is in it.
type Rendering struct {
	Text string
	// Full are the artifacts rendered in full, Unverified those in the appendix, in
	// the order of the text.
	Full, Unverified []Ref
	// Windowed items are older than the window of HistoryCount; Dropped ones did
	// not fit the token budget; Hidden unverified ones are only counted.
	Windowed, Dropped, Hidden int
	// Legacy says that the tail of an incomplete listing served.
	Legacy bool
	// Tokens is the estimate that the budget was compared with.
	Tokens int
}

// item is one piece of the section.
type item struct {
	artifact *artifact
	judgement
	pinned   bool
	text     string // without quoted passages
	passages []passage
	rendered string
}

// Render writes the section (decisions 3 and 4), as the package comment states it.
func (r *Reconciliation) Render(o Options) (Rendering, error) {
	if err := o.Check(); err != nil {
		return Rendering{}, err
	}
	out := Rendering{Legacy: !r.Complete && r.hadNone}
	if !r.Complete && !r.hadNone {
		out.Text = heading + notRead
		out.Tokens = tokens(out.Text)
		return out, nil
	}
	full, rest := r.split(o.Pinned)
	window := o.HistoryCount
	if out.Legacy {
		full, rest = r.tail(full, rest, cmp.Or(max(window, 0), DefaultTail))
	} else if window > 0 {
		full, out.Windowed = lastRelevant(full, window)
	}
	for i := range full {
		full[i].text, full[i].passages = r.words(full[i])
		full[i].rendered = full[i].render()
	}
	s := section{full: full, lines: unverifiedLines(full, rest), out: out, budget: cmp.Or(o.TokenBudget, MaxTokens)}
	return s.fit(), nil
}

// split returns the items that are rendered in full and the unverified ones, each
// in chronological order.
func (r *Reconciliation) split(pinned []Ref) (full, rest []item) {
	pins := make(map[Ref]bool, len(pinned))
	for _, ref := range pinned {
		pins[ref] = true
	}
	for i := range r.list {
		it := item{artifact: &r.list[i], judgement: r.judged[i], pinned: pins[r.list[i].ref]}
		switch it.show {
		case inFull:
			full = append(full, it)
		case unverified:
			rest = append(rest, it)
		}
	}
	slices.SortStableFunc(full, chronological)
	slices.SortStableFunc(rest, chronological)
	return full, rest
}

// chronological orders by time, then by source and id, which are in the order of
// their making too.
func chronological(a, b item) int {
	return cmp.Or(a.artifact.created.Compare(b.artifact.created),
		strings.Compare(string(a.artifact.ref.Source), string(b.artifact.ref.Source)),
		cmp.Compare(a.artifact.ref.ID, b.artifact.ref.ID))
}

// lastRelevant keeps the last n items and the pinned ones.
func lastRelevant(full []item, n int) (kept []item, left int) {
	for i, it := range full {
		if it.pinned || i >= len(full)-n {
			kept = append(kept, it)
		}
	}
	return kept, len(full) - len(kept)
}

// tail is the legacy slice: the last n items, whatever they are.
func (r *Reconciliation) tail(full, rest []item, n int) (lastFull, lastRest []item) {
	all := append(slices.Clone(full), rest...)
	slices.SortStableFunc(all, chronological)
	all, _ = lastRelevant(all, n)
	for _, it := range all {
		if it.show == inFull {
			lastFull = append(lastFull, it)
		} else {
			lastRest = append(lastRest, it)
		}
	}
	return lastFull, lastRest
}

// words are what an item says, without what a person quotes in it.
func (r *Reconciliation) words(it item) (string, []passage) {
	text := r.rules.text(it.artifact, it.kind)
	if it.kind.isBot() {
		return text, nil
	}
	return collapse(text)
}

// render writes a trusted item.
func (it item) render() string {
	var b strings.Builder
	words := it.kind.words()
	fmt.Fprintf(&b, "\n### %s%s: %s by %s", strings.ToUpper(words[:1]), words[1:], it.artifact.ref, author(it.artifact.user))
	if !it.kind.isBot() {
		fmt.Fprintf(&b, " (%s)", it.artifact.association)
	}
	fmt.Fprintf(&b, ", %s", timeText(it.artifact))
	if it.artifact.verdict != "" {
		b.WriteString(", " + it.artifact.verdict)
	}
	if it.pinned {
		b.WriteString(", pinned")
	}
	b.WriteByte('\n')
	if strings.TrimSpace(it.text) != "" {
		appendBlock(&b, it.text, MaxItemChars)
	}
	return b.String()
}

// timeText is the time as the ledger would spell it: the text that was checked can
// still hold a fraction of any length.
func timeText(a *artifact) string { return a.created.UTC().Format("2006-01-02T15:04:05Z") }

// author names an account; a login that is none of GitHub's form is quoted.
func author(u *User) string {
	switch {
	case u.isNobody():
		return "a deleted account"
	case isLogin(u.Login):
		return "@" + u.Login
	case u.Login == "":
		return fmt.Sprintf("account %d", u.ID)
	}
	return quote(u.Login, maxLoginBytes)
}

func isLogin(s string) bool {
	s = strings.TrimSuffix(s, "[bot]")
	return isAgentName(s) && !strings.Contains(s, ".")
}
