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
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The live view and its questions on a real terminal: tmux runs the built
// command, its screen is compared. Nothing depends on speed: a test waits for
// what must come, and times are masked.

// pane is one terminal with a shell command in it.
type pane struct {
	t         *testing.T
	socket    string
	dir, home string
}

// scenario of the tests that follow.
const viewScenario = `turns: [
	{text: "# Plan\n\nI will **look** first, then ` + "`change`" + `:\n\n- 日本語 👍\n- [ ] two\n\n| a | bb |\n|---|---|\n| 1 | 2 |\n\n` + "```go\\nx := 1\\n```" + `\n\u001b]0;owned\u0007 &#27;[2J", calls: [
		{tool: "read", input: path: "a.go"},
		{tool: "read", input: path: "gone.go"},
		{tool: "todo_write", input: todos: [{content: "Read", status: "completed", active_form: "Reading"}, {content: "Edit", status: "in_progress", active_form: "Editing"}]},
		{tool: "write", input: {path: ".git/hooks/pre-commit", content: "x"}},
	]},
	{text: "Now the edit.", calls: [{tool: "edit", input: {path: "a.go", old_string: "return 1\n", new_string: "return 2\n"}}]},
	{calls: [{tool: "edit", input: {path: "a.go", old_string: "return 2\n", new_string: "return 3\n"}}]},
	{text: "Said: {{line 1 (result 1)}}"},
]
`

// waits is a scenario whose command runs until the file go is there.
const waits = `turns: [
	{text: "Waiting.", calls: [{tool: "bash", input: command: "while [ ! -e go ]; do sleep 0.05; done; echo ran"}]},
	{text: "Done."},
]
`

// openPane starts larva run in a terminal of the size; args go behind the
// prompt, env before the command.
func openPane(t *testing.T, width, height int, scenario, env, args string) *pane {
	t.Helper()
	p := newPane(t, scenario)
	p.open(width, height, fmt.Sprintf("%s ../larva run worker go %s", env, args))
	return p
}

// newPane is a home, a project and the command for a terminal that is still to
// be opened.
func newPane(t *testing.T, scenario string) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("tmux is missing: scripts/setup.sh installs it")
		}
		t.Skip("tmux is not installed: the live view is not tried")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	base, err := os.MkdirTemp("", "lv") // t.TempDir is too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	p := &pane{t: t, socket: filepath.Join(base, "s"), dir: filepath.Join(base, "p"), home: filepath.Join(base, "h")}
	t.Cleanup(func() {
		_ = p.tmux("kill-server").Run()
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	p.plant("a.go", "func a() int {\nreturn 1\n}\n")
	p.plant("s.cue", scenario)
	p.plant(".git/HEAD", "ref: refs/heads/main\n")
	if err := os.MkdirAll(filepath.Join(p.home, ".config", "larva"), 0o700); err != nil {
		t.Fatal(err)
	}
	config := "models: \"*\": \"script/" + filepath.Join(p.dir, "s.cue") + "\"\nsandbox: kind: \"none\"\n"
	if err := os.WriteFile(filepath.Join(p.home, ".config", "larva", "config.cue"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	linkProgram(t, self, filepath.Join(base, "larva"))
	return p
}

// open runs a shell command in a terminal of the size.
func (p *pane) open(width, height int, command string) {
	p.t.Helper()
	line := "trap : INT; stty -a >before; " + command + "; code=$?; stty -a >after; echo EXIT $code; exec cat"
	cmd := p.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), "-c", p.dir, line)
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/sh"}
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("tmux: %v: %s", err, out)
	}
}

// linkProgram gives this test program the name larva, under which it is the
// command, also where it starts itself again.
func linkProgram(t *testing.T, self, name string) {
	t.Helper()
	if os.Link(self, name) == nil {
		return
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o700); err != nil {
		t.Fatal(err)
	}
}

func (p *pane) plant(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pane) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Error(err)
	}
	return string(data)
}

func (p *pane) tmux(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-u", "-S", p.socket}, args...)...)
}

// do runs a tmux command and gives its output.
func (p *pane) do(args ...string) string {
	p.t.Helper()
	out, err := p.tmux(args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		p.t.Fatalf("tmux %v: %v: %s", args, err, exit.Stderr)
	} else if err != nil {
		p.t.Fatal(err)
	}
	return string(out)
}

func (p *pane) keys(keys ...string) { p.do(append([]string{"send-keys"}, keys...)...) }

// all is the scrollback and the screen, without what differs from run to run.
func (p *pane) all(flags ...string) string {
	p.t.Helper()
	return masked(p.do(append([]string{"capture-pane", "-p", "-S", "-"}, flags...)...))
}

var masks = []struct {
	re   *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`\b(\d+m)?\d+(\.\d+)?(ms|µs|s)\b`), "TIME"},
	{regexp.MustCompile(`[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]`), "*"},
	{regexp.MustCompile(`script/\S*s\.cue`), "MODEL"},
	{regexp.MustCompile(`keep in \S*projects/[0-9a-f]+\.toml`), "keep in FILE"},
	{regexp.MustCompile(`as\s+\S*projects/[0-9a-f]+\.toml`), "as FILE"},
	{regexp.MustCompile(` · \d+(\.\d+)? (k?B)\b`), ""},
}

