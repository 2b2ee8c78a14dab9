package github

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// told reads how long the server wants to be left alone.
func (c *Client) told(e *Error, h http.Header) {
	if !errors.Is(e, ErrThrottled) {
		return
	}
	if wait, ok := c.retryAfter(h); ok {
		e.Wait, e.Told = wait, true
	} else if reset, ok := parseSeconds(h.Get("X-RateLimit-Reset")); ok && h.Get("X-RateLimit-Remaining") == "0" {
		e.Wait, e.Told = max(0, time.Unix(reset, 0).Sub(c.opts.Now())), true
	}
}

// retryAfter takes seconds and the date form; anything else counts as not given.
func (c *Client) retryAfter(h http.Header) (time.Duration, bool) {
	text := h.Get("Retry-After")
	if seconds, ok := parseSeconds(text); ok {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(c.opts.Now())), true
	}
	return 0, false
}

// parseSeconds reads a whole number that is small enough to be one of seconds.
func parseSeconds(text string) (int64, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 33)
	return int64(n), err == nil
}

// wait returns how long to wait before a throttled request is sent again; when it
// is not worth waiting, it says so in the error.
func (c *Client) wait(e *Error, waits int) (time.Duration, bool) {
	pause := e.Wait
	if !e.Told {
		pause = defaultWait << min(waits, 8)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case pause > MaxWait:
		e.Hint = fmt.Sprintf("it asks to wait %v, the most that is waited here is %v: run again after that", pause.Round(time.Second), MaxWait)
		return 0, false
	case waits >= MaxWaits:
		e.Hint = fmt.Sprintf("it asked %d times to wait: run again later", waits+1)
		return 0, false
	case c.waited+pause > MaxWaiting:
		e.Hint = fmt.Sprintf("%v were waited in all, and it asks for more: run again later", c.waited.Round(time.Second))
		return 0, false
	}
	pause += time.Duration(c.opts.Random() * float64(waitSpread))
	c.waited += pause
	return pause, true
}
