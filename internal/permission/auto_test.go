package permission_test

import (
	"testing"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// What a model may answer in mode auto: the last resort and nothing else.
func TestAutoMay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	says := permission.HookSays{Verdict: event.Ask, Name: "h"}
	for _, c := range []struct {
		tool, input string
		hook        permission.HookSays
		want        bool
	}{
		{tool: "bash", input: "touch a", want: true}, {tool: "bash", input: "make; npm run x", want: true}, {tool: "bash", input: "ls && touch a", want: true},
		{tool: "write", input: "src/n.go", want: true}, {tool: "edit", input: "src/a.go", want: true},
		{tool: "bash", input: "rm a"}, {tool: "bash", input: "touch a; rm a"}, {tool: "bash", input: "nosuch x"}, {tool: "bash", input: "sudo touch a"},
		{tool: "bash", input: "curl https://x"}, {tool: "bash", input: "touch a && git push"}, {tool: "bash", input: "git reset --hard"},
		{tool: "bash", input: "$X a"}, {tool: "bash", input: "eval touch a"}, {tool: "bash", input: "((("}, {tool: "bash", input: "echo x > $X"},
		{tool: "bash", input: "touch /etc/x"}, {tool: "write", input: "AGENTS.md"}, {tool: "read", input: "/etc/hosts"}, {tool: "bash", input: "git commit -m x"},
		{tool: "bash", input: "ls"}, {tool: "read", input: "a.txt"}, {tool: "bash", input: "cat .env"},
		{tool: "bash", input: "touch a", hook: says}, {tool: "write", input: "src/n.go", hook: says},
	} {
		b.rules(nil, rule("bash(git commit *)"), nil)
		judge := func(mode string) event.Decision {
			b.p.Mode = mode
			if c.tool == "bash" {
				return b.bashHook(c.input, c.hook)
			}
			call := tool.Call{Tool: c.tool, Input: []byte(`{"path":"` + c.input + `"}`)}
			return b.p.Judge(call, b.tools[c.tool].Effects(call), c.hook)
		}
		d := judge(permission.Auto)
		if got := b.p.AutoMay(d); got != c.want {
			t.Errorf("%s %q (%s by %s): got %t, want %t", c.tool, c.input, d.Verdict, d.Stage, got, c.want)
		}
		if other := judge(permission.Default); b.p.AutoMay(other) || other.Verdict != d.Verdict || other.Stage != d.Stage {
			t.Errorf("%s %q: mode default differs from auto, or leaves it to a model", c.tool, c.input)
		}
	}
	// A persona with shell read_only and no sandbox: only readers are left.
	b.p.Mode, b.p.Ceiling = permission.Auto, ceiling("shell", "read_only")
	b.rules(nil, nil, nil)
	if d := b.bash("cat $X"); b.p.AutoMay(d) {
		t.Errorf("cat $X under shell read_only: got yes (%s by %s), want no", d.Verdict, d.Stage)
	}
	d := b.bash("make")
	d.Unanswered = true
	if b.p.AutoMay(d) {
		t.Error("a refusal is left to a model")
	}
}

// A call that opts out of the sandbox is judged as one outside of it.
func TestOutOfTheSandbox(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.p.Sandboxed, b.p.Ceiling = true, ceiling("shell", "read_write")
	c, eff := b.prepare("nosuch x")
	if d := b.p.Judge(c, eff, permission.HookSays{}); d.Verdict != event.Allow || d.Stage != event.StageSandbox {
		t.Errorf("inside: got %s by %s, want allow by sandbox", d.Verdict, d.Stage)
	}
	out := eff
	out.Unwalled = true
	if d := b.p.Judge(c, out, permission.HookSays{}); d.Verdict != event.Deny || d.Stage != event.StageCeiling {
		t.Errorf("outside by its effects: got %s by %s, want deny by ceiling", d.Verdict, d.Stage)
	}
	c.Input = []byte(`{"command":"nosuch x","sandbox":false}`)
	if d := b.p.Judge(c, eff, permission.HookSays{}); d.Verdict != event.Deny || d.Stage != event.StageCeiling {
		t.Errorf("outside by its input: got %s by %s, want deny by ceiling", d.Verdict, d.Stage)
	}
}
