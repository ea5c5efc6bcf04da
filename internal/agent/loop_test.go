package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// fakeModel plays its turns in order and keeps the requests.
type fakeModel struct {
	name  string // "": fake/one
	mu    sync.Mutex
	turns []func(context.Context, model.Request, func(model.Delta)) (*model.Answer, error)
	asked []model.Request
}

func (m *fakeModel) Name() string { return either(m.name, "fake/one") }

func (m *fakeModel) Ask(ctx context.Context, req model.Request, on func(model.Delta)) (*model.Answer, error) {
	m.mu.Lock()
	m.asked = append(m.asked, req)
	n := len(m.asked)
	m.mu.Unlock()
	if n > len(m.turns) {
		n = len(m.turns) // the last one repeats
	}
	return m.turns[n-1](ctx, req, on)
}

func either(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

type turnFunc = func(context.Context, model.Request, func(model.Delta)) (*model.Answer, error)

func model1(turns ...turnFunc) *fakeModel { return &fakeModel{turns: turns} }

// says answers with a text and calls; usage is 10 in, 5 out.
func says(text string, calls ...model.Call) turnFunc {
	stop := model.EndTurn
	if len(calls) > 0 {
		stop = model.ToolUse
	}
	return stops(stop, text, calls...)
}

func stops(stop model.Stop, text string, calls ...model.Call) turnFunc {
	return func(_ context.Context, _ model.Request, on func(model.Delta)) (*model.Answer, error) {
		m := model.Message{Role: model.Assistant}
		if text != "" {
			if on != nil {
				on(model.Delta{Text: text})
			}
			m.Blocks = append(m.Blocks, model.Block{Text: text})
		}
		for _, c := range calls {
			m.Blocks = append(m.Blocks, model.Block{Call: &c})
		}
		return &model.Answer{Message: m, Stop: stop, Model: "fake/one", Usage: event.Usage{InputTokens: 10, OutputTokens: 5}}, nil
	}
}

func call(id, name, input string) model.Call {
	return model.Call{ID: id, Tool: name, Input: json.RawMessage(input)}
}

// fakeTool is allowed where readOnly, else a question.
type fakeTool struct {
	name     string
	schema   string
	parallel bool
	effects  func(tool.Call) tool.Effects
	run      func(context.Context, tool.Call) (tool.Result, error)
}

func (f *fakeTool) Spec() tool.Spec {
	s := f.schema
	if s == "" {
		s = `{"type":"object","properties":{"n":{"type":"integer"}}}`
	}
	return tool.Spec{Name: f.name, Description: "d", Schema: json.RawMessage(s), Parallel: f.parallel}
}

func (f *fakeTool) Effects(c tool.Call) tool.Effects {
	if f.effects != nil {
		return f.effects(c)
	}
	return readOnly(c)
}

func (f *fakeTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	if f.run != nil {
		return f.run(ctx, c)
	}
	return tool.Result{Output: f.name + " " + string(c.Input)}, nil
}

func readOnly(tool.Call) tool.Effects {
	return tool.Effects{Needs: []capability.Need{{Family: "filesystem", Posture: capability.ReadOnly}}, ReadOnly: true, Touches: true}
}

func writes(tool.Call) tool.Effects {
	return tool.Effects{Needs: []capability.Need{{Family: "filesystem", Posture: capability.ReadWrite}}, Touches: true}
}

// look is a read-only tool, change one that is a question.
func look() *fakeTool   { return &fakeTool{name: "read"} }
func change() *fakeTool { return &fakeTool{name: "edit", effects: writes} }

// harness runs a loop with a still clock and keeps its events.
type harness struct {
	*Loop
	events []event.Event
}

func newLoop(t *testing.T, m model.Model, tools ...tool.Tool) *harness {
	t.Helper()
	var reg tool.Registry
	if err := reg.Add(tools...); err != nil {
		t.Fatal(err)
	}
	h := &harness{}
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	h.Loop = &Loop{
		Persona: event.PersonaRef{ID: "p", Variant: "default", Digest: "sha256:0"}, System: "sys", Model: m, Tools: &reg,
		Policy:  newPolicy(),
		Session: "s1", Mode: "default", Cwd: "/w", Now: func() time.Time { return at },
		Emit: func(e event.Event) { h.events = append(h.events, e) },
	}
	return h
}

func newPolicy() *permission.Policy {
	return &permission.Policy{Mode: "default", Ceiling: capability.Ceiling{"filesystem": capability.ReadWrite}}
}

func (h *harness) types() string {
	var out []string
	for _, e := range h.events {
		out = append(out, e.Body.Type())
	}
	return strings.Join(out, " ")
}

func bodies[T event.Body](h *harness) []T {
	var out []T
	for _, e := range h.events {
		if b, ok := e.Body.(T); ok {
			out = append(out, b)
		}
	}
	return out
}

func (h *harness) mustRun(t *testing.T) event.Result {
	t.Helper()
	res, err := h.Run(t.Context(), "go")
	if err != nil {
		t.Fatalf("run: %v", err)
	}
	return res
}

// results gives the tool results that a request carries in its last message.
func results(req model.Request) []model.Result {
	var out []model.Result
	for _, b := range req.Messages[len(req.Messages)-1].Blocks {
		if b.Result != nil {
			out = append(out, *b.Result)
		}
	}
	return out
}

func yes(context.Context, event.Question) event.Answer { return event.Answer{Allow: true} }

func TestEndTurn(t *testing.T) {
	t.Parallel()
	m := model1(says("done"))
	h := newLoop(t, m)
	h.Params = []model.Param{{Key: "temperature", Value: json.RawMessage("0")}}
	got := h.mustRun(t)
	want := event.Result{Schema: 1, Result: "done", StopReason: event.StopEndTurn, SessionID: "s1",
		Persona: h.Persona, Model: "fake/one", Turns: 1, Usage: event.Usage{InputTokens: 10, OutputTokens: 5}}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("got-, want+\n%s", d)
	}
	if got, want := h.types(), "init user text_delta assistant usage result"; got != want {
		t.Errorf("events: got %s, want %s", got, want)
	}
	req := m.asked[0]
	if req.Model != "one" || req.System != "sys" || req.Number != 1 || len(req.Params) != 1 {
		t.Errorf("request: got %+v", req)
	}
	for i, e := range h.events {
		if e.Seq != i+1 {
			t.Errorf("event %d: got seq %d", i, e.Seq)
		}
	}
}

