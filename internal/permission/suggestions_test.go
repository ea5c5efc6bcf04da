package permission_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// An "always" stores one rule for each part that asked.
func TestSuggestions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct{ tool, input, want string }{
		{"bash", "git add a.txt && go test ./...", "bash(git add *)|bash(go test *)"},
		{"bash", "ls; make test; make test; git status | wc -l", "bash(make test *)"},
		{"bash", "npm run build && touch a > out.txt", "bash(npm run *)|edit(./out.txt)|bash(touch a)"},
		{"bash", "cat /etc/hosts | tee copy.txt", "read(//etc/hosts)|bash(tee copy.txt)"},
		{"bash", "ls > out.txt", "edit(./out.txt)"},
		{"bash", "echo x >> AGENTS.md", "edit(./AGENTS.md)"},
		{"bash", "make; $X", ""}, {"bash", "(((", ""}, {"bash", "echo x > $X", ""}, {"bash", "make; cat .env", ""},
		{"bash", "a1; a2; a3; a4; a5; a6; a7", ""},
		{"bash", "curl https://go.dev && make", "bash(curl https://go.dev)|bash(make)"},
		{"write_files", `{"files":[{"path":"src/x"},{"path":"src/y"}]}`, "edit(src/x)|edit(src/y)"},
		{"write", "src/n.go", "edit(src/n.go)"},
		{"web_fetch", `{"url":"https://go.dev/x"}`, "web_fetch(domain:go.dev)"},
	} {
		call := tool.Call{Tool: c.tool, Input: json.RawMessage(c.input)}
		var eff tool.Effects
		switch {
		case c.tool == "bash":
			call, eff = b.prepare(c.input)
		case b.tools[c.tool] != nil && !strings.HasPrefix(c.input, "{"):
			call.Input, _ = json.Marshal(map[string]string{"path": c.input})
			eff = b.tools[c.tool].Effects(call)
		default:
			eff, _ = permission.KnownEffects(c.tool, call.Input)
		}
		got := b.p.Suggestions(call, eff)
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s %s: got %q, want %s", c.tool, c.input, got, c.want)
		}
	}
}

// Whatever is suggested allows the call that it was suggested for, and no
// hostile line with it: over both corpora and generated lines.
func TestSuggestionsAllow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	deny := rule(narrowDeny...)
	type prepared struct {
		line string
		c    tool.Call
		eff  tool.Effects
	}
	var bad []prepared
	for i, line := range denied {
		if i%4 == 0 {
			c, eff := b.prepare(line)
			bad = append(bad, prepared{line, c, eff})
		}
	}
	n := 0
	for _, line := range slices.Concat(harmless, dangerous) {
		b.rules(nil, nil, deny)
		call, eff := b.prepare(line)
		d := b.p.Judge(call, eff, permission.HookSays{})
		got := b.p.Suggestions(call, eff)
		if d.Verdict == event.Deny && got != nil {
			t.Errorf("%q is refused: got %q, want nothing to keep", line, got)
		}
		if len(got) == 0 || d.Verdict == event.Allow {
			continue
		}
		n++
		b.rules(rule(got...), nil, deny)
		if d := b.p.Judge(call, eff, permission.HookSays{}); d.Verdict != event.Allow {
			t.Errorf("%q: %q do not allow it: %s by %s", line, got, d.Verdict, d.Stage)
		}
		for _, x := range bad {
			if d := b.p.Judge(x.c, x.eff, permission.HookSays{}); d.Verdict != event.Deny {
				t.Errorf("%q: with %q, %q is %s", line, got, x.line, d.Verdict)
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d lines had anything to keep", n)
	}
}
