package foreign_test

import (
	"encoding/json"
	"strings"
	"testing"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/permission/foreign"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

var at = permission.Places{Project: "/home/u/p", Cwd: "/home/u/p", Home: "/home/u", Roots: []string{"/home/u/p"}}

// list reads rules of a settings file elsewhere, as --settings gives them.
func list(texts string) []profile.Rule {
	var out []profile.Rule
	for t := range strings.SplitSeq(texts, "; ") {
		if t != "" {
			out = append(out, profile.Rule{Text: t, Origin: "settings", Root: "/elsewhere"})
		}
	}
	return out
}

func call(name, input string) tool.Call {
	field := map[string]string{"bash": "command", "web_fetch": "url", "task": "subagent_type", "skill": "name"}[name]
	if field == "" {
		field = "path"
	}
	data, err := json.Marshal(map[string]string{field: input})
	if err != nil {
		panic(err)
	}
	return tool.Call{Tool: name, Input: data}
}

// What was measured of Claude Code 2.1.197 in default mode without anybody to
// ask: refused there is ask here where no deny rule spoke.
func TestClaudeMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allow, ask, deny string
		tool, input      string
		want             event.Verdict
	}{
		{allow: "Bash(node *)", tool: "bash", input: "node -e 1", want: "allow"},
		{allow: "Bash(node *)", tool: "bash", input: "node -e 1 2>&1", want: "allow"},
		{allow: "Bash(node *)", tool: "bash", input: "timeout 5 node -e 1", want: "allow"},
		{allow: "Bash(node *)", tool: "bash", input: "node -e 1 && npm -v", want: "ask"},
		{allow: "Bash(node *); Bash(npm *)", tool: "bash", input: "node -e 1 && npm -v", want: "allow"},
		{allow: "Bash(node *)", tool: "bash", input: "node -e 1 > o.txt", want: "ask"},
		{allow: "Bash(node *)", tool: "bash", input: "FOO=1 node -e 1", want: "ask"},
		{allow: "Bash(node *)", tool: "bash", input: "node -e $(npm -v)", want: "ask"},
		{allow: "Bash(node:*)", tool: "bash", input: "nodex", want: "ask"},
		{allow: "Bash(node*)", tool: "bash", input: "nodex", want: "allow"},
		{allow: "Bash(node)", tool: "bash", input: "node -e 1", want: "ask"},
		{allow: "Bash(node *)", ask: "Bash(node -e *)", tool: "bash", input: "node -e 1", want: "ask"},
		{allow: "Bash", deny: "Bash(rm *)", tool: "bash", input: "true && rm -f zz", want: "deny"},
		{allow: "Bash", deny: "Bash(rm *)", tool: "bash", input: "echo zz | xargs rm -f", want: "deny"},
		{allow: "Bash(timeout *)", deny: "Bash(npm *)", tool: "bash", input: "timeout 5 npm -v", want: "deny"},
		{deny: "Bash(grep * /etc/*)", tool: "bash", input: "grep root /etc/passwd", want: "deny"},
		{deny: "Read(a.txt)", tool: "bash", input: "cat a.txt", want: "deny"},
		{deny: "Read(./a.txt)", tool: "read", input: "a.txt", want: "deny"},
		{deny: "Read(/a.txt)", tool: "read", input: "a.txt", want: "deny"},
		{deny: "Read(//home/u/p/**)", tool: "read", input: "a.txt", want: "deny"},
		{allow: "Edit(sub/**)", tool: "write", input: "sub/n.txt", want: "allow"},
		{allow: "Edit(//home/u/p/sub/**)", tool: "write", input: "sub/n.txt", want: "allow"},
		{allow: "Edit(/sub/**)", tool: "write", input: "sub/n.txt", want: "ask"},
		{allow: "Write(sub/**)", tool: "write", input: "sub/n.txt", want: "ask"},
		// reported and documented
		{deny: "Write(**/.claude/*)", tool: "write", input: ".claude/x", want: "ask"},
		{allow: "WebFetch(domain:*)", tool: "web_fetch", input: "https://go.dev/x", want: "ask"},
		{allow: "WebFetch(domain:go.dev)", tool: "web_fetch", input: "https://go.dev/x", want: "allow"},
		{allow: "mcp__s", tool: "mcp__s__t", input: "x", want: "allow"},
		{allow: "mcp__s__*", tool: "mcp__s__t", input: "x", want: "allow"},
		{allow: "mcp__s", tool: "mcp__sx__t", input: "x", want: "ask"},
		{allow: "mcp__s__t", tool: "mcp__s__u", input: "x", want: "ask"},
		{deny: "Agent(explorer)", tool: "task", input: "explorer", want: "deny"},
		{tool: "bash", input: "ls", want: "allow"}, {tool: "bash", input: "make", want: "ask"}, {tool: "read", input: "a.txt", want: "allow"}, {tool: "read", input: "/etc/hosts", want: "ask"},
		{allow: "Bash(make *)", tool: "bash", input: "sh -c 'make'", want: "ask"}, {allow: "Bash", deny: "Bash(rm *)", tool: "bash", input: "sh -c 'rm x'", want: "allow"},
	} {
		judge, err := foreign.New("claude", foreign.Table{Allow: list(c.allow), Ask: list(c.ask), Deny: list(c.deny), Places: at})
		if err != nil {
			t.Fatal(err)
		}
		if d := judge(call(c.tool, c.input)); d.Verdict != c.want || d.Reason == "" || d.Segments == nil {
			t.Errorf("allow %q ask %q deny %q, %s %q: got %s (%s), want %s", c.allow, c.ask, c.deny, c.tool, c.input, d.Verdict, d.Reason, c.want)
		}
	}
}

