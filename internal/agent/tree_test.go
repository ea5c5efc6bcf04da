package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/tool"
)

// child gives a loop under h with the same tools.
func (h *harness) child(label string, m model.Model, tools ...tool.Tool) *Loop {
	var reg tool.Registry
	if err := reg.Add(tools...); err != nil {
		panic(err)
	}
	p := *h.Policy
	return &Loop{Parent: h.Loop, Agent: label, Persona: event.PersonaRef{ID: "c"}, System: "child", Model: m, Tools: &reg,
		Policy: &p, Session: "s1", Now: h.Now, PriceOf: h.PriceOf}
}

// delegate is a parallel tool that runs a child and gives its answer.
func (h *harness) delegate(name string, child *Loop) *fakeTool {
	return &fakeTool{name: name, parallel: true, run: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		res, err := child.Run(ctx, "do it")
		return tool.Result{Output: res.Result}, err
	}}
}

func (h *harness) add(t *testing.T, tools ...tool.Tool) {
	t.Helper()
	if err := h.Tools.Add(tools...); err != nil {
		t.Fatal(err)
	}
}

func TestChildsEventsAreTheRunsWithItsLabel(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("", call("a", "hand", `{}`)), says("end")))
	c := h.child("explore: x", model1(says("", call("a", "read", `{}`)), says("found")), look())
	var own []event.Event
	c.Emit = func(e event.Event) { own = append(own, e) }
	h.add(t, h.delegate("hand", c))
	if res := h.mustRun(t); res.Result != "end" {
		t.Errorf("got %q", res.Result)
	}
	var labels []string
	for i, e := range h.events {
		if e.Seq != i+1 {
			t.Fatalf("event %d: got seq %d, want %d", i, e.Seq, i+1)
		}
		if e.Agent != "" {
			labels = append(labels, e.Body.Type())
			if e.Agent != "explore: x" {
				t.Errorf("got label %q", e.Agent)
			}
		}
	}
	if got, want := strings.Join(labels, " "), "user assistant usage tool_start tool_end text_delta assistant usage"; got != want {
		t.Errorf("got the child's events %s\nwant %s", got, want)
	}
	if first, last := own[0], own[len(own)-1]; first.Body.Type() != "init" || last.Body.Type() != "result" || last.Seq != len(own) || last.Agent != "" {
		t.Errorf("got its own record from %+v to %+v", first, last)
	}
}

func TestChildsSpendingIsTheTrees(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("", call("a", "hand", `{}`)), says("end")))
	h.PriceOf = prices
	c := h.child("c", &fakeModel{name: "fake/two", turns: []turnFunc{says("", call("a", "hand", `{}`)), says("found")}})
	g := h.child("c > g", &fakeModel{name: "fake/two", turns: []turnFunc{says("deep")}})
	g.Parent = c
	if err := c.Tools.Add(h.delegate("hand", g)); err != nil {
		t.Fatal(err)
	}
	h.add(t, h.delegate("hand", c))
	res := h.mustRun(t)
	if want := (2*(10*1+5*10) + 3*(10*100+5*1000)) / 1e6; !near(res.CostUSD, want) || res.Usage.InputTokens != 50 {
		t.Errorf("got %v USD, %+v, want %v", *res.CostUSD, res.Usage, want)
	}
	var totals []int
	for _, s := range bodies[event.Spent](h) {
		totals = append(totals, s.Total.InputTokens)
	}
	if got, want := fmt.Sprint(totals), "[10 10 10 30 50]"; got != want {
		t.Errorf("got totals %s, want %s: each event says its own agent's, with those below", got, want)
	}
}

