package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agent is an MCP client of a ledger server that runs as a process of its own,
// started from the configuration that agent-ledger left, as any client does.
type agent struct {
	ctx     context.Context
	session *mcp.ClientSession
}

// newAgent starts the server named in the configuration file and connects to it.
func newAgent(ctx context.Context, config string) (*agent, error) {
	text, err := os.ReadFile(config)
	if err != nil {
		return nil, err
	}
	var clients struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &clients); err != nil {
		return nil, fmt.Errorf("failed to read the configuration of MCP clients: %w", err)
	}
	server, ok := clients.MCPServers["ledger"]
	if !ok {
		return nil, fmt.Errorf("the configuration of MCP clients names no server ledger")
	}
	command := exec.CommandContext(ctx, server.Command, server.Args...)
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "LEDGER_UNTRUSTED_JOB=1"}
	for name, value := range server.Env {
		command.Env = append(command.Env, name+"="+value)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		return nil, fmt.Errorf("failed to connect to the ledger server: %w", err)
	}
	return &agent{ctx, session}, nil
}

// call calls a tool and returns its structured result; a tool that refuses is an
// error with its text.
func (a *agent) call(tool string, arguments any) (json.RawMessage, error) {
	result, err := a.session.CallTool(a.ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return nil, fmt.Errorf("%s failed: %w", tool, err)
	}
	text := ""
	for _, content := range result.Content {
		if t, ok := content.(*mcp.TextContent); ok {
			text += t.Text
		}
	}
	if result.IsError {
		return nil, fmt.Errorf("%s refused: %s", tool, text)
	}
	structured, err := json.Marshal(result.StructuredContent)
	return structured, err
}

// appended is what the demonstration looks at of a record.
type appended struct {
	ID, SHA string
	Parents []string
}

// append records a payload and returns the record.
func (a *agent) append(typ string, payload any) (record appended, err error) {
	text, err := a.call("ledger_append", map[string]any{"type": typ, "payload": payload})
	if err != nil {
		return record, err
	}
	return record, json.Unmarshal(text, &record)
}

func (a *agent) close() error { return a.session.Close() }
