package schema

import (
	"strconv"
)

const cutMark = "..."

// join puts two parts of a path together; of a long one the end is kept.
func join(path, more string) string {
	path += more
	if len(path) > maxPathBytes {
		path = cutMark + path[len(path)-maxPathBytes+len(cutMark):]
	}
	return path
}

func indexStep(i int) string { return "[" + strconv.Itoa(i) + "]" }

// nameStep spells a member's name in ASCII: .name, or quoted if it is no plain word.
func nameStep(name string) string {
	plain := name != "" && len(name) <= maxNameBytes
	for i := 0; plain && i < len(name); i++ {
		c := name[i]
		plain = c == '_' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	if plain {
		return "." + name
	}
	cut := ""
	if len(name) > maxNameBytes {
		name, cut = name[:maxNameBytes], cutMark
	}
	return "[" + strconv.QuoteToASCII(name) + cut + "]"
}
