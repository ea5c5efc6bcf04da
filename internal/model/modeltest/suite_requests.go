package modeltest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"larva.dev/larva/internal/model"
)

func requests(t *testing.T, p Protocol) {
	ok := Reply{Body: p.Text("end", "ok")}
	t.Run("path and key", func(t *testing.T) {
		t.Parallel()
		for _, tail := range []string{"", "/"} {
			s := Serve(t, ok)
			must(t, ask(t, p.open(Options{BaseURL: s.URL + p.Base + tail, Key: Key + "\n"}), prompt("hi")))
			if got := s.Path(0); got != p.Path {
				t.Errorf("path %q, want %q", got, p.Path)
			}
			for i, got := range p.Auth(s.Header(0)) {
				if got != Key && got != "Bearer "+Key {
					t.Errorf("key header %d is %q, want the key", i, got)
				}
			}
		}
	})
	t.Run("no key, no header", func(t *testing.T) {
		t.Parallel()
		s := Serve(t, ok)
		must(t, ask(t, p.open(Options{BaseURL: s.URL + p.Base}), prompt("hi")))
		for i, got := range p.Auth(s.Header(0)) {
			if got != "" {
				t.Errorf("key header %d is %q, want none", i, got)
			}
		}
	})
	t.Run("params by literal key", func(t *testing.T) {
		t.Parallel()
		s := Serve(t, ok)
		req := prompt("hi")
		req.Params = []model.Param{
			{Key: "a.b", Value: json.RawMessage(`{"c":1}`)},
			{Key: "temperature", Value: json.RawMessage(`0.70`)},
			{Key: "max_tokens", Value: json.RawMessage(`77`)},
			{Key: "messages.0.role", Value: json.RawMessage(`"system"`)},
		}
		must(t, ask(t, p.at(s), req))
		body := s.Body(t, 0)
		for k, want := range map[string]any{
			"a.b": map[string]any{"c": 1.0}, "temperature": 0.7, "max_tokens": 77.0, "messages.0.role": "system", "stream": true, "model": "m-1",
		} {
			if !reflect.DeepEqual(body[k], want) {
				t.Errorf("%s is %v, want %v", k, body[k], want)
			}
		}
		if _, nested := body["a"]; nested {
			t.Error("a.b was nested, want one literal key")
		}
	})
	t.Run("reserved params", func(t *testing.T) {
		t.Parallel()
		for _, key := range []string{"model", "messages", "system", "tools", "tool_choice", "stream", "stream_options", "input", "instructions"} {
			s := Serve(t, ok)
			req := prompt("hi")
			req.Params = []model.Param{{Key: key, Value: json.RawMessage(`1`)}}
			got := ask(t, p.at(s), req)
			if got.err == nil || got.err.Code != "RESERVED_PARAM" || !strings.Contains(got.err.Message, key) || got.err.Retryable {
				t.Errorf("%s: error %+v, want RESERVED_PARAM", key, got.err)
			}
			if s.Count() != 0 {
				t.Errorf("%s: %d requests were sent, want 0", key, s.Count())
			}
		}
	})
	t.Run("the provider's own blocks go back to it alone", func(t *testing.T) {
		t.Parallel()
		// Calls come with the thought, since some protocols replay it only there.
		first := must(t, ask(t, p.at(Serve(t, Reply{Body: p.Think("my-thought", "said")})), prompt("hi")))
		m := first.answer.Message
		m.Blocks = append(m.Blocks, model.Block{Call: &model.Call{ID: "c1", Tool: "read", Input: json.RawMessage(`{"path":"x"}`)}})
		req := prompt("hi")
		req.Messages = append(req.Messages, m, model.Message{Role: model.User, Blocks: []model.Block{{Result: &model.Result{ID: "c1", Tool: "read", Output: "text of x"}}}})
		for to, want := range map[Options]bool{{}: true, {Provider: "other"}: false, {Model: "m-2"}: false} {
			s := Serve(t, ok)
			req.Model = to.Model // "": the adapter's own
			must(t, ask(t, p.open(Options{BaseURL: s.URL + p.Base, Provider: to.Provider, Model: to.Model}), req))
			text, _ := json.Marshal(s.Body(t, 0))
			if got := strings.Contains(string(text), "my-thought"); got != want {
				t.Errorf("%+v sees the thought: %v, want %v\n%s", to, got, want, text)
			}
			for _, part := range []string{"said", "text of x", "You are Rex."} {
				if !strings.Contains(string(text), part) {
					t.Errorf("%+v does not see %q:\n%s", to, part, text)
				}
			}
		}
	})
	t.Run("a transcript that a crash left", func(t *testing.T) {
		t.Parallel()
		s := Serve(t, ok)
		req := prompt("hi")
		req.Messages = append(req.Messages,
			model.Message{Role: model.Assistant, Blocks: []model.Block{
				{Call: &model.Call{ID: "c1", Tool: "read", Broken: `{"pa`}},
				{Call: &model.Call{ID: "c2", Tool: "", Input: json.RawMessage(`{}`)}},
			}},
			model.Message{Role: model.User, Blocks: []model.Block{{Text: "go on"}}},
		)
		must(t, ask(t, p.at(s), req))
		text, _ := json.Marshal(s.Body(t, 0))
		if got := strings.Count(string(text), model.Unanswered); got != 2 {
			t.Errorf("%d results were added, want 2:\n%s", got, text)
		}
		if strings.Contains(string(text), `{\"pa`) || strings.Contains(string(text), `"name":""`) {
			t.Errorf("broken arguments or an empty name went out:\n%s", text)
		}
	})
}