func TestQuestionsOfChildrenComeOneAtATime(t *testing.T) {
	t.Parallel()
	var calls []model.Call
	h := newLoop(t, nil)
	for i := range 8 {
		label := fmt.Sprintf("c%d", i)
		calls = append(calls, call(label, "task"+label, `{}`))
		h.add(t, h.delegate("task"+label, h.child(label, model1(says("", call("e", "edit", `{}`)), says("ok")), change())))
	}
	h.Model = model1(says("", calls...), says("end"))
	var open atomic.Int32
	var mu sync.Mutex
	asked := map[string]bool{}
	h.Ask = func(_ context.Context, q event.Question) event.Answer {
		if n := open.Add(1); n != 1 {
			t.Errorf("got %d questions at once", n)
		}
		defer open.Add(-1)
		mu.Lock()
		defer mu.Unlock()
		asked[q.Agent] = true
		return event.Answer{Allow: q.Agent != "c3"}
	}
	res := h.mustRun(t)
	if len(asked) != 8 || len(res.Denials) != 1 || res.Denials[0].Agent != "c3" {
		t.Errorf("got questions of %v and denials %+v", asked, res.Denials)
	}
}

func TestQuestionOfAChildThatIsStoppedDoesNotWait(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("end")))
	ctx, cancel := context.WithCancel(t.Context())
	h.Floor(t.Context(), func() {
		cancel()
		if h.child("c", nil).Floor(ctx, func() { t.Error("the floor was taken") }) {
			t.Error("got the floor of a run that had ended")
		}
	})
}

func TestAlwaysHoldsForTheWholeTree(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("", call("a", "hand", `{}`)), says("", call("b", "edit", `{}`)), says("end")), change())
	c := h.child("c", model1(says("", call("a", "edit", `{}`)), says("", call("b", "edit", `{"n":2}`)), says("ok")), change())
	h.add(t, h.delegate("hand", c))
	asked := 0
	h.Ask = func(_ context.Context, q event.Question) event.Answer {
		asked++
		return event.Answer{Allow: true, Always: true}
	}
	h.Remember = func(string) (string, error) { return "rules.toml", nil }
	h.mustRun(t)
	if asked != 1 {
		t.Errorf("got %d questions, want 1", asked)
	}
}

func TestChildsModeIsNeverAboveItsParents(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("x")))
	c := h.child("c", model1(says("x")), change())
	g := h.child("g", model1(says("x")), change())
	g.Parent, g.Mode = c, "accept-edits"
	for _, row := range [][4]string{{"yolo", "", "yolo", "accept-edits"}, {"default", "", "default", "default"}, {"yolo", "plan", "plan", "plan"}, {"plan", "auto", "plan", "plan"}, {"auto", "yolo", "auto", "accept-edits"}} {
		h.SetMode(row[0])
		c.Mode = row[1]
		if c.CurrentMode() != row[2] || g.CurrentMode() != row[3] {
			t.Errorf("root %s, child %q: got %s and %s, want %s and %s", row[0], row[1], c.CurrentMode(), g.CurrentMode(), row[2], row[3])
		}
		d := c.Judge(t.Context(), tool.Call{ID: "1", Tool: "edit", Input: json.RawMessage(`{}`)}).Decision
		if want := map[string]event.Stage{"yolo": event.StageYolo, "plan": event.StagePlan}[row[2]]; want != "" && d.Stage != want {
			t.Errorf("mode %s: got %s", row[2], d.Stage)
		}
	}
}

// TestBudgetOfATree lets many children work at once: the sum goes over the
// budget by one request each at most, and with reservations by far less.
func TestBudgetOfATree(t *testing.T) {
	t.Parallel()
	const children, each = 16, 15 // tokens of a request
	var inFlight, most atomic.Int32
	long := func(ctx context.Context, r model.Request, on func(model.Delta)) (*model.Answer, error) {
		n := inFlight.Add(1)
		defer inFlight.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		return says("", call("r", "read", fmt.Sprintf(`{"n":%d}`, r.Number)))(ctx, r, on)
	}
	h := newLoop(t, nil)
	h.MaxParallel = children
	var calls []model.Call
	for i := range children {
		name := fmt.Sprintf("task%d", i)
		calls = append(calls, call(name, name, `{}`))
		h.add(t, h.delegate(name, h.child(name, model1(long), look())))
	}
	h.Model = model1(says("", calls...), says("end"))
	budget := int64(3000)
	h.BudgetTokens = &budget
	res := h.mustRun(t)
	spent := tokens(res.Usage)
	if res.StopReason != event.StopBudget || spent < budget || spent > budget+children*each {
		t.Errorf("got %s after %d tokens of %d, want at most %d above", res.StopReason, spent, budget, children*each)
	}
	if h.held != (reserved{}) {
		t.Errorf("got %+v held at the end, want nothing", h.held)
	}
}

