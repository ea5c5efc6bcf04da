//go:build unix

package hook

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

// echo stands for bash: it keeps the command that ran.
type echo struct{ ran *[]string }

func (echo) Spec() tool.Spec {
	return tool.Spec{Name: "bash", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)}
}

func (echo) Effects(c tool.Call) tool.Effects {
	return tool.Effects{Command: command(c), Touches: true, Needs: capability.ShellNeeds([]capability.Arg{{Value: "go", Known: true}}, false).Needs}
}

func (e echo) Run(_ context.Context, c tool.Call) (tool.Result, error) {
	*e.ran = append(*e.ran, command(c))
	return tool.Result{Output: "ran " + command(c)}, nil
}

func command(c tool.Call) string {
	var in struct{ Command string }
	_ = json.Unmarshal(c.Input, &in)
	return in.Command
}

// What hooks print against what rules say, for every combination of both:
// a hook's allow skips the question and nothing else, rules are asked about
// the input as the hooks left it, and a rewrite is never lost. The public
// reports behind this are of a flat decision that was thrown away, a rewrite
// that another hook's silence undid, a rewrite that an allow dropped, and an
// allow that overrode rules.
func TestHooksAgainstRules(t *testing.T) {
	t.Parallel()
	const was, now = "go build ./...", "go test ./..."
	hooks := map[string]struct {
		print   string
		verdict event.Verdict
		rewrite bool
	}{
		"silent":            {"", "", false},
		"text":              {"ok", "", false},
		"allow":             {pre(`"permissionDecision":"allow"`), event.Allow, false},
		"ask":               {pre(`"permissionDecision":"ask"`), event.Ask, false},
		"deny":              {pre(`"permissionDecision":"deny"`), event.Deny, false},
		"rewrite":           {pre(`"updatedInput":{"command":"` + now + `"}`), "", true},
		"allow and rewrite": {pre(`"permissionDecision":"allow","updatedInput":{"command":"` + now + `"}`), event.Allow, true},
		"flat allow":        {`{"permissionDecision":"allow"}`, "", false},
		"flat deny":         {`{"permissionDecision":"deny"}`, event.Deny, false},
		"half allow":        {`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"`, "", false},
		"half deny":         {`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"`, event.Deny, false},
	}
	rules := map[string]struct{ allow, ask, deny string }{
		"no rule":        {},
		"allow the old":  {allow: "bash(go build *)"},
		"allow the new":  {allow: "bash(go test *)"},
		"ask the old":    {ask: "bash(go build *)"},
		"ask the new":    {ask: "bash(go test *)"},
		"deny the old":   {deny: "bash(go build *)"},
		"deny the new":   {deny: "bash(go test *)"},
		"allow and deny": {allow: "bash(go *)", deny: "bash(go test *)"},
	}
	n := 0
	for aName, a := range hooks {
		for bName, b := range hooks {
			dir := t.TempDir()
			for i, print := range []string{a.print, b.print} {
				if err := os.WriteFile(filepath.Join(dir, string(rune('a'+i))), []byte(print), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r, err := New(Options{Cwd: dir, ProjectDir: dir, Environ: os.Environ(), Hooks: []Hook{
				{Name: "a", Event: PreToolUse, Hook: profile.Hook{Type: "command", Command: "/bin/cat", Args: []string{"a"}}},
				{Name: "b", Event: PreToolUse, Hook: profile.Hook{Type: "command", Command: "/bin/cat", Args: []string{"b"}}}}})
			if err != nil {
				t.Fatal(err)
			}
			var p agent.Points
			r.Attach(&p)
			// The hooks print the same each time: they are run once a pair.
			said := p.BeforeTool[0](context.Background(), tool.Call{ID: "c", Tool: "bash", Input: json.RawMessage(`{"command":"` + was + `"}`)})
			p.BeforeTool[0] = func(context.Context, tool.Call) agent.Before { return said }
			final := was
			if a.rewrite || b.rewrite {
				final = now
			}
			verdict := a.verdict
			if strength(b.verdict) > strength(verdict) {
				verdict = b.verdict
			}
			for rName, rule := range rules {
				n++
				var ran []string
				l := &agent.Loop{Tools: &tool.Registry{}, Points: p, Policy: policyOf(t, rule.allow, rule.ask, rule.deny)}
				if err := l.Tools.Add(echo{&ran}); err != nil {
					t.Fatal(err)
				}
				l.Call(context.Background(), tool.Call{ID: "c", Tool: "bash", Input: json.RawMessage(`{"command":"` + was + `"}`)})
				want := wanted(verdict, rule.allow, rule.ask, rule.deny, final)
				got := strings.Join(ran, ",")
				if want && got != final || !want && got != "" {
					t.Errorf("%s, %s, %s: ran %q, want %q %v", aName, bName, rName, got, final, want)
				}
			}
		}
	}
	t.Logf("%d combinations", n)
}

// wanted says whether the call runs where nobody can be asked.
func wanted(verdict event.Verdict, allow, ask, deny, final string) bool {
	matches := func(rule string) bool {
		rule = strings.TrimSuffix(strings.TrimPrefix(rule, "bash("), "*)")
		return rule != "" && strings.HasPrefix(final, rule)
	}
	switch {
	case verdict == event.Deny || matches(deny) || matches(ask) || verdict == event.Ask:
		return false
	}
	return verdict == event.Allow || matches(allow)
}

func policyOf(t *testing.T, allow, ask, deny string) *permission.Policy {
	t.Helper()
	list := func(text string) []profile.Rule {
		if text == "" {
			return nil
		}
		return []profile.Rule{{Text: text, Origin: "t:1", User: true}}
	}
	rules, bad := permission.ParseRules(list(allow), list(ask), list(deny), permission.Places{})
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	return &permission.Policy{Mode: "default", Rules: rules, Places: permission.Places{Project: "/p", Cwd: "/p", Home: "/h", Roots: []string{"/p"}}}
}

// `if` is a permission rule about the call: in either spelling, for one
// command of a line, and fired too where the line cannot be known.
func TestIf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule, tool, input string
		want              bool
	}{
		{"bash(git push *)", "bash", `{"command":"git push origin"}`, true},
		{"Bash(git push:*)", "bash", `{"command":"git push origin"}`, true},
		{"bash(git push *)", "bash", `{"command":"git status"}`, false},
		{"bash(git push *)", "bash", `{"command":"true && git push"}`, true},
		{"bash(git push *)", "bash", `{"command":"timeout 5 git push"}`, true},
		{"bash(git push *)", "bash", `{"command":"$CMD"}`, true},
		{"bash(git push *)", "bash", `{"command":"eval \"$X\""}`, true},
		{"bash(git push *)", "bash", `{"command":"if then ("}`, true},
		{"bash", "bash", `{"command":"ls"}`, true},
		{"bash", "read", `{"path":"a"}`, false},
		{"edit(src/**)", "edit", `{"path":"src/a.go","old_string":"a","new_string":"b"}`, true},
		{"Edit(src/**)", "write", `{"path":"src/a.go","content":""}`, true},
		{"edit(src/**)", "edit", `{"path":"doc/a.md","old_string":"a","new_string":"b"}`, false},
		{"read(secrets/**)", "grep", `{"pattern":"x","path":"secrets/k"}`, true},
		{"WebFetch(domain:go.dev)", "web_fetch", `{"url":"https://go.dev/x"}`, true},
		{"WebFetch(domain:go.dev)", "web_fetch", `{"url":"https://x.test/"}`, false},
		{"mcp__git", "mcp__git__push", `{}`, true},
		{"mcp__git", "mcp__github__push", `{}`, false},
		{"task(explore)", "task", `{"description":"d","prompt":"p","subagent_type":"explore"}`, true},
	} {
		places := permission.Places{Project: "/p", Cwd: "/p", Home: "/h", Roots: []string{"/p"}}
		cond, err := permission.NewCondition(c.rule, "f:1", places)
		if err != nil {
			t.Fatal(err)
		}
		eff, _ := permission.KnownEffects(c.tool, json.RawMessage(c.input))
		if got := cond.Holds(tool.Call{Tool: c.tool, Input: json.RawMessage(c.input)}, eff); got != c.want {
			t.Errorf("if %s, %s %s: got %v, want %v", c.rule, c.tool, c.input, got, c.want)
		}
	}
}
