//go:build unix

package hook

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/profile"
)

// Hooks that misbehave: each ends, says so loudly, and lets the call pass; the
// same hook with on_error block refuses it.
func TestHostileHooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ command, want string }{
		"never ends":         {"sleep 100", "took longer than"},
		"ignores its end":    {"trap '' TERM; while :; do sleep 0.05; done", "took longer than"},
		"floods":             {"head -c 4000000 /dev/zero | tr '\\0' x", "printed more than"},
		"floods stderr":      {"head -c 4000000 /dev/zero | tr '\\0' x >&2; exit 1", "printed more than"},
		"half a JSON":        {`printf '{"hookSpecificOutput":{"hookEvent'`, "begins like JSON"},
		"closes its stdin":   {"exec 0<&-; exit 3", "exit code 3"},
		"closes everything":  {"exec 0<&- 1>&- 2>&-; exit 3", "exit code 3"},
		"kills itself":       {"kill -9 $$", "SIGKILL"},
		"kills its group":    {"kill -9 0", "SIGKILL"},
		"is no command":      {"nosuch-command-anywhere", "exit code 127"},
		"is no shell line":   {"if then fi (", "exit code 2"},
		"prints control":     {`printf '\033]0;title\007{' ; exit 9`, "exit code 9"},
		"prints no UTF-8":    {`printf '{"reason":"\377\376"}'`, "begins like JSON"},
		"nests without end":  {`head -c 5000 /dev/zero | tr '\0' '{'`, "begins like JSON"},
		"ends by exit 1":     {"echo why >&2; exit 1", "exit code 1: why"},
		"a NUL in the JSON":  {`printf '{"reason":"a\0b"}'`, "begins like JSON"},
		"ten thousand keys":  {`printf '{'; for i in $(seq 3000); do printf '"k%d":1,' $i; done; printf '"z":1}'`, "begins like JSON"},
		"an unknown program": {"exec /nosuch/program", "exit code 127"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "is no shell line" {
				// bash ends with 2 over its own syntax error, which blocks: a guard
				// that cannot be read does not let pass.
				_, p, _ := build(t, nil, sh(PreToolUse, c.command))
				if got := p.BeforeTool[0](context.Background(), call); got.Says.Verdict != event.Deny {
					t.Errorf("got %q, want deny", got.Says.Verdict)
				}
				return
			}
			quick := func(h *profile.Hook) { h.Timeout = 1 }
			strict := func(h *profile.Hook) { h.Timeout, h.OnError = 1, "block" }
			_, p, h := build(t, nil, sh(PreToolUse, c.command).with(quick), sh(PreToolUse, c.command).with(strict))
			began := time.Now()
			got := p.BeforeTool[0](context.Background(), call)
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("took %v, want it over soon after its second", took)
			}
			h.said(t, c.want)
			if h.effects() != "error deny" || got.Says.Verdict != event.Deny || !strings.Contains(got.Says.Reason, "blocks when it does") {
				t.Errorf("got %q and effects %q, want deny by the strict one alone", got.Says, h.effects())
			}
			for _, n := range h.notices {
				if len(n) > 2000 {
					t.Errorf("a notice of %d bytes, want a short one", len(n))
				}
			}
		})
	}
}

// A hook's children end with it, those in the background too.
func TestForkingHookDies(t *testing.T) {
	t.Parallel()
	h := sh(PreToolUse, `for i in 1 2 3; do (trap '' TERM; sleep 300) & echo $! >>pids; done; sleep 300`).
		with(func(h *profile.Hook) { h.Timeout = 1 })
	r, p, _ := build(t, nil, h)
	p.BeforeTool[0](context.Background(), call)
	for _, line := range strings.Fields(read1(t, r.o.Cwd, "pids")) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(5 * time.Second)
		for syscall.Kill(pid, 0) == nil && alive(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("child %d still runs", pid)
			}
			time.Sleep(10 * time.Millisecond) // nobody tells us of a foreign process's end
		}
	}
}