func masked(s string) string {
	for _, m := range masks {
		s = m.re.ReplaceAllString(s, m.with)
	}
	return strings.TrimRight(s, "\n") + "\n"
}

// wait polls the terminal until text stands there: another process draws it,
// and nothing tells when.
func (p *pane) wait(text string) {
	p.t.Helper()
	p.waitTimes(text, 1)
}

func (p *pane) waitTimes(text string, n int) {
	p.t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	late := time.After(30 * time.Second)
	for {
		if strings.Count(p.all("-J"), text) >= n {
			return
		}
		select {
		case <-poll.C:
		case <-late:
			p.t.Fatalf("%q did not come; the terminal has\n%s", text, p.all())
		}
	}
}

// same compares the whole terminal, and what stty says of it before and after.
func (p *pane) same(want string) {
	p.t.Helper()
	p.wait("EXIT ")
	if d := cmp.Diff(p.all("-J"), want); d != "" {
		p.t.Errorf("the terminal (-got +want):\n%s", d)
	}
	p.wait("EXIT ")
	if d := cmp.Diff(p.read("after"), p.read("before")); d != "" {
		p.t.Errorf("the terminal's settings (-after +before):\n%s", d)
	}
}

func TestViewAnswersOnceAndAlways(t *testing.T) {
	t.Parallel()
	p := openPane(t, 100, 40, viewScenario, "", "")
	p.wait("Allow this call?")
	p.keys("Up", "Up", "Enter")
	p.wait("+ return 3")
	p.wait("enter select")
	p.keys("Up", "Enter")
	p.same("— worker (default) · MODEL · mode default\n" + planned + `Now the edit.

edit wants to change a.go:
  - return 1
  + return 2
Asked because: no rule allows edit [default]
Always would keep in FILE:
  edit(./a.go)

✓ edit a.go · +1 -1 · TIME · allowed by you (default)

edit wants to change a.go:
  - return 2
  + return 3
Asked because: no rule allows edit [default]
Always would keep in FILE:
  edit(./a.go)

notice: edit(./a.go) is always allowed here from now on, as FILE says
✓ edit a.go · +1 -1 · TIME · allowed by you (default)
Said: edited a.go: replaced 1 occurrence, the first at line 2
— end_turn · 4 turns · 0 tokens in, 0 out · 1 denied · TIME
EXIT 0
`)
	if got, want := p.read("a.go"), "func a() int {\nreturn 3\n}\n"; got != want {
		t.Errorf("a.go: got %q, want %q", got, want)
	}
	kept, err := filepath.Glob(filepath.Join(p.home, ".config", "larva", "projects", "*.toml"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("got %v, %v, want the file that keeps the rule", kept, err)
	}
}

// planned is the first turn of viewScenario as it stays on the screen.
const planned = `Plan

I will look first, then change:

• 日本語 👍
☐ two

a │ bb
──┼───
1 │ 2

  x := 1
\u001b]0;owned\u0007 \u001b[2J
✓ read a.go · TIME · allowed (read-only)
✗ read gone.go · TIME · allowed (read-only) · gone.go: no such file or directory
✓ todo_write 1 of 2 done · TIME · allowed (read-only)
    ☑ Read
    ▶ Edit
✗ denied: write .git/hooks/pre-commit: writing to ` + "`.git/hooks/pre-commit`" + ` is refused in every
  mode: .git/hooks chooses what git runs [protected]
`

func TestViewDeniesWithAReason(t *testing.T) {
	t.Parallel()
	p := openPane(t, 100, 40, viewScenario, "", "")
	for n := range 2 {
		p.wait("enter select")
		p.keys("Enter")
		p.wait("do instead?")
		p.keys("use 7", "Enter")
		p.waitTimes("the user said no: use 7", n+1)
	}
	p.wait("EXIT 0")
	if got := p.all("-J"); !strings.Contains(got, "✗ denied: edit a.go: the user said no: use 7 [default]") || !strings.Contains(got, "Said: DENIED: the user said no: use 7.") {
		t.Errorf("got\n%s", got)
	}
	if got, want := p.read("a.go"), "func a() int {\nreturn 1\n}\n"; got != want {
		t.Errorf("a.go: got %q, want %q", got, want)
	}
}

// Ctrl-C at a question ends the run; Esc only means no.
func TestViewInterruptAtAQuestion(t *testing.T) {
	t.Parallel()
	p := openPane(t, 100, 40, viewScenario, "", "")
	p.wait("enter select")
	p.keys("Up", "Up")
	p.wait("> Allow this once")
	p.keys("C-c")
	p.wait("EXIT 130")
	p.leftovers()
	if got, want := p.read("a.go"), "func a() int {\nreturn 1\n}\n"; got != want {
		t.Errorf("a.go: got %q, want %q", got, want)
	}
}

// leftovers complains of what must be gone when the run is over.
func (p *pane) leftovers() {
	p.t.Helper()
	p.wait("EXIT ")
	got := p.all("-J")
	for _, gone := range []string{"*", "Allow this call?", "mode default · ", " · turn "} {
		if strings.Contains(got, gone) {
			p.t.Errorf("%q is left on the terminal:\n%s", gone, got)
		}
	}
	if d := cmp.Diff(p.read("after"), p.read("before")); d != "" {
		p.t.Errorf("the terminal's settings (-after +before):\n%s", d)
	}
}

func TestViewInterruptedAtACommand(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24, waits, "", "--allow bash")
	p.wait("* bash while")
	p.wait("MODEL · mode default · turn 1")
	p.keys("C-c")
	p.wait("EXIT 130")
	p.leftovers()
}

