package app

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
	"larva.dev/larva/internal/tool/task"
)

// The lattice again, the way that a run goes: parents and children are personas
// and agent files as a person writes them, each child is built by what spawns
// it, and what is asked are calls of the tools that they have, of a shell line,
// and of MCP servers.

const (
	latticeParents  = 50
	latticeChildren = 20 // of each parent
	latticeCalls    = 12 // of each pair
)

var latticeLines = []string{"ls", "cat note.txt", "git status", "git log -3", "git commit -m x", "git push", "git checkout -b x", "make", "go test ./...", "rm note.txt", "rm -rf .",
	"echo x > note.txt", "cat /etc/passwd", "curl https://go.dev", "python3 x.py", "sed -i s/a/b/ note.txt", "touch x", "mkdir d", "grep x note.txt | sort", "true && rm x", "git reset --hard",
	"cat .env", "echo x > .git/hooks/pre-commit", "sh -c 'rm x'", "cp note.txt n2", "find . -name x", "find . -delete", "npm install", "kill 1", "wc -l note.txt"}

// mcpTool is a server's, of which only the name and what it needs are known.
type mcpTool struct {
	name    string
	posture capability.Posture
}

func (m mcpTool) Spec() tool.Spec { return tool.Spec{Name: m.name} }
func (m mcpTool) Effects(tool.Call) tool.Effects {
	return tool.Effects{Needs: []capability.Need{{Family: "mcp", Posture: m.posture}}, ReadOnly: m.posture == capability.ReadOnly, Touches: true}
}

var mcpTools = []mcpTool{{"mcp__s__look", capability.ReadOnly}, {"mcp__s__change", capability.ReadWrite}, {"mcp__s__drop", capability.Destructive}, {"mcp__t__look", capability.ReadOnly}}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// latticeAgents writes personas p0, p1, … and agent files d0, d1, … and gives
// their ids.
func latticeAgents(t *testing.T, a *App, r *rand.Rand) []string {
	t.Helper()
	var ids, files []string
	for i := range 30 {
		caps := map[string]string{}
		for _, f := range []string{"filesystem", "shell", "git", "network", "mcp"} {
			if r.IntN(8) > 0 {
				caps[f] = pick(r, "none", "read_only", "read_write", "read_write", "destructive", "destructive", "destructive")
			}
		}
		id := fmt.Sprintf("p%d", i)
		text, _ := json.Marshal(map[string]any{"spec_version": "0.1.0", "id": id, "description": "d", "prompt": "p", "model": "m", "capabilities": caps, "can_spawn": true})
		file := filepath.Join(a.home, id+".json")
		plant(t, file, string(text))
		ids, files = append(ids, id), append(files, file)
	}
	if _, err := a.Register(t.Context(), RegisterInput{Files: files}); err != nil {
		t.Fatal(err)
	}
	names := []string{"Read", "Edit", "Write", "Bash", "Glob", "Grep", "Task", "mcp__s__look", "mcp__s__change", "mcp__s", "mcp__t__*"}
	for i := range 30 {
		id := fmt.Sprintf("d%d", i)
		var b strings.Builder
		fmt.Fprintf(&b, "---\nname: %s\ndescription: d\n", id)
		list := func(key string, most int) {
			var out []string
			for range r.IntN(most + 1) {
				out = append(out, pick(r, names...))
			}
			if len(out) > 0 {
				fmt.Fprintf(&b, "%s: %s\n", key, strings.Join(out, ", "))
			}
		}
		switch r.IntN(4) {
		case 0: // no list: what its parent may
		case 1:
			b.WriteString("tools: \"*\"\n")
		default:
			list("tools", 8)
		}
		if r.IntN(3) == 0 {
			list("disallowedTools", 3)
		}
		if r.IntN(5) == 0 {
			fmt.Fprintf(&b, "permissionMode: %s\n", pick(r, "plan", "default", "acceptEdits", "bypassPermissions"))
		}
		b.WriteString("---\nDo it.\n")
		plant(t, filepath.Join(a.home, ".config", "larva", "agents", id+".md"), b.String())
		ids = append(ids, id)
	}
	return ids
}

