package persist

import (
	"strings"
	"testing"
)

func TestNamesThatAreNotTaken(t *testing.T) {
	f := newFolder()
	for name, words := range map[string]string{
		".hidden.md": "dot", ".gitattributes": "dot", ".gitignore": "dot", ".gitmodules": "dot", ".github": "dot", ".cursorrules": "dot",
		".mcp.json": "dot", "..": "dot", "...": "dot", "\u2024gitattributes": "dot", "\u200b.hidden.md": "dot",
		"a.md.": "ends with", "a.md ": "ends with", "a ": "ends with",
		"AGENTS.md": "instructions", "agents.MD": "instructions", "Claude.md": "instructions", "GEMINI.md": "instructions",
		"SKILL.md": "instructions", "copilot-instructions.md": "instructions", "go.instructions.md": "instructions",
		"a.prompt.md": "instructions", "review.agent.md": "instructions", "ＡＧＥＮＴＳ.md": "instructions", "mcp.json": "instructions",
		"CON": "device", "con.jsonl": "device", "NUL.txt": "device", "aux.tar.md": "device", "COM1.md": "device", "lpt9": "device",
		"com¹.md": "device", "PRN .md": "device", "conin$.md": "device",
		"GITATT~1": "short name", "LEDGER~2.MD": "short name",
		"cafe\u0301.md": "normalization", "\u212b.md": "normalization",
		"a\u200bb.md": "does not show", "a\u202eb.md": "does not show", "a\u00adb.md": "does not show", "a\u2028b.md": "does not show",
		"a\u3164b.md": "does not show", "a\u00a0b.md": "does not show", "a\ue000b.md": "does not show", "a\ufe0fb.md": "does not show",
		"a:b.md": "file system", "a*.md": "file system", "a?.md": "file system", `a".md`: "file system", "a<b.md": "file system", "a|b.md": "file system",
		strings.Repeat("x", 300) + ".md": "longer than", strings.Repeat("é", 127) + ".md": "longer than",
	} {
		fault, _ := f.nameFault(name, true)
		if !strings.Contains(fault, words) {
			t.Errorf("%q is refused for %q, want %q", name, fault, words)
		}
		if fault, _ := f.nameFault(name, false); !strings.Contains(fault, words) {
			t.Errorf("%q below the root is refused for %q, want %q", name, fault, words)
		}
	}
}

func TestNamesThatStandForTheLedgersFolderAreRefusedAtTheRoot(t *testing.T) {
	f := newFolder()
	for _, name := range []string{"Ledger", "LEDGER", "ｌｅｄｇｅｒ", "ℒedger", "le\u00addger", "ledge\u200dr", "ⓛedger"} {
		if fault, _ := f.nameFault(name, true); !strings.Contains(fault, "ledger's own folder") {
			t.Errorf("%q is refused for %q", name, fault)
		}
		if fault, _ := f.nameFault(name, false); strings.Contains(fault, "ledger's own folder") {
			t.Errorf("%q is refused below the root for %q", name, fault)
		}
	}
	for _, name := range []string{"ledger", "ledgers", "my-ledger"} {
		if fault, _ := f.nameFault(name, true); fault != "" {
			t.Errorf("%q is refused for %q", name, fault)
		}
	}
}

func TestNamesThatAreTaken(t *testing.T) {
	f := newFolder()
	for _, name := range []string{
		"notes.md", "Notes 2026.md", "a.b.c.jsonl", "über.md", "日本語.md", "emoji😀.md", "com10.md", "console.md", "nullable.txt",
		"agents-overview.md", "x~1y.md", "a~b.md", "-dash.md", "#hash.md", " leading.md", "con-notes.md", strings.Repeat("x", 252) + ".md",
	} {
		if fault, hopeless := f.nameFault(name, true); fault != "" || hopeless {
			t.Errorf("%q is refused for %q", name, fault)
		}
	}
}

func TestTwinsAreFoundAcrossCaseAndComposition(t *testing.T) {
	f := newFolder()
	for _, pair := range [][2]string{
		{"notes.md", "Notes.md"}, {"café", "cafe\u0301"}, {"CAFÉ", "café"}, {"straße", "STRASSE"}, {"Σας", "σασ"}, {"K", "\u212a"}, {"ﬁ", "FI"},
	} {
		if f.twin(pair[0]) != f.twin(pair[1]) {
			t.Errorf("%q and %q are told apart", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{{"a", "b"}, {"e", "é"}, {"1", "①"}} {
		if f.twin(pair[0]) == f.twin(pair[1]) {
			t.Errorf("%q and %q are not told apart", pair[0], pair[1])
		}
	}
}
