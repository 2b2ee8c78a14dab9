package githubtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// page answers with one page of a list, and names its neighbours in Link by the
// repository's id, as GitHub does.
func (s *Server) page(c *call, list []any) {
	number := func(name string, otherwise, most int) (int, bool) {
		text := c.q.URL.Query().Get(name)
		if text == "" {
			return otherwise, true
		}
		n, err := strconv.Atoi(text)
		return min(n, most), err == nil && n > 0
	}
	size, ok := number("per_page", defaultPage, maxPage)
	at, ok2 := number("page", 1, 1<<20)
	if !ok || !ok2 {
		size, at = defaultPage, 1
	}
	last := max(1, (len(list)+size-1)/size)
	from := min(len(list), (at-1)*size)
	part := list[from:min(len(list), from+size)]
	var links []string
	link := func(rel string, page int) {
		u := *c.q.URL
		q := u.Query()
		q.Set("page", strconv.Itoa(page))
		links = append(links, fmt.Sprintf(`<%s/api/v3/repositories/%d/%s?%s>; rel="%s"`, s.URL, c.repo.id, strings.Join(c.rest, "/"), q.Encode(), rel))
	}
	if at > 1 {
		link("prev", min(at-1, last))
	}
	if at < last {
		link("next", at+1)
		link("last", last)
	}
	if at > 1 {
		link("first", 1)
	}
	if len(links) > 0 {
		c.w.Header().Set("Link", strings.Join(links, ", "))
	}
	s.conditional(c, part)
}

// conditional answers with 304, which costs nothing, when the client has the answer.
func (s *Server) conditional(c *call, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		fail(c.w, http.StatusInternalServerError, "Server Error")
		return
	}
	sum := sha256.Sum256([]byte(string(text) + c.w.Header().Get("Link")))
	tag := `W/"` + hex.EncodeToString(sum[:]) + `"`
	c.w.Header().Set("Etag", tag)
	c.w.Header().Set("Cache-Control", "private, max-age=60, s-maxage=60")
	for given := range strings.SplitSeq(c.q.Header.Get("If-None-Match"), ",") {
		if given = strings.TrimSpace(given); given == tag || given == strings.TrimPrefix(tag, "W/") {
			s.refund(c.w, "core")
			c.w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	answer(c.w, http.StatusOK, json.RawMessage(text))
}
