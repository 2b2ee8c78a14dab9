package thread

import (
	"slices"
	"strings"
)

// rules are a Config made ready for one run.
type rules struct {
	Config
	own map[Ref]bool // CommentIDs
}

func (c Config) rules() (*rules, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r := &rules{Config: c, own: make(map[Ref]bool, len(c.CommentIDs))}
	for _, ref := range c.CommentIDs {
		r.own[ref] = true
	}
	return r, nil
}

// class is what one look at an artifact finds.
type class struct {
	kind Kind
	// forged: a marker stands where the engine writes it, and the account is none
	// of the engine's.
	forged bool
}

// classify decides the kind of a (decisions 1 and 6). A marker counts only at the
// very start of the body, alone on its line, and only from an account of the
// engine; without both an artifact takes the human path.
func (c *rules) classify(a *artifact, state Ref) class {
	if a.ref.Source == SourceIssue {
		return class{kind: IssueBody}
	}
	kind := c.marked(a.body)
	if kind != "" && c.isEngine(a, state) {
		return class{kind: kind}
	}
	found := class{kind: HumanFeedback, forged: kind != ""}
	if c.isCommand(a.body) {
		found.kind = Command
	}
	return found
}

// marked returns the kind that the markers at the start of body claim, "" without
// any. Several lines of markers may follow each other; the terminal one and those
// of notices win.
func (c *rules) marked(body string) Kind {
	kind, _ := c.readMarkers(body)
	return kind
}

// readMarkers returns the kind and what follows the markers.
func (c *rules) readMarkers(body string) (kind Kind, rest string) {
	for strings.HasPrefix(body, "<!--") {
		line, after, _ := strings.Cut(body, "\n")
		line = strings.TrimRight(line, " \t\r")
		name, isAgent := c.agentName(line)
		switch {
		case line == c.TerminalMarker, line == stateMarker, isAgent && slices.Contains(c.Notices, name):
			kind = EngineOutput
		case isAgent && kind == "":
			kind = AgentOutput
		case !isAgent:
			return kind, body
		}
		body = after
	}
	return kind, body
}

// text is what a says: an agent's text starts behind its markers.
func (c *rules) text(a *artifact, kind Kind) string {
	if kind != AgentOutput {
		return a.body
	}
	_, rest := c.readMarkers(a.body)
	return rest
}

// agentName returns the name in an agent marker.
func (c *Config) agentName(line string) (string, bool) {
	before, after, _ := strings.Cut(c.AgentMarker, "*")
	name, ok := strings.CutPrefix(line, before)
	name, end := strings.CutSuffix(name, after)
	return name, ok && end && isAgentName(name)
}

// isEngine reports whether a was posted by an account of the engine: its own
// actor, or a listed genuine bot account, this one only where the engine says so
// if it keeps a record of its comments. state is the state comment, which it
// wrote in any case.
func (c *rules) isEngine(a *artifact, state Ref) bool {
	if same(a.user, c.Engine) {
		return true
	}
	return c.isListedBot(a.user) && (c.CommentIDs == nil || a.ref == state || c.own[a.ref])
}

func (c *rules) isListedBot(u *User) bool {
	return u.isBot() && slices.ContainsFunc(c.BotAccounts, func(login string) bool {
		return login == "*" || strings.EqualFold(login, u.Login)
	})
}

// isCommand reports whether the first line that is neither blank nor quoted is a
// command.
func (c *rules) isCommand(body string) bool {
	var quotes quoting
	for len(body) > 0 {
		var line string
		line, body, _ = strings.Cut(body, "\n")
		if quotes.next(line) || strings.TrimSpace(line) == "" {
			continue
		}
		rest, ok := strings.CutPrefix(strings.TrimRight(line, " \t\r"), c.CommandPrefix)
		return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
	}
	return false
}
