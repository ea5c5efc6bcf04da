//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const elicitServer = `
import json, sys

def say(m):
    print(json.dumps(m), flush=True)

for line in sys.stdin:
    r = json.loads(line)
    if "id" not in r or "method" not in r:
        continue
    m, out = r["method"], {}
    if m == "initialize":
        out = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "s", "version": "1"}, "capabilities": {"tools": {}}}
    elif m == "tools/list":
        out = {"tools": [{"name": "fill", "inputSchema": {"type": "object"}}]}
    elif m == "tools/call":
        say({"jsonrpc": "2.0", "id": "back", "method": "elicitation/create", "params": {"message": "Who signs?", "requestedSchema": {"type": "object",
            "properties": {"a": {"type": "string", "description": "the name"}, "b": {"type": "string", "enum": ["red", "green"]}}, "required": ["a"]}}})
        for line in sys.stdin:
            back = json.loads(line)
            if back.get("id") == "back":
                break
        out = {"content": [{"type": "text", "text": json.dumps(back.get("result", back.get("error")), sort_keys=True)}]}
    say({"jsonrpc": "2.0", "id": r["id"], "result": out})
`

// newElicit is a project with a server that asks back.
func newElicit(t *testing.T) *pane {
	t.Helper()
	python := python3(t)
	p := newPane(t, `turns: [
	{calls: [{tool: "mcp__form__fill", input: {}}]},
	{text: "Said: {{result 1}}"},
]
`)
	p.plant("p.json", `{"spec_version":"0.1.0","id":"p","description":"Uses servers","prompt":"p","model":"m","capabilities":{"mcp":"destructive"}}`)
	p.plant("srv.py", elicitServer)
	config := filepath.Join(p.home, ".config", "larva", "config.cue")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	more := "servers: form: {command: \"" + python + "\", args: [\"" + filepath.Join(p.dir, "srv.py") + "\"]}\npermissions: allow: [\"mcp__form\"]\n"
	if err := os.WriteFile(config, append(text, more...), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestElicit lets an MCP server ask the person at a terminal, a field after the
// other; who says no, or is not there, has declined.
func TestElicit(t *testing.T) {
	t.Parallel()
	t.Run("answered", func(t *testing.T) {
		p := newElicit(t)
		p.open(100, 40, "../larva run ./p.json go")
		p.wait("The MCP server form asks: Who signs?")
		p.wait("a: the name")
		p.keys("Ada", "Enter")
		p.wait("green")
		p.keys("Down", "Enter")
		p.wait("EXIT 0")
		if got := p.all("-J"); !strings.Contains(got, `Said: {"action": "accept", "content": {"a": "Ada", "b": "green"}}`) {
			t.Errorf("got\n%s", got)
		}
	})
	t.Run("declined", func(t *testing.T) {
		p := newElicit(t)
		p.open(100, 40, "../larva run ./p.json go")
		p.wait("a: the name")
		p.keys("Escape")
		p.wait("EXIT 0")
		if got := p.all("-J"); !strings.Contains(got, `Said: {"action": "decline"}`) {
			t.Errorf("got\n%s", got)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		p := newElicit(t)
		p.open(100, 40, "../larva run ./p.json go </dev/null >out 2>err")
		p.wait("EXIT 0")
		if got := p.read("out"); got != "Said: {\"action\": \"decline\"}\n" {
			t.Errorf("got %q", got)
		}
	})
}
