package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/tool"
)

func TestParallelCallsRunTogetherAndAnswerInOrder(t *testing.T) {
	t.Parallel()
	// Each waits for the next one, so they end in reverse: this hangs unless
	// all run at once.
	over := map[string]chan struct{}{"1": make(chan struct{}), "2": make(chan struct{}), "3": make(chan struct{})}
	next := map[string]string{"1": "2", "2": "3"}
	par := &fakeTool{name: "par", parallel: true, run: func(_ context.Context, c tool.Call) (tool.Result, error) {
		if n, ok := next[c.ID]; ok {
			<-over[n]
		}
		close(over[c.ID])
		return tool.Result{Output: c.ID}, nil
	}}
	m := model1(says("", call("1", "par", `{}`), call("x", "nosuch", `{}`), call("2", "par", `{}`), call("3", "par", `{}`)), says("ok"))
	h := newLoop(t, m, par)
	h.mustRun(t)
	var got []string
	for _, r := range results(m.asked[1]) {
		got = append(got, r.ID)
	}
	want := []string{"1", "x", "2", "3"}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("results: got-, want+\n%s", d)
	}
	var ends []string
	for _, e := range bodies[event.ToolEnd](h) {
		ends = append(ends, e.ID)
	}
	if d := cmp.Diff(ends, want); d != "" {
		t.Errorf("tool_end: got-, want+\n%s", d)
	}
}

func TestOthersRunAlone(t *testing.T) {
	t.Parallel()
	var log []string // written without a lock: the race detector watches
	note := func(_ context.Context, c tool.Call) (tool.Result, error) {
		log = append(log, c.ID)
		return tool.Result{}, nil
	}
	m := model1(says("", call("1", "solo", `{}`), call("2", "solo", `{}`), call("3", "par", `{}`), call("4", "solo", `{}`)), says("ok"))
	h := newLoop(t, m, &fakeTool{name: "solo", run: note}, &fakeTool{name: "par", parallel: true, run: note})
	h.mustRun(t)
	if got, want := strings.Join(log, " "), "1 2 3 4"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAtMostMaxParallelAtOnce(t *testing.T) {
	t.Parallel()
	running := make(chan struct{}, 2) // a third at once finds it full
	par := &fakeTool{name: "par", parallel: true, run: func(context.Context, tool.Call) (tool.Result, error) {
		select {
		case running <- struct{}{}:
		default:
			return tool.Fail("too many at once"), nil
		}
		<-running
		return tool.Result{}, nil
	}}
	var calls []model.Call
	for i := range 20 {
		calls = append(calls, call(fmt.Sprint(i), "par", `{}`))
	}
	h := newLoop(t, model1(says("", calls...), says("ok")), par)
	h.MaxParallel = 2
	h.mustRun(t)
	ends := bodies[event.ToolEnd](h)
	if len(ends) != 20 {
		t.Fatalf("got %d ends, want 20", len(ends))
	}
	for _, e := range ends {
		if e.IsError {
			t.Errorf("%s: %s", e.ID, e.Output)
		}
	}
}

func TestAllAreAuthorisedBeforeTheFirstRuns(t *testing.T) {
	t.Parallel()
	var log []string
	tl := change()
	tl.run = func(_ context.Context, c tool.Call) (tool.Result, error) {
		log = append(log, "run "+c.ID)
		return tool.Result{}, nil
	}
	h := newLoop(t, model1(says("", call("1", "edit", `{}`), call("2", "edit", `{}`)), says("ok")), tl)
	h.Ask = func(_ context.Context, q event.Question) event.Answer {
		log = append(log, "ask "+q.ID)
		return event.Answer{Allow: true}
	}
	h.mustRun(t)
	if d := cmp.Diff(log, []string{"ask 1", "ask 2", "run 1", "run 2"}); d != "" {
		t.Errorf("got-, want+\n%s", d)
	}
}
