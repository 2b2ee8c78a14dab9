package mcptools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/repo-memory/ledger/pkg/schema"
)

func withSchema(t *testing.T, text string) *Server {
	t.Helper()
	compiled, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := New(newWriter(t, t.TempDir()), Options{Schema: compiled})
	t.Cleanup(s.Close)
	return s
}

func TestAnAppendThatBreaksTheSchemaIsRefusedByItsPathAndNothingIsRecorded(t *testing.T) {
	s := withSchema(t, `{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)
	c := serve(t, s).start()
	for _, test := range []struct{ payload, want string }{
		{`{"n":"SECRET"}`, "refused: payload-schema: payload.n: must be integer"},
		{`"SECRET"`, "refused: payload-schema: payload: must be object"},
		{`{"n":1,"constructor":"SECRET"}`, "refused: payload-schema: payload.constructor: is no member that the schema declares"},
		{`{"n":1}`, `"n":1`},
	} {
		got := c.ask(appending("1", "note", test.payload))
		if !strings.Contains(strings.ReplaceAll(got, `\"`, `"`), test.want) || strings.Contains(got, "SECRET") {
			t.Errorf("%s: %s", test.payload, got)
		}
	}
	if got := c.ask(status("2")); !strings.Contains(got, `"records":1,`) && !strings.Contains(got, `\"records\":1,`) {
		t.Errorf("status %s", got)
	}
	c.end()
}

func TestTheListOfToolsShowsASchemaThatIsNotTooLarge(t *testing.T) {
	small := `{"type":"object","required":["kind"]}`
	large := `{"enum":["` + strings.Repeat("x", maxShownSchema) + `"]}`
	for text, want := range map[string]string{small: `{"type":"object","required":["kind"]}`, large: anyPayload} {
		var in struct {
			Properties map[string]json.RawMessage
		}
		shown := withSchema(t, text).appendSchema()
		if err := json.Unmarshal([]byte(shown), &in); err != nil || string(in.Properties["payload"]) != want {
			t.Errorf("%.60s: %v, payload %.100s", text, err, in.Properties["payload"])
		}
	}
}

func TestARetryInAnotherSessionIsTheSameRequest(t *testing.T) {
	url := overHTTP(t)
	call := func(payload any) *mcp.CallToolResult {
		result, err := connectHTTP(t, url).CallTool(t.Context(), &mcp.CallToolParams{Name: "ledger_append",
			Arguments: map[string]any{"type": "note", "payload": payload, "idempotency_key": "k-1"}})
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	text := func(r *mcp.CallToolResult, i int) string { return r.Content[i].(*mcp.TextContent).Text }
	first, again, other := call(1), call(1), call(2)
	if len(first.Content) != 1 || len(again.Content) != 2 || text(first, 0) != text(again, 0) || !strings.HasPrefix(text(again, 1), "replay: ") {
		t.Errorf("%v, then %v", first.Content, again.Content)
	}
	if !other.IsError || text(other, 0) != "idempotency_key was used for another request; nothing was recorded" {
		t.Errorf("another request: %v", other.Content)
	}
}
