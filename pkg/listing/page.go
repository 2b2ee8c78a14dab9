package listing

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/thread"
)

// page is one page as it was last read.
type page[T any] struct {
	etag, next string
	items      []T
}

// pages keeps the pages of one list by their address, so that a further pass asks
// only whether they changed.
type pages[T any] map[string]page[T]

// get asks for one address, conditionally where it was read before; changed is
// false when it is as it was.
func get[T any](ctx context.Context, r *reader, kept map[string]page[T], path, needs string, decode func(*github.Answer) ([]T, error)) (p page[T], changed bool, err error) {
	before, known := kept[path]
	call := github.Call{Method: http.MethodGet, Path: path, Needs: needs, Limit: maxPageBytes}
	if known {
		call.IfNoneMatch = before.etag
	}
	answer, err := r.client.Do(ctx, call)
	if err != nil {
		return page[T]{}, false, err
	}
	if answer.Status == http.StatusNotModified {
		if !known {
			return page[T]{}, false, errors.New("the server says that an answer did not change which was never read")
		}
		return before, false, nil
	}
	if r.bytes += len(answer.Body); r.bytes > maxPasses*thread.MaxListingBytes {
		return page[T]{}, false, fmt.Errorf("thread has over %d bytes: it is too large to be read whole", thread.MaxListingBytes)
	}
	if answer.Elsewhere {
		return page[T]{}, false, errors.New("the server's link to the next page leads to another server: check GITHUB_API_URL")
	}
	items, err := decode(answer)
	if err != nil {
		return page[T]{}, false, err
	}
	p = page[T]{answer.ETag, answer.Next, items}
	kept[path] = p
	return p, true, nil
}

// list reads a list from its first page to its last. What was read before a
// failure is returned beside it.
func list[T any](ctx context.Context, r *reader, kept pages[T], path, needs string) (items []T, changed bool, err error) {
	seen := map[string]bool{}
	for at := fmt.Sprintf("%s?per_page=%d", path, pageItems); at != ""; {
		if seen[at] || len(at) > maxURLBytes {
			return items, changed, errors.New("the server's links between pages lead nowhere")
		}
		seen[at] = true
		p, new, err := get(ctx, r, kept, at, needs, func(a *github.Answer) (items []T, err error) { return items, a.Decode(&items) })
		if err != nil {
			return items, changed, fmt.Errorf("page %d: %w", len(seen), err)
		}
		items, changed = append(items, p.items...), changed || new
		if len(items) > thread.MaxArtifacts {
			return items, changed, fmt.Errorf("thread has over %d artifacts", thread.MaxArtifacts)
		}
		at = p.next
	}
	return items, changed, nil
}
