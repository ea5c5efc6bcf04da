package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{"unshare", "-m", "bash", "cases.sh"}
	if os.Getuid() != 0 {
		argv = []string{"unshare", "-Urm", "bash", "cases.sh"}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = work, []string{"HOME=" + home, "XDG_DATA_HOME=" + filepath.Join(home, "data"), "PATH=" + os.Getenv("PATH"), "SELF=" + self}
	out, err := cmd.CombinedOutput()
	if e, ok := err.(*exec.ExitError); err != nil && (!ok || e.ExitCode() == 77 || e.ExitCode() == 1) {
		t.Skipf("no file system of its own can be had here: %v %s", err, out)
	}
	got := string(out)
	for _, want := range []string{"run 1\n", "the session cannot be written: ", "no space left on device", "worker\tcrashed\n", "show 0\n", "full 1\n", "on again\nagain 0\n", "worker\tdone\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
}
