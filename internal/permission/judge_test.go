package permission_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/tool"
	"larva.dev/larva/internal/tool/shell"
)

// project makes rules of a trusted project layer.
func project(texts ...string) []profile.Rule {
	out := rule(texts...)
	for i := range out {
		out[i].User = false
	}
	return out
}

// TestStages has a row for every stage of a decision and for who answers it.
func TestStages(t *testing.T) {
	t.Parallel()
	type setup struct {
		mode, undeclared string
		ceiling          capability.Ceiling
		allow, ask, deny []profile.Rule
		hook             permission.HookSays
		sandboxed        bool
		spawn            *spec.CanSpawn
	}
	says := func(v event.Verdict) permission.HookSays { return permission.HookSays{Verdict: v, Name: "h"} }
	all := ceiling("filesystem", "destructive", "shell", "destructive", "git", "destructive", "network", "destructive", "http", "destructive")
	reading := ceiling("filesystem", "read_only", "shell", "read_only", "git", "read_only")
	b := newBench(t)
	for i, c := range []struct {
		setup
		tool, input string // a bare word is a path, for bash a line
		verdict     event.Verdict
		stage       event.Stage
	}{
		// refusals
		{setup{mode: "yolo"}, "write", ".git/hooks/pre-commit", "deny", "protected"},
		{setup{mode: "yolo"}, "edit", "hook", "deny", "protected"},
		{setup{mode: "yolo", allow: rule("edit")}, "write", ".Git/Config", "deny", "protected"},
		{setup{mode: "yolo"}, "write", ".larva/config.cue", "deny", "protected"},
		{setup{mode: "yolo"}, "write", "sub/.claude/settings.json", "deny", "protected"},
		{setup{mode: "yolo"}, "write", ".mcp.json", "deny", "protected"},
		{setup{mode: "yolo"}, "write", "cue.mod/module.cue", "deny", "protected"},
		{setup{mode: "yolo"}, "write", ".agents/skills/x/SKILL.md", "deny", "protected"},
		{setup{mode: "yolo", allow: rule("edit")}, "write", "{H}/.larva/registry/x", "deny", "protected"},
		{setup{mode: "yolo", allow: rule("edit")}, "write", "{H}/.config/larva/config.cue", "deny", "protected"},
		{setup{mode: "yolo", allow: rule("edit")}, "write", "{H}/.local/share/larva/sessions/x", "deny", "protected"},
		{setup{mode: "yolo"}, "write", ".git\u200b/config", "deny", "protected"},
		{setup{mode: "yolo"}, "write", ".git./config", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "echo x > .git/config", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "git config core.pager sh", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "git -C . config core.pager sh", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "cp a.txt .git/hooks/pre-commit", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "cd .git && touch hooks/x", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "rm -rf .g*", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "rm -rf .", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "rm -rf ~", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "mv .git x", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "tee .larva/config.cue", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "sed -i s/a/b/ .mcp.json", "deny", "protected"},
		{setup{mode: "yolo"}, "bash", "ln -s x .claude", "deny", "protected"},
		{setup{mode: "yolo", allow: rule("read(.e*)", "read")}, "read", ".env", "deny", "secret"},
		{setup{mode: "yolo"}, "read", "innocent", "deny", "secret"},
		{setup{mode: "yolo"}, "read", "server.pem", "deny", "secret"},
		{setup{mode: "yolo"}, "write", ".env.local", "deny", "secret"},
		{setup{allow: rule("read")}, "read", "{H}/.ssh/known_hosts", "deny", "secret"},
		{setup{allow: rule("read")}, "read", "/proc/self/environ", "deny", "secret"},
		{setup{mode: "yolo"}, "bash", "cat .env", "deny", "secret"},
		{setup{mode: "yolo"}, "bash", "cat .e*", "deny", "secret"},
		{setup{mode: "yolo"}, "bash", "cat {.env,a.txt}", "deny", "secret"},
		{setup{mode: "yolo"}, "bash", "git show HEAD:.env", "deny", "secret"},
		{setup{mode: "yolo"}, "bash", "cat < ~/.netrc", "deny", "secret"},
		{setup{mode: "yolo", allow: project("read(.env)")}, "read", ".env", "deny", "secret"},
		{setup{allow: rule("read(.env)")}, "read", ".env", "allow", "read-only"},
		{setup{allow: rule("edit(.env)")}, "write", ".env", "allow", "allow-rule"},
		{setup{allow: rule("read(.env)")}, "write", ".env", "deny", "secret"},
		{setup{}, "read", ".env.example", "allow", "read-only"},
		{setup{}, "read", "notes.key", "allow", "read-only"},
		{setup{mode: "yolo", ceiling: reading}, "write", "a.txt", "deny", "ceiling"},
		{setup{mode: "yolo", ceiling: reading}, "bash", "touch a", "deny", "ceiling"},
		{setup{mode: "yolo", ceiling: reading}, "bash", "git push", "deny", "ceiling"},
		{setup{mode: "yolo", ceiling: reading}, "bash", "ls > out", "deny", "ceiling"},
		{setup{mode: "yolo", ceiling: ceiling("shell", "none")}, "bash", "ls", "deny", "ceiling"},
		{setup{mode: "yolo", ceiling: ceiling("shell", "none", "git", "destructive", "network", "destructive")}, "bash", "git push", "deny", "ceiling"},
		{setup{mode: "yolo", ceiling: reading, sandboxed: true}, "bash", "nosuch", "deny", "ceiling"},
		{setup{mode: "yolo", ceiling: ceiling("shell", "read_write")}, "bash", "nosuch", "deny", "ceiling"},
		{setup{ceiling: all}, "task", `{"subagent_type":"explorer"}`, "deny", "ceiling"},
		{setup{ceiling: all, spawn: &spec.CanSpawn{IDs: []string{"worker"}}}, "task", `{"subagent_type":"explorer"}`, "deny", "ceiling"},
		{setup{ceiling: all, spawn: &spec.CanSpawn{All: true}, allow: rule("task(explorer)")}, "task", `{"subagent_type":"explorer"}`, "allow", "allow-rule"},
		{setup{mode: "yolo", deny: project("bash(rm *)"), allow: rule("bash")}, "bash", "ls; rm x", "deny", "deny-rule"},
		{setup{mode: "yolo", deny: rule("edit(src/**)")}, "edit", "src/a.go", "deny", "deny-rule"},
		{setup{mode: "yolo", deny: rule("read(secrets/**)")}, "edit", "link/key.txt", "deny", "deny-rule"},
		{setup{mode: "yolo", deny: rule("mcp__s")}, "mcp__s__t", `{}`, "deny", "deny-rule"},
		{setup{mode: "yolo", deny: rule("bash")}, "bash", "(((", "deny", "deny-rule"},
		{setup{mode: "yolo", hook: says(event.Deny)}, "read", "a.txt", "deny", "hook"},
		{setup{mode: "plan"}, "write", "a.txt", "deny", "plan"},
		{setup{mode: "plan", allow: rule("bash")}, "bash", "touch a", "deny", "plan"},
		{setup{mode: "plan"}, "bash", "ls | wc -l", "allow", "safe-list"},
		{setup{mode: "plan"}, "read", "a.txt", "allow", "read-only"},
		{setup{mode: "plan"}, "todo_write", `{}`, "allow", "read-only"},
		{setup{mode: "plan"}, "web_fetch", `{"url":"https://go.dev/x"}`, "ask", "network"},
		{setup{mode: "yolo", ceiling: ceiling(), undeclared: "deny"}, "bash", "touch a", "deny", "undeclared"},
		// questions
		{setup{mode: "plan"}, "exit_plan_mode", `{"plan":"x"}`, "ask", "plan-exit"},
		{setup{}, "exit_plan_mode", `{"plan":"x"}`, "allow", "read-only"},
		{setup{mode: "yolo", ceiling: ceiling()}, "bash", "touch a", "ask", "undeclared"},
		{setup{mode: "yolo", ceiling: ceiling(), sandboxed: true}, "bash", "touch a", "ask", "undeclared"},
		{setup{mode: "yolo", ceiling: ceiling()}, "write", "a.txt", "ask", "undeclared"},
		{setup{ceiling: ceiling()}, "read", "a.txt", "allow", "read-only"},
		{setup{ceiling: ceiling()}, "bash", "cat a.txt && git status", "allow", "safe-list"},
		{setup{ceiling: ceiling(), allow: rule("bash(touch *)")}, "bash", "touch a", "allow", "allow-rule"},
		{setup{ceiling: ceiling(), allow: project("bash(touch *)")}, "bash", "touch a", "ask", "undeclared"},
		{setup{mode: "yolo", ceiling: ceiling("git", "destructive", "network", "destructive")}, "bash", "git push", "ask", "undeclared"},
		{setup{mode: "yolo"}, "read", "/etc/hosts", "ask", "outside"},
		{setup{mode: "yolo"}, "read", "out/x", "ask", "outside"},
		{setup{mode: "yolo"}, "bash", "ls /etc", "ask", "outside"},
		{setup{mode: "yolo"}, "bash", "cd .. && ls", "ask", "outside"},
		{setup{allow: rule("read(//etc/hosts)")}, "read", "/etc/hosts", "allow", "read-only"},
		{setup{allow: rule("bash(ls *)")}, "bash", "ls /etc", "ask", "outside"},
		{setup{allow: rule("bash(ls *)", "read(//etc/**)")}, "bash", "ls /etc/ssl", "allow", "allow-rule"},
		{setup{allow: rule("bash")}, "bash", "ls /etc", "allow", "allow-rule"},
		{setup{allow: project("bash", "read(//etc/**)")}, "bash", "ls /etc/ssl", "ask", "outside"},
		{setup{mode: "yolo"}, "edit", "AGENTS.md", "ask", "sources"},
		{setup{mode: "yolo"}, "write", "sub/claude.md", "ask", "sources"},
		{setup{mode: "accept-edits"}, "write", "personas/x.cue", "ask", "sources"},
		{setup{mode: "yolo"}, "bash", "echo x >> AGENTS.md", "ask", "sources"},
		{setup{}, "read", "AGENTS.md", "allow", "read-only"},
		{setup{allow: rule("edit(personas/**)")}, "write", "personas/x.cue", "allow", "allow-rule"},
		// of a link, one rule may name the path as given and another its target
		{setup{allow: rule("edit(link/**)")}, "edit", "link/key.txt", "ask", "default"},
		{setup{allow: rule("edit(secrets/**)")}, "edit", "link/key.txt", "ask", "default"},
		{setup{allow: rule("edit(link/**)", "edit(secrets/**)")}, "edit", "link/key.txt", "allow", "allow-rule"},
		{setup{allow: rule("edit(secrets/**)", "edit(link/**)", "bash(echo *)")}, "bash", "echo x > link/key.txt", "allow", "allow-rule"},
		{setup{allow: rule("edit(link/**)", "bash(echo *)")}, "bash", "echo x > link/key.txt", "ask", "default"},
		{setup{allow: rule("read(~/../x)")}, "read", "out/x", "ask", "outside"},
		{setup{allow: rule("read(out/**)")}, "read", "out/x", "ask", "outside"},
		{setup{allow: rule("read(~/../x)", "read(out/**)")}, "read", "out/x", "allow", "read-only"},
		{setup{allow: append(rule("read(~/../x)"), project("read(out/**)")...)}, "read", "out/x", "ask", "outside"},
		{setup{allow: rule("edit(~/../x)")}, "write_files", `{"files":[{"path":"a.txt","content":""},{"path":"../../x","content":""}]}`, "ask", "default"},
		{setup{mode: "yolo", ask: project("bash(git commit *)"), allow: rule("bash")}, "bash", "ls && git commit -m x", "ask", "ask-rule"},
		{setup{mode: "yolo", hook: says(event.Ask)}, "read", "a.txt", "ask", "hook"},
		{setup{}, "bash", "curl https://x", "ask", "network"},
		{setup{mode: "yolo"}, "bash", "curl https://x", "allow", "yolo"},
		{setup{hook: says(event.Allow)}, "bash", "curl https://x", "allow", "hook"},
		{setup{allow: rule("bash(curl *)")}, "bash", "curl https://x", "allow", "allow-rule"},
		{setup{allow: project("bash(curl *)")}, "bash", "curl https://x", "ask", "network"},
		{setup{sandboxed: true}, "bash", "curl https://x", "ask", "network"},
		{setup{allow: rule("bash(cat *)")}, "bash", "cat < /dev/tcp/1.2.3.4/80", "ask", "network"},
		{setup{}, "web_search", `{"query":"x"}`, "ask", "network"},
		// permissions
		{setup{hook: says(event.Allow)}, "write", "a.txt", "allow", "hook"},
		{setup{hook: says(event.Allow)}, "write", "AGENTS.md", "ask", "sources"},
		{setup{mode: "yolo"}, "bash", "touch a; make", "allow", "yolo"},
		{setup{}, "grep", `{"pattern":"x"}`, "allow", "read-only"},
		{setup{}, "glob", `{"pattern":"*"}`, "allow", "read-only"},
		{setup{}, "skill", `{"name":"x"}`, "allow", "read-only"},
		{setup{allow: project("edit(src/**)")}, "write", "src/n.go", "allow", "allow-rule"},
		{setup{sandboxed: true}, "bash", "make x", "allow", "sandbox"},
		{setup{mode: "accept-edits"}, "edit", "src/a.go", "allow", "accept-edits"},
		{setup{mode: "accept-edits"}, "bash", "touch a", "ask", "default"},
		{setup{mode: "accept-edits"}, "bash", "echo x > a", "ask", "default"},
		// the rest
		{setup{}, "write", "a.txt", "ask", "default"},
		{setup{mode: "auto"}, "write", "a.txt", "ask", "default"},
		{setup{}, "mcp__s__t", `{}`, "ask", "default"},
		// what climbs out of an argument's pattern is not what it allows; to restrict, a string anywhere in it is enough
		{setup{allow: rule("mcp__s__t(path:src/*)")}, "mcp__s__t", `{"path":"src/a"}`, "allow", "allow-rule"},
		{setup{allow: rule("mcp__s__t(path:src/*)")}, "mcp__s__t", `{"path":"src/../../x"}`, "ask", "default"},
		{setup{allow: rule("mcp__s__t(path:src/*)")}, "mcp__s__t", `{"path":"src\\..\\x"}`, "ask", "default"},
		{setup{allow: rule("mcp__s__t(path:src/*)")}, "mcp__s__t", `{"path":"src/a..b"}`, "allow", "allow-rule"},
		{setup{allow: rule("mcp__s__t(path:*)")}, "mcp__s__t", `{"path":"../x"}`, "allow", "allow-rule"},
		{setup{mode: "yolo", deny: rule("mcp__s__t(sql:DROP *)")}, "mcp__s__t", `{"sql":["SELECT 1",{"x":"DROP y"}]}`, "deny", "deny-rule"},
		{setup{mode: "yolo", deny: rule("mcp__s__t(path:etc/*)")}, "mcp__s__t", `{"path":"etc/../x"}`, "deny", "deny-rule"},
		{setup{allow: rule("mcp__s__t(sql:SELECT *)")}, "mcp__s__t", `{"sql":["SELECT 1"]}`, "ask", "default"},
		{setup{}, "lsp", `{"path":"a.txt"}`, "ask", "default"},
		{setup{mode: "yolo", allow: rule("bash")}, "bash", "(((", "ask", "default"},
		{setup{allow: rule("bash(*)")}, "bash", "eval \"$X\"", "allow", "allow-rule"},
		// shell read_only without a sandbox: the safe list and rules for readers
		{setup{mode: "yolo", ceiling: reading}, "bash", "cat a.txt", "allow", "safe-list"},
		{setup{mode: "yolo", ceiling: reading}, "bash", "cat $X", "ask", "default"},
		{setup{mode: "yolo", ceiling: reading, allow: rule("bash(cat *)")}, "bash", "cat $X", "allow", "allow-rule"},
		{setup{ceiling: reading, sandboxed: true}, "bash", "cat $X", "allow", "sandbox"},
		{setup{mode: "yolo", ceiling: reading, allow: rule("bash")}, "bash", "cat a.txt > b", "deny", "ceiling"},
		{setup{mode: "yolo", ceiling: ceiling("shell", "read_only", "git", "destructive", "network", "read_write")}, "bash", "git push", "allow", "yolo"},
	} {
		b.p.Mode, b.p.Undeclared, b.p.Ceiling, b.p.Sandboxed, b.p.CanSpawn = c.mode, c.undeclared, c.ceiling, c.sandboxed, c.spawn
		b.rules(c.allow, c.ask, c.deny)
		input := b.fill(c.input)
		call := tool.Call{Tool: c.tool, Input: json.RawMessage(input)}
		var eff tool.Effects
		switch {
		case c.tool == "bash":
			call.Input, _ = json.Marshal(map[string]string{"command": input})
			eff = shell.Effects(b.rs, input)
		case !strings.HasPrefix(input, "{"):
			call.Input, _ = json.Marshal(map[string]string{"path": input})
			fallthrough
		default:
			if tl, ok := b.tools[c.tool]; ok {
				eff = tl.Effects(call)
			} else if eff, ok = permission.KnownEffects(c.tool, call.Input); !ok {
				t.Fatalf("%s is not known", c.tool)
			}
		}
		d := b.p.Judge(call, eff, c.hook)
		if d.Verdict != c.verdict || d.Stage != c.stage {
			t.Errorf("row %d: %s %s: got %s by %s (%s), want %s by %s", i, c.tool, c.input, d.Verdict, d.Stage, d.Reason, c.verdict, c.stage)
		}
		if d.Reason == "" || d.Segments == nil || len(d.Reasons) == 0 || d.Unanswered {
			t.Errorf("row %d: %s %s: decision is not filled: %+v", i, c.tool, c.input, d)
		}
	}
}

