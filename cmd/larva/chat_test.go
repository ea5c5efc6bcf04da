//go:build linux || darwin

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The chat on a real terminal: tmux types, and the screens that a walk through
// it passes are golden files. LARVA_UPDATE=1 writes them: look at what changed.

const chatScenario = `turns: [
	{repeat: true, when: {tool: "edit", result: "^edited"}, text: "Done: ` + "`note.txt`" + ` says *a note* now.\n\n- one **bold** point\n- 日本語 👍\n\n` + "```go\\nfunc main() {}\\n```" + `"},
	{repeat: true, when: {tool: "edit"}, text: "It was refused, so the note is as it was."},
	{repeat: true, when: {tool: "read"}, text: "It says: {{result 1}}"},
	{repeat: true, when: {user: "look around", tool: "bash", result: "^there"}, calls: [{tool: "bash", input: command: "make look"}]},
	{repeat: true, when: {user: "look around", tool: "bash"}, text: "Looked: {{result 1}}"},
	{repeat: true, when: {user: "(?m)^leave two", tool: "task"}, calls: [{tool: "bash", input: command: "sh s.sh front"}]},
	{repeat: true, when: {user: "(?m)^leave two"}, calls: [{tool: "task", input: {description: "stay", prompt: "stay there", subagent_type: "scout", run_in_background: true}}]},
	{repeat: true, when: {user: "stay there"}, calls: [{tool: "bash", input: command: "sh s.sh back"}]},
	{repeat: true, when: {tool: "task"}, text: "The scout looks around in the background."},
	{repeat: true, when: {user: "(?m)^edit"}, text: "I will change the note.", calls: [{tool: "edit", input: {path: "note.txt", old_string: "the", new_string: "a"}}]},
	{repeat: true, when: {user: "(?m)^read"}, calls: [{tool: "read", input: path: "note.txt"}]},
	{repeat: true, when: {user: "(?m)^wait"}, text: "Waiting.", calls: [{tool: "bash", input: command: "while [ ! -e go ]; do sleep 0.05; done; echo ran"}]},
	{repeat: true, when: {user: "look around"}, calls: [{tool: "bash", input: command: "while [ ! -e map ]; do sleep 0.05; done; echo there"}]},
	{repeat: true, when: {user: "(?m)^<task-notification"}, text: "The scout is back."},
	{repeat: true, when: {user: "(?m)^send"}, calls: [{tool: "task", input: {description: "the lie of the land", prompt: "look around", subagent_type: "scout", run_in_background: true}}]},
	{repeat: true, text: "You said: {{user}}"},
]
`

const (
	chatLead  = `{"spec_version":"0.1.0","id":"lead","description":"Leads","prompt":"You lead.","model":"m","capabilities":{"filesystem":"read_write","shell":"read_write"},"can_spawn":["scout"]}`
	chatScout = `{"spec_version":"0.1.0","id":"scout","description":"Looks around","prompt":"You look.","model":"m","capabilities":{"filesystem":"read_only","shell":"read_write"}}`
)

// openChat has lead and scout stored and starts a chat.
func openChat(t *testing.T, width, height int, env, args string) *pane {
	t.Helper()
	p := newPane(t, chatScenario)
	p.plant("note.txt", "the note\n")
	p.plant("Makefile", "look:\n\t@echo nothing\n")
	for name, text := range map[string]string{"lead": chatLead, "scout": chatScout} {
		file := filepath.Join(p.home, name+".json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(filepath.Join(filepath.Dir(p.home), "larva"), "register", file)
		cmd.Env, cmd.Dir = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH")}, p.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("register: %v: %s", err, out)
		}
	}
	p.open(width, height, env+" ../larva chat "+args)
	return p
}

