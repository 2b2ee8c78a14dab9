package action

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Help is the text of --help. [ParseHelp] reads it back.
func (r Role) Help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", r.Name, r.Summary)
	command := ""
	if len(r.Commands) > 0 {
		command = "[COMMAND] | "
	}
	fmt.Fprintf(&b, "Usage: %s [%s--help | --version]\n", r.Name, command)
	if r.Trusted {
		b.WriteString("Refuses to run in a job that runs an agent (" + untrustedJob + " is set).\n")
	}
	if len(r.Commands) > 0 {
		b.WriteString("\nCommands (the first is the default):\n")
		for _, c := range r.Commands {
			fmt.Fprintf(&b, "  %s\n      %s\n", c.Name, c.Help)
		}
	}
	if len(r.Inputs) > 0 {
		b.WriteString("\nInputs (environment variables):\n")
		for _, in := range r.Inputs {
			fmt.Fprintf(&b, "  %s (%s) %s\n      %s\n      Takes %s.\n", in.Name, in.Variable(), in.presence(), in.Help, in.Accepts())
			if in.Empty != "" {
				fmt.Fprintf(&b, "      Empty: %s.\n", in.Empty)
			}
		}
	}
	if len(r.Outputs) > 0 {
		b.WriteString("\nOutputs (GITHUB_OUTPUT, else standard output):\n")
		for _, out := range r.Outputs {
			fmt.Fprintf(&b, "  %s\n      %s\n", out.Name, out.Help)
		}
	}
	b.WriteString(helpEnd)
	return b.String()
}

const helpEnd = "\nExit codes: 0 done, also when there was nothing to do; 1 failed; 2 bad input.\n"

func (in Input) presence() string {
	switch {
	case in.Required:
		return "required"
	case in.Default != "":
		return "default " + strconv.Quote(in.Default)
	}
	return "optional"
}

var (
	titleLine = regexp.MustCompile(`^([a-z0-9-]+): (.+)$`)
	inputLine = regexp.MustCompile(`^  ([a-z0-9-]+) \([A-Z0-9_]+\) (required|optional|default (".*"))$`)
	nameLine  = regexp.MustCompile(`^  ([a-z0-9-]+)$`)
)

// ParseHelp reads the text of --help back into the names, help texts, defaults,
// Required, Empty and Trusted of a Role, so that a test can compare a built
// binary with its action.yml and README. Anything else is an error.
func ParseHelp(text string) (Role, error) {
	var r Role
	var section string
	body, ok := strings.CutSuffix(text, helpEnd)
	if !ok {
		return Role{}, fmt.Errorf("help does not end with the exit codes")
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		help := func() string {
			if i+1 < len(lines) {
				i++
				return strings.TrimPrefix(lines[i], "      ")
			}
			return ""
		}
		m := titleLine.FindStringSubmatch(line)
		switch {
		case i == 0 && m != nil:
			r.Name, r.Summary = m[1], m[2]
		case line == "" || strings.HasPrefix(line, "Usage: "):
		case strings.HasPrefix(line, "Refuses to run "):
			r.Trusted = true
		case strings.HasPrefix(line, "Commands "), strings.HasPrefix(line, "Inputs "), strings.HasPrefix(line, "Outputs "):
			section, _, _ = strings.Cut(line, " ")
		case section == "Inputs" && inputLine.MatchString(line):
			m := inputLine.FindStringSubmatch(line)
			in := Input{Name: m[1], Required: m[2] == "required"}
			if m[3] != "" {
				in.Default, _ = strconv.Unquote(m[3])
			}
			in.Help = help()
			r.Inputs = append(r.Inputs, in)
		case section == "Inputs" && len(r.Inputs) > 0 && strings.HasPrefix(line, "      Takes "):
		case section == "Inputs" && len(r.Inputs) > 0 && strings.HasPrefix(line, "      Empty: "):
			r.Inputs[len(r.Inputs)-1].Empty = strings.TrimSuffix(strings.TrimPrefix(line, "      Empty: "), ".")
		case section == "Commands" && nameLine.MatchString(line):
			r.Commands = append(r.Commands, Command{Name: strings.TrimSpace(line), Help: help()})
		case section == "Outputs" && nameLine.MatchString(line):
			r.Outputs = append(r.Outputs, Output{Name: strings.TrimSpace(line), Help: help()})
		default:
			return Role{}, fmt.Errorf("help line %d is not understood", i+1)
		}
	}
	return r, nil
}

// Markdown is the role's inputs and outputs as its README states them: a section
// an input with its default, then a table of outputs.
func (r Role) Markdown() string {
	var b strings.Builder
	if len(r.Inputs) > 0 {
		b.WriteString("## Inputs\n\n")
	}
	for _, in := range r.Inputs {
		presence := in.presence()
		if in.Default != "" {
			presence = "default `" + in.Default + "`"
		}
		fmt.Fprintf(&b, "### `%s`\n\n%s\n\nTakes %s; %s.", in.Name, in.Help, in.Accepts(), presence)
		if in.Empty != "" {
			fmt.Fprintf(&b, " Empty: %s.", in.Empty)
		}
		b.WriteString("\n\n")
	}
	if len(r.Outputs) > 0 {
		b.WriteString("## Outputs\n\n| output | what it holds |\n| --- | --- |\n")
		for _, out := range r.Outputs {
			fmt.Fprintf(&b, "| `%s` | %s |\n", out.Name, out.Help)
		}
		b.WriteString("\n")
	}
	return b.String()
}