func TestDecisionSaysWhy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	allow := []profile.Rule{{Text: "bash(git status *)", Origin: "config.cue:3", User: true}}
	deny := []profile.Rule{{Text: "bash(rm *)", Origin: "x/config.cue:7"}, {Text: "bash(* -rf *)", Origin: "y.toml:2"}}
	b.rules(allow, nil, deny)
	d := b.bash("git status -s && rm -rf x | wc -l; make")
	want := []event.Segment{
		{Text: "git status -s", Verdict: event.Allow, Stage: event.StageAllowRule, Rule: "bash(git status *)"},
		{Text: "rm -rf x", Verdict: event.Deny, Stage: event.StageDenyRule, Rule: "bash(rm *)"},
		{Text: "wc -l", Verdict: event.Allow, Stage: event.StageSafeList},
		{Text: "make", Verdict: event.Ask, Stage: event.StageDefault},
	}
	if !slices.Equal(d.Segments, want) {
		t.Errorf("segments: got %+v, want %+v", d.Segments, want)
	}
	if d.Verdict != event.Deny || d.Rule != "bash(rm *)" || d.Origin != "x/config.cue:7" || !strings.Contains(d.Reason, "x/config.cue:7") {
		t.Errorf("got %+v", d)
	}
	if len(d.Reasons) != 2 || !strings.Contains(d.Reasons[1], "y.toml:2") {
		t.Errorf("reasons: got %q, want both rules", d.Reasons)
	}
	// Each part is covered by another permission; the first in order names it.
	d = b.bash("ls; git status")
	if d.Verdict != event.Allow || d.Stage != event.StageAllowRule || d.Origin != "config.cue:3" {
		t.Errorf("got %s by %s %s, want allow by allow-rule config.cue:3", d.Verdict, d.Stage, d.Origin)
	}
}

