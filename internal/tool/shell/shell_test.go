//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"larva.dev/larva/internal/root"
	"larva.dev/larva/internal/tool"
)

func newShell(t *testing.T, environ ...string) (*Shell, *root.Set) {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"proj", "temp", "home"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	rs, err := root.New(filepath.Join(dir, "proj"), nil, filepath.Join(dir, "home"), filepath.Join(dir, "temp"))
	if err != nil {
		t.Fatal(err)
	}
	s := New(rs, append([]string{"PATH=" + os.Getenv("PATH")}, environ...), Options{Secret: []string{"MY_OWN"}})
	t.Cleanup(func() { _ = s.Close() })
	return s, rs
}

func call(t *testing.T, command string, timeout float64) tool.Call {
	t.Helper()
	in := map[string]any{"command": command}
	if timeout > 0 {
		in["timeout"] = timeout
	}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Call{ID: "1", Tool: "bash", Input: b}
}

func run(t *testing.T, s *Shell, command string, timeout float64) tool.Result {
	t.Helper()
	r, err := s.Run(t.Context(), call(t, command, timeout))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBash(t *testing.T) {
	t.Parallel()
	s, rs := newShell(t, "ANTHROPIC_API_KEY=k", "MY_OWN=k", "KEEP=1", "LARVA_DEPTH=1", "BASH_ENV=/nowhere", "CDPATH=/", "PAGER=less",
		"BASH_FUNC_ls%%=() { echo hijacked; }", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=user.name", "GIT_CONFIG_VALUE_0=Someone")
	if err := os.WriteFile(filepath.Join(rs.Cwd, "a file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, command, want string
		isError             bool
	}{
		{"output", "echo hi", "hi\n", false},
		{"both streams in order", "echo a; echo b >&2; echo c", "a\nb\nc\n", false},
		{"nothing", "true", "(no output)\n", false},
		{"exit code", "echo bad; exit 3", "bad\n(exit code 3)\n", true},
		{"exit code alone", "false", "(exit code 1)\n", true},
		{"no newline before the code", "printf x; false", "x\n(exit code 1)\n", true},
		{"signal", "kill -9 $$", "(exit code 137 (ended by SIGKILL))\n", true},
		{"missing command", "no-such-cmd 2>/dev/null", "(exit code 127)\n", true},
		{"syntax error", "if", "", true},
		{"it is bash", `[[ abc == a* ]] && echo ${BASH_VERSION:+bash}`, "bash\n", false},
		{"working directory", "pwd; cd /", rs.Cwd + "\n", false},
		{"stateless", "pwd; echo $left", rs.Cwd + "\n\n", false},
		{"no input", "cat; read x; echo end", "end\n", false},
		{"temp", "echo $TMPDIR", rs.Temp + "\n", false},
		{"environment", "echo [$ANTHROPIC_API_KEY$MY_OWN]$KEEP$LARVA_DEPTH$NO_COLOR$TERM$PAGER$GIT_PAGER$GIT_TERMINAL_PROMPT[$BASH_ENV$CDPATH]", "[]121dumbcatcat0[]\n", false},
		{"no inherited functions", "ls", "a file\n", false},
		{"git settings stay and gain ours", "git config --get user.name; git config --get core.fsmonitor", "Someone\nfalse\n", false},
		{"a bare repository in the tree is not entered", "cd \"$(mktemp -d)\" && git init -q --bare . && git status 2>/dev/null || echo refused", "refused\n", false},
		{"colours", `printf '\033[31mred\033[0m \033]0;title\007\033(Bplain\n'`, "red plain\n", false},
		{"progress", `printf '10%%\r50%%\r100%%\ndone\r\n'`, "100%\ndone\n", false},
		{"not UTF-8", `printf 'a\377b\n'`, "a\uFFFDb\n", false},
		{"NUL", `printf 'a\0b\n'`, "ab\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, s, tt.command, 0)
			if r.IsError != tt.isError || r.Output != tt.want && tt.want != "" {
				t.Errorf("got %q error %v, want %q error %v", r.Output, r.IsError, tt.want, tt.isError)
			}
			if tt.name == "syntax error" && !strings.Contains(r.Output, "syntax error") {
				t.Errorf("got %q, want the shell's message", r.Output)
			}
		})
	}
}

func TestBashRefusals(t *testing.T) {
	t.Parallel()
	s, rs := newShell(t)
	for command, want := range map[string]string{"": "empty", " \n": "empty", "a\x00b": "NUL"} {
		if r := run(t, s, command, 0); !r.IsError || !strings.Contains(r.Output, want) {
			t.Errorf("%q: got %q, want %q", command, r.Output, want)
		}
	}
	if r := run(t, s, "echo "+strings.Repeat("x", 1<<20), 0); !r.IsError || !strings.Contains(r.Output, "could not be started") {
		t.Errorf("a megabyte of command line: got %.100q, want an error", r.Output)
	}
	if r, _ := s.Run(t.Context(), tool.Call{Tool: "bash", Input: json.RawMessage(`{"command":1}`)}); !r.IsError {
		t.Errorf("a number for a command: got %q, want an error", r.Output)
	}
	none := New(rs, []string{"PATH=/nowhere"}, Options{})
	if r := run(t, none, "true", 0); !r.IsError || !strings.Contains(r.Output, "neither bash nor sh") {
		t.Errorf("no shell: got %q", r.Output)
	}
}

func TestBashMissingTakesSh(t *testing.T) {
	t.Parallel()
	_, rs := newShell(t)
	bin := t.TempDir()
	if err := os.Symlink("/bin/sh", filepath.Join(bin, "sh")); err != nil {
		t.Fatal(err)
	}
	s := New(rs, []string{"PATH=" + bin}, Options{})
	if r := run(t, s, "echo from sh", 0); r.Output != "from sh\n" {
		t.Errorf("got %q, want from sh", r.Output)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t)
	r := run(t, s, `trap '' TERM; echo before; sh -c 'trap "" TERM; sleep 60' & wait; sleep 60`, 1)
	if !r.IsError || !strings.HasPrefix(r.Output, "before\n") || !strings.Contains(r.Output, "timed out after 1 s") {
		t.Errorf("got %q error %v, want what was said and the timeout", r.Output, r.IsError)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s, rs := newShell(t)
	fifo := filepath.Join(rs.Cwd, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = os.ReadFile(fifo) // ends once the command has written
		cancel()
	}()
	r, err := s.Run(ctx, call(t, "echo ready; echo x > fifo; sleep 60", 0))
	if err != nil || !r.IsError || !strings.Contains(r.Output, "interrupted") {
		t.Errorf("got %q, %v, want interrupted", r.Output, err)
	}
	if r, err := s.Run(ctx, call(t, "echo never", 0)); err != nil || !r.IsError || strings.Contains(r.Output, "never") {
		t.Errorf("cancelled before: got %q, %v", r.Output, err)
	}
}

func TestBackground(t *testing.T) {
	t.Parallel()
	s, rs := newShell(t)
	held := run(t, s, "sleep 60 & echo $! > pid1", 0)
	if held.IsError || !strings.Contains(held.Output, "no longer read") {
		t.Errorf("holding the output: got %q", held.Output)
	}
	quiet := run(t, s, "sleep 60 >/dev/null 2>&1 & echo $! > pid2", 0)
	if quiet.IsError || !strings.Contains(quiet.Output, "still running") || strings.Contains(quiet.Output, "no longer read") {
		t.Errorf("quiet: got %q", quiet.Output)
	}
	if again := run(t, s, "kill -0 $(cat pid1) $(cat pid2) && echo both", 0); again.Output != "both\n" {
		t.Errorf("the next call finds %q, want both alive", again.Output)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"pid1", "pid2"} {
		gone(t, filepath.Join(rs.Cwd, f))
	}
}

// gone waits until the process of a pid file has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(string(b))
	for range 500 {
		st, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(st), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond) // nothing tells of an orphan's end
	}
	t.Errorf("process %s is alive, want it gone", pid)
}

func TestLongOutput(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t)
	for _, tt := range []struct {
		command string
		lost    string
	}{
		{"echo START; head -c 40000 /dev/zero | tr '\\0' x; echo; echo END", ""},
		{"echo START; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo END; exit 4", ""},
		{"echo START; for i in $(seq 20000); do echo äöü; done; echo END", ""},
	} {
		r := run(t, s, tt.command, 0)
		body, _, _ := strings.Cut(r.Output, "(exit code")
		if len(r.Output) > maxOutput || len(r.Output) < maxOutput-200 || !strings.HasPrefix(body, "START\n") || !strings.HasSuffix(body, "END\n") ||
			!strings.Contains(body, "bytes left out") || strings.Contains(body, "\uFFFD") {
			t.Errorf("%s: got %d bytes %.20q…%q", tt.command, len(r.Output), body, body[len(body)-20:])
		}
	}
}

// A terminal's Ctrl-C goes to the foreground group. Commands have their own,
// so that ending them is ours to do, in order.
func TestOwnGroup(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t)
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR2)
	defer signal.Stop(c)
	r := run(t, s, "kill -USR2 0; sleep 5", 0)
	select {
	case <-c:
		t.Error("the command's signal to its group reached us")
	default:
	}
	if !strings.Contains(r.Output, "SIGUSR2") {
		t.Errorf("got %q, want the command ended by its own signal", r.Output)
	}
}

func TestSpec(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t)
	sp := s.Spec()
	var v map[string]any
	if err := json.Unmarshal(sp.Schema, &v); err != nil || sp.Name != "bash" || sp.Parallel {
		t.Errorf("got %+v, %v", sp, err)
	}
	if n := len(sp.Description); n == 0 || n > 1500 {
		t.Errorf("description of %d bytes, want 1 to 1500: it is sent with every request", n)
	}
	if eff := s.Effects(call(t, "ls", 0)); eff.Command != "ls" {
		t.Errorf("effects %+v, want the line", eff)
	}
}
