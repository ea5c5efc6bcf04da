package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/tool"
)

func TestBlur(t *testing.T) {
	t.Parallel()
	for _, same := range [][2]string{
		{"took 1.5s", "took 12s"},
		{"took 1m2.3s", "took 59.1s"},
		{"15ms", "2us"},
		{"pid 123", "pid 45678"},
		{"2026-11-30T23:58:01Z ok", "2026-12-01T00:00:00.123Z ok"},
		{"23:58:01 up", "9:05:11 up"},
		{"at 0x7ffee4c3 in", "at 0x1a2b3c4d5e in"},
		{"commit 4a4252e made", "commit b3f8de21 made"},
		{"550e8400-e29b-41d4-a716-446655440000", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
		{"127.0.0.1:4001", "127.0.0.1:61034"},
		{"/tmp/go-build123/b001", "/tmp/go-build4567/b002"},
		{"12 passed, 3 failed in 0.12s", "12 passed, 3 failed in 9.7s"},
		{"ok  \tlarva.dev/x\t0.034s", "ok  \tlarva.dev/x\t1.200s"},
		{"size 12kB", "size 9MB"},
	} {
		if a, b := blur(same[0], isVolatile), blur(same[1], isVolatile); a != b {
			t.Errorf("%q and %q: got %q and %q, want the same", same[0], same[1], a, b)
		}
	}
	for _, other := range [][2]string{
		{"error in a.go", "error in b.go"},
		{"FAIL", "ok"},
		{"deadbeef", "facade"}, // words, for all one knows
		{"a1", "b1"},
		{"one 1", "two 1"},
		{"5 x", "5 y"},
	} {
		if a, b := blur(other[0], isVolatile), blur(other[1], isVolatile); a == b {
			t.Errorf("%q and %q: both are %q, want two", other[0], other[1], a)
		}
	}
	for in, want := range map[string]string{
		`{"offset":2001}`:                         `{"offset":2001}`,
		`{"path":"f12.txt","n":1.5}`:              `{"path":"f12.txt","n":1.5}`,
		`{"command":"git show 4a4252e"}`:          `{"command":"git show 4a4252e"}`,
		`echo 23:58:01 2026-11-30T23:58:01Z `:     `echo # # `,
		`since 1764547081`:                        `since #`,
		`id 550e8400-e29b-41d4-a716-446655440000`: `id #`,
	} {
		if got := blur(in, isMoment); got != want {
			t.Errorf("input %q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzBlur(f *testing.F) {
	f.Add("took 1m2.3s at 0x7f")
	f.Fuzz(func(t *testing.T, s string) {
		if got := blur(s, isVolatile); strings.ContainsAny(got, "0123456789") || blur(got, isVolatile) != got {
			t.Errorf("%q: got %q", s, got)
		}
	})
}

// loopsAfter plays the same turn for ever and gives the number of answers.
func loopsAfter(t *testing.T, out func(n int, c tool.Call) string, turn func(n int) []model.Call, writers ...tool.Tool) (int, event.StopReason) {
	t.Helper()
	ran := 0
	tl := look()
	tl.run = func(_ context.Context, c tool.Call) (tool.Result, error) {
		ran++
		return tool.Result{Output: out(ran, c)}, nil
	}
	n := 0
	h := newLoop(t, model1(func(ctx context.Context, r model.Request, on func(model.Delta)) (*model.Answer, error) {
		n++
		return says("", turn(n)...)(ctx, r, on)
	}), append(writers, tl)...)
	h.MaxTurns = 20
	h.Points.PermissionAsked = append(h.Points.PermissionAsked, func(context.Context, tool.Call, event.Question) *Reply {
		return &Reply{Name: "k", Allow: true}
	})
	res := h.mustRun(t)
	return res.Turns, res.StopReason
}

func TestGuardSeesThroughNumbers(t *testing.T) {
	t.Parallel()
	read := func(n int) []model.Call { return []model.Call{call(fmt.Sprint("c", n), "read", `{}`)} }
	turns, reason := loopsAfter(t, func(n int, _ tool.Call) string {
		return fmt.Sprintf("2026-11-30 23:58:%02d [pid %d] not ready after %d.%ds", n, 100*n, n, n)
	}, read)
	if turns != 4 || reason != event.StopLoop {
		t.Errorf("times, pids and durations: got %s after %d turns, want loop after 4", reason, turns)
	}
	turns, reason = loopsAfter(t, func(n int, _ tool.Call) string { return strings.Repeat("line\n", n) }, read)
	if reason != event.StopMaxTurns {
		t.Errorf("new text each time: got %s after %d turns", reason, turns)
	}
	// what the model asks for is not blurred: reading on is no loop
	turns, reason = loopsAfter(t, func(int, tool.Call) string { return "written" }, func(n int) []model.Call {
		return []model.Call{call("a", "read", fmt.Sprintf(`{"n":%d}`, n))}
	})
	if reason != event.StopMaxTurns {
		t.Errorf("another number in the input: got %s after %d turns", reason, turns)
	}
}

// Counting after each change is work, though only a number differs; the same
// change again and again is none.
func TestGuardLetsAChangeCount(t *testing.T) {
	t.Parallel()
	write := func(input func(n int) string) func(n int) []model.Call {
		return func(n int) []model.Call {
			if n%2 == 0 {
				return []model.Call{call("a", "read", `{}`)}
			}
			return []model.Call{call("a", "edit", input(n))}
		}
	}
	counts := func(n int, _ tool.Call) string { return fmt.Sprint(n, " files") }
	if turns, reason := loopsAfter(t, counts, write(func(n int) string { return fmt.Sprintf(`{"n":%d}`, n) }), change()); reason != event.StopMaxTurns {
		t.Errorf("another change each time: got %s after %d turns", reason, turns)
	}
	if turns, reason := loopsAfter(t, counts, write(func(int) string { return `{"n":1}` }), change()); reason != event.StopLoop {
		t.Errorf("the same change each time: got %s after %d turns", reason, turns)
	}
}

func TestGuardSeesOneCallAmongOthers(t *testing.T) {
	t.Parallel()
	same := func(int, tool.Call) string { return "no such file" }
	mixed := func(other string) func(n int) []model.Call {
		return func(n int) []model.Call {
			return []model.Call{call("a", "read", `{}`), call("b", other, fmt.Sprintf(`{"n":%d}`, n))}
		}
	}
	if turns, reason := loopsAfter(t, same, mixed("read")); turns != 4 || reason != event.StopLoop {
		t.Errorf("beside looks: got %s after %d turns, want loop after 4", reason, turns)
	}
	if turns, reason := loopsAfter(t, same, mixed("edit"), change()); reason != event.StopMaxTurns {
		t.Errorf("beside changes: got %s after %d turns: testing after each change is work", reason, turns)
	}
	broken := change()
	broken.run = func(context.Context, tool.Call) (tool.Result, error) { return tool.Fail("no"), nil }
	if turns, reason := loopsAfter(t, same, mixed("edit"), broken); turns != 4 || reason != event.StopLoop {
		t.Errorf("beside changes that fail: got %s after %d turns, want loop after 4", reason, turns)
	}
}

func TestUnknownAndBrokenCallsForEverEndTheRun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]model.Call{
		"unknown tool": call("a", "nosuch", `{}`),
		"broken JSON":  {ID: "a", Tool: "read", Broken: `{"n":`},
		"refused":      call("a", "edit", `{}`),
	} {
		h := newLoop(t, model1(says("", c)), look(), change())
		if res := h.mustRun(t); res.StopReason != event.StopLoop || res.ExitCode != 6 || res.Turns != 4 {
			t.Errorf("%s: got %s after %d turns", name, res.StopReason, res.Turns)
		}
	}
}

func TestALoopTellsThePerson(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("", call("a", "read", `{}`))), look())
	var told []string
	h.Points.Notify = append(h.Points.Notify, func(_ context.Context, m string) { told = append(told, m) })
	h.Ask, h.MaxTurns = yes, 9
	if h.mustRun(t); len(told) != 1 || !strings.Contains(told[0], "4 times") {
		t.Errorf("got %q", told)
	}
}