// alive tells a running process from one that nobody has waited for yet.
func alive(pid int) bool {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// A hook that leaves a child behind is done when it is done itself.
func TestBackgroundChildDoesNotHang(t *testing.T) {
	t.Parallel()
	_, p, h := build(t, nil, sh(PreToolUse, `sleep 300 & echo '{"systemMessage":"hi"}'`))
	began := time.Now()
	p.BeforeTool[0](context.Background(), call)
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("took %v", took)
	}
	h.said(t, "hook_message: a: hi")
}

// What a hook gets: the event on stdin as it is, a lean environment, the
// agent's directory.
func TestCommandSurroundings(t *testing.T) {
	t.Parallel()
	r, p, _ := build(t, func(o *Options) {
		o.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=/home/me", "LC_ALL=C", "ANTHROPIC_API_KEY=sk-ant-secret", "MY_TOKEN=t", "EDITOR=vi",
			"BASH_ENV=/tmp/evil", "LD_PRELOAD=evil.so", "LARVA_DEPTH=1"}
	}, sh(PreToolUse, `cat >in.json; env >env.txt; pwd -P >pwd.txt`))
	p.BeforeTool[0](context.Background(), call)
	var in map[string]any
	text := read1(t, r.o.Cwd, "in.json")
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, `"tool_input":{"command":"echo <one> & two"}`) {
		t.Errorf("the input was escaped or changed: %s", text)
	}
	env := map[string]string{}
	for _, kv := range strings.Split(strings.TrimSpace(read1(t, r.o.Cwd, "env.txt")), "\n") {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	for k, v := range map[string]string{"HOME": "/home/me", "LC_ALL": "C", "LARVA_DEPTH": "2", "LARVA_PROJECT_DIR": r.o.ProjectDir, "CLAUDE_PROJECT_DIR": r.o.ProjectDir} {
		if env[k] != v {
			t.Errorf("%s: got %q, want %q", k, env[k], v)
		}
	}
	for _, k := range []string{"ANTHROPIC_API_KEY", "MY_TOKEN", "EDITOR", "BASH_ENV", "LD_PRELOAD"} {
		if _, ok := env[k]; ok {
			t.Errorf("%s reached the hook", k)
		}
	}
	want, err := filepath.EvalSymlinks(r.o.Cwd)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(read1(t, r.o.Cwd, "pwd.txt")); got != want {
		t.Errorf("directory: got %s, want %s", got, want)
	}
}

// With args the command is a program: no shell reads any of it.
func TestArgsForm(t *testing.T) {
	t.Parallel()
	h := sh(UserPromptSubmit, "printf").with(func(h *profile.Hook) { h.Args = []string{"%s|", "$HOME; touch x", "*"} })
	r, p, _ := build(t, nil, h)
	got := p.Prompt[0](context.Background(), "hi")
	if want := "$HOME; touch x|*|"; got.Context != want {
		t.Errorf("got %q, want %q", got.Context, want)
	}
	if entries, _ := os.ReadDir(r.o.Cwd); len(entries) != 0 {
		t.Errorf("a shell ran: %v", entries)
	}
}

// A subagent's hooks run in its directory and are told of it.
func TestChildRunner(t *testing.T) {
	t.Parallel()
	r, _, _ := build(t, nil, sh(PreToolUse, "cat >in.json"), sh(SubagentStop, "cat >stop.json; echo more >&2; exit 2"), sh(SubagentStart, "cat >start.json"), sh(Stop, "touch stopped"))
	dir := t.TempDir()
	c := r.For(Agent{ID: "7", Type: "explore", Cwd: dir})
	if s := c.SubagentStart(context.Background()); s.Block != "" {
		t.Errorf("start: got %+v, want nothing", s)
	}
	points := attachChild(c)
	points.BeforeTool[0](context.Background(), call)
	if s := points.Stop[0](context.Background(), stopping(true)); s.Block != "more" {
		t.Errorf("stop: got %+v, want block: more", s)
	}
	for _, f := range []string{"in.json", "stop.json", "start.json"} {
		var in Payload
		if err := json.Unmarshal([]byte(read1(t, dir, f)), &in); err != nil {
			t.Fatal(err)
		}
		if in.AgentID != "7" || in.AgentType != "explore" || in.Cwd != dir {
			t.Errorf("%s: got %+v, want the child's id, type and directory", f, in)
		}
	}
	if entries, _ := os.ReadDir(r.o.Cwd); len(entries) != 0 {
		t.Errorf("something ran in the parent's directory: %v", entries)
	}
}