func TestOpeningNoticesComeAfterInit(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("done")))
	h.Opening = []string{"one", "two"}
	res := h.mustRun(t)
	if got, want := h.types(), "init notice notice user text_delta assistant usage result"; got != want {
		t.Errorf("events: got %s, want %s", got, want)
	}
	if d := cmp.Diff(res.Notices, h.Opening); d != "" {
		t.Errorf("got-, want+\n%s", d)
	}
}

func TestResultsInCallOrderInOneMessage(t *testing.T) {
	t.Parallel()
	m := model1(
		says("", call("a", "read", `{"n":1}`), call("b", "nosuch", `{}`), call("c", "edit", `{"n":2}`), call("d", "read", `{"n":3}`)),
		says("end"))
	h := newLoop(t, m, look(), change())
	res := h.mustRun(t)
	var got []string
	for _, r := range results(m.asked[1]) {
		got = append(got, fmt.Sprintf("%s %v", r.ID, r.IsError))
	}
	want := []string{"a false", "b true", "c true", "d false"}
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("results: got-, want+\n%s", d)
	}
	if n := len(m.asked[1].Messages); n != 3 {
		t.Errorf("got %d messages, want user, assistant, user", n)
	}
	if len(res.Denials) != 1 || res.Denials[0].Tool != "edit" || !res.Denials[0].Unanswered || res.ExitCode != 0 {
		t.Errorf("denials: got %+v, exit %d", res.Denials, res.ExitCode)
	}
	// refused calls have an end and no start
	var ended []string
	for _, e := range bodies[event.ToolEnd](h) {
		ended = append(ended, e.ID)
	}
	if d := cmp.Diff(ended, []string{"a", "b", "c", "d"}); d != "" {
		t.Errorf("tool_end: got-, want+\n%s", d)
	}
	if n := len(bodies[event.ToolStart](h)); n != 2 {
		t.Errorf("got %d tool_start, want 2", n)
	}
}

