package projection

import (
	"strconv"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// find returns the canonical text of what the names lead to from payload, which
// is canonical text, or nil when they lead nowhere.
func find(payload []byte, names []string) []byte {
	for _, name := range names {
		switch payload[0] {
		case '{':
			payload = member(payload, name)
		case '[':
			if name != "length" {
				return nil
			}
			payload = strconv.AppendInt(nil, int64(length(payload)), 10)
		default:
			return nil
		}
		if payload == nil {
			return nil
		}
	}
	return payload
}

// member returns the value of an object's member. A name of a path has no
// character that canonical text escapes, so the bytes between quotes are it.
func member(object []byte, name string) []byte {
	for i := 1; object[i] == '"'; i++ {
		nameEnd := canonical.Scan(object, i, 0)
		end := canonical.Scan(object, nameEnd+1, 0)
		if string(object[i+1:nameEnd-1]) == name {
			return object[nameEnd+1 : end]
		}
		if i = end; object[i] == '}' {
			break
		}
	}
	return nil
}

// length counts the elements of an array.
func length(array []byte) int {
	if array[1] == ']' {
		return 0
	}
	n := 1
	for i := canonical.Scan(array, 1, 0); array[i] == ','; i = canonical.Scan(array, i+1, 0) {
		n++
	}
	return n
}
