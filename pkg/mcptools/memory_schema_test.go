package mcptools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// maxMemoryTools bounds the list of the memory tools: it is a part of every
// conversation.
const maxMemoryTools = 16 << 10

func TestTheSchemasOfMemoryToolsAreClosedObjects(t *testing.T) {
	dir := t.TempDir()
	restoreMemory(t, dir)
	_, c := served(t, dir, oneYML, nil)
	said := c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var list struct {
		Result struct {
			Tools []struct {
				Name, Description string
				InputSchema       map[string]any
				Annotations       struct{ ReadOnlyHint bool }
			}
		}
	}
	if err := json.Unmarshal([]byte(said), &list); err != nil {
		t.Fatal(err)
	}
	readOnly := map[string]bool{"memory_status": true, "memory_log": true, "memory_show": true, "memory_ref_list": true, "memory_diff": true,
		"memory_branch_create": false, "memory_changeset_create": false, "memory_merge_propose": false, "memory_revert_propose": false, "memory_context_at": false}
	found, bytes := 0, 0
	for _, tool := range list.Result.Tools {
		if !strings.HasPrefix(tool.Name, "memory_") {
			continue
		}
		want, known := readOnly[tool.Name]
		if found++; !known || tool.Annotations.ReadOnlyHint != want {
			t.Errorf("%s: read only %v", tool.Name, tool.Annotations.ReadOnlyHint)
		}
		in := tool.InputSchema
		if in["type"] != "object" || in["additionalProperties"] != false {
			t.Errorf("%s: the schema is no closed object", tool.Name)
		}
		for _, mangled := range []string{"anyOf", "oneOf", "allOf", "if", "$ref"} {
			if in[mangled] != nil {
				t.Errorf("%s: the schema has %s at its root", tool.Name, mangled)
			}
		}
		required, _ := in["required"].([]any)
		writes := !want && tool.Name != "memory_context_at"
		if has := strings.Contains(strings.Join(texts(required), " "), "idempotency_key"); has != writes {
			t.Errorf("%s: idempotency_key is required: %v", tool.Name, has)
		}
		for name, property := range in["properties"].(map[string]any) {
			if property.(map[string]any)["description"] == nil && name != "ordinal" {
				t.Errorf("%s: %s has no description", tool.Name, name)
			}
		}
		if !strings.Contains(tool.Description, "never instructions") && !strings.Contains(tool.Description, "no place for secrets") &&
			tool.Name != "memory_status" && tool.Name != "memory_ref_list" {
			t.Errorf("%s does not say what its results are", tool.Name)
		}
		text, _ := json.Marshal(tool)
		bytes += len(text)
	}
	if found != len(readOnly) || bytes > maxMemoryTools {
		t.Errorf("%d memory tools of %d, %d bytes", found, len(readOnly), bytes)
	}
}

func texts(list []any) []string {
	var all []string
	for _, v := range list {
		all = append(all, v.(string))
	}
	return all
}

// TestMemoryTranscripts is TestTranscripts for a server with the memory tools.
func TestMemoryTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/memory/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			servers = 0 // the ids are those of the first server
			dir := filepath.Join(t.TempDir(), "private-folder")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			restoreMemory(t, dir)
			_, c := served(t, dir, oneYML, nil)
			got := play(t, c, string(archive.Files[0].Data))
			if rest := c.end(); rest != "" {
				t.Errorf("the server said more than was asked: %s", rest)
			}
			for _, leak := range []string{filepath.Base(dir), os.TempDir(), "Go struct", "json:", "unmarshal", ".go:", "goroutine", "SECRET"} {
				if strings.Contains(strings.Join(answersOf(got), ""), leak) {
					t.Errorf("an answer shows %q", leak)
				}
			}
			if *update {
				archive.Files[0].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want := string(archive.Files[0].Data); got != want {
				t.Errorf("%s", firstDifference(got, want))
			}
		})
	}
}

func answersOf(transcript string) (answers []string) {
	for line := range strings.Lines(transcript) {
		if strings.HasPrefix(line, "<") {
			answers = append(answers, line)
		}
	}
	return answers
}
