package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	jsonBlock   = regexp.MustCompile("(?s)```json\n(.*?)```")
	claudeLine  = regexp.MustCompile("`claude mcp add larva -- ([^`]+)`")
	clientNames = []string{"Claude Code", "OpenCode", "Cursor"}
)

// TestConnectAClient starts what each snippet of the README says, asks for the
// tools, and gets them.
func TestConnectAClient(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(data), "## Connect a client\n")
	section, _, closed := strings.Cut(section, "\n## ")
	blocks := jsonBlock.FindAllStringSubmatch(section, -1)
	typed := claudeLine.FindStringSubmatch(section)
	if !ok || !closed || len(blocks) != len(clientNames) || typed == nil {
		t.Fatalf("got %d snippets, want one for each of %v and a line to type", len(blocks), clientNames)
	}
	commands := map[string][]string{"claude mcp add": strings.Fields(typed[1])}
	for i, name := range clientNames {
		if !strings.Contains(section, name) {
			t.Errorf("the section does not name %s", name)
		}
		if n := strings.Count(blocks[i][1], "\n"); n != 3 {
			t.Errorf("%s: got %d lines, want 3", name, n)
		}
		commands[name] = snippetCommand(t, blocks[i][1])
	}
	program := larvaProgram(t)
	for name, argv := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(argv) == 0 || argv[0] != "larva" {
				t.Fatalf("got %q, want larva", argv)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, program, argv[1:]...)
			cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}
			client := mcp.NewClient(&mcp.Implementation{Name: "readme", Version: "1"}, nil)
			session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
			if err != nil {
				t.Fatal(err)
			}
			list, err := session.ListTools(ctx, nil)
			if err != nil || len(list.Tools) != 13 {
				t.Errorf("got %+v %v, want thirteen tools", list, err)
			}
			if err := session.Close(); err != nil {
				t.Errorf("got %v, want a clean end", err)
			}
		})
	}
}

// snippetCommand reads a client's configuration as that client does.
func snippetCommand(t *testing.T, text string) (argv []string) {
	t.Helper()
	type server struct {
		Type    string
		Command json.RawMessage
		Args    []string
		Enabled *bool
	}
	var config struct {
		MCPServers map[string]server `json:"mcpServers"`
		MCP        map[string]server `json:"mcp"`
	}
	if err := json.Unmarshal([]byte(text), &config); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if s, ok := config.MCP["larva"]; ok { // OpenCode: one list, type local
		if err := json.Unmarshal(s.Command, &argv); err != nil || s.Type != "local" || s.Enabled == nil || !*s.Enabled {
			t.Errorf("got %s %v, want a local server that is enabled", text, err)
		}
		return argv
	}
	s := config.MCPServers["larva"]
	var program string
	if err := json.Unmarshal(s.Command, &program); err != nil || s.Type != "" && s.Type != "stdio" {
		t.Errorf("got %s %v, want a program on stdio", text, err)
	}
	return append([]string{program}, s.Args...)
}
