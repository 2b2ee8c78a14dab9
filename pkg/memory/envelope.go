package memory

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// EnvelopeVersion is the version, and the purpose, of an authorization.
const EnvelopeVersion = "memory-git-merge/v2"

// Envelope authorizes one movement of a protected ref.
type Envelope struct {
	Project, Ref      string
	Expected, NewHead Name
	Proposal          string
	StateDigest       string
	Reviewer, Merger  string // principals
	Strategy          Strategy
	IssuedAt, Expires string
	Nonce             string // 64 lower-case hex digits
	KeyID             string
}

// Binding says where an authorization is good. The verifier takes it from its
// own run; it is part of what is signed and no part of the envelope.
type Binding struct {
	Server     string // host, such as github.com
	Repository string // numeric id
	Ledger     string
	Branch     string
}

// Token is a signed envelope, as it travels: the canonical text, and a line feed,
// of
//
//	{"bound_to":{"branch","ledger","repository_id","server"},
//	 "envelope":{...},"mac":"<64 lower-case hex digits>"}
//
// with the members of the envelope version, project_id, ref_name, expected_head,
// new_head, proposal_id, state_digest, reviewer, merger, strategy, issued_at,
// expires_at, nonce, key_id, all strings. The mac is HMAC-SHA256 over
// "memory-git-merge/v2", server, repository id, ledger, branch and the canonical
// text of envelope, each after its length in bytes as 8 bytes, big endian.
// bound_to is not trusted: it only tells a wrong place from an altered token.
type Token struct {
	Envelope Envelope
	Bound    Binding
	MAC      string
}

// Errors of an authorization; each is one way in which it fails.
var (
	ErrTokenForm       = errors.New("authorization is not in its one spelling: pass the file as memory-review wrote it")
	ErrUnknownKey      = errors.New("authorization names a key that is not in the ring")
	ErrOtherServer     = errors.New("authorization is for another server")
	ErrOtherRepository = errors.New("authorization is for another repository")
	ErrOtherLedger     = errors.New("authorization is for another ledger")
	ErrOtherBranch     = errors.New("authorization is for another branch")
	ErrMAC             = errors.New("authorization is not signed by its key: it was altered")
	ErrLifetime        = errors.New("authorization is not valid for a time up to 15 minutes")
	ErrFuture          = errors.New("authorization was issued in the future: check the clocks")
	ErrExpired         = errors.New("authorization has expired: review again")
)

func (e *Envelope) value() canonical.Value {
	var o object
	o.text("version", EnvelopeVersion)
	o.text("project_id", e.Project)
	o.text("ref_name", e.Ref)
	o.text("expected_head", e.Expected.String())
	o.text("new_head", e.NewHead.String())
	o.text("proposal_id", e.Proposal)
	o.text("state_digest", e.StateDigest)
	o.text("reviewer", e.Reviewer)
	o.text("merger", e.Merger)
	o.text("strategy", string(e.Strategy))
	o.text("issued_at", e.IssuedAt)
	o.text("expires_at", e.Expires)
	o.text("nonce", e.Nonce)
	o.text("key_id", e.KeyID)
	return o.value()
}

func (b Binding) value() canonical.Value {
	var o object
	o.text("server", b.Server)
	o.text("repository_id", b.Repository)
	o.text("ledger", b.Ledger)
	o.text("branch", b.Branch)
	return o.value()
}

func (t *Token) value() canonical.Value {
	var o object
	o.put("envelope", t.Envelope.value())
	o.put("bound_to", t.Bound.value())
	o.text("mac", t.MAC)
	return o.value()
}

// Text is the token as a file.
func (t *Token) Text() []byte {
	text, err := t.value().Text()
	if err != nil {
		panic("memory: a token nests too deep")
	}
	return append(text, '\n')
}

// nonce reads 32 bytes in lower-case hex, the only spelling.
func (f *fields) nonce(name string) string {
	s := f.text(name, MaxFieldBytes)
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != nonceBytes || hex.EncodeToString(b) != s {
		f.failf("needs %d lower-case hexadecimal digits as %s", 2*nonceBytes, name)
	}
	return s
}

func (f *fields) principal(name string) string {
	s := f.text(name, MaxFieldBytes)
	if !isUserID(s) {
		f.failf("needs a numeric user id as %s", name)
	}
	return s
}