func TestAllowCould(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rules(nil, rule("bash(git commit *)"), nil)
	for line, want := range map[string]bool{
		"make": true, "ls /etc": true, "curl x": true, "git commit": false, "eval x": false, "(((": false, "ls /etc; git commit": false,
		"ls": false, "make; $X": false, "echo x > AGENTS.md": true,
	} {
		if got := b.p.AllowCould(b.bash(line)); got != want {
			t.Errorf("%q: got %t, want %t", line, got, want)
		}
	}
}

// TestSuggestedRulesAllow: what "always" stores allows the call that it was
// suggested for, and not much more.
func TestSuggestedRulesAllow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct{ tool, input, want, other string }{
		{"bash", "git status -s", "bash(git status *)", "git push"},
		{"bash", "git push origin main", "bash(git push *)", "git fetch"},
		{"bash", "make test", "bash(make test *)", "make install"},
		{"bash", "npm run build", "bash(npm run *)", "npm install"},
		{"bash", "go test ./...", "bash(go test *)", "go run ."},
		{"bash", "touch 'a b'", "bash(touch 'a b')", "touch a"},
		{"bash", "ls && rm -r x", "bash(rm -r x)", "rm y"},
		{"bash", "FOO=1 make", "bash(FOO=1 make)", "make"},
		{"bash", "node -e 'a; b *'", "bash(node -e 'a; b *')", "node -e x"},
		{"bash", "git log > out.txt", "edit(./out.txt)", ""},
		{"bash", "ls /etc/ssl", "read(//etc/ssl)", ""},
		{"bash", "eval x", "", ""},
		{"bash", "curl -s https://go.dev", "bash(curl -s https://go.dev)", "curl x"},
		{"edit", "src/a.go", "edit(src/a.go)", ""},
		{"write", "{P}/src/a.go", "edit(src/a.go)", ""},
		{"write", "a.txt", "edit(./a.txt)", ""},
		{"write", "src/[x]*.go", `edit(src/\[x\]\*.go)`, ""},
		{"read", "/etc/hosts", "read(//etc/hosts)", ""},
		{"web_fetch", `{"url":"https://Go.dev/x"}`, "web_fetch(domain:go.dev)", ""},
		{"mcp__s__t", `{}`, "mcp__s__t", ""},
		{"task", `{"subagent_type":"explorer"}`, "task(explorer)", ""},
	} {
		input := b.fill(c.input)
		call := tool.Call{Tool: c.tool, Input: json.RawMessage(input)}
		var eff tool.Effects
		judge := func() event.Decision { return b.p.Judge(call, eff, permission.HookSays{}) }
		switch {
		case c.tool == "bash":
			call.Input, _ = json.Marshal(map[string]string{"command": input})
			eff = shell.Effects(b.rs, input)
		case b.tools[c.tool] != nil:
			call.Input, _ = json.Marshal(map[string]string{"path": input})
			eff = b.tools[c.tool].Effects(call)
		default:
			eff, _ = permission.KnownEffects(c.tool, call.Input)
		}
		got := b.p.Suggest(call, eff)
		if got != c.want {
			t.Errorf("%s %s: got %q, want %q", c.tool, c.input, got, c.want)
			continue
		}
		if got == "" {
			continue
		}
		b.rules(rule(got), nil, nil)
		if d := judge(); d.Verdict != event.Allow {
			t.Errorf("%s does not allow %s %s: %s (%s)", got, c.tool, c.input, d.Verdict, d.Reason)
		}
		if c.other != "" {
			if d := b.bash(c.other); d.Verdict == event.Allow {
				t.Errorf("%s also allows %q", got, c.other)
			}
		}
		b.rules(nil, nil, nil)
	}
}

