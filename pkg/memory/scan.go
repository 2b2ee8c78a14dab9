package memory

import (
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// parseText reads a text as canonical.ParseStrict does. Text that is canonical
// needs no second look at names, spaces or numbers, and is cut into strings
// without copying them.
func parseText(text []byte) (canonical.Value, error) {
	if canonical.Valid(text) {
		return new(scanner).parse(text)
	}
	return canonical.ParseStrict(text, maxParseDepth)
}

// parse reads text that is known to be canonical, as that of every record is.
// Objects in the value are good until the next call: a fold reads every record
// and keeps little of each.
func (s *scanner) parse(text []byte) (canonical.Value, error) {
	s.text, s.at, s.odd, s.members, s.used = string(text), 0, false, s.members[:0], 0
	if v := s.value(0); !s.odd {
		return v, nil
	}
	return canonical.ParseStrict(text, maxParseDepth)
}

// scanner cuts canonical text. odd is set by what ParseStrict has to judge.
type scanner struct {
	text    string
	at      int
	odd     bool
	members []canonical.Member // of open objects, inner ones last
	spare   []canonical.Member // room for finished ones
	used    int                // of spare
}

func (s *scanner) value(depth int) canonical.Value {
	if depth > maxParseDepth {
		s.odd = true
	}
	if s.odd {
		return canonical.Value{}
	}
	switch s.text[s.at] {
	case '{':
		return s.object(depth)
	case '[':
		return s.array(depth)
	case '"':
		return canonical.Value{Kind: canonical.String, Str: s.string()}
	case 'n':
		s.at += len("null")
		return canonical.Value{}
	case 't':
		s.at += len("true")
		return canonical.Value{Kind: canonical.True}
	case 'f':
		s.at += len("false")
		return canonical.Value{Kind: canonical.False}
	}
	start := s.at
	for s.at < len(s.text) && strings.IndexByte("+-.0123456789e", s.text[s.at]) >= 0 {
		s.at++
	}
	// Integers up to 15 digits are doubles as they stand.
	if s.at-start > 15 {
		s.odd = true
	}
	return canonical.Value{Kind: canonical.Number, Str: s.text[start:s.at]}
}

func (s *scanner) string() string {
	start := s.at + 1
	end := start
	for {
		n := strings.IndexByte(s.text[end:], '"')
		end += n
		if strings.IndexByte(s.text[start:end], '\\') < 0 {
			s.at = end + 1
			return s.text[start:end]
		}
		// Escapes are rare, and their rules are canonical's.
		for i := start; ; i++ {
			switch s.text[i] {
			case '"':
				s.at = i + 1
				v, err := canonical.ParseStrict([]byte(s.text[start-1:s.at]), 0)
				s.odd = s.odd || err != nil
				return v.Str
			case '\\':
				i++
			}
		}
	}
}

func (s *scanner) object(depth int) canonical.Value {
	base := len(s.members)
	s.at++
	for s.text[s.at] != '}' {
		if s.text[s.at] == ',' {
			s.at++
		}
		name := s.string()
		s.at++ // the colon
		v := s.value(depth + 1)
		if s.odd {
			return canonical.Value{}
		}
		s.members = append(s.members, canonical.Member{Name: name, Value: v})
	}
	s.at++
	own := s.members[base:]
	if len(s.spare)-s.used < len(own) {
		s.spare, s.used = make([]canonical.Member, max(64, 2*len(s.spare), len(own))), 0
	}
	list := s.spare[s.used : s.used+len(own) : s.used+len(own)]
	s.used += len(own)
	copy(list, own)
	s.members = s.members[:base]
	return canonical.Value{Kind: canonical.Object, Members: list}
}

func (s *scanner) array(depth int) canonical.Value {
	var items []canonical.Value
	s.at++
	for s.text[s.at] != ']' {
		if s.text[s.at] == ',' {
			s.at++
		}
		items = append(items, s.value(depth+1))
		if s.odd {
			return canonical.Value{}
		}
	}
	s.at++
	return canonical.Value{Kind: canonical.Array, Items: items}
}
