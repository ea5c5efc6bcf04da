package permission_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

var families = []string{"filesystem", "shell", "git", "network", "http", "mcp"}

func randomCeiling(r *rand.Rand) capability.Ceiling {
	c := capability.Ceiling{}
	for _, f := range families {
		if r.IntN(8) > 0 {
			c[f] = []capability.Posture{capability.None, capability.ReadOnly, capability.ReadWrite, capability.ReadWrite, capability.Destructive, capability.Destructive, capability.Destructive, capability.Destructive}[r.IntN(8)]
		}
	}
	return c
}

// randomCall is a call with its facts: files, a shell line, a server's tool,
// the web.
func (b *bench) randomCall(r *rand.Rand) (tool.Call, tool.Effects) {
	c := tool.Call{ID: "1"}
	name, input := "", any(nil)
	switch r.IntN(8) {
	case 0, 1:
		line, _ := genLine(r)
		return b.prepare(line)
	case 2, 6, 7:
		name, input = "read", map[string]any{"path": []string{"src/a.go", "README.md", "a.txt", "notes.key", "/etc/hosts", ".env"}[r.IntN(6)]}
	case 3:
		name, input = "edit", map[string]any{"path": []string{"src/a.go", "AGENTS.md", "/elsewhere/x"}[r.IntN(3)], "old_string": "a", "new_string": "b"}
	case 4:
		c.Tool = fmt.Sprintf("mcp__s__t%d", r.IntN(3))
		p := []capability.Posture{capability.ReadOnly, capability.ReadWrite, capability.Destructive}[r.IntN(3)]
		c.Input = json.RawMessage(`{}`)
		return c, tool.Effects{Needs: need("mcp", p), ReadOnly: p == capability.ReadOnly, Touches: true}
	default:
		name, input = "web_fetch", map[string]any{"url": "https://go.dev"}
	}
	c.Tool = name
	c.Input, _ = json.Marshal(input)
	if t, ok := b.tools[name]; ok {
		return c, t.Effects(c)
	}
	eff, _ := permission.KnownEffects(name, c.Input)
	return c, eff
}

// TestLattice throws parents and children together at random: whatever a child
// may do without a question, its parent may, and so may all above it.
func TestLattice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := rand.New(rand.NewPCG(5, 6))
	allows := []string{"bash", "bash(git *)", "bash(make *)", "bash(rm *)", "bash(curl *)", "edit", "read", "mcp__s", "web_fetch"}
	denies := []string{"bash(rm *)", "edit(src/**)", "mcp__s__t1", "bash(git push *)"}
	modes := []string{permission.Plan, permission.Default, permission.AcceptEdits, permission.Auto, permission.Yolo, permission.Yolo}
	const pairs, calls = 1000, 12
	all, allowed, refusedAbove := 0, 0, 0
	for i := range pairs {
		var allow, ask, deny []string
		for _, x := range allows {
			if r.IntN(2) == 0 {
				allow = append(allow, x)
			}
		}
		for _, x := range denies {
			if r.IntN(8) == 0 {
				deny = append(deny, x)
			}
			if r.IntN(10) == 0 {
				ask = append(ask, x)
			}
		}
		b.rules(rule(allow...), rule(ask...), rule(deny...))
		top := *b.p
		top.Ceiling, top.Mode, top.Sandboxed = randomCeiling(r), modes[r.IntN(len(modes))], r.IntN(2) == 0
		if r.IntN(8) == 0 {
			top.Undeclared = "deny"
		}
		parent := &top
		if r.IntN(4) == 0 {
			parent = top.Below(permission.Bound{Ceiling: randomCeiling(r)})
		}
		child := parent.Below(permission.Bound{Ceiling: randomCeiling(r)})
		for range calls {
			c, eff := b.randomCall(r)
			all++
			got := child.Judge(c, eff, permission.HookSays{})
			for _, above := range []*permission.Policy{parent, &top} {
				d := above.Judge(c, eff, permission.HookSays{})
				if d.Verdict == event.Deny {
					refusedAbove++
				}
				if got.Verdict == event.Allow && d.Verdict != event.Allow {
					t.Fatalf("pair %d, mode %s: the child may %s %s by %s; above it is %s: %s\nchild %v, above %v %v", i, top.Mode, c.Tool, c.Input, got.Stage, d.Verdict, d.Reason, child.Ceiling, above.Ceiling, above.Above)
				}
				if d.Verdict == event.Deny && got.Verdict != event.Deny {
					t.Fatalf("pair %d: above, %s %s is refused (%s); for the child it is %s", i, c.Tool, c.Input, d.Reason, got.Verdict)
				}
			}
			if got.Verdict == event.Allow {
				allowed++
			}
		}
	}
	t.Logf("COUNT %d pairs, %d calls: %d allowed for the child, %d refusals above", pairs, all, allowed, refusedAbove)
	if allowed < all/3 || refusedAbove < all/10 {
		t.Errorf("got %d of %d calls allowed and %d refusals above: nothing much was tested", allowed, all, refusedAbove)
	}
}

// TestUndeclaredIsNotBelowReadOnly is why the lower of two ceilings would not
// do: for a child that leaves out what its parent declares read_only, a rule
// would answer what its parent is refused.
func TestUndeclaredIsNotBelowReadOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rules(rule("edit"), nil, nil)
	b.p.Ceiling = capability.Ceiling{"filesystem": capability.ReadOnly}
	child := b.p.Below(permission.Bound{Ceiling: capability.Ceiling{}})
	c := tool.Call{ID: "1", Tool: "edit", Input: json.RawMessage(`{"path":"src/a.go","old_string":"a","new_string":"b"}`)}
	if d := child.Judge(c, b.tools["edit"].Effects(c), permission.HookSays{}); d.Verdict != event.Deny || d.Stage != event.StageCeiling {
		t.Errorf("got %s by %s, want deny by the ceiling above", d.Verdict, d.Stage)
	}
}