func TestDenialTellsTheModelWhy(t *testing.T) {
	t.Parallel()
	m := model1(says("", call("a", "edit", `{}`)), says("ok"))
	h := newLoop(t, m, change())
	h.mustRun(t)
	r := results(m.asked[1])[0]
	for _, want := range []string{"DENIED: ", "Nobody can be asked", "[stage: default"} {
		if !strings.Contains(r.Output, want) {
			t.Errorf("got %q, want it to hold %q", r.Output, want)
		}
	}
	p := bodies[event.Permission](h)
	if len(p) != 1 || p[0].Decision.Verdict != event.Deny || !p[0].Decision.Unanswered || p[0].Answer != nil {
		t.Errorf("permission events: got %+v", p)
	}
	e := bodies[event.ToolEnd](h)[0]
	if e.Decision == nil || e.Decision.Stage != event.StageDefault || e.Decision.Verdict != event.Deny {
		t.Errorf("tool_end: got %+v", e)
	}
}

func TestPersonAnswers(t *testing.T) {
	t.Parallel()
	var asked []event.Question
	answers := []event.Answer{{Allow: true}, {Feedback: "use look"}, {Allow: true, Always: true}}
	m := model1(
		says("", call("a", "edit", `{"n":1}`), call("b", "edit", `{"n":2}`), call("c", "edit", `{"n":3}`), call("d", "edit", `{"n":4}`)),
		says("ok"))
	h := newLoop(t, m, change())
	h.Ask = func(_ context.Context, q event.Question) event.Answer {
		asked = append(asked, q)
		return answers[len(asked)-1]
	}
	var kept []string
	h.Remember = func(rule string) (string, error) { kept = append(kept, rule); return "private.toml", nil }
	policy := h.Policy
	res := h.mustRun(t)
	if len(asked) != 3 {
		t.Fatalf("asked %d times, want 3: the always holds for the fourth call", len(asked))
	}
	if d := cmp.Diff(kept, []string{asked[2].Suggested}); d != "" {
		t.Errorf("remembered: got-, want+\n%s", d)
	}
	rs := results(m.asked[1])
	if rs[0].IsError || !rs[1].IsError || rs[2].IsError || rs[3].IsError {
		t.Errorf("results: got %+v", rs)
	}
	if want := "DENIED: the user said no: use look. [stage: default]"; !strings.HasPrefix(rs[1].Output, want) {
		t.Errorf("got %q, want prefix %q", rs[1].Output, want)
	}
	ends := bodies[event.ToolEnd](h)
	if d := ends[3].Decision; d.Stage != event.StageAllowRule || d.Origin != "private.toml" {
		t.Errorf("fourth decision: got %+v", d)
	}
	if policy.Rules != nil {
		t.Error("the caller's policy was changed")
	}
	if len(res.Denials) != 1 || res.Denials[0].Unanswered {
		t.Errorf("denials: got %+v", res.Denials)
	}
	var shapes []string
	for _, p := range bodies[event.Permission](h) {
		shapes = append(shapes, fmt.Sprintf("%s %s %v", p.ID, p.Decision.Verdict, p.Answer != nil))
	}
	want := []string{"a ask false", "a allow true", "b ask false", "b deny true", "c ask false", "c allow true"}
	if d := cmp.Diff(shapes, want); d != "" {
		t.Errorf("permission events: got-, want+\n%s", d)
	}
}

func TestAlwaysThatCannotBeSavedHoldsForTheRun(t *testing.T) {
	t.Parallel()
	asked := 0
	h := newLoop(t, model1(says("", call("a", "edit", `{}`), call("b", "edit", `{}`)), says("ok")), change())
	h.Ask = func(context.Context, event.Question) event.Answer {
		asked++
		return event.Answer{Allow: true, Always: true}
	}
	h.Remember = func(string) (string, error) { return "", errors.New("disk full") }
	res := h.mustRun(t)
	if asked != 1 || len(res.Notices) != 1 || !strings.Contains(res.Notices[0], "disk full") {
		t.Errorf("asked %d, notices %q", asked, res.Notices)
	}
}

func TestFailOnDenied(t *testing.T) {
	t.Parallel()
	ran := false
	tl := look()
	tl.run = func(context.Context, tool.Call) (tool.Result, error) { ran = true; return tool.Result{}, nil }
	h := newLoop(t, model1(says("try", call("a", "edit", `{}`), call("b", "read", `{}`)), says("never")), change(), tl)
	h.FailOnDenied = true
	res := h.mustRun(t)
	if res.StopReason != event.StopDenied || res.ExitCode != 3 || res.Turns != 1 || res.Result != "try" || !ran {
		t.Errorf("got %+v, other call ran %v", res, ran)
	}
}