// once runs once a session, also beside itself in a child; async ones are
// waited for where the session ends, and decide nothing.
func TestOnceAndAsync(t *testing.T) {
	t.Parallel()
	once := sh(PreToolUse, "echo x >>once").with(func(h *profile.Hook) { h.Once = true })
	async := sh(PreToolUse, `sleep 0.3; echo x >>async; echo '`+pre(`"permissionDecision":"deny"`)+`'`).with(func(h *profile.Hook) { h.Async = true })
	note := sh(Notification, "cat >note")
	r, p, h := build(t, nil, once, async, note)
	for range 3 {
		if got := p.BeforeTool[0](context.Background(), call); got.Says.Verdict != "" {
			t.Errorf("got %q of an async hook, want nothing", got.Says.Verdict)
		}
	}
	r.For(Agent{ID: "1"}).beforeTool(context.Background(), call)
	p.Notify[0](context.Background(), "come back")
	p.SessionEnd[0](context.Background(), event.Result{})
	if got := read1(t, r.o.Cwd, "once"); got != "x\n" {
		t.Errorf("once: got %q, want one x", got)
	}
	if got := read1(t, r.o.Cwd, "async"); got != "x\nx\nx\nx\n" {
		t.Errorf("async: got %q, want four x", got)
	}
	if got := read1(t, r.o.Cwd, "note"); !strings.Contains(got, `"message":"come back"`) {
		t.Errorf("notification: got %s", got)
	}
	h.said(t, "comes too late")
	before := len(h.events)
	p.BeforeTool[0](context.Background(), call)
	if got := read1(t, r.o.Cwd, "async"); len(h.events) != before || got != "x\nx\nx\nx\n" {
		t.Errorf("an async hook began after the end: %q, %v", got, h.events[before:])
	}
}

// The end of a session ends an async hook that does not end by itself.
func TestEndEndsAsync(t *testing.T) {
	t.Parallel()
	_, p, _ := build(t, nil, sh(PreToolUse, "sleep 300").with(func(h *profile.Hook) { h.Async = true }))
	p.BeforeTool[0](context.Background(), call)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	p.SessionEnd[0](ctx, event.Result{})
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("took %v", took)
	}
}

// A cancelled run does not wait for a hook, and blames nobody.
func TestCancelledRun(t *testing.T) {
	t.Parallel()
	_, p, h := build(t, nil, sh(PreToolUse, "touch started; sleep 300"))
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	p.BeforeTool[0](ctx, call)
	if took := time.Since(began); took > 6*time.Second || len(h.notices) > 0 {
		t.Errorf("took %v and said %q", took, h.notices)
	}
}

// A project's hook that is no longer the trusted one is not run.
func TestReadyIsAskedEachTime(t *testing.T) {
	t.Parallel()
	changed := false
	h := sh(PreToolUse, "touch ran")
	h.Ready = func(string) error {
		if changed {
			return os.ErrPermission
		}
		return nil
	}
	r, p, heard := build(t, nil, h)
	p.BeforeTool[0](context.Background(), call)
	if err := os.Remove(filepath.Join(r.o.Cwd, "ran")); err != nil {
		t.Fatal(err)
	}
	changed = true
	p.BeforeTool[0](context.Background(), call)
	if _, err := os.Stat(filepath.Join(r.o.Cwd, "ran")); err == nil {
		t.Error("it ran although it was not ready")
	}
	heard.said(t, os.ErrPermission.Error())
}
