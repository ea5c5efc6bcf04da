package agent

import (
	"context"
	"strings"
	"testing"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// Hooks, mentions and the judge of mode auto have what was typed; the model has
// what it stands for.
func TestExpand(t *testing.T) {
	t.Parallel()
	m := model1(says("ok"))
	h := newLoop(t, m, look())
	var log []string
	h.Points.Prompt = []func(context.Context, string) Said{func(_ context.Context, p string) Said { log = append(log, "hook "+p); return Said{Context: "C"} }}
	h.Attach = func(_ context.Context, typed string) (string, []tool.Image) {
		log = append(log, "attach "+typed)
		return "attached", nil
	}
	h.Expand = func(_ context.Context, typed string) (string, error) {
		log = append(log, "expand "+typed)
		return "the text", nil
	}
	h.mustRun(t)
	if got, want := strings.Join(log, ", "), "hook go, attach go, expand go"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := lastText(m.asked[0]); !strings.HasPrefix(got, "the text\n\nattached\n\n") || !strings.Contains(got, "\nC\n") {
		t.Errorf("got %q, want the text, what was mentioned, what the hook adds", got)
	}
	if got := h.prompts; len(got) != 1 || got[0] != "go" {
		t.Errorf("the judge has %q, want what was typed", got)
	}
}

func TestExpandFails(t *testing.T) {
	t.Parallel()
	m := model1(says("ok"))
	h := newLoop(t, m, look())
	h.Expand = func(context.Context, string) (string, error) {
		return "", diag.New(diag.InvalidInput, "the prompt cannot be had")
	}
	_, err := h.Run(t.Context(), "/x")
	if err == nil || !strings.Contains(err.Error(), "the prompt cannot be had") {
		t.Errorf("got %v, want the reason", err)
	}
	if len(m.asked) != 0 || len(bodies[event.User](h)) != 0 {
		t.Errorf("got %d requests and %d prompts, want none", len(m.asked), len(bodies[event.User](h)))
	}
	if got, want := h.types(), "init error"; got != want {
		t.Errorf("got events %s, want %s", got, want)
	}
}

// What a file wants is never put to anybody: no person, no model, no hook that
// answers for one.
func TestUnaskedAsksNobody(t *testing.T) {
	t.Parallel()
	for _, hooked := range []bool{false, true} {
		h := newLoop(t, model1(says("ok")), look(), change())
		h.Mode, h.Policy.Mode = "auto", "auto"
		asked := 0
		h.Ask = func(context.Context, event.Question) event.Answer { asked++; return event.Answer{Allow: true} }
		h.Auto = func(context.Context, tool.Call, event.Decision, []string) (bool, string) {
			asked++
			return true, "fine"
		}
		h.Points.PermissionAsked = []func(context.Context, tool.Call, event.Question) *Reply{
			func(context.Context, tool.Call, event.Question) *Reply { asked++; return &Reply{Allow: true} }}
		name := "edit"
		if hooked {
			name = "read"
			h.Points.BeforeTool = []func(context.Context, tool.Call) Before{
				func(context.Context, tool.Call) Before {
					return Before{Says: permission.HookSays{Verdict: event.Ask, Name: "h"}}
				}}
		}
		r := h.Call(Unasked(t.Context()), tool.Call{ID: "c", Tool: name, Input: []byte(`{}`)})
		if !r.IsError || asked != 0 {
			t.Errorf("hooked %t: got %q after %d questions, want a refusal after none", hooked, r.Output, asked)
		}
	}
	h := newLoop(t, model1(says("ok")), look())
	if r := h.Call(Unasked(t.Context()), tool.Call{ID: "c", Tool: "read", Input: []byte(`{}`)}); r.IsError {
		t.Errorf("got %q, want a call that needs no question to run", r.Output)
	}
}

func TestSummaryCarries(t *testing.T) {
	t.Parallel()
	m := model1(used(9000, says("", call("a", "read", `{}`))), says("<summary>S</summary>"), says("end"))
	h := newLoop(t, m, look())
	h.ContextWindow = 10_000
	h.Expand = func(context.Context, string) (string, error) { return "the whole text", nil }
	h.Compaction.Carry = func() string { return "Skills that were loaded: x." }
	h.mustRun(t)
	got := lastText(m.asked[2])
	for _, want := range []string{"\n\nSkills that were loaded: x.\n\n", "the whole text"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}
