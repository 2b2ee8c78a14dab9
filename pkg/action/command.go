package action

import (
	"fmt"
	"io"
	"strings"
)

// Infof prints to the log. Each line of the message is printed on its own and
// passes the printer, so that none can be a workflow command.
func (a *Action) Infof(format string, args ...any) {
	for _, line := range strings.Split(fmt.Sprintf(format, args...), "\n") {
		a.print(a.log(), a.clean(line)+"\n")
	}
}

// Noticef makes a notice annotation; outside Actions it prints "notice: …".
func (a *Action) Noticef(format string, args ...any) { a.annotate("notice", format, args) }

// Warningf makes a warning annotation; outside Actions it prints "warning: …".
func (a *Action) Warningf(format string, args ...any) { a.annotate("warning", format, args) }

// Errorf makes an error annotation; outside Actions it prints "error: …". It
// does not end the run: a role returns its error, and [Main] prints that.
func (a *Action) Errorf(format string, args ...any) { a.annotate("error", format, args) }

// AddMask tells the runner never to show text again. Outside Actions nothing is
// printed. Text with a line break is masked line by line, as the runner needs it.
func (a *Action) AddMask(text string) {
	for _, line := range a.hide(text) {
		if a.commands() {
			a.print(a.stdout, "::add-mask::"+escapeData(line)+"\n")
		}
	}
}

// hide makes the printer replace each line of a secret from now on, and returns
// those lines.
func (a *Action) hide(text string) []string {
	var lines []string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\r' || r == '\n' }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.secrets = append(a.secrets, lines...)
	return lines
}

// Group starts a foldable group in the log; groups do not nest.
func (a *Action) Group(title string) {
	if a.commands() {
		a.print(a.stdout, "::group::"+escapeData(a.clean(title))+"\n")
		return
	}
	a.Infof("%s", title)
}

// EndGroup ends the group.
func (a *Action) EndGroup() {
	if a.commands() {
		a.print(a.stdout, "::endgroup::\n")
	}
}

// commands reports whether workflow commands reach a runner.
func (a *Action) commands() bool { return a.InActions() && !a.protocol() }

// log is where log lines go.
func (a *Action) log() io.Writer {
	if a.protocol() {
		return a.stderr
	}
	return a.stdout
}

func (a *Action) protocol() bool {
	for _, c := range a.role.Commands {
		if c.Name == a.command {
			return c.Protocol
		}
	}
	return false
}

func (a *Action) annotate(level, format string, args []any) {
	message := a.clean(fmt.Sprintf(format, args...))
	if !a.commands() {
		a.print(a.log(), level+": "+message+"\n")
		return
	}
	properties := ""
	if a.role.Name != "" {
		properties = " title=" + escapeProperty(a.role.Name)
	}
	a.print(a.stdout, "::"+level+properties+"::"+escapeData(message)+"\n")
}

// print writes one piece whole; a log that cannot be written fails nothing.
func (a *Action) print(w io.Writer, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = io.WriteString(w, text)
}

var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// escapeData escapes what follows the second :: of a workflow command.
func escapeData(s string) string { return dataEscapes.Replace(s) }

// escapeProperty escapes the value of a property of a workflow command.
func escapeProperty(s string) string { return propertyEscapes.Replace(s) }
