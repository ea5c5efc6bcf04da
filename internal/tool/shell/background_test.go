//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"larva.dev/larva/internal/tool"
)

func use(t *testing.T, s *Shell, name string, in map[string]any) tool.Result {
	t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range s.Tools() {
		if tl.Spec().Name == name {
			r, err := tl.Run(t.Context(), tool.Call{ID: "1", Tool: name, Input: b})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
	}
	t.Fatalf("no tool %s", name)
	return tool.Result{}
}

// start runs a line in the background and gives its id.
func start(t *testing.T, s *Shell, line string) string {
	t.Helper()
	r := use(t, s, "bash", map[string]any{"command": line, "run_in_background": true})
	id, rest, _ := strings.Cut(r.Output, "\n")
	if r.IsError || !strings.HasPrefix(id, "bash-") || !strings.Contains(rest, "runs in the background") {
		t.Fatalf("%s: got %q error %v, want an id on a line of its own", line, r.Output, r.IsError)
	}
	return id
}

// until asks for output until want has come, and gives all that came.
func until(t *testing.T, s *Shell, id, want string) string {
	t.Helper()
	all := ""
	for range 100 {
		r := use(t, s, "bash_output", map[string]any{"id": id})
		if r.IsError {
			t.Fatalf("%s: got %q", id, r.Output)
		}
		if all += r.Output; strings.Contains(all, want) {
			return all
		}
	}
	t.Fatalf("%s: got %q, want %q in it", id, all, want)
	return ""
}

func TestBackgroundRun(t *testing.T) {
	t.Parallel()
	s, rs := newShell(t)
	id := start(t, s, `echo one; while ! [ -e go ]; do sleep 0.02; done; echo two >&2; exit 3`)
	if got := until(t, s, id, "one"); !strings.Contains(got, "(bash-1 is running)") {
		t.Errorf("got %q, want it running", got)
	}
	if got := use(t, s, "bash", map[string]any{"command": "touch go"}); got.IsError {
		t.Fatalf("got %q", got.Output)
	}
	got := until(t, s, id, "ended with exit code 3")
	if strings.Contains(got, "one") || !strings.Contains(got, "two\n") {
		t.Errorf("got %q, want what is new alone", got)
	}
	if got := use(t, s, "bash_output", map[string]any{"id": id}); got.Output != "(no new output; bash-1 ended with exit code 3)\n" || got.IsError {
		t.Errorf("got %q", got.Output)
	}
	if got := use(t, s, "bash_kill", map[string]any{"id": id}); got.Output != "nothing to end: bash-1 ended with exit code 3\n" {
		t.Errorf("got %q", got.Output)
	}
	if _, err := os.Stat(filepath.Join(rs.Cwd, "go")); err != nil {
		t.Error(err)
	}
}

func TestBackgroundKillAndClose(t *testing.T) {
	t.Parallel()
	s, rs := newShell(t)
	a := start(t, s, `trap '' TERM; echo $$ > a.pid; sh -c 'trap "" TERM; echo $$ > a2.pid; sleep 60' & echo up; wait; sleep 60`)
	until(t, s, a, "up")
	if r := use(t, s, "bash_kill", map[string]any{"id": a}); r.Output != "bash-1 was ended\n" || r.IsError {
		t.Errorf("got %q", r.Output)
	}
	gone(t, filepath.Join(rs.Cwd, "a.pid"))
	b := start(t, s, `echo $$ > b.pid; echo up; sleep 60`)
	until(t, s, b, "up")
	if r := use(t, s, "bash_output", map[string]any{"id": "bash-9"}); !r.IsError || !strings.Contains(r.Output, "there are bash-1, bash-2") {
		t.Errorf("got %q, want the ids", r.Output)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	gone(t, filepath.Join(rs.Cwd, "b.pid"))
	if r := use(t, s, "bash", map[string]any{"command": "true", "run_in_background": true}); !r.IsError || !strings.Contains(r.Output, "the run is over") {
		t.Errorf("after Close: got %q", r.Output)
	}
}

// A run outlives the call and the turn that started it: their ctx is not its.
func TestBackgroundSurvivesTheTurn(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, err := s.Run(ctx, tool.Call{Input: json.RawMessage(`{"command":"while ! [ -e go ]; do sleep 0.02; done; echo still here","run_in_background":true}`)})
	if err != nil || r.IsError {
		t.Fatalf("got %q, %v", r.Output, err)
	}
	cancel()
	run(t, s, "touch go", 0)
	until(t, s, "bash-1", "still here")
}

func TestBackgroundLimitAndTimeout(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t)
	for range maxJobs {
		start(t, s, "sleep 60")
	}
	if r := use(t, s, "bash", map[string]any{"command": "true", "run_in_background": true}); !r.IsError || !strings.Contains(r.Output, "8 background runs are the limit; end one first: bash-1, bash-2") {
		t.Errorf("got %q, want the limit", r.Output)
	}
	use(t, s, "bash_kill", map[string]any{"id": "bash-1"})
	r := use(t, s, "bash", map[string]any{"command": "echo a; sleep 60", "run_in_background": true, "timeout": 1})
	until(t, s, strings.SplitN(r.Output, "\n", 2)[0], "timed out after 1 s and was ended")
}

func TestManyEndedRunsAreLetGo(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t)
	last := ""
	for range maxEnded + 5 {
		last = start(t, s, "true")
		until(t, s, last, "exit code 0")
	}
	if n := len(s.jobs); n > maxEnded+2 {
		t.Errorf("%d runs are kept, want %d at most", n, maxEnded+2)
	}
	until(t, s, last, "exit code 0")
}

