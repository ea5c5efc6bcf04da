package app

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
	"larva.dev/larva/internal/tool/task"
)

// A child in a worktree that names its parent's checkout by an absolute path,
// or goes there in any other way, is refused or asked about, in every mode.
func TestReport24(t *testing.T) {
	t.Parallel()
	a, in := chatApp(t, chatEdits)
	a.environ = append(a.environ, "PATH="+os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=N", "-c", "user.email=n@x.test", "commit", "-qm", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = a.dir, append(a.environ, "GIT_CONFIG_GLOBAL="+os.DevNull)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	there := filepath.Join(a.dir, "note.txt")
	for _, mode := range []string{"default", "accept-edits", "auto"} {
		parent, err := a.stand(t.Context(), about{persona: "lead", flags: flags{profile: in.Profile, mode: mode, allow: []string{"edit", "write", "read", "bash(cat *)", "bash(cp *)"}}, portable: true})
		if err != nil {
			t.Fatal(err)
		}
		defer parent.rest()
		fam := &family{app: a, found: map[string]chosen{}, hub: &task.Hub{}}
		above := &agent.Loop{Policy: parent.policy, Tools: parent.tools, Mode: parent.mode()}
		parent.policy.CanSpawn.IDs = append(parent.policy.CanSpawn.IDs, "lead")
		child, err := fam.childStand(t.Context(), parent, above, task.Request{ID: "task-1", Agent: "lead", Isolation: "worktree"})
		if err != nil {
			t.Fatal(err)
		}
		defer child.finishTree(t.Context())
		defer child.rest()
		if child.tree == nil || child.roots.Cwd == a.dir {
			t.Fatalf("the child works in %s, want a worktree", child.roots.Cwd)
		}
		if err := os.Symlink(a.dir, filepath.Join(child.roots.Cwd, "link")); err != nil {
			t.Fatal(err)
		}
		back, err := filepath.Rel(real(child.roots.Cwd), real(there))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{there, back, "link/note.txt", filepath.Join(a.dir, "new.txt"), filepath.Join(a.dir, ".git", "config")} {
			for name, input := range map[string]any{
				"edit":        map[string]any{"path": path, "old_string": "the", "new_string": "a"},
				"write":       map[string]any{"path": path, "content": "x"},
				"multi_edit":  map[string]any{"path": path, "edits": []any{map[string]any{"old_string": "the", "new_string": "a"}}},
				"write_files": map[string]any{"files": []any{map[string]any{"path": path, "content": "x"}}},
				"read":        map[string]any{"path": path},
				"bash":        map[string]any{"command": "cp note.txt " + path},
			} {
				impl, ok := child.tools.Get(name)
				if !ok {
					t.Fatalf("the child has no %s", name)
				}
				c := tool.Call{ID: "1", Tool: name}
				c.Input, _ = json.Marshal(input)
				if d := child.policy.Judge(c, impl.Effects(c), permission.HookSays{}); d.Verdict == event.Allow {
					t.Errorf("mode %s: %s %s is allowed by %s: %s", mode, name, path, d.Stage, d.Reason)
				}
			}
		}
		// What lies in the worktree is the child's.
		c := tool.Call{ID: "1", Tool: "edit", Input: json.RawMessage(`{"path":"note.txt","old_string":"the","new_string":"a"}`)}
		impl, _ := child.tools.Get("edit")
		if d := child.policy.Judge(c, impl.Effects(c), permission.HookSays{}); d.Verdict != event.Allow {
			t.Errorf("mode %s: its own note.txt: %s by %s: %s", mode, d.Verdict, d.Stage, d.Reason)
		}
	}
}