func readToken(v canonical.Value) (Token, *Refusal) {
	f := readObject(v, "authorization")
	in := f.object("envelope")
	in.oneOf("version", EnvelopeVersion)
	e := Envelope{Project: in.segment("project_id"), Ref: in.ref("ref_name"), Expected: in.name("expected_head"), NewHead: in.name("new_head"),
		Proposal: in.uuid("proposal_id"), StateDigest: in.hash("state_digest").String(), Reviewer: in.principal("reviewer"), Merger: in.principal("merger"),
		Strategy: in.strategy("strategy"), IssuedAt: in.time("issued_at"), Expires: in.time("expires_at"), Nonce: in.nonce("nonce"), KeyID: in.segment("key_id")}
	f.join(in)
	in = f.object("bound_to")
	b := Binding{in.text("server", MaxFieldBytes), in.text("repository_id", MaxFieldBytes), in.text("ledger", MaxFieldBytes), in.text("branch", MaxFieldBytes)}
	f.join(in)
	t := Token{e, b, f.nonce("mac")} // a mac has the form of a nonce
	return t, f.end()
}

// ParseToken reads a token file. Only the exact bytes of Text are one.
func ParseToken(text []byte) (*Token, error) {
	if len(text) > MaxTokenBytes || len(text) == 0 || text[len(text)-1] != '\n' || !canonical.Valid(text[:len(text)-1]) {
		return nil, ErrTokenForm
	}
	v, err := canonical.ParseStrict(text[:len(text)-1], maxParseDepth)
	if err != nil {
		return nil, ErrTokenForm
	}
	t, fault := readToken(v)
	if fault != nil {
		return nil, errors.Join(ErrTokenForm, fault)
	}
	return &t, nil
}

func (k Key) mac(b Binding, e *Envelope) []byte {
	text, err := e.value().Text()
	if err != nil {
		panic("memory: an envelope nests too deep")
	}
	h := hmac.New(sha256.New, k.secret)
	for _, part := range [][]byte{[]byte(EnvelopeVersion), []byte(b.Server), []byte(b.Repository), []byte(b.Ledger), []byte(b.Branch), text} {
		_ = binary.Write(h, binary.BigEndian, uint64(len(part)))
		h.Write(part)
	}
	return h.Sum(nil)
}

// Sign completes an envelope with the first key, times and a nonce, and signs it.
// life is at most MaxEnvelopeLife.
func (r *KeyRing) Sign(e Envelope, b Binding, now time.Time, life time.Duration, random io.Reader) (*Token, error) {
	if r == nil || len(r.keys) == 0 {
		return nil, errors.New("the merge keys are missing")
	}
	if life <= 0 || life > MaxEnvelopeLife {
		return nil, ErrLifetime
	}
	nonce := make([]byte, nonceBytes)
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, errors.New("failed to read randomness")
	}
	key := r.keys[0]
	e.KeyID, e.Nonce = key.ID, hex.EncodeToString(nonce)
	e.IssuedAt, e.Expires = ledger.FormatTime(now), ledger.FormatTime(now.Add(life))
	t := &Token{Envelope: e, Bound: b}
	t.MAC = hex.EncodeToString(key.mac(b, &t.Envelope))
	return t, nil
}

// verifyMAC checks the place and the signature.
func (t *Token) verifyMAC(r *KeyRing, b Binding) error {
	key, ok := r.find(t.Envelope.KeyID)
	switch {
	case !ok:
		return ErrUnknownKey
	case t.Bound.Server != b.Server:
		return ErrOtherServer
	case t.Bound.Repository != b.Repository:
		return ErrOtherRepository
	case t.Bound.Ledger != b.Ledger:
		return ErrOtherLedger
	case t.Bound.Branch != b.Branch:
		return ErrOtherBranch
	}
	mac, err := hex.DecodeString(t.MAC)
	if err != nil || len(mac) != sha256.Size || hex.EncodeToString(mac) != t.MAC || !hmac.Equal(mac, key.mac(b, &t.Envelope)) {
		return ErrMAC
	}
	return nil
}

// checkTimes checks what needs no clock: that the times are in order.
func (e *Envelope) checkTimes() (issued, expires time.Time, err error) {
	issued, ok1 := ledger.ParseTime(e.IssuedAt)
	expires, ok2 := ledger.ParseTime(e.Expires)
	if !ok1 || !ok2 || !expires.After(issued) || expires.Sub(issued) > MaxEnvelopeLife {
		return issued, expires, ErrLifetime
	}
	return issued, expires, nil
}

// Verify checks the key, the place, the signature and the times against the
// verifier's own clock. Tolerance applies to the time of issue only.
func (t *Token) Verify(r *KeyRing, b Binding, now time.Time) error {
	if err := t.verifyMAC(r, b); err != nil {
		return err
	}
	issued, expires, err := t.Envelope.checkTimes()
	switch {
	case err != nil:
		return err
	case issued.After(now.Add(ClockTolerance)):
		return ErrFuture
	case !now.Before(expires):
		return ErrExpired
	}
	return nil
}