func TestReservationWaitsForRoom(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("end")))
	budget := int64(100)
	h.BudgetTokens = &budget
	a, b := h.child("a", h.Model), h.child("b", h.Model)
	over, why := a.reserve(t.Context(), a.Model, func() int { return 100 })
	if why != "" {
		t.Fatal(why)
	}
	got := make(chan string)
	go func() {
		_, why := b.reserve(t.Context(), b.Model, func() int { return 10 })
		got <- why
	}()
	select {
	case why := <-got:
		t.Fatalf("got %q at once, want it to wait", why)
	default:
	}
	a.spend(a.Model, &model.Answer{Usage: event.Usage{InputTokens: 100}}, true)
	over()
	if why := <-got; !strings.Contains(why, "100 tokens are used") {
		t.Errorf("got %q, want that the budget is spent", why)
	}
}

func TestIdleAndArrived(t *testing.T) {
	t.Parallel()
	m := model1(says("", call("a", "read", `{}`)), says("waiting"), says("both are in"))
	h := newLoop(t, m, look())
	arrived, idle := []string{"", "<n>one</n>"}, []string{"<n>two</n>", ""}
	next := func(l *[]string) string {
		if len(*l) == 0 {
			return ""
		}
		s := (*l)[0]
		*l = (*l)[1:]
		return s
	}
	h.Points.Arrived = []func() string{func() string { return next(&arrived) }}
	h.Points.Idle = []func(context.Context) string{func(context.Context) string { return next(&idle) }}
	res := h.mustRun(t)
	if res.Result != "both are in" || res.StopReason != event.StopEndTurn {
		t.Errorf("got %q, %s", res.Result, res.StopReason)
	}
	last := func(n int) string {
		msgs := m.asked[n].Messages
		blocks := msgs[len(msgs)-1].Blocks
		return blocks[len(blocks)-1].Text
	}
	if last(1) != "<n>one</n>" || last(2) != "<n>two</n>" {
		t.Errorf("got %q and %q", last(1), last(2))
	}
}

func TestCancelWhileIdleInterrupts(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("waiting")))
	ctx, cancel := context.WithCancel(t.Context())
	h.Points.Idle = []func(context.Context) string{func(ctx context.Context) string { cancel(); <-ctx.Done(); return "" }}
	res, err := h.Run(ctx, "go")
	if err != nil || res.StopReason != event.StopInterrupted {
		t.Errorf("got %s, %v", res.StopReason, err)
	}
}

func TestConversationGoesOn(t *testing.T) {
	t.Parallel()
	m := model1(says("", call("a", "read", `{}`)), says("one"), says("two"))
	h := newLoop(t, m, look())
	h.mustRun(t)
	if h.Answer() != "one" {
		t.Errorf("got %q", h.Answer())
	}
	h.History = h.Conversation()
	if res := h.mustRun(t); res.Result != "two" || len(m.asked[2].Messages) != 5 {
		t.Errorf("got %q behind %d messages", res.Result, len(m.asked[2].Messages))
	}
}

type stoppedByName struct{ error }

func (stoppedByName) Why() string { return "the task was stopped" }

func TestCauseNamesWhoStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stoppedByName{errors.New("x")})
	h := newLoop(t, model1(says("x")))
	res, _ := h.Run(ctx, "go")
	if len(res.Notices) != 1 || res.Notices[0] != "the task was stopped" {
		t.Errorf("got %q", res.Notices)
	}
}
