package agent

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/profile"
)

// prices: fake/one costs 1 and 10 a million, fake/two 100 and 1000.
func prices(name string) *profile.Price {
	switch name {
	case "fake/one":
		return &profile.Price{Input: 1, Output: 10}
	case "fake/two":
		return &profile.Price{Input: 100, Output: 1000}
	}
	return nil
}

func served(by string, f turnFunc) turnFunc {
	return func(ctx context.Context, r model.Request, on func(model.Delta)) (*model.Answer, error) {
		a, err := f(ctx, r, on)
		a.Served = by
		return a, err
	}
}

func near(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) < 1e-12 }

func TestEachRequestIsPricedByTheModelThatAnswered(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("", call("a", "read", `{}`)), served("fake/two", says("end"))), look())
	h.PriceOf = prices
	res := h.mustRun(t)
	if want := (10*1 + 5*10 + 10*100 + 5*1000) / 1e6; !near(res.CostUSD, want) {
		t.Errorf("got %v, want %v", res.CostUSD, want)
	}
	s := bodies[event.Spent](h)
	if s[0].Model != "fake/one" || s[1].Model != "fake/two" || !near(s[0].CostUSD, 60/1e6) {
		t.Errorf("got %+v", s)
	}
}

func TestCostIsUnknownWhereAPriceIs(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("", call("a", "read", `{}`)), served("fake/three", says("end"))), look())
	h.PriceOf = prices
	if res := h.mustRun(t); res.CostUSD != nil || res.Usage.InputTokens != 20 {
		t.Errorf("got %v, %+v: part of the cost is unknown", res.CostUSD, res.Usage)
	}
}

func TestSideQuestionsStandOnTheBill(t *testing.T) {
	t.Parallel()
	other := &fakeModel{name: "fake/two", turns: []turnFunc{says("yes")}}
	h := newLoop(t, model1(says("", call("a", "read", `{}`)), says("", call("b", "read", `{"n":2}`)), says("end")), look())
	h.PriceOf = prices
	usd := 0.00601 // one answer of each is 0.00606
	h.BudgetUSD = &usd
	var refused error
	h.Points.Stop = nil
	h.Points.SessionStart = append(h.Points.SessionStart, func(ctx context.Context, _ string) Said {
		a, err := h.Side(ctx, other, model.Request{Model: "two"})
		if err != nil || a.Message.Text() != "yes" {
			t.Errorf("got %v, %v", a, err)
		}
		return Said{}
	})
	h.Points.SessionEnd = append(h.Points.SessionEnd, func(ctx context.Context, _ event.Result) {
		_, refused = h.Side(ctx, other, model.Request{Model: "two"})
	})
	res := h.mustRun(t)
	if res.StopReason != event.StopBudget || res.ExitCode != 4 || res.Turns != 1 || !near(res.CostUSD, 0.00606) || len(other.asked) != 1 {
		t.Errorf("got %s, exit %d, %d turns, cost %v, %d side questions", res.StopReason, res.ExitCode, res.Turns, res.CostUSD, len(other.asked))
	}
	if !errors.Is(refused, errBudget) {
		t.Errorf("got %v: nothing is asked once the budget is spent", refused)
	}
	s := bodies[event.Spent](h)
	if s[0].Model != "fake/two" || s[0].ContextTokens != 0 || s[1].ContextTokens != 15 {
		t.Errorf("got %+v: a side question fills no window", s)
	}
}

func TestSideFailures(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("x")))
	down := &fakeModel{turns: []turnFunc{func(context.Context, model.Request, func(model.Delta)) (*model.Answer, error) {
		return nil, errors.New("down")
	}}}
	if _, err := h.Side(t.Context(), down, model.Request{}); err == nil || err.Error() != "down" {
		t.Errorf("got %v", err)
	}
	none := &fakeModel{turns: []turnFunc{func(context.Context, model.Request, func(model.Delta)) (*model.Answer, error) { return nil, nil }}}
	if _, err := h.Side(t.Context(), none, model.Request{}); err == nil || !strings.Contains(err.Error(), "no answer") {
		t.Errorf("got %v", err)
	}
}

func TestCompactionStopsAtTheBudget(t *testing.T) {
	t.Parallel()
	m := model1(used(9000, says("w", call("a", "read", `{}`))), says("S"))
	h := newLoop(t, m, look())
	h.ContextWindow = 10_000
	tokens := int64(9000)
	h.BudgetTokens = &tokens
	if res := h.mustRun(t); res.StopReason != event.StopBudget || len(m.asked) != 1 {
		t.Errorf("got %s after %d requests", res.StopReason, len(m.asked))
	}
}

// Hooks that run on goroutines of their own ask beside the run, and beside
// each other.
func TestSideQuestionsFromManyGoroutines(t *testing.T) {
	t.Parallel()
	other := &fakeModel{name: "fake/two", turns: []turnFunc{says("yes")}}
	h := newLoop(t, model1(says("", call("a", "read", `{}`)), says("end")), look())
	h.PriceOf = prices
	var asking sync.WaitGroup
	h.Points.SessionStart = append(h.Points.SessionStart, func(ctx context.Context, _ string) Said {
		for range 20 {
			asking.Go(func() {
				if _, err := h.Side(ctx, other, model.Request{}); err != nil {
					t.Error(err)
				}
				h.Note("n")
				h.CurrentMode()
				h.Alert(ctx, "m")
			})
		}
		return Said{}
	})
	h.Points.Stop = append(h.Points.Stop, func(context.Context, Stopping) Said { asking.Wait(); return Said{} })
	if res := h.mustRun(t); res.Usage.InputTokens != 220 || !near(res.CostUSD, 20*0.006+2*60/1e6) {
		t.Errorf("got %+v, %v", res.Usage, *res.CostUSD)
	}
	last := 0
	for _, e := range h.events {
		if e.Seq != last+1 {
			t.Fatalf("event %d follows %d", e.Seq, last)
		}
		last = e.Seq
	}
}
