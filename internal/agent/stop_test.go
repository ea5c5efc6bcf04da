package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

func TestStopReasons(t *testing.T) {
	t.Parallel()
	num := func(n int) turnFunc { // another input each time, so that the guard is quiet
		i := 0
		return func(ctx context.Context, r model.Request, on func(model.Delta)) (*model.Answer, error) {
			i++
			return says("", call("a", "read", fmt.Sprintf(`{"n":%d}`, i)))(ctx, r, on)
		}
	}
	usd, toks := 0.00009, int64(30)
	for _, tt := range []struct {
		name   string
		turns  []turnFunc
		set    func(*Loop)
		reason event.StopReason
		exit   int
		nturns int
		notice string
	}{
		{name: "max_tokens", turns: []turnFunc{stops(model.MaxTokens, "half")}, reason: event.StopMaxTokens, nturns: 1, notice: "cut off"},
		{name: "empty", turns: []turnFunc{says("")}, reason: event.StopEndTurn, nturns: 1, notice: "without a text"},
		{name: "other", turns: []turnFunc{stops(model.Other, "x")}, reason: event.StopEndTurn, nturns: 1, notice: "without a reason"},
		{name: "max_turns", turns: []turnFunc{num(0)}, set: func(l *Loop) { l.MaxTurns = 3 }, reason: event.StopMaxTurns, exit: 5, nturns: 3, notice: "limit of 3 turns"},
		{name: "loop", turns: []turnFunc{says("", call("a", "read", `{"n":1}`))}, reason: event.StopLoop, exit: 6, nturns: 4, notice: "4 times"},
		{name: "loop in yolo", turns: []turnFunc{says("", call("a", "read", `{"n":1}`))}, set: func(l *Loop) { l.Ask, l.Mode = yes, "yolo" }, reason: event.StopLoop, exit: 6, nturns: 4},
		{name: "loop with a person", turns: []turnFunc{says("", call("a", "read", `{"n":1}`))}, set: func(l *Loop) { l.Ask, l.MaxTurns = yes, 9 }, reason: event.StopMaxTurns, exit: 5, nturns: 9, notice: "4 times"},
		{name: "tokens", turns: []turnFunc{num(0)}, set: func(l *Loop) { l.BudgetTokens = &toks }, reason: event.StopBudget, exit: 4, nturns: 2, notice: "30 tokens"},
		{name: "usd", turns: []turnFunc{num(0)}, set: func(l *Loop) { l.BudgetUSD, l.Price = &usd, &profile.Price{Input: 1, Output: 8} }, reason: event.StopBudget, exit: 4, nturns: 2, notice: "USD"},
		{name: "usd without a price", turns: []turnFunc{says("x")}, set: func(l *Loop) { l.BudgetUSD = &usd }, reason: event.StopEndTurn, nturns: 1, notice: "no price"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newLoop(t, model1(tt.turns...), look())
			if tt.set != nil {
				tt.set(h.Loop)
			}
			res := h.mustRun(t)
			if res.StopReason != tt.reason || res.ExitCode != tt.exit || res.Turns != tt.nturns {
				t.Errorf("got %s, exit %d, %d turns; want %s, %d, %d", res.StopReason, res.ExitCode, res.Turns, tt.reason, tt.exit, tt.nturns)
			}
			if tt.notice != "" && !strings.Contains(strings.Join(res.Notices, "\n"), tt.notice) {
				t.Errorf("notices: got %q, want %q", res.Notices, tt.notice)
			}
			if n := strings.Count(strings.Join(res.Notices, "\n"), "4 times"); n > 1 {
				t.Errorf("told of the loop %d times", n)
			}
			if last := h.events[len(h.events)-1].Body.Type(); last != "result" {
				t.Errorf("last event: got %s", last)
			}
		})
	}
}

func TestGuardNeedsTheSameResultToo(t *testing.T) {
	t.Parallel()
	n := 0
	tl := look()
	tl.run = func(context.Context, tool.Call) (tool.Result, error) {
		n++
		return tool.Result{Output: strings.Repeat("step ", n)}, nil
	}
	h := newLoop(t, model1(says("", call("a", "read", `{}`))), tl)
	h.MaxTurns = 12
	if res := h.mustRun(t); res.StopReason != event.StopMaxTurns {
		t.Errorf("got %s, want max_turns: every step saw something new", res.StopReason)
	}
}

func TestGuardWindow(t *testing.T) {
	t.Parallel()
	step := func(g *guard, name string) bool {
		return g.sees([]model.Call{{Tool: name}}, []model.Result{{}}, nil)
	}
	var g guard
	for i, name := range strings.Split("a b c a b c a b d a", " ") { // the fourth a comes when the first has left the window
		if step(&g, name) {
			t.Errorf("tripped at step %d (%s)", i, name)
		}
	}
	g = guard{}
	for i, name := range strings.Split("a b a b a b a", " ") {
		if got, want := step(&g, name), i == 6; got != want {
			t.Errorf("step %d: got %v, want %v", i, got, want)
		}
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(stops(model.Refusal, "no")))
	res, err := h.Run(t.Context(), "go")
	e := diag.As(err)
	if e == nil || e.ExitCode() != 7 || e.Code != diag.ModelFailed || e.Details["stop_reason"] != "refusal" || e.Details["session_id"] != "s1" {
		t.Fatalf("got %+v", e)
	}
	if res.StopReason != event.StopRefusal || res.ExitCode != 7 {
		t.Errorf("got %+v", res)
	}
	if got, want := h.types(), "init user text_delta assistant usage error result"; got != want {
		t.Errorf("events: got %s, want %s", got, want)
	}
}

func TestModelErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		err     error
		code    diag.Code
		status  any
		message string
	}{
		{"status", &model.Error{Model: "fake/one", Status: 529, Message: "overloaded"}, diag.ModelFailed, 529, "fake/one: HTTP 529: overloaded"},
		{"script", &model.Error{Model: "fake/one", Code: "SCRIPT_NO_MATCH", Message: "request 2"}, diag.ScriptNoMatch, nil, "fake/one: request 2"},
		{"key", diag.New(diag.KeyMissing, "no key").WithHint("export X"), diag.KeyMissing, nil, "no key"},
		{"plain", errors.New("boom"), diag.ModelFailed, nil, "fake/one: boom"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newLoop(t, model1(func(_ context.Context, _ model.Request, on func(model.Delta)) (*model.Answer, error) {
				on(model.Delta{Text: "half"})
				return nil, tt.err
			}))
			res, err := h.Run(t.Context(), "go")
			e := diag.As(err)
			if e == nil || e.Code != tt.code || e.ExitCode() != 7 || e.Message != tt.message || e.Details["status"] != tt.status || e.Details["model"] != "fake/one" || e.Details["session_id"] != "s1" {
				t.Errorf("got %+v", e)
			}
			if want := "half\n\n[the answer was cut off]"; res.Result != want || res.ExitCode != 7 {
				t.Errorf("got %q, exit %d, want %q", res.Result, res.ExitCode, want)
			}
			if got, want := h.types(), "init user text_delta assistant error"; got != want {
				t.Errorf("events: got %s, want %s", got, want)
			}
		})
	}
}

func TestCancelMidStream(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	h := newLoop(t, model1(func(ctx context.Context, _ model.Request, on func(model.Delta)) (*model.Answer, error) {
		on(model.Delta{Text: "so far"})
		cancel(&diag.Error{Code: diag.Interrupted, Exit: diag.ExitTerminated})
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	ended := false
	h.Points.SessionEnd = append(h.Points.SessionEnd, func(ctx context.Context, r event.Result) {
		ended = ctx.Err() == nil && r.StopReason == event.StopInterrupted
	})
	res, err := h.Run(ctx, "go")
	if err != nil || res.StopReason != event.StopInterrupted || res.ExitCode != 143 || res.Result != "so far\n\n[interrupted by the user]" {
		t.Errorf("got %+v, %v", res, err)
	}
	if !ended {
		t.Error("SessionEnd did not run with a ctx of its own")
	}
}

func TestCancelMidTool(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	slow := &fakeTool{name: "slow", run: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		cancel()
		<-ctx.Done()
		return tool.Result{Output: "first lines"}, nil
	}}
	h := newLoop(t, model1(says("", call("a", "slow", `{}`), call("b", "slow", `{}`), call("c", "edit", `{}`))), slow, change())
	h.Ask = yes
	res, err := h.Run(ctx, "go")
	if err != nil || res.StopReason != event.StopInterrupted || res.ExitCode != 130 {
		t.Fatalf("got %+v, %v", res, err)
	}
	ends := bodies[event.ToolEnd](h)
	if len(ends) != 3 || !ends[0].IsError || !ends[1].IsError || !ends[2].IsError {
		t.Fatalf("got %+v, want every call answered", ends)
	}
	if want := "first lines\n[stopped: interrupted by the user]"; ends[0].Output != want {
		t.Errorf("got %q, want %q", ends[0].Output, want)
	}
	if want := "The call was not run: interrupted by the user."; ends[1].Output != want || ends[2].Output != want {
		t.Errorf("got %q and %q, want %q", ends[1].Output, ends[2].Output, want)
	}
	if len(bodies[event.ToolStart](h)) != 1 || len(res.Denials) != 0 {
		t.Errorf("got %d starts, %d denials", len(bodies[event.ToolStart](h)), len(res.Denials))
	}
}

func TestCancelWhileAsking(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	h := newLoop(t, model1(says("", call("a", "edit", `{}`))), change())
	h.Ask = func(context.Context, event.Question) event.Answer { cancel(); return event.Answer{Allow: true} }
	res, err := h.Run(ctx, "go")
	if err != nil || res.StopReason != event.StopInterrupted || len(res.Denials) != 0 || len(bodies[event.ToolStart](h)) != 0 {
		t.Errorf("got %+v, %v: an answer that came with the cancel is none", res, err)
	}
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newLoop(t, model1(func(ctx context.Context, _ model.Request, _ func(model.Delta)) (*model.Answer, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		h.Now = time.Now
		h.TimeLimit = time.Minute
		res, err := h.Run(t.Context(), "go")
		if err != nil || res.StopReason != event.StopTimeLimit || res.ExitCode != 9 || res.DurationMS != 60_000 {
			t.Errorf("got %+v, %v", res, err)
		}
		if len(res.Notices) != 1 || !strings.Contains(res.Notices[0], "1m0s") {
			t.Errorf("notices: got %q", res.Notices)
		}
	})
}

func TestToolThatForgetsItsLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &fakeTool{name: "slow", run: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}}
		h := newLoop(t, model1(says("", call("a", "slow", `{}`)), says("ok")), slow)
		if res := h.mustRun(t); res.StopReason != event.StopEndTurn {
			t.Errorf("got %s, want the run to go on", res.StopReason)
		}
		if e := bodies[event.ToolEnd](h)[0]; !e.IsError || !strings.Contains(e.Output, "longer than it may") {
			t.Errorf("got %+v", e)
		}
	})
}
