package memory

import (
	"strings"
	"unicode"
)

// wordsOf are the different words of a text, normalized and without case, with
// their numbers.
func wordsOf(text string) map[string]int {
	words := map[string]int{}
	for _, w := range splitWords(text) {
		if _, known := words[w]; !known {
			words[w] = len(words)
		}
	}
	return words
}

func splitWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(normalize(text)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

// overlap counts the words of the query that a memory has.
func overlap(query map[string]int, m *Memory) int {
	if len(query) == 0 {
		return 0
	}
	found := make([]bool, len(query))
	n := 0
	count := func(text string) {
		for _, w := range splitWords(text) {
			if i, asked := query[w]; asked && !found[i] {
				found[i] = true
				n++
			}
		}
	}
	count(m.Content)
	count(m.FactKey)
	count(m.Subject)
	for _, tag := range m.Tags {
		count(tag)
	}
	return n
}