var (
	sessionIDs = regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f]{6}`)
	begins     = regexp.MustCompile(`(?m)^\[scout.*\] bg-1 begins in the background, .*\n`)
)

// screen is what the terminal shows, without what differs from run to run: how
// far it has scrolled depends on what was drawn in passing, so its last lines
// count.
func (p *pane) screen(rows int) string {
	p.t.Helper()
	text := begins.ReplaceAllString(p.all("-J"), "") // its place is between those of two goroutines
	lines := strings.Split(sessionIDs.ReplaceAllString(text, "SESSION"), "\n")
	lines = lines[max(0, len(lines)-rows):]
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

// golden waits until the screen is the one of the file. Another process draws
// it, so it is looked at until it is, or does not change any more.
func (p *pane) golden(width, height int, name string) {
	p.t.Helper()
	file := filepath.Join("testdata", "chat", fmt.Sprintf("%dx%d-%s.txt", width, height, name))
	update := os.Getenv("LARVA_UPDATE") != ""
	want, err := os.ReadFile(file)
	if err != nil && !update {
		p.t.Fatal(err)
	}
	poll := time.NewTicker(25 * time.Millisecond)
	defer poll.Stop()
	late := time.After(15 * time.Second)
	got, same := p.screen(height-3), 0
	for !update && got != string(want) || update && same < 20 {
		select {
		case <-poll.C:
		case <-late:
			p.t.Errorf("%s (-got +want):\n%s", file, cmp.Diff(got, string(want)))
			return
		}
		now := p.screen(height - 3)
		if same++; now != got {
			same = 0
		}
		got = now
	}
	if !update || got == string(want) {
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// types sends a line.
func (p *pane) types(line string) {
	p.t.Helper()
	p.do("send-keys", "-l", line)
	p.keys("Enter")
}

// choose answers the question that stands there.
func (p *pane) choose(n string) {
	p.t.Helper()
	p.wait("Enter chooses, Esc says no")
	p.keys(n, "Enter")
}

func TestChatWalk(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		w, h := size[0], size[1]
		t.Run(fmt.Sprintf("%dx%d", w, h), func(t *testing.T) {
			t.Parallel()
			p := openChat(t, w, h, "", "lead")
			p.wait("/help")
			p.golden(w, h, "1-start")

			p.types("read it")
			p.wait("It says: 1")
			p.types("edit it")
			p.wait("Enter chooses")
			p.golden(w, h, "2-ask")
			p.choose("1")
			p.wait("func main")
			p.golden(w, h, "3-approved")

			p.types("wait for it")
			p.wait("* bash while")
			p.keys("Escape")
			p.wait("interrupted")
			p.golden(w, h, "4-interrupted")

			p.types("send the scout")
			p.wait("looks around in the background.")
			p.plant("map", "")
			p.wait("[scout: the lie of the land] Allow this call?")
			p.wait("Enter chooses, Esc says no")
			p.golden(w, h, "5-background-asks")
			p.choose("1")
			p.wait("The scout is back.")
			p.golden(w, h, "6-report")

			p.types("/persona")
			p.wait("letters narrow")
			p.do("send-keys", "-l", "sco")
			p.wait("Talk to: sco")
			p.golden(w, h, "7-personas")
			p.keys("Enter")
			p.wait("You talk to scout")
			p.types("edit once more")
			p.wait("It was refused")
			p.golden(w, h, "8-switched")

			p.keys("C-c")
			p.wait("Ctrl-C again quits")
			p.keys("C-c")
			p.wait("EXIT 0")
			p.golden(w, h, "9-quit")
			if d := cmp.Diff(p.read("after"), p.read("before")); d != "" {
				t.Errorf("the terminal's settings (-after +before):\n%s", d)
			}
			p.do("respawn-pane", "-k", "-c", p.dir, "../larva chat --continue; echo EXIT $?; exec cat")
			p.wait("scout · MODEL")
			p.types("who are you")
			p.wait("You said: who are you")
			p.golden(w, h, "10-resumed")
			p.types("/quit")
			p.wait("EXIT 0")
		})
	}
}

// pid waits for a file with the number of a shell that a task runs.
func (p *pane) pid(name string) int { return pidIn(p.t, filepath.Join(p.dir, name)) }

func gone(t *testing.T, pid int) {
	t.Helper()
	for late := time.Now().Add(20 * time.Second); time.Now().Before(late); time.Sleep(20 * time.Millisecond) {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return
		}
	}
	t.Errorf("process %d is left", pid)
}

// Whatever ends a chat, nothing that it has begun goes on: two Ctrl-C, a
// terminal that goes away, a signal. The terminal is as it was.
func TestChatLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *pane, self int){
		"two Ctrl-C": func(p *pane, _ int) {
			p.keys("C-c")
			p.wait("what is in the background goes on; Ctrl-C again quits")
			p.keys("C-c")
			p.wait("EXIT 0")
		},
		"the terminal goes": func(p *pane, self int) {
			_ = p.tmux("kill-server").Run()
			gone(p.t, self)
		},
		"SIGTERM": func(p *pane, self int) {
			if err := syscall.Kill(self, syscall.SIGTERM); err != nil {
				p.t.Error(err)
			}
			p.wait("EXIT 143")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openChat(t, 60, 15, "NO_COLOR=1 sh -c 'echo $$ >self.new; mv self.new self; exec \"$@\"' x", "lead --allow 'bash(sh *)' --allow 'bash(echo *)'")
			p.wait("/help")
			p.plant("s.sh", "echo $$ > $1.new; mv $1.new $1; exec sleep 1000\n")
			p.types("leave two")
			back, front := p.pid("back"), p.pid("front")
			p.do("resize-window", "-x", "45", "-y", "11")
			p.wait("* bash sh s.sh front")
			p.do("resize-window", "-x", "90", "-y", "30")
			p.wait("* bash sh s.sh front")
			if shown := p.do("capture-pane", "-p", "-e"); colors.MatchString(shown) {
				t.Errorf("got colours under NO_COLOR: %q", shown)
			}
			end(p, p.pid("self"))
			gone(t, back)
			gone(t, front)
		})
	}
}

var colors = regexp.MustCompile(`\x1b\[[0-9;]*[34][0-9]m`)
