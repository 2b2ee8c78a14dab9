package compaction

import (
	"regexp"
	"strconv"
	"time"
)

var instantForm = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,3}))?Z$`)

// parseInstant reads the times in plans and states as the reference does: UTC to
// at most the millisecond; hour 24 only at the full hour; a day of the month up
// to 31, where one that the month lacks is one of the next month.
func parseInstant(text string) (time.Time, bool) {
	m := instantForm.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}, false
	}
	var n [8]int
	m[7] = (m[7] + "000")[:3]
	for i := 1; i < len(n); i++ {
		n[i], _ = strconv.Atoi(m[i])
	}
	month, day, hour, minute, second, milli := n[2], n[3], n[4], n[5], n[6], n[7]
	if month < 1 || month > 12 || day < 1 || day > 31 || minute > 59 || second > 59 ||
		hour > 24 || hour == 24 && minute+second+milli > 0 {
		return time.Time{}, false
	}
	return time.Date(n[1], time.Month(month), day, hour, minute, second, milli*int(time.Millisecond), time.UTC), true
}