// latticeCall is a call with its facts, as a stand's own tools state them.
func latticeCall(r *rand.Rand, s *stand) (tool.Call, tool.Effects) {
	input := map[string]any{}
	c := tool.Call{ID: "1", Tool: pick(r, "read", "read", "read", "bash", "bash", "glob", "grep", "grep", "edit", "write", "mcp")}
	path := pick(r, "note.txt", "src/a.go", "note.txt", ".env", "../x", "/etc/hosts", ".git/config", "AGENTS.md")
	switch c.Tool {
	case "bash":
		input["command"] = pick(r, latticeLines...)
	case "glob", "grep":
		input["pattern"] = "x"
	case "edit":
		input["path"], input["old_string"], input["new_string"] = path, "a", "b"
	case "write":
		input["path"], input["content"] = path, "x"
	case "read":
		input["path"] = path
	case "mcp":
		m := pick(r, mcpTools...)
		c.Tool, c.Input = m.name, json.RawMessage(`{}`)
		return c, m.Effects(c)
	}
	c.Input, _ = json.Marshal(input)
	if t, ok := s.tools.Get(c.Tool); ok {
		return c, t.Effects(c)
	}
	eff, _ := permission.KnownEffects(c.Tool, c.Input)
	return c, eff
}

// has says that a stand offers the call's tool; a server's tools are handed down
// as equipChild hands down the others, to who has a parent that has them.
func (s *stand) has(c tool.Call, parent *stand) bool {
	if i := slices.IndexFunc(mcpTools, func(m mcpTool) bool { return m.name == c.Tool }); i >= 0 {
		return (len(s.agents) == 0 || s.allows(c.Tool)) && (parent == nil || parent.has(c, nil))
	}
	_, ok := s.tools.Get(c.Tool)
	return ok
}

func TestLatticeOfChildren(t *testing.T) {
	t.Parallel()
	a, p := testApp(t)
	plant(t, filepath.Join(p.project, "note.txt"), "a\n")
	plant(t, filepath.Join(p.project, ".git", "HEAD"), "ref: refs/heads/main\n")
	profile := filepath.Join(a.home, "lattice.yaml")
	plant(t, profile, "models: {\"*\": script/x}\nscripts: {x: {turns: [{text: x}]}}\nsandbox: {kind: none}\n")
	r := rand.New(rand.NewPCG(7, 11))
	ids := latticeAgents(t, a, r)
	modes := []string{"plan", "default", "accept-edits", "auto", "yolo", "yolo", "yolo"}
	rules := []string{"bash", "bash(git *)", "bash(make *)", "edit", "write", "read", "mcp__s", "mcp__s__drop", "mcp__t"}
	all, allowed, refused := 0, 0, 0
	for range latticeParents {
		f := flags{profile: profile, mode: pick(r, modes...)}
		for _, rule := range rules {
			switch r.IntN(6) {
			case 0, 1, 2:
				f.allow = append(f.allow, rule)
			case 3:
				if r.IntN(3) == 0 {
					f.deny = append(f.deny, rule)
				}
			}
		}
		parent, err := a.stand(t.Context(), about{persona: pick(r, ids...), flags: f, portable: true})
		if err != nil {
			t.Fatal(err)
		}
		above := &agent.Loop{Policy: parent.policy, Tools: parent.tools, Mode: parent.mode()}
		fam := &family{app: a, found: map[string]chosen{}, hub: &task.Hub{}}
		for range latticeChildren {
			id := pick(r, ids...)
			child, err := fam.childStand(t.Context(), parent, above, task.Request{ID: "task-1", Agent: id})
			if err != nil {
				t.Fatalf("%s under %s: %v", id, parent.ref.ID, err)
			}
			for range latticeCalls {
				c, eff := latticeCall(r, child)
				got := child.policy.Judge(c, eff, permission.HookSays{})
				if !child.has(c, parent) {
					got.Verdict = event.Deny
				}
				up := parent.policy.Judge(c, eff, permission.HookSays{})
				if all++; got.Verdict == event.Allow {
					allowed++
				}
				if up.Verdict == event.Deny || !parent.has(c, nil) {
					refused++
					if got.Verdict == event.Allow {
						t.Fatalf("mode %s: %s may %s %s by %s; its parent %s has it: %t, and says %s: %s", parent.mode(), id, c.Tool, c.Input, got.Stage, parent.ref.ID, parent.has(c, nil), up.Verdict, up.Reason)
					}
				}
				if up.Verdict != event.Allow && got.Verdict == event.Allow {
					t.Fatalf("mode %s: %s may %s %s by %s without a question, its parent %s not: %s", parent.mode(), id, c.Tool, c.Input, got.Stage, parent.ref.ID, up.Reason)
				}
			}
			child.rest()
		}
		parent.rest()
	}
	t.Logf("COUNT %d pairs, %d calls: %d allowed for the child, %d refused for the parent", latticeParents*latticeChildren, all, allowed, refused)
	if allowed < all/3 || refused < all/10 {
		t.Errorf("got %d of %d allowed and %d refused above: nothing much was tested", allowed, all, refused)
	}
}
