package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/tool"
)

func prompt(text string) model.Request {
	return model.Request{
		Model: "m-1", System: "You are Rex.", Number: 1,
		Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Text: text}}}},
		Tools:    []tool.Spec{{Name: "read", Description: "reads", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
	}
}

// asked is the outcome of one question.
type asked struct {
	answer  *model.Answer
	err     *model.Error
	text    string // of all deltas
	thought string
	pieces  int
}

func ask(t testing.TB, m model.Model, req model.Request) asked {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return askIn(t, ctx, m, req, nil)
}

func askIn(t testing.TB, ctx context.Context, m model.Model, req model.Request, also func()) asked {
	t.Helper()
	var out asked
	a, err := m.Ask(ctx, req, func(d model.Delta) {
		out.pieces++
		if d.Thinking {
			out.thought += d.Text
		} else {
			out.text += d.Text
		}
		if also != nil {
			also()
		}
	})
	out.answer = a
	if err != nil {
		if !errors.As(err, &out.err) {
			t.Fatalf("the error is a %T, want *model.Error: %v", err, err)
		}
		if a != nil {
			t.Errorf("an answer beside the error %v", err)
		}
	}
	return out
}

func (p Protocol) at(s *Server) model.Model {
	return p.open(Options{BaseURL: s.URL + p.Base, Key: Key})
}

func must(t testing.TB, a asked) asked {
	t.Helper()
	if a.err != nil {
		t.Fatalf("error %v, want an answer", a.err)
	}
	return a
}

func answers(t *testing.T, p Protocol) {
	args := `{"path":"a \"b\".go","n":1.0}`
	for _, c := range []struct {
		name   string
		stream string
		text   string
		calls  []model.Call
		stop   model.Stop
	}{
		{"text", p.Text("end", "Hel", "lo,\n", "wörld 🦋"), "Hello,\nwörld 🦋", nil, model.EndTurn},
		{"empty answer", p.Text("end"), "", nil, model.EndTurn},
		{"cut by its length", p.Text("length", "half a sen"), "half a sen", nil, model.MaxTokens},
		{"refusal", p.Text("refusal", "I will not."), "I will not.", nil, model.Refusal},
		{"one call", p.Calls("end", Call{"c1", "read", args}), "", []model.Call{{ID: "c1", Tool: "read", Input: json.RawMessage(args)}}, model.ToolUse},
		{"parallel calls", p.Calls("end", Call{"c1", "read", args}, Call{"c2", "grep", `{"pattern":"x"}`}, Call{"c3", "read", `{}`}), "",
			[]model.Call{{ID: "c1", Tool: "read", Input: json.RawMessage(args)}, {ID: "c2", Tool: "grep", Input: json.RawMessage(`{"pattern":"x"}`)}, {ID: "c3", Tool: "read", Input: json.RawMessage(`{}`)}}, model.ToolUse},
		{"call without arguments", p.Calls("end", Call{"c1", "read", ""}), "", []model.Call{{ID: "c1", Tool: "read", Input: json.RawMessage(`{}`)}}, model.ToolUse},
		{"malformed arguments", p.Calls("end", Call{"c1", "read", `{"path": "a`}), "", []model.Call{{ID: "c1", Tool: "read", Broken: `{"path": "a`}}, model.ToolUse},
		{"arguments cut by the length", p.Calls("length", Call{"c1", "read", `{"path": "a`}), "", []model.Call{{ID: "c1", Tool: "read", Broken: `{"path": "a`}}, model.MaxTokens},
		{"arguments that are no object", p.Calls("end", Call{"c1", "read", `["a"]`}), "", []model.Call{{ID: "c1", Tool: "read", Broken: `["a"]`}}, model.ToolUse},
		{"a line of 2 MiB", p.Text("end", strings.Repeat("x", 2<<20)), strings.Repeat("x", 2<<20), nil, model.EndTurn},
		{"bytes that are not UTF-8", p.Text("end", "a\xffb"), "a\uFFFDb", nil, model.EndTurn},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := must(t, ask(t, p.at(Serve(t, Reply{Body: c.stream})), prompt("hi")))
			var text string
			var calls []model.Call
			for _, b := range got.answer.Message.Blocks {
				text += b.Text
				if b.Call != nil {
					calls = append(calls, *b.Call)
				}
			}
			if text != c.text || got.text != c.text {
				t.Errorf("text %.80q, streamed %.80q, want %.80q", text, got.text, c.text)
			}
			if d := cmp.Diff(calls, c.calls); d != "" {
				t.Errorf("calls (got -, want +):\n%s", d)
			}
			if got.answer.Stop != c.stop {
				t.Errorf("stop %q, want %q", got.answer.Stop, c.stop)
			}
			if got.answer.Message.Role != model.Assistant || got.answer.Model != "m-1" {
				t.Errorf("role %q model %q, want assistant m-1", got.answer.Message.Role, got.answer.Model)
			}
		})
	}
	t.Run("usage", func(t *testing.T) {
		t.Parallel()
		got := must(t, ask(t, p.at(Serve(t, Reply{Body: p.Text("end", "x")})), prompt("hi")))
		want := event.Usage{InputTokens: p.Input, OutputTokens: p.Output, CacheReadTokens: p.CacheRead}
		if got.answer.Usage != want {
			t.Errorf("usage %+v, want %+v", got.answer.Usage, want)
		}
	})
	t.Run("nobody listens", func(t *testing.T) {
		t.Parallel()
		a, err := p.at(Serve(t, Reply{Body: p.Think("hm", "yes")})).Ask(context.Background(), prompt("hi"), nil)
		if err != nil || len(a.Message.Blocks) != 2 {
			t.Errorf("answer %+v, error %v, want two blocks", a, err)
		}
	})
	t.Run("thinking is shown and kept", func(t *testing.T) {
		t.Parallel()
		got := must(t, ask(t, p.at(Serve(t, Reply{Body: p.Think("let me see", "yes")})), prompt("hi")))
		b := got.answer.Message.Blocks
		if got.thought != "let me see" || got.text != "yes" || len(b) != 2 || b[0].Raw == nil || b[1].Text != "yes" {
			t.Fatalf("thought %q, text %q, blocks %+v; want the thought, the text, and both as blocks", got.thought, got.text, b)
		}
		if b[0].Raw.Provider != "peer" || !strings.Contains(string(b[0].Raw.JSON), "let me see") {
			t.Errorf("raw %s of %q, want the thought, of peer", b[0].Raw.JSON, b[0].Raw.Provider)
		}
	})
}
