package agent

import (
	"context"
	"strings"
	"testing"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/tool"
)

// newHost is a conversation in which nobody is seated yet; its events and its
// clock are the harness's.
func newHost(t *testing.T) *harness {
	t.Helper()
	h := newLoop(t, nil)
	h.Policy, h.Tools, h.Model = nil, nil, nil
	return h
}

func (h *harness) seat(t *testing.T, id string, m model.Model, tools ...tool.Tool) *Loop {
	t.Helper()
	l := newLoop(t, m, tools...).Loop
	l.Persona.ID, l.Now, l.Mode = id, h.Now, ""
	h.Seat(l)
	return l
}

// turn is one prompt of a conversation.
func turn(t *testing.T, l *Loop, prompt string) event.Result {
	t.Helper()
	res, err := l.Run(t.Context(), prompt)
	if err != nil {
		t.Fatalf("%s: %v", prompt, err)
	}
	l.History = l.Conversation()
	return res
}

func TestTurnsAreOneConversation(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	m := model1(says("one"), says("two"))
	l := h.seat(t, "a", m)
	var said []string
	l.Points.SessionStart = append(l.Points.SessionStart, func(_ context.Context, source string) Said { said = append(said, "start "+source); return Said{} })
	l.Points.SessionEnd = append(l.Points.SessionEnd, func(context.Context, event.Result) { said = append(said, "end") })
	first, second := turn(t, l, "1"), turn(t, l, "2")
	if first.Result != "one" || second.Result != "two" || second.Usage != first.Usage {
		t.Errorf("got %+v and %+v, want results of their own", first, second)
	}
	if got, want := h.types(), "init user text_delta assistant usage result user text_delta assistant usage result"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for i, e := range h.events {
		if e.Seq != i+1 || e.Agent != "" {
			t.Errorf("event %d: got seq %d of %q", i, e.Seq, e.Agent)
		}
	}
	if n := len(m.asked[1].Messages); n != 3 {
		t.Errorf("got %d messages in the second request, want 3", n)
	}
	if u, _ := h.Spent(); u.InputTokens != 20 {
		t.Errorf("got %d tokens in all, want 20", u.InputTokens)
	}
	l.Restart("clear")
	turn(t, l, "3")
	l.End(t.Context(), second)
	if got, want := strings.Join(said, ", "), "start startup, start clear, end"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhatHoldsForAHostHoldsForAllWhoAreSeated(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	asked := 0
	h.Ask = func(context.Context, event.Question) event.Answer {
		asked++
		return event.Answer{Allow: true, Always: true}
	}
	edit := func() *fakeTool {
		f := change()
		f.effects = func(c tool.Call) tool.Effects {
			e := writes(c)
			e.Subject = "x"
			return e
		}
		return f
	}
	a := h.seat(t, "a", model1(says("", call("1", "edit", `{}`)), says("ok")), edit())
	turn(t, a, "go")
	h.SetMode("plan")
	if got := a.CurrentMode(); got != "plan" {
		t.Errorf("got mode %s, want the host's", got)
	}
	m := model1(says("", call("2", "edit", `{}`)), says("no"), says("", call("3", "edit", `{}`)), says("done"))
	b := h.seat(t, "b", m, edit())
	b.History = a.Conversation()
	res := turn(t, b, "again")
	if len(res.Denials) != 1 || res.Denials[0].Stage != event.StagePlan {
		t.Errorf("got denials %+v, want the plan's", res.Denials)
	}
	if text := m.asked[0].Messages[len(m.asked[0].Messages)-1].Blocks; !strings.Contains(text[len(text)-1].Text, "Plan mode is on") {
		t.Errorf("got %+v, want the note on plan mode", text)
	}
	b.SetMode("default")
	if h.CurrentMode() != "default" {
		t.Error("what ends plan mode is to end it for the host")
	}
	before := asked
	turn(t, b, "once more")
	if got := bodies[event.Init](h); len(got) != 2 || got[1].Persona.ID != "b" {
		t.Errorf("got %+v, want an init of each agent", got)
	}
	if asked != before {
		t.Errorf("asked %d times after an always, want %d", asked, before)
	}
}

func TestBudgetCoversAllTurns(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.BudgetTokens = new(int64)
	*h.BudgetTokens = 25
	a := h.seat(t, "a", model1(says("one")))
	turn(t, a, "1")
	b := h.seat(t, "b", model1(says("two")))
	turn(t, b, "2")
	if res := turn(t, b, "3"); res.StopReason != event.StopBudget {
		t.Errorf("got %s, want the budget's end: 30 of 25 tokens are used", res.StopReason)
	}
}

func TestWake(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	l := h.seat(t, "a", model1(says("thanks")))
	text := ""
	l.Points.Arrived = append(l.Points.Arrived, func() string { defer func() { text = "" }(); return text })
	if _, ok, err := l.Wake(t.Context()); ok || err != nil || len(h.events) > 0 {
		t.Fatalf("got %t, %v, %d events, want nothing to be done", ok, err, len(h.events))
	}
	text = "bg-1 is done"
	res, ok, err := l.Wake(t.Context())
	if !ok || err != nil || res.Result != "thanks" {
		t.Errorf("got %+v, %t, %v", res, ok, err)
	}
	if u := bodies[event.User](h); len(u) != 1 || !u[0].Generated || u[0].Text != "bg-1 is done" {
		t.Errorf("got %+v", u)
	}
}

func TestCompactOnDemand(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	m := model1(says("one"), says("<summary>short</summary>"))
	l := h.seat(t, "a", m)
	if err := l.Compact(t.Context(), ""); err != nil || len(m.asked) > 0 {
		t.Fatalf("an empty conversation: got %v and %d requests, want neither", err, len(m.asked))
	}
	turn(t, l, "1")
	if err := l.Compact(t.Context(), "keep the names"); err != nil {
		t.Fatal(err)
	}
	last := m.asked[1].Messages
	if got := last[len(last)-1].Text(); !strings.Contains(got, "keep the names") {
		t.Errorf("the instruction is %q, want the person's in it", got)
	}
	if c := l.Conversation(); len(c) != 1 || !strings.Contains(c[0].Text(), "short") {
		t.Errorf("got %+v, want the summary alone", c)
	}
	if l.Compaction.Prompt != "" {
		t.Error("the person's words hold once")
	}
}
