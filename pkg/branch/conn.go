package branch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

// uploadPack is the git service that sends objects; this package uses no other.
const uploadPack = "git-upload-pack"

// Conn is one conversation with a git service of a remote, in version 0 of the
// pack protocol: the service advertises its references, then answers at most
// one request. Close it in any case.
type Conn struct {
	wire   wire
	cancel context.CancelFunc
	refs   *packp.AdvRefs
}

// wire carries a conversation: over HTTP, or to a git child.
type wire interface {
	// advertisement is the stream that opens the conversation.
	advertisement(ctx context.Context) (io.ReadCloser, error)
	// call sends the one request and returns the answer.
	call(ctx context.Context, request []byte) (io.ReadCloser, error)
	// explain turns an error met while reading into the reason, if it knows it.
	explain(err error) error
	close()
}

// Connect opens a conversation with a service, "git-upload-pack" or another
// one that speaks the same protocol, and reads its references.
func Connect(ctx context.Context, r Remote, service string) (*Conn, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, conversationTime)
	c := &Conn{cancel: cancel}
	var err error
	if r.local() {
		c.wire, err = newChildWire(ctx, r, service)
	} else {
		c.wire, err = newHTTPWire(r, service)
	}
	if err != nil {
		defer cancel()
		return nil, failure(ctx, err)
	}
	if err := c.advertise(ctx); err != nil {
		defer c.Close()
		return nil, failure(ctx, err)
	}
	return c, nil
}

func (c *Conn) advertise(ctx context.Context) error {
	in, err := c.wire.advertisement(ctx)
	if err != nil {
		return err
	}
	defer in.Close()
	refs, start := packp.NewAdvRefs(), &firstBytes{limit: maxDiagnosticBytes}
	limited := &boundedReader{r: in, left: maxAdvertisementBytes, what: "the list of references"}
	err = refs.Decode(io.TeeReader(limited, start))
	// The first reference's line names the format, after a zero byte; with longer
	// ids the rest cannot be read.
	_, line, _ := bytes.Cut(start.text, []byte{0})
	line, _, _ = bytes.Cut(line, []byte{'\n'})
	if bytes.Contains(line, []byte("object-format=sha256")) {
		return fmt.Errorf("%w: the repository's object format is sha256: only sha1 is supported", ErrMalformed)
	}
	// An empty repository answers with a flush, or with capabilities alone.
	if err != nil && !errors.Is(err, packp.ErrEmptyAdvRefs) {
		return c.wire.explain(err)
	}
	c.refs = refs
	return nil
}

// Head returns the object id, in lower-case hex, that the branch stands at, or
// "" when it does not exist, or [ErrNameTaken].
func (c *Conn) Head(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	has := func(ref string) bool { _, ok := c.refs.References[ref]; return ok }
	under := func(prefix string) (first string) {
		for ref := range c.refs.References {
			if strings.HasPrefix(ref, prefix) && (first == "" || ref < first) {
				first = ref
			}
		}
		return first
	}
	if err := checkTaken(name, has, under); err != nil {
		return "", err
	}
	if h := c.refs.References[Ref(name)]; h != plumbing.ZeroHash {
		return h.String(), nil
	}
	return "", nil
}

// Supports tells whether the service advertised a capability.
func (c *Conn) Supports(name string) bool {
	return c.refs.Capabilities.Supports(capability.Capability(name))
}

// Call sends the conversation's one request and returns the answer's stream,
// of which at most limit bytes can be read before it fails with [ErrTooLarge].
// An error, here or while reading, does not say whether the request took effect.
func (c *Conn) Call(ctx context.Context, request []byte, limit int64) (io.ReadCloser, error) {
	ctx, cancel := context.WithTimeout(ctx, conversationTime)
	out, err := c.wire.call(ctx, request)
	if err != nil {
		defer cancel()
		return nil, failure(ctx, err)
	}
	return &answer{
		Reader: &boundedReader{r: out, left: limit, what: "the answer"},
		close:  func() error { defer cancel(); return out.Close() },
	}, nil
}

// Close ends the conversation and waits for the child that served it, if any.
func (c *Conn) Close() {
	c.cancel() // first, so that a child that will not end is ended
	c.wire.close()
}

type answer struct {
	io.Reader
	close func() error
}

func (a *answer) Close() error { return a.close() }

// failure prefers the reason why the context ended, and makes everything that
// has no kind yet an unclear answer.
func failure(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		if errors.Is(cause, context.DeadlineExceeded) {
			return fmt.Errorf("%w: no answer in time: %w", ErrUnavailable, cause)
		}
		return cause
	}
	for _, kind := range []error{
		ErrRemote, ErrName, ErrNameTaken, ErrNotFound, ErrUnauthorized, ErrThrottled, ErrTooLarge,
		ErrMalformed, ErrUnavailable, ErrMoved, ErrShallow,
	} {
		if errors.Is(err, kind) {
			return err
		}
	}
	var line *pktline.ErrorLine
	if errors.As(err, &line) {
		for _, words := range []string{"not found", "no such repository", "does not exist"} {
			if strings.Contains(strings.ToLower(line.Text), words) {
				return fmt.Errorf("%w: the server says %s", ErrNotFound, Printable(line.Text, 200))
			}
		}
		return fmt.Errorf("%w: the server says %s", ErrUnavailable, Printable(line.Text, 200))
	}
	return fmt.Errorf("%w: %s", ErrUnavailable, Printable(err.Error(), 200))
}

// boundedReader fails with ErrTooLarge instead of ending when more than left
// bytes come.
type boundedReader struct {
	r    io.Reader
	left int64
	what string
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, fmt.Errorf("%w: %s is over its bound", ErrTooLarge, b.what)
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, fmt.Errorf("%w: %s is over its bound", ErrTooLarge, b.what)
	}
	return n, err
}

// pkt appends one pkt-line.
func pkt(b *bytes.Buffer, format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	fmt.Fprintf(b, "%04x%s", len(line)+4, line)
}