func TestBackgroundFlood(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t)
	id := start(t, s, "echo START; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo END; touch done; sleep 60")
	run(t, s, "while ! [ -e done ]; do sleep 0.02; done", 60)
	r := use(t, s, "bash_output", map[string]any{"id": id})
	if len(r.Output) > maxOutput || !strings.HasPrefix(r.Output, "START\n") || !strings.Contains(r.Output, "END\n(bash-1 is running)") || !strings.Contains(r.Output, "bytes left out") {
		t.Errorf("got %d bytes %.30q…%q", len(r.Output), r.Output, r.Output[max(0, len(r.Output)-60):])
	}
	if n := len(r.Raw); n < maxOutput || n > 3*keptPending {
		t.Errorf("kept %d bytes of it, want more than is shown and %d at most", n, 3*keptPending)
	}
}

func TestPending(t *testing.T) {
	t.Parallel()
	p := newPending()
	_, _ = p.Write([]byte("a\xc3"))
	if head, tail, lost := p.take(true); head != "a" || tail != "" || lost != 0 {
		t.Errorf("got %q %q %d, want the half character to stay", head, tail, lost)
	}
	_, _ = p.Write([]byte("\xa4b"))
	if head, _, _ := p.take(true); head != "äb" {
		t.Errorf("got %q, want äb", head)
	}
	_, _ = p.Write([]byte("\xff\xc3"))
	if head, _, _ := p.take(false); head != "\xff\xc3" {
		t.Errorf("got %q, want all at the end", head)
	}
	for _, size := range []int{1, keptPending, 2 * keptPending, 2*keptPending + 1, 5*keptPending + 7} {
		for _, step := range []int{1000, 65536, size} {
			text := strings.Repeat("0123456789", size/10+1)[:size]
			for i := 0; i < size; i += step {
				_, _ = p.Write([]byte(text[i:min(i+step, size)]))
			}
			head, tail, lost := p.take(false)
			if want := int64(max(0, size-2*keptPending)); lost != want || head != text[:len(head)] || tail != text[size-len(tail):] || int64(len(head)+len(tail))+lost != int64(size) {
				t.Errorf("%d by %d: got %d, %d, lost %d, want %d lost", size, step, len(head), len(tail), lost, want)
			}
		}
	}
}

