package memory

import (
	"strings"
	"testing"
)

func TestKeysAreRefused(t *testing.T) {
	good := strings.Repeat("a1", 32)
	for name, test := range map[string]struct{ text, token string }{
		"none":                  {"", ""},
		"one that is too short": {"k=" + good[:62], ""},
		"one that is too long":  {"k=" + strings.Repeat("a1", 129), ""},
		"upper case":            {"k=" + strings.ToUpper(good), ""},
		"an odd digit":          {"k=" + good + "a", ""},
		"no id":                 {"=" + good, ""},
		"no equals sign":        {good, ""},
		"an id twice":           {"k=" + good + ",k=" + strings.Repeat("b2", 32), ""},
		"the bytes twice":       {"k=" + good + ",l=" + good, ""},
		"the token":             {"k=" + good, good},
		"the token's bytes":     {"k=" + hexOf([]byte("ghs_0123456789012345678901234567890")), "ghs_0123456789012345678901234567890"},
		"a space":               {"k=" + good + ", l=" + strings.Repeat("b2", 32), ""},
		"an end without a key":  {"k=" + good + ",", ""},
	} {
		_, err := ParseKeyRing(test.text, test.token)
		if err == nil {
			t.Errorf("%s passes", name)
		} else if strings.Contains(err.Error(), "a1a1") {
			t.Errorf("%s: the error shows the key", name)
		}
	}
	if _, err := ParseKeyRing("k="+good, "", "token"); err != nil {
		t.Error(err)
	}
}
