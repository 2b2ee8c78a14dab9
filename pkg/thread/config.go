package thread

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Config says who the engine is, how its comments look, and who triggered the
// run. [DefaultConfig] has everything but the last.
type Config struct {
	// TerminalMarker is the line that starts engine output.
	TerminalMarker string
	// AgentMarker is the line that starts agent output, with one * in place of the
	// agent's name.
	AgentMarker string
	// Notices are the names in an AgentMarker that make engine output.
	Notices []string
	// CommandPrefix starts a command.
	CommandPrefix string
	// BotAccounts are the logins of genuine bot accounts whose markers count; "*"
	// is all of them.
	BotAccounts []string
	// CommentIDs are the comments that the engine recorded as its own; nil when it
	// records none. With a list, empty or not, a bot account's marker counts only
	// there, since other workflows post under the same account.
	CommentIDs []Ref
	// Engine is the account that GET /user reports for the run's token, nil when
	// that is not known. Nobody gets bot-ness from an engine that is not known.
	Engine *User
	// Trigger is the event that started the run.
	Trigger Trigger
}

// Trigger is what the event's payload says.
type Trigger struct {
	// Author is the event's sender; without one nobody is trusted.
	Author *User
	// At is the time of the event, zero when it is not known; see [ParseTrigger].
	At time.Time
	// Artifact is what triggered the run, if something of the thread did, and Body
	// the payload's copy of its text, nil when the payload has none.
	Artifact Ref
	Body     *string
}

// DefaultConfig has the decision's markers and prefix, and GitHub's own bot.
func DefaultConfig() Config {
	return Config{
		TerminalMarker: "<!-- bot-workflow-terminal -->",
		AgentMarker:    "<!-- bot-agent-* -->",
		Notices:        []string{"started", "human-action", "error"},
		CommandPrefix:  "/nebuko",
		BotAccounts:    []string{"github-actions[bot]"},
	}
}

// maxAhead is how far the trigger's clock may be ahead of ours.
const maxAhead = 5 * time.Minute

// ParseTrigger reads the time of an event. Anything but a time in UTC, and one in
// the future, is no time: then text that was ever edited is not trusted.
func ParseTrigger(text string, now time.Time) (time.Time, bool) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || !strings.HasSuffix(text, "Z") || at.Sub(now) > maxAhead || at.Year() < 2000 {
		return time.Time{}, false
	}
	return at, true
}

// ConfigError is a setting that cannot be meant.
type ConfigError struct {
	// Setting is its name as an input; Problem says what is wrong and what is
	// wanted.
	Setting, Problem string
}

func (e *ConfigError) Error() string { return e.Setting + " " + e.Problem }

// Check returns the first setting that cannot be meant, as a *[ConfigError].
func (c Config) Check() error {
	if !isMarker(c.TerminalMarker) || strings.Contains(c.TerminalMarker, "*") {
		return &ConfigError{"terminal-marker", "must be an HTML comment on one line, such as <!-- bot-workflow-terminal -->"}
	}
	if _, after, ok := strings.Cut(c.AgentMarker, "*"); !isMarker(c.AgentMarker) || !ok || strings.Contains(after, "*") {
		return &ConfigError{"agent-marker", "must be an HTML comment on one line with one * for the agent's name, such as <!-- bot-agent-* -->"}
	}
	if _, ok := c.agentName(c.TerminalMarker); ok {
		return &ConfigError{"terminal-marker", "must differ from every agent-marker"}
	}
	if !isSetting(c.CommandPrefix) || strings.ContainsAny(c.CommandPrefix, " <>") {
		return &ConfigError{"command-prefix", "must be one word, such as /nebuko"}
	}
	if len(c.Notices) > maxSettings || slices.ContainsFunc(c.Notices, func(name string) bool { return !isAgentName(name) }) {
		return &ConfigError{"notices", "must be agent names of letters, digits, dots, hyphens and underscores"}
	}
	if len(c.BotAccounts) > maxSettings || slices.ContainsFunc(c.BotAccounts, func(login string) bool { return !isSetting(login) || strings.Contains(login, " ") }) {
		return &ConfigError{"bot-accounts", "must be logins of bot accounts, or *"}
	}
	if len(c.CommentIDs) > MaxRefs || slices.ContainsFunc(c.CommentIDs, func(ref Ref) bool { return !ref.valid() }) {
		return &ConfigError{"comment-ids", fmt.Sprintf("must be at most %d ids", MaxRefs)}
	}
	return nil
}

func isSetting(s string) bool {
	return s != "" && len(s) <= maxSettingBytes && printableASCII(s) && strings.TrimSpace(s) == s
}

func isMarker(s string) bool {
	inside, ok := strings.CutPrefix(s, "<!--")
	inside, end := strings.CutSuffix(inside, "-->")
	return ok && end && isSetting(s) && strings.TrimSpace(inside) != "" && !strings.ContainsAny(inside, "<>")
}

func isAgentName(s string) bool {
	if s == "" || len(s) > maxNameBytes {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
