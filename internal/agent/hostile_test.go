package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
)

func TestFiveHundredCallsAtOnce(t *testing.T) {
	t.Parallel()
	var calls []model.Call
	var want []string
	for i := range 500 {
		id := fmt.Sprint("c", i%400) // a hundred ids stand twice
		switch i % 5 {
		case 0:
			calls = append(calls, call(id, "nosuch", `{}`))
		case 1:
			calls = append(calls, model.Call{ID: id, Tool: "read", Broken: `{"n":`})
		case 2:
			calls = append(calls, call(id, "edit", `{}`))
		default:
			calls = append(calls, call(id, "read", fmt.Sprintf(`{"n":%d}`, i)))
		}
		want = append(want, fmt.Sprint(i%5 < 3))
	}
	par := look()
	par.parallel = true
	m := model1(says("", calls...), says("end"))
	h := newLoop(t, m, par, change())
	res := h.mustRun(t)
	got := results(m.asked[1])
	if len(got) != 500 || len(m.asked[1].Messages) != 3 || len(res.Denials) != 100 {
		t.Fatalf("got %d results in %d messages, %d denials", len(got), len(m.asked[1].Messages), len(res.Denials))
	}
	ids := map[string]bool{}
	asked := callsOf(m.asked[1].Messages[1])
	for i, r := range got {
		if fmt.Sprint(r.IsError) != want[i] || r.ID != asked[i].ID || ids[r.ID] {
			t.Fatalf("result %d: got %+v for %s, want error %s", i, r, asked[i].ID, want[i])
		}
		ids[r.ID] = true
	}
	if n := len(bodies[event.ToolEnd](h)); n != 500 {
		t.Errorf("got %d ends", n)
	}
}

func TestFiveHundredCallsAsText(t *testing.T) {
	t.Parallel()
	text := strings.Repeat(`<tool_call>{"name":"read","arguments":{"n":1}}</tool_call>`, 500)
	h := newLoop(t, model1(streams(text, nil), says("end")), look())
	h.mustRun(t)
	if n := len(bodies[event.ToolEnd](h)); n != 500 || streamedText(h) != "end" {
		t.Errorf("got %d ends, streamed %q", n, streamedText(h))
	}
}

// What a service does to the loop: whatever it is, the run ends with exit 7,
// an error, and what was streamed.
func TestServiceFaults(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		said string
		err  error
		keep string
	}{
		"stalls":               {"half an ", &model.Error{Model: "fake/one", Message: "nothing came for 5m0s", Retryable: true, Partial: "half an "}, "half an \n\n[the answer was cut off]"},
		"truncates":            {"half", &model.Error{Model: "fake/one", Message: "the answer was cut off before its end", Retryable: true}, "half\n\n[the answer was cut off]"},
		"answers HTML":         {"", &model.Error{Model: "fake/one", Status: 200, Message: "the service answers text/html"}, ""},
		"says nothing":         {"", &model.Error{Model: "fake/one", Status: 503, Message: "busy", Retryable: true}, ""},
		"a cut text call":      {`Hi <tool_call>{"name":"read"`, &model.Error{Model: "fake/one", Message: "gone"}, "Hi <tool_call>{\"name\":\"read\"\n\n[the answer was cut off]"},
		"partial not streamed": {"", &model.Error{Model: "fake/one", Message: "gone", Partial: "kept"}, "kept\n\n[the answer was cut off]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newLoop(t, model1(says("", call("a", "read", `{}`)), streams(tt.said, tt.err)), look())
			res, err := h.Run(t.Context(), "go")
			if e := diag.As(err); e == nil || e.Code != diag.ModelFailed || e.ExitCode() != 7 || e.Details["session_id"] != "s1" {
				t.Fatalf("got %v", err)
			}
			if res.ExitCode != 7 || res.Result != tt.keep || res.Turns != 2 {
				t.Errorf("got %q, exit %d, %d turns; want %q", res.Result, res.ExitCode, res.Turns, tt.keep)
			}
			if last := h.events[len(h.events)-1].Body.Type(); last != "error" {
				t.Errorf("last event: got %s", last)
			}
		})
	}
}

// A service that repeats itself is met by the guard, one that gives nothing
// back by a notice.
func TestServiceThatRepeats(t *testing.T) {
	t.Parallel()
	h := newLoop(t, model1(says("again", call("same", "read", `{}`))), look())
	if res := h.mustRun(t); res.StopReason != event.StopLoop || res.ExitCode != 6 {
		t.Errorf("got %s", res.StopReason)
	}
	ids := map[string]bool{}
	for _, e := range bodies[event.ToolEnd](h) {
		if ids[e.ID] {
			t.Errorf("the id %s stands twice in the stream", e.ID)
		}
		ids[e.ID] = true
	}
}

// Whatever a model answers, each call has one result, in order, and the run
// ends.
func FuzzAnswers(f *testing.F) {
	f.Add("a", "read", `{"n":1}`, "text", 2)
	f.Add("", "nosuch", `{`, "<tool_call>", 3)
	f.Fuzz(func(t *testing.T, id, name, input, text string, n int) {
		var calls []model.Call
		for range max(0, n) % 5 {
			c := model.Call{ID: id, Tool: name}
			if c.Input, c.Broken = model.Input(input); c.Input == nil {
				c.Input = nil
			}
			calls = append(calls, c)
		}
		var asked []model.Request
		m := turnModel(func(ctx context.Context, r model.Request, on func(model.Delta)) (*model.Answer, error) {
			asked = append(asked, r)
			return says(text, calls...)(ctx, r, on)
		})
		h := newLoop(t, m, look(), change())
		h.MaxTurns = 3
		if _, err := h.Run(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		for _, r := range asked[1:] {
			at := len(r.Messages) - 1
			want := callsOf(r.Messages[at-1])
			got := results(r)
			if len(got) != len(want) {
				t.Fatalf("got %d results, want %d", len(got), len(want))
			}
			for i := range got {
				if got[i].ID != want[i].ID || got[i].ID == "" {
					t.Errorf("result %d: got id %q, want %q", i, got[i].ID, want[i].ID)
				}
			}
		}
		for _, e := range h.events {
			line, err := e.AppendLine(nil)
			if err != nil || !json.Valid(line) {
				t.Fatalf("%s: %v", line, err)
			}
		}
	})
}

type turnModel turnFunc

func (turnModel) Name() string { return "fake/one" }
func (f turnModel) Ask(ctx context.Context, r model.Request, on func(model.Delta)) (*model.Answer, error) {
	return f(ctx, r, on)
}
