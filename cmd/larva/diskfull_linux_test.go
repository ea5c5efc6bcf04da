package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDiskFull writes a session onto a file system that fills up: the run
// stops and says why, the session loads, and it goes on once there is room.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	type call struct {
		Tool  string         `json:"tool"`
		Input map[string]any `json:"input"`
	}
	type turn struct {
		Calls  []call `json:"calls,omitempty"`
		Text   string `json:"text,omitempty"`
		Repeat bool   `json:"repeat,omitempty"`
	}
	var turns []turn
	for i := range 40 {
		name := syllable(i) + ".txt"
		write(t, filepath.Join(work, name), strings.Repeat(name+" and a long line behind it\n", 300))
		turns = append(turns, turn{Calls: []call{{"read", map[string]any{"path": name}}}})
	}
	many, _ := json.Marshal(map[string]any{"turns": append(turns, turn{Text: "never said"})})
	write(t, filepath.Join(work, "many.json"), string(many))
	write(t, filepath.Join(work, "one.json"), `{"turns":[{"text":"on again"}]}`)
	write(t, filepath.Join(work, "cases.sh"), `set -u
mkdir -p "$XDG_DATA_HOME" && mount -t tmpfs -o size=128k tmpfs "$XDG_DATA_HOME" || exit 77
larva() { (exec -a larva "$SELF" "$@"); }
larva run worker --model script/./many.json "Read all" >out 2>err; echo "run $?"
tail -n 3 err
larva session list | cut -f 3,4
larva session show >shown 2>&1; echo "show $?"; grep -c '^### Call' shown
head -c 1m /dev/zero >"$XDG_DATA_HOME/fill" 2>/dev/null
larva run --continue "Go on" >out2 2>err2; echo "full $?"; tail -n 2 err2
rm "$XDG_DATA_HOME/fill"; mount -o remount,size=4m "$XDG_DATA_HOME"
larva run --continue --model script/./one.json "Go on" 2>&1; echo "again $?"
larva session list | cut -f 3,4
`)
	got := onSmallDisk(t, home, work)
	for _, want := range []string{"run 1\n", "the session cannot be written: ", "no space left on device", "worker\tcrashed\n", "show 0\n", "full 1\n", "on again\nagain 0\n", "worker\tdone\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
}

// onSmallDisk runs cases.sh where it may mount: as root, or as that of a user
// namespace. larva is this program there.
func onSmallDisk(t *testing.T, home, work string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{"unshare", "-m", "bash", "cases.sh"}
	if os.Getuid() != 0 {
		argv = []string{"unshare", "-Urm", "bash", "cases.sh"}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = work, []string{"HOME=" + home, "XDG_DATA_HOME=" + filepath.Join(home, "data"), "PATH=" + os.Getenv("PATH"), "SELF=" + self}
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("it hangs\n%s", out)
	}
	if e, ok := err.(*exec.ExitError); err != nil && (!ok || e.ExitCode() == 77 || e.ExitCode() == 1) {
		t.Skipf("no file system of its own can be had here: %v %s", err, out)
	}
	return string(out)
}

// TestDiskFullAtFinish has a subagent leave more in its worktree than the
// repository's file system has room for: its work stays where it is, its parent
// is told, and it can be committed once there is room.
func TestDiskFullAtFinish(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".config", "larva", "profiles"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = N\n\temail = n@x.test\n")
	write(t, filepath.Join(home, ".config", "larva", "profiles", "demo.cue"), `package profiles

profiles: demo: {
	models: "*": "script/demo"
	permissions: allow: ["bash"]
	sandbox: kind: "none"
	scripts: demo: turns: [
		{when: {user: "^go$"}, calls: [{tool: "task", input: {description: "big", prompt: "leave much", subagent_type: "hand", isolation: "worktree"}}]},
		{when: {user: "leave much"}, calls: [{tool: "bash", input: command: "head -c 3000000 /dev/urandom >big && sha256sum <big"}]},
		{when: {user: "leave much", tool: "bash"}, text: "it is {{line 1 (result 1)}}"},
		{when: {user: "^go$", tool: "task"}, text: "told: {{result 1}}"},
	]
}
`)
	write(t, filepath.Join(work, "lead.json"), `{"spec_version":"0.1.0","id":"lead","description":"Leads","prompt":"You lead.","model":"m","capabilities":{"filesystem":"read_write","shell":"destructive","git":"read_write"},"can_spawn":["hand"]}`)
	write(t, filepath.Join(work, "hand.json"), `{"spec_version":"0.1.0","id":"hand","description":"Does","prompt":"You do.","model":"m","capabilities":{"filesystem":"read_write","shell":"destructive"}}`)
	write(t, filepath.Join(work, "cases.sh"), `set -u
mkdir p && mount -t tmpfs -o size=1m tmpfs p || exit 77
larva() { (exec -a larva "$SELF" "$@"); }
larva register lead.json hand.json >/dev/null; cd p
git init -q -b main --template=; echo one >a; git add a; git commit -qm One
larva run lead --profile demo go 2>err >../out; echo "run $?"; cat ../out
tree=$(ls -d "$XDG_DATA_HOME"/larva/worktrees/*/task-*)
echo "kept $(grep -c "$(sha256sum <"$tree/big")" ../out)"
larva worktree list | cut -f 2
larva worktree prune >/dev/null 2>&1; test -s "$tree/big" && echo "not pruned"
mount -o remount,size=20m .
cd "$tree" && git add big && git commit -qm Big && echo "committed"
`)
	got := onSmallDisk(t, home, work)
	for _, want := range []string{"run 0\n", "told: it is ", "o space left on device", "larva/task-", "kept 1\n", "unsaved\n", "not pruned\n", "committed\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
}