func TestViewTerminated(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24, waits, "", "--allow bash & pid=$!; echo $pid >pid; wait $pid")
	p.wait("* bash while")
	p.do("run-shell", "kill -TERM $(cat "+filepath.Join(p.dir, "pid")+")")
	p.wait("EXIT 143")
	p.leftovers()
}

// The view survives that the terminal becomes narrow, wide and low: what is
// finished stays, once and in order. tmux draws for a while at the new size
// before it tells, so a few rows of the old region may be left per resize, but
// not one a frame.
func TestViewResized(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24, waits, "", "--allow bash")
	p.wait("* bash while")
	sizes := [][2]string{{"30", "24"}, {"100", "24"}, {"20", "10"}, {"15", "10"}, {"60", "24"}}
	for _, size := range sizes {
		p.do("resize-window", "-x", size[0], "-y", size[1])
		p.drawnAfter()
	}
	p.plant("go", "")
	p.wait("EXIT 0")
	var kept []string
	left := 0
	for _, line := range strings.Split(strings.TrimSpace(p.all("-J")), "\n") {
		switch word, _, _ := strings.Cut(line, " "); word {
		case "—", "Waiting.", "✓", "Done.", "EXIT":
			kept = append(kept, word)
		default:
			left++
		}
	}
	if d := cmp.Diff(kept, []string{"—", "Waiting.", "✓", "Done.", "—", "EXIT"}); d != "" || left > 5*len(sizes) {
		t.Errorf("%d rows are left over; the lines begin with (-got +want)\n%s\n%s", left, d, p.all("-J"))
	}
}

// drawnAfter waits until the view has drawn anew, as its spinner shows.
func (p *pane) drawnAfter() {
	p.t.Helper()
	screen := func() string { return p.do("capture-pane", "-p", "-S", "-") }
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	late := time.After(30 * time.Second)
	before := screen()
	for changes := 0; changes < 2; {
		select {
		case <-poll.C:
		case <-late:
			p.t.Fatalf("nothing is drawn:\n%s", before)
		}
		if now := screen(); now != before {
			before = now
			changes++
		}
		if w := p.do("display-message", "-p", "#{pane_width}"); len(strings.TrimSpace(w)) < 2 || strings.TrimSpace(w) == "15" {
			return // too narrow for a region
		}
	}
}

func TestViewNarrow(t *testing.T) {
	t.Parallel()
	p := openPane(t, 20, 12, waits, "", "--allow bash")
	p.wait("* bash while")
	p.plant("go", "")
	p.wait("EXIT 0")
	p.leftovers()
}

// Plain lines carry no escape at all, and the spinner is not there.
func TestViewPlain(t *testing.T) {
	t.Parallel()
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb", "ACCESSIBLE=1"} {
		t.Run(env, func(t *testing.T) {
			t.Parallel()
			p := openPane(t, 80, 24, waits, env, "--allow bash")
			p.do("pipe-pane", "-o", "cat >"+filepath.Join(p.dir, "raw"))
			p.wait("Waiting.")
			p.plant("go", "")
			p.wait("EXIT 0")
			p.leftovers()
			if got := p.all("-J"); !strings.Contains(got, "✓ bash while") || strings.Count(got, "Done.") != 1 {
				t.Errorf("got\n%s", got)
			}
			if raw := p.read("raw"); strings.Contains(raw, "\x1b") {
				t.Errorf("an escape came: %q", raw)
			}
		})
	}
}

// With stdout in a file the view is on stderr and the file has the answer
// alone; with both in files there is no view.
func TestViewBesideAPipe(t *testing.T) {
	t.Parallel()
	p := openPane(t, 80, 24, waits, "", "--allow bash >out")
	p.wait("* bash while")
	p.plant("go", "")
	p.wait("EXIT 0")
	p.leftovers()
	if got, want := p.read("out"), "Done.\n"; got != want {
		t.Errorf("stdout: got %q, want %q", got, want)
	}
	if got := p.all("-J"); strings.Count(got, "Done.") != 1 {
		t.Errorf("the view has no answer, or twice:\n%s", got)
	}
}
