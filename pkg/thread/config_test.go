package thread

import (
	"errors"
	"strings"
	"testing"
)

func TestConfigCheck(t *testing.T) {
	if err := DefaultConfig().Check(); err != nil {
		t.Fatalf("control: %v", err)
	}
	long := strings.Repeat("x", maxSettingBytes+1)
	for name, c := range map[string]struct {
		change  func(*Config)
		setting string
	}{
		"no terminal marker":                   {func(c *Config) { c.TerminalMarker = "" }, "terminal-marker"},
		"a terminal marker that is no comment": {func(c *Config) { c.TerminalMarker = "terminal" }, "terminal-marker"},
		"a terminal marker of two lines":       {func(c *Config) { c.TerminalMarker = "<!-- a\nb -->" }, "terminal-marker"},
		"an empty terminal marker":             {func(c *Config) { c.TerminalMarker = "<!-- -->" }, "terminal-marker"},
		"two comments as a marker":             {func(c *Config) { c.TerminalMarker = "<!-- a --><!-- b -->" }, "terminal-marker"},
		"a long terminal marker":               {func(c *Config) { c.TerminalMarker = "<!-- " + long + " -->" }, "terminal-marker"},
		"a terminal marker that is an agent's": {func(c *Config) { c.TerminalMarker = "<!-- bot-agent-end -->" }, "terminal-marker"},
		"an agent marker without a name":       {func(c *Config) { c.AgentMarker = "<!-- bot -->" }, "agent-marker"},
		"an agent marker with two names":       {func(c *Config) { c.AgentMarker = "<!-- bot-*-* -->" }, "agent-marker"},
		"no command prefix":                    {func(c *Config) { c.CommandPrefix = "" }, "command-prefix"},
		"a command prefix of two words":        {func(c *Config) { c.CommandPrefix = "/a b" }, "command-prefix"},
		"a command prefix with a line feed":    {func(c *Config) { c.CommandPrefix = "/a\n" }, "command-prefix"},
		"a notice that is no name":             {func(c *Config) { c.Notices = []string{"a b"} }, "notices"},
		"an empty notice":                      {func(c *Config) { c.Notices = []string{""} }, "notices"},
		"an empty bot account":                 {func(c *Config) { c.BotAccounts = []string{""} }, "bot-accounts"},
		"too many bot accounts":                {func(c *Config) { c.BotAccounts = make([]string, maxSettings+1) }, "bot-accounts"},
		"a comment id of no source":            {func(c *Config) { c.CommentIDs = []Ref{{ID: 5}} }, "comment-ids"},
	} {
		config := DefaultConfig()
		c.change(&config)
		var fault *ConfigError
		if err := config.Check(); !errors.As(err, &fault) || fault.Setting != c.setting {
			t.Errorf("%s: %v, want one of %s", name, err, c.setting)
		}
		if _, err := Reconcile(newFold(testThread), listingOf(), config); err == nil {
			t.Errorf("%s: reconciled all the same", name)
		}
	}
}

func TestOptionsCheck(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		ok      bool
	}{
		"nothing said":               {Options{}, true},
		"the least budget":           {Options{TokenBudget: MinTokens}, true},
		"less than the least budget": {Options{TokenBudget: MinTokens - 1}, false},
		"a negative budget":          {Options{TokenBudget: -1}, false},
		"more than the most budget":  {Options{TokenBudget: MaxTokens + 1}, false},
		"a pin of nothing":           {Options{Pinned: []Ref{{}}}, false},
	} {
		if err := c.options.Check(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
