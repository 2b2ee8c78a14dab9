package memory

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// approved is a branch with an approved proposal, and its authorization.
func approved(t testing.TB) (*world, *Token) {
	w := newWorld(t)
	w.root()
	return w, w.approve(ada, w.propose(one, w.commit(one, session("one", "a"), fact("db.port", "5432"))))
}

func TestEachAttackOnAnAuthorizationFailsWithItsOwnError(t *testing.T) {
	w, good := approved(t)
	now := w.now
	ring := testRing(t)
	binding := func(change func(*Binding)) Binding {
		b := testBinding
		change(&b)
		return b
	}
	envelope := func(change func(*Envelope)) *Token {
		c := *good
		change(&c.Envelope)
		return &c
	}
	resigned := func(change func(*Envelope)) *Token {
		c := envelope(change)
		key := ring.keys[0]
		c.MAC = hexOf(key.mac(testBinding, &c.Envelope))
		return c
	}
	tests := map[string]struct {
		token   *Token
		ring    *KeyRing
		binding Binding
		now     time.Time
		want    error
	}{
		"a good one":                      {good, ring, testBinding, now, nil},
		"an altered project":              {envelope(func(e *Envelope) { e.Project = "other" }), ring, testBinding, now, ErrMAC},
		"an altered ref":                  {envelope(func(e *Envelope) { e.Ref = "refs/shared/x" }), ring, testBinding, now, ErrMAC},
		"an altered head":                 {envelope(func(e *Envelope) { e.NewHead = e.Expected }), ring, testBinding, now, ErrMAC},
		"an altered expected head":        {envelope(func(e *Envelope) { e.Expected = e.NewHead }), ring, testBinding, now, ErrMAC},
		"an altered proposal":             {envelope(func(e *Envelope) { e.Proposal = w.uuid7() }), ring, testBinding, now, ErrMAC},
		"an altered digest":               {envelope(func(e *Envelope) { e.StateDigest = ledger.Hash{}.String() }), ring, testBinding, now, ErrMAC},
		"an altered reviewer":             {envelope(func(e *Envelope) { e.Reviewer = "12" }), ring, testBinding, now, ErrMAC},
		"an altered merger":               {envelope(func(e *Envelope) { e.Merger = "12" }), ring, testBinding, now, ErrMAC},
		"an altered strategy":             {envelope(func(e *Envelope) { e.Strategy = MergeCommit }), ring, testBinding, now, ErrMAC},
		"an altered expiry":               {envelope(func(e *Envelope) { e.Expires = ledger.FormatTime(now.Add(14 * time.Minute)) }), ring, testBinding, now, ErrMAC},
		"an altered nonce":                {envelope(func(e *Envelope) { e.Nonce = strings.Repeat("0", 64) }), ring, testBinding, now, ErrMAC},
		"text moved across fields":        {envelope(func(e *Envelope) { e.Reviewer, e.Merger = "1", "111" }), ring, testBinding, now, ErrMAC},
		"another key's id":                {envelope(func(e *Envelope) { e.KeyID = "old" }), ring, testBinding, now, ErrMAC},
		"a key id that there is not":      {envelope(func(e *Envelope) { e.KeyID = "none" }), ring, testBinding, now, ErrUnknownKey},
		"no keys":                         {good, nil, testBinding, now, ErrUnknownKey},
		"another server":                  {good, ring, binding(func(b *Binding) { b.Server = "ghe.example" }), now, ErrOtherServer},
		"another repository":              {good, ring, binding(func(b *Binding) { b.Repository = "4243" }), now, ErrOtherRepository},
		"another ledger":                  {good, ring, binding(func(b *Binding) { b.Ledger = "threads" }), now, ErrOtherLedger},
		"another branch":                  {good, ring, binding(func(b *Binding) { b.Branch = "ledgers/memory2" }), now, ErrOtherBranch},
		"expired":                         {good, ring, testBinding, now.Add(10 * time.Minute), ErrExpired},
		"issued in the future":            {good, ring, testBinding, now.Add(-2 * time.Minute), ErrFuture},
		"a life over 15 minutes":          {resigned(func(e *Envelope) { e.Expires = ledger.FormatTime(now.Add(time.Hour)) }), ring, testBinding, now, ErrLifetime},
		"an end before the beginning":     {resigned(func(e *Envelope) { e.Expires = ledger.FormatTime(now.Add(-time.Hour)) }), ring, testBinding, now, ErrLifetime},
		"extreme times":                   {resigned(func(e *Envelope) { e.IssuedAt, e.Expires = "0000-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z" }), ring, testBinding, now, ErrLifetime},
		"the last moment":                 {good, ring, testBinding, now.Add(10*time.Minute - 2*time.Second), nil},
		"a clock that is behind a little": {good, ring, testBinding, now.Add(-30 * time.Second), nil},
	}
	for name, test := range tests {
		if err := test.token.Verify(test.ring, test.binding, test.now); !errors.Is(err, test.want) || test.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	// The hint of the place is not what is signed.
	c := *good
	c.Bound.Repository = "4243"
	if err := c.Verify(ring, c.Bound, now); !errors.Is(err, ErrMAC) {
		t.Errorf("a place that was altered in the token: %v", err)
	}
	for _, mac := range []string{"", good.MAC[:16], strings.ToUpper(good.MAC), good.MAC + "00", strings.Repeat("0", 64)} {
		c := *good
		c.MAC = mac
		if c.Verify(ring, testBinding, now) == nil {
			t.Errorf("mac %q passes", mac)
		}
	}
	// Rotation: the second key verifies as well.
	old, _ := ParseKeyRing("old=" + strings.Repeat("b2", 32))
	token, err := old.Sign(good.Envelope, testBinding, now, time.Minute, bytes.NewReader(w.nonce()))
	if err != nil || token.Verify(ring, testBinding, now) != nil {
		t.Errorf("a retiring key: %v", err)
	}
}

func hexOf(b []byte) string {
	const digits = "0123456789abcdef"
	var s []byte
	for _, c := range b {
		s = append(s, digits[c>>4], digits[c&15])
	}
	return string(s)
}

func TestATokenHasOneSpelling(t *testing.T) {
	_, token := approved(t)
	text := string(token.Text())
	back, err := ParseToken([]byte(text))
	if err != nil || string(back.Text()) != text {
		t.Fatalf("parse: %v", err)
	}
	for name, spelled := range map[string]string{
		"without the line feed":  strings.TrimSuffix(text, "\n"),
		"with another line feed": text + "\n",
		"with a space":           " " + text,
		"with a member twice":    strings.Replace(text, `"mac"`, `"mac":"x","mac"`, 1),
		"with an unknown member": strings.Replace(text, `,"mac"`, `,"lax":true,"mac"`, 1),
		"with an upper-case mac": strings.Replace(text, token.MAC, strings.ToUpper(token.MAC), 1),
		"with an escape":         strings.Replace(text, `"mac"`, `"\u006dac"`, 1),
		"with an empty field":    strings.Replace(text, `"merger":"11"`, `"merger":""`, 1),
		"with a null":            strings.Replace(text, `"merger":"11"`, `"merger":null`, 1),
		"with a long nonce":      strings.Replace(text, token.Envelope.Nonce, strings.Repeat("a", 1<<20), 1),
		"with a login as person": strings.Replace(text, `"merger":"11"`, `"merger":"ada"`, 1),
		"with another version":   strings.Replace(text, EnvelopeVersion, "memory-git-merge/v1", 1),
		"empty":                  "",
	} {
		if spelled == text {
			t.Fatalf("%s changes nothing", name)
		}
		if _, err := ParseToken([]byte(spelled)); !errors.Is(err, ErrTokenForm) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnAuthorizationIsGoodForOneMerge(t *testing.T) {
	w, token := approved(t)
	stale := w.fold() // a second job that read the branch before
	if err := w.tryMerge(ada, token); err != nil {
		t.Fatal(err)
	}
	// In a fresh process, and in the same one.
	wantReason(t, w.tryMerge(ada, token), ReasonNonce)
	s := w.fold()
	for range 2 {
		_, err := s.Merge(w.clerk(ada), MergeRequest{token, testRing(t), testBinding, w.recordID()})
		wantReason(t, err, ReasonNonce)
	}
	// The one that lost the race makes a commit, which the head guards; read again it fails.
	records, err := stale.Merge(w.clerk(ada), MergeRequest{token, testRing(t), testBinding, w.recordID()})
	if err != nil || len(records) == 0 {
		t.Fatal(err)
	}
	_, err = w.fold().Merge(w.clerk(ada), MergeRequest{token, testRing(t), testBinding, records[0].ID()})
	wantReason(t, err, ReasonNonce)
	w.clean()
}

func TestALostReplyIsSettledByDoingTheSameAgain(t *testing.T) {
	w := newWorld(t)
	w.root()
	v := w.show(ada, w.propose(one, w.commit(one, session("one", "a"), fact("db.port", "5432"))))
	q, c := w.approval(ada, v), w.clerk(ada)
	records, token, err := w.fold().Approve(c, q)
	if err != nil {
		t.Fatal(err)
	}
	w.publish(records)
	again, same, err := w.fold().Approve(c, q)
	if err != nil || len(again) > 0 || !bytes.Equal(same.Text(), token.Text()) {
		t.Errorf("approve again: %d records, %v", len(again), err)
	}
	m := MergeRequest{token, testRing(t), testBinding, w.recordID()}
	if records, err = w.fold().Merge(c, m); err != nil {
		t.Fatal(err)
	}
	w.publish(records)
	if records, err = w.fold().Merge(c, m); err != nil || len(records) > 0 {
		t.Errorf("merge again: %d records, %v", len(records), err)
	}
	review := ReviewRequest{Project: "demo", Proposal: w.propose(one, w.commit(one, session("one", "b"), fact("x", "y"))), ID: w.uuid7(), Operation: Reject}
	if records, err = w.fold().Review(c, review); err != nil {
		t.Fatal(err)
	}
	w.publish(records)
	if records, err = w.fold().Review(c, review); err != nil || len(records) > 0 {
		t.Errorf("review again: %d records, %v", len(records), err)
	}
}

func TestWhatChangesAfterTheApprovalVoidsIt(t *testing.T) {
	for name, change := range map[string]func(w *world, proposal string){
		"a comment": func(w *world, proposal string) {
			w.review(ben, proposal, Comment)
		},
		"changes requested": func(w *world, proposal string) { w.review(ben, proposal, RequestChanges) },
		"another merge": func(w *world, proposal string) {
			w.land(w.propose(two, w.commit(two, session("two", "x"), fact("other", "thing"))))
		},
		"a conflict": func(w *world, proposal string) {
			s := w.fold()
			p := s.projects["demo"].proposals[proposal]
			c := &Conflict{Project: "demo", Proposal: proposal, Base: p.Base, Left: w.ref(SharedMain), Right: p.Head, Type: DuplicateContent, Severity: Tells, Identity: "x", Status: ConflictOpen}
			c.identify()
			d, err := s.open(w.clerk(ada), nil)
			if err != nil {
				w.t.Fatal(err)
			}
			if _, err := d.write(TypeConflict, c.Seal()); err != nil {
				w.t.Fatal(err)
			}
			records, _ := d.finish()
			w.publish(records)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, token := approved(t)
			proposal := token.Envelope.Proposal
			change(w, proposal)
			err := w.tryMerge(ada, token)
			if got := reasonOf(err); got != ReasonStale && got != ReasonStaleHead {
				t.Errorf("got %v", err)
			}
			if info, _ := w.fold().Proposal("demo", proposal); info.Approved {
				t.Error("still approved")
			}
		})
	}
}

func (w *world) review(id, proposal string, o Operation) {
	w.t.Helper()
	records, err := w.fold().Review(w.clerk(id), ReviewRequest{Project: "demo", Proposal: proposal, ID: w.uuid7(), Operation: o})
	if err != nil {
		w.t.Fatal(err)
	}
	w.publish(records)
}

func TestASecondApprovalReplacesTheFirst(t *testing.T) {
	w, first := approved(t)
	w.approve(ben, first.Envelope.Proposal)
	wantReason(t, w.tryMerge(ada, first), ReasonStale)
	// By the same person too: the nonce tells them apart.
	third := w.approve(ada, first.Envelope.Proposal)
	wantReason(t, w.tryMerge(ada, first), ReasonStale)
	if err := w.tryMerge(ada, third); err != nil {
		t.Error(err)
	}
	w.clean()
}

func TestApprovalIsRefused(t *testing.T) {
	w := newWorld(t)
	w.root()
	mine := w.propose(ada, w.commit(ada, session("ada", "a"), fact("mine", "1")))
	inside := w.commit(one, session("one", "z"), fact("base", "2"))
	records, err := w.fold().Review(w.clerk(ada), ReviewRequest{Project: "demo", Proposal: mine, ID: w.uuid7(), Operation: Comment})
	if err != nil {
		t.Fatal(err)
	}
	w.publish(records)
	proposal := w.propose(one, inside)
	v := w.show(ada, proposal)
	tests := map[string]struct {
		by     string
		change func(*ApproveRequest)
		want   Reason
	}{
		"without a digest":               {ada, func(q *ApproveRequest) { q.StateDigest = "" }, ReasonStale},
		"with a stale digest":            {ada, func(q *ApproveRequest) { q.StateDigest = ledger.Hash{9}.String() }, ReasonStale},
		"on a re-run":                    {ada, func(q *ApproveRequest) { q.Run.Attempt = 2 }, ReasonRun},
		"triggered by somebody else":     {ada, func(q *ApproveRequest) { q.Run.TriggeringActor = ben }, ReasonRun},
		"in somebody else's run":         {ada, func(q *ApproveRequest) { q.Run.Actor, q.Run.TriggeringActor = ben, ben }, ReasonRun},
		"from another branch's workflow": {ada, func(q *ApproveRequest) { q.Run.WorkflowOnDefaultBranch = false }, ReasonRun},
		"by an agent":                    {one, func(q *ApproveRequest) { q.Run.Actor, q.Run.TriggeringActor = one, one }, ReasonScope},
		"with a short nonce":             {ada, func(q *ApproveRequest) { q.Nonce = q.Nonce[:8] }, ReasonShape},
	}
	for name, test := range tests {
		q := w.approval(test.by, v)
		test.change(&q)
		_, _, err := w.fold().Approve(w.clerk(test.by), q)
		if reasonOf(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	// Of what one wrote oneself, as proposer, as author within, and as merger.
	own := w.show(ben, mine)
	_, _, err = w.fold().Approve(w.clerk(ada), w.approval(ada, own))
	wantReason(t, err, ReasonReviewer)
	q := w.approval(ben, own)
	q.Merger = ada
	_, _, err = w.fold().Approve(w.clerk(ben), q)
	wantReason(t, err, ReasonReviewer)
	q = w.approval(ada, v)
	q.Life = 16 * time.Minute
	if _, _, err = w.fold().Approve(w.clerk(ada), q); !errors.Is(err, ErrLifetime) {
		t.Errorf("a long life: %v", err)
	}
	q = w.approval(ada, v)
	q.Keys = nil
	if _, _, err = w.fold().Approve(w.clerk(ada), q); err == nil {
		t.Error("signed without keys")
	}
}

func TestAMergeIsTheNamedMergersAlone(t *testing.T) {
	w, token := approved(t)
	wantReason(t, w.tryMerge(ben, token), ReasonAuthor)
	if err := w.tryMerge(ada, token); err != nil {
		t.Error(err)
	}
}

func TestReplayFailsAfterTheRefCameBackToTheHead(t *testing.T) {
	w, token := approved(t)
	if err := w.tryMerge(ada, token); err != nil {
		t.Fatal(err)
	}
	s := w.fold()
	// Heads never recur, since a head descends from the one before; the nonce holds
	// even in a state where one did.
	s.projects["demo"].refs[SharedMain].head = s.projects["demo"].sets[0]
	_, err := s.Merge(w.clerk(ada), MergeRequest{token, testRing(t), testBinding, w.recordID()})
	wantReason(t, err, ReasonNonce)
}

func TestAForgedMergeOnTheChainIsFoundWithTheKeys(t *testing.T) {
	w, token := approved(t)
	s := w.fold()
	token.MAC = strings.Repeat("0", 64)
	d, err := s.open(w.clerk(ada), nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &Merge{Token: *token, MergedAt: ledger.FormatTime(w.now)}
	if _, err := d.write(TypeMerge, m.Seal()); err != nil {
		t.Fatal(err)
	}
	records, _ := d.finish()
	w.publish(records)
	if f := w.fold().Reconcile(nil, testBinding); len(f) != 0 {
		t.Errorf("without keys: %v", f)
	}
	if f := w.fold().Reconcile(testRing(t), testBinding); len(f) != 1 {
		t.Errorf("with keys: %v", f)
	}
}

// TestTheMACIsThatOfTheDocumentedBytes builds them by hand.
func TestTheMACIsThatOfTheDocumentedBytes(t *testing.T) {
	_, token := approved(t)
	text := string(token.Text())
	from := strings.Index(text, `"envelope":`) + len(`"envelope":`)
	envelope := text[from : from+strings.Index(text[from:], "}")+1]
	mac := hmac.New(sha256.New, bytes.Repeat([]byte{0xa1}, 32))
	for _, part := range []string{"memory-git-merge/v2", "github.com", "4242", "memory", "ledgers/memory", envelope} {
		mac.Write([]byte{0, 0, 0, 0, 0, 0, byte(len(part) >> 8), byte(len(part))})
		mac.Write([]byte(part))
	}
	if got := hexOf(mac.Sum(nil)); got != token.MAC {
		t.Errorf("mac %s, want %s", token.MAC, got)
	}
	if !canonical.Valid(bytes.TrimSuffix(token.Text(), []byte("\n"))) {
		t.Error("a token is no canonical text")
	}
}