// What was measured of OpenCode 1.18.33: the last match wins, a line is split,
// edit stands for every way of writing.
func TestOpenCodeMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allow, ask, deny string
		tool, input      string
		want             event.Verdict
	}{
		{deny: "edit; bash", tool: "bash", input: "ls", want: "deny"}, {deny: "edit; bash", tool: "write", input: "a", want: "deny"}, {deny: "edit; bash", tool: "edit", input: "a", want: "deny"},
		{allow: "bash(echo *)", tool: "bash", input: "echo a && ls", want: "allow"},
		{deny: "bash(ls *)", allow: "bash(echo *)", tool: "bash", input: "echo a && ls", want: "deny"},
		{deny: "task", tool: "task", input: "x", want: "deny"},
		{tool: "read", input: "/etc/hosts", want: "ask"}, {tool: "bash", input: "cat /etc/hosts", want: "ask"},
		// a trailing * shadows what stands before it
		{allow: "bash(git ls-files *)", ask: "bash", tool: "bash", input: "git ls-files -o", want: "ask"},
		// by default nothing is asked, wrappers are not looked through
		{tool: "bash", input: "make", want: "allow"}, {deny: "bash(npm *)", tool: "bash", input: "timeout 5 npm -v", want: "allow"},
		{deny: "bash(rm:*)", tool: "bash", input: "rm x", want: "deny"}, {deny: "read(secrets/**)", tool: "read", input: "secrets/a/b", want: "deny"}, {deny: "read(secrets/**)", tool: "bash", input: "cat secrets/a", want: "allow"},
		{deny: "web_fetch(domain:go.dev)", tool: "web_fetch", input: "https://go.dev/x", want: "deny"}, {ask: "mcp__s", tool: "mcp__s__t", input: "x", want: "ask"},
		{tool: "read", input: ".env", want: "deny"}, {tool: "read", input: ".env.example", want: "allow"},
	} {
		judge, err := foreign.New("opencode", foreign.Table{Allow: list(c.allow), Ask: list(c.ask), Deny: list(c.deny), Places: at})
		if err != nil {
			t.Fatal(err)
		}
		if d := judge(call(c.tool, c.input)); d.Verdict != c.want || d.Reason == "" || d.Segments == nil {
			t.Errorf("allow %q ask %q deny %q, %s %q: got %s (%s), want %s", c.allow, c.ask, c.deny, c.tool, c.input, d.Verdict, d.Reason, c.want)
		}
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	if _, err := foreign.New("pi", foreign.Table{}); err == nil {
		t.Error("an agent that is not known: got no error")
	}
	for _, as := range foreign.Names() {
		if _, err := foreign.New(as, foreign.Table{Deny: list("bsh(x)")}); err == nil {
			t.Errorf("%s, a rule of no tool: got no error", as)
		}
	}
}