func TestStrayEndsWithTheCall(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("strays are found on Linux")
	}
	s, rs := newShell(t)
	r := run(t, s, `setsid sh -c 'echo $$ > stray.pid; exec sleep 60' & while ! [ -s stray.pid ]; do sleep 0.01; done; sleep 60`, 1)
	if !strings.Contains(r.Output, "timed out") {
		t.Errorf("got %q", r.Output)
	}
	gone(t, filepath.Join(rs.Cwd, "stray.pid"))
	run(t, s, `setsid sh -c 'echo $$ > left.pid; exec sleep 60' >/dev/null 2>&1 & while ! [ -s left.pid ]; do sleep 0.01; done`, 0)
	if r := run(t, s, "kill -0 $(cat left.pid) && echo alive", 0); r.Output != "alive\n" {
		t.Errorf("got %q, want what was left alive", r.Output)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	gone(t, filepath.Join(rs.Cwd, "left.pid"))
}

func TestEffectsOfOptions(t *testing.T) {
	t.Parallel()
	s, rs := newShell(t)
	eff := func(in map[string]any) tool.Effects {
		b, _ := json.Marshal(in)
		return s.Effects(tool.Call{Tool: "bash", Input: b})
	}
	for _, tt := range []struct {
		sandbox any
		want    bool
	}{{nil, false}, {true, false}, {false, true}} {
		if got := eff(map[string]any{"command": "ls", "sandbox": tt.sandbox}).Unwalled; got != tt.want {
			t.Errorf("sandbox %v: unwalled %v, want %v", tt.sandbox, got, tt.want)
		}
	}
	if err := os.Symlink("/etc", filepath.Join(rs.Cwd, "etc")); err != nil {
		t.Fatal(err)
	}
	got := eff(map[string]any{"command": "ls", "checkpoint_paths": []string{"build/out", rs.Cwd + "/.env", "../x", "etc/passwd", ""}}).Saves
	want := fmt.Sprint([]string{filepath.Join(rs.Cwd, "build/out"), filepath.Join(rs.Cwd, ".env")})
	if fmt.Sprint(got) != want {
		t.Errorf("saves %v, want %v", got, want)
	}
	for _, bad := range []string{"../x", "etc/passwd", "/etc/passwd", ""} {
		if r := use(t, s, "bash", map[string]any{"command": "echo ran", "checkpoint_paths": []string{bad}}); !r.IsError || !strings.Contains(r.Output, "lies outside") {
			t.Errorf("%q: got %q, want it refused", bad, r.Output)
		}
	}
}

func TestRawOutput(t *testing.T) {
	t.Parallel()
	s, _ := newShell(t)
	for _, tt := range []struct{ line, raw string }{
		{"echo plain", ""},
		{`printf '\033[31mred\033[0m\n10%%\r20%%\n'; exit 2`, ""},
		{`printf '\377\376'`, "\xff\xfe"},
		{"yes | head -n 30000", strings.Repeat("y\n", 30000)},
	} {
		if r := run(t, s, tt.line, 0); string(r.Raw) != tt.raw {
			t.Errorf("%s: got %d bytes %.40q, want %.40q", tt.line, len(r.Raw), r.Raw, tt.raw)
		}
	}
}

// What ends in time ends no other run's programs.
func TestMarksOfTwoShellsDiffer(t *testing.T) {
	t.Parallel()
	a, _ := newShell(t)
	b, _ := newShell(t)
	id := start(t, a, "echo up; sleep 60")
	until(t, a, id, "up")
	run(t, b, "true", 0)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if r := use(t, a, "bash_output", map[string]any{"id": id}); !strings.Contains(r.Output, "is running") {
		t.Errorf("got %q, want it alive", r.Output)
	}
}