func TestWriteRuled(t *testing.T) {
	b := newBench(t)
	b.rules(nil, nil, rule("edit(dev/**)", "write(*.lock)", "read(secrets/**)", "bash(rm *)", "multi_edit"))
	if !b.p.HasWriteRules() {
		t.Error("got no write rules, want some")
	}
	for name, want := range map[string]bool{"dev/a": true, "dev/b/c": true, "src/x.lock": true, "src/x": false, "secrets/key": false} {
		abs := b.rs.Project + "/" + name
		if got := b.p.WriteRuled(abs, abs); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if !b.p.WriteRuled(b.rs.Project+"/link/a", b.rs.Project+"/dev/a") {
		t.Error("a link into dev: got false, want true")
	}
	b.rules(nil, nil, rule("edit", "read(x)"))
	if b.p.HasWriteRules() {
		t.Error("a rule on the tool alone: got write rules, want none")
	}
}

func TestReadDenied(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rules(rule("read(server.pem)"), nil, rule("read(secrets/**)"))
	for path, want := range map[string]bool{"secrets/key.txt": true, "src/a.go": false, ".env": true, "server.pem": false, "sub/server.pem": true} {
		abs := b.rs.Project + "/" + path
		if got := b.p.ReadDenied(abs, abs); got != want {
			t.Errorf("%s: got %t, want %t", path, got, want)
		}
	}
	if !b.p.ReadDenied(b.rs.Project+"/link/key.txt", b.rs.Project+"/secrets/key.txt") {
		t.Error("a link to a denied file is not denied")
	}
	if d := b.call("grep", `{"pattern":"x","path":"secrets"}`); d.Verdict != event.Deny {
		t.Errorf("grep in a denied directory: got %s, want deny", d.Verdict)
	}
}

func TestKnownEffects(t *testing.T) {
	t.Parallel()
	for _, n := range strings.Fields("read write edit glob grep bash write_files multi_edit bash_output bash_kill todo_write raw_output ask_user exit_plan_mode task task_wait task_stop task_send skill tool_search call_tool list_mcp_resources read_mcp_resource web_fetch web_search lsp browser_click mcp__a__b") {
		for _, in := range []string{`{}`, `{"path":7,"files":"x","url":[]}`, `null`, `{`} {
			if _, ok := permission.KnownEffects(n, json.RawMessage(in)); !ok {
				t.Errorf("%s %s: not known", n, in)
			}
		}
	}
	for n, want := range map[string]string{"reed": "read", "bsh": "bash", "web_fetsh": "web_fetch", "zzzzzzzz": ""} {
		if _, ok := permission.KnownEffects(n, nil); ok || permission.DidYouMean(n) != want {
			t.Errorf("%s: known %t, did you mean %q, want %q", n, ok, permission.DidYouMean(n), want)
		}
	}
	eff, _ := permission.KnownEffects("write_files", json.RawMessage(`{"files":[{"path":"a"},{"path":".env"}]}`))
	b := newBench(t)
	if d := b.p.Judge(tool.Call{Tool: "write_files"}, eff, permission.HookSays{}); d.Stage != event.StageSecret {
		t.Errorf("got %s, want secret", d.Stage)
	}
	for url, want := range map[string]string{"https://go.dev/x": "domain:go.dev", "HTTP://GO.dev.:80": "domain:go.dev", "https://go.dev@evil.test/": "domain:evil.test", `https://go.dev\@evil.test`: "", "file:///etc/passwd": "", "x": ""} {
		in, _ := json.Marshal(map[string]string{"url": url})
		if eff, _ := permission.KnownEffects("web_fetch", in); eff.Subject != want {
			t.Errorf("%s: got %q, want %q", url, eff.Subject, want)
		}
	}
}

func ExampleRuleError() {
	_, errs := permission.ParseRules([]profile.Rule{{Text: "bsh(ls)", Origin: "config.cue:4"}}, nil, nil, permission.Places{})
	fmt.Println(errs[0])
	// Output: config.cue:4: allow rule bsh(ls): no tool is called bsh (did you mean bash?)
}
