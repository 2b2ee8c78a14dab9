package ledger

import "time"

// timestampLayout is how timestamps are written.
const timestampLayout = "2006-01-02T15:04:05.000Z"

// FormatTime returns t as a record timestamp, in UTC to the millisecond.
func FormatTime(t time.Time) string { return t.UTC().Format(timestampLayout) }

// ParseTime reads a record timestamp in its usual form, a four-digit year.
func ParseTime(text string) (time.Time, bool) {
	// time.Parse takes a comma before the milliseconds as well.
	t, err := time.Parse(timestampLayout, text)
	return t, err == nil && len(text) == len(timestampLayout) && isTimestamp([]byte(text))
}

// isTimestamp reports whether text is a UTC timestamp as ECMAScript prints it:
// four-digit years as YYYY-MM-DDTHH:MM:SS.mmmZ, all others up to ±275760 with a
// sign and six digits.
func isTimestamp(text []byte) bool {
	year, rest := 0, text
	switch {
	case len(text) == 24:
		if year = digits(text[:4]); year < 0 {
			return false
		}
		rest = text[4:]
	case len(text) == 27 && (text[0] == '+' || text[0] == '-'):
		if year = digits(text[1:7]); year < 0 {
			return false
		}
		if text[0] == '-' {
			year = -year
		}
		if year >= 0 && year <= 9999 {
			return false
		}
		rest = text[7:]
	default:
		return false
	}
	if rest[0] != '-' || rest[3] != '-' || rest[6] != 'T' || rest[9] != ':' || rest[12] != ':' || rest[15] != '.' || rest[19] != 'Z' {
		return false
	}
	month, day := digits(rest[1:3]), digits(rest[4:6])
	hour, minute, second, milli := digits(rest[7:9]), digits(rest[10:12]), digits(rest[13:15]), digits(rest[16:19])
	if month < 1 || month > 12 || day < 1 || day > daysIn(year, month) ||
		hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || milli < 0 {
		return false
	}
	// ECMAScript's range ends 100,000,000 days from 1970 on either side.
	at := year*10000 + month*100 + day
	switch {
	case year > 0:
		last := 275760*10000 + 9*100 + 13
		return at < last || at == last && hour+minute+second+milli == 0
	case year < 0:
		return year > -271821 || year == -271821 && (month > 4 || month == 4 && day >= 20)
	}
	return true
}

// daysIn returns the days of a month of the proleptic Gregorian calendar.
func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// digits reads a fixed number of decimal digits, -1 when one is none.
func digits(text []byte) int {
	n := 0
	for _, c := range text {
		if c -= '0'; c > 9 {
			return -1
		}
		n = n*10 + int(c)
	}
	return n
}
