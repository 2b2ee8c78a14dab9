package branch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
)

// request asks for the objects of one commit.
type request struct {
	want plumbing.Hash
	// depth 1 asks for the commit without its ancestors; 0 for all of them.
	depth int
	// have is a commit whose descendants' new objects suffice, if not zero. The
	// server says whether it knows it at all.
	have plumbing.Hash
	// shallow says that of have's history only have itself is here, so that the
	// server leaves nothing out that only an older commit holds. It also lets
	// the server send deltas against the objects of have.
	shallow bool
	// commitsOnly lets a server that can do so leave out trees and blobs.
	commitsOnly bool
}

// fetch sends the request and returns the pack's stream, and whether the server
// knows the commit named in have. Errors of the stream need failure.
func (c *Conn) fetch(ctx context.Context, r request, limit int64) (pack io.ReadCloser, known bool, err error) {
	body, answer := c.encode(r)
	in, err := c.Call(ctx, body, limit)
	if err != nil {
		return nil, false, err
	}
	if err := answer.Decode(in); err != nil {
		defer in.Close()
		return nil, false, failure(ctx, c.wire.explain(unwrapLine(err)))
	}
	var packed io.Reader = answer
	if c.Supports("side-band-64k") {
		packed = sideband.NewDemuxer(sideband.Sideband64k, answer)
	}
	return &pairCloser{packed, in}, len(answer.ACKs) > 0, nil
}

// encode writes the request and prepares the decoder that fits it.
func (c *Conn) encode(r request) ([]byte, *packp.UploadPackResponse) {
	if !c.Supports("shallow") {
		r.depth, r.shallow = 0, false // all of it, then
	}
	req := packp.NewUploadPackRequest()
	for _, name := range []capability.Capability{
		capability.OFSDelta, capability.Sideband64k, capability.NoProgress, capability.Shallow,
	} {
		if c.refs.Capabilities.Supports(name) {
			req.Capabilities.Set(name)
		}
	}
	if c.Supports("agent") {
		req.Capabilities.Set(capability.Agent, "git/repo-memory-ledger")
	}
	if r.shallow && c.Supports("thin-pack") {
		req.Capabilities.Set(capability.ThinPack)
	}
	if r.commitsOnly && c.Supports("filter") {
		req.Capabilities.Set(capability.Filter)
		req.Filter = "tree:0"
	}
	req.Wants = []plumbing.Hash{r.want}
	req.Depth = packp.DepthCommits(r.depth)
	if r.shallow {
		req.Shallows = []plumbing.Hash{r.have}
	}
	var b bytes.Buffer
	req.UploadRequest.Encode(&b) // into memory, and there is a want: cannot fail
	if r.have != plumbing.ZeroHash {
		pkt(&b, "have %s\n", r.have)
	}
	pkt(&b, "done\n")
	return b.Bytes(), packp.NewUploadPackResponse(req)
}

// unwrapLine finds the server's own words, which the decoder may have wrapped
// beyond recognition.
func unwrapLine(err error) error {
	var line *pktline.ErrorLine
	if errors.As(err, &line) {
		return line
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: the answer ends early", ErrUnavailable)
	}
	return err
}

type pairCloser struct {
	io.Reader
	io.Closer
}
