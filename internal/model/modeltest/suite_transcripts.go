package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/tool"
)

func says(r model.Role, blocks ...model.Block) model.Message {
	return model.Message{Role: r, Blocks: blocks}
}

func called(id, input string) model.Block {
	return model.Block{Call: &model.Call{ID: id, Tool: "read", Input: json.RawMessage(input)}}
}

func answered(id, output string, images ...tool.Image) model.Block {
	return model.Block{Result: &model.Result{ID: id, Tool: "read", Output: output, Images: images}}
}

// conversation is one as a loop makes it: thoughts, calls side by side, broken
// ones, pictures, words of a hook beside results. Cut behind any user message
// it is a request.
func conversation(thought model.Message) []model.Message {
	png := tool.Image{MediaType: "image/png", Data: []byte("a picture")}
	thought.Blocks = append(thought.Blocks[:len(thought.Blocks):len(thought.Blocks)], called("c1", `{"path":"a"}`), called("c2", `{"path":"b"}`))
	return []model.Message{
		says(model.User, model.Block{Text: "look <here> & there"}, model.Block{Image: &png}),
		thought,
		says(model.User, answered("c1", "one"), answered("c2", "", png), model.Block{Text: "<hook-feedback>more</hook-feedback>"}),
		says(model.Assistant, model.Block{Text: "so "}, called("c3", `{"path":"c"}`), model.Block{Call: &model.Call{ID: "c4", Tool: "read", Broken: `{"pa`}}),
		says(model.User, answered("c3", "three"), model.Block{Result: &model.Result{ID: "c4", Tool: "read", Output: "no JSON", IsError: true}}),
		says(model.Assistant, model.Block{Text: "done \n"}),
		says(model.User, model.Block{Text: "thanks"}),
	}
}

func transcripts(t *testing.T, p Protocol) {
	ok := Reply{Body: p.Text("end", "ok")}
	field := p.Transcript
	if field == "" {
		field = "messages"
	}
	// What caches live from: a request repeats every byte of the one before, but
	// for the marks that say where to cache.
	t.Run("a transcript only grows", func(t *testing.T) {
		t.Parallel()
		thought := must(t, ask(t, p.at(Serve(t, Reply{Body: p.Think("my-thought", "said")})), prompt("hi"))).answer.Message
		s := Serve(t, ok)
		m := p.at(s)
		var before []json.RawMessage
		var still map[string]json.RawMessage
		all := conversation(thought)
		for n, end := 0, 1; end <= len(all); n, end = n+1, end+2 {
			req := prompt("")
			req.CacheKey, req.Number, req.Messages = "session-1", n+1, all[:end]
			must(t, ask(t, m, req))
			body := unmarked(t, s.Bytes(t, n))
			var list []json.RawMessage
			if err := json.Unmarshal(body[field], &list); err != nil {
				t.Fatal(err)
			}
			if len(list) <= len(before) {
				t.Fatalf("request %d holds %d messages, the one before %d", n+1, len(list), len(before))
			}
			for i := range before {
				if !bytes.Equal(before[i], list[i]) {
					t.Errorf("request %d changes message %d\nwas %s\nis  %s", n+1, i, before[i], list[i])
				}
			}
			delete(body, field)
			for k, v := range still {
				if !bytes.Equal(v, body[k]) {
					t.Errorf("request %d changes %s\nwas %s\nis  %s", n+1, k, v, body[k])
				}
			}
			before, still = list, body
		}
	})
	t.Run("pictures", func(t *testing.T) {
		t.Parallel()
		s := Serve(t, ok)
		req := prompt("")
		req.Messages = []model.Message{
			says(model.User, model.Block{Text: "see"}, model.Block{Image: &tool.Image{MediaType: "image/png", Data: []byte("first picture")}}),
			says(model.Assistant, called("c1", `{}`)),
			says(model.User, answered("c1", "the result", tool.Image{MediaType: "image/jpeg", Data: []byte("second picture")}), model.Block{Text: "and?"}),
		}
		must(t, ask(t, p.at(s), req))
		var body map[string]json.RawMessage
		if err := json.Unmarshal(s.Bytes(t, 0), &body); err != nil {
			t.Fatal(err)
		}
		text, at := string(body[field]), 0
		for _, part := range []string{"see", base64.StdEncoding.EncodeToString([]byte("first picture")), "the result", base64.StdEncoding.EncodeToString([]byte("second picture")), "and?"} {
			i := strings.Index(text[at:], part)
			if i < 0 {
				t.Fatalf("%q is not in its place:\n%s", part, text)
			}
			at += i
		}
		for _, kind := range []string{"image/png", "image/jpeg"} {
			if !strings.Contains(text, kind) {
				t.Errorf("%s is not said:\n%s", kind, text)
			}
		}
	})
}

// unmarked is a body without its cache marks.
func unmarked(t *testing.T, data []byte) map[string]json.RawMessage {
	t.Helper()
	data = bytes.ReplaceAll(data, []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
	var out map[string]json.RawMessage
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func options(t *testing.T, p Protocol) {
	ok := Reply{Body: p.Text("end", "ok")}
	full := func() model.Request {
		req := prompt("hi")
		req.CacheKey, req.MaxTokens = "session-1", 4321
		return req
	}
	t.Run("a limit of the answer", func(t *testing.T) {
		t.Parallel()
		s := Serve(t, ok)
		must(t, ask(t, p.at(s), full()))
		if !bytes.Contains(s.Bytes(t, 0), []byte(`4321`)) {
			t.Errorf("4321 is not in the request:\n%s", s.Bytes(t, 0))
		}
	})
	for _, field := range p.Optional {
		t.Run("without "+field, func(t *testing.T) {
			t.Parallel()
			no := Reply{Status: 400, Body: `{"error":{"message":"Unrecognized request argument supplied: ` + field + `","type":"invalid_request_error"}}`}
			s := Serve(t, no, ok, ok)
			m := p.open(Options{BaseURL: s.URL + p.Base, Effort: "medium"})
			for range 2 {
				must(t, ask(t, m, full()))
			}
			for n, want := range []bool{true, false, false} {
				if _, got := s.Body(t, n)[field]; got != want {
					t.Errorf("request %d holds %s: %v, want %v", n+1, field, got, want)
				}
			}
			if s.Count() != 3 {
				t.Errorf("%d requests, want 3: refused, again without it, and the next one", s.Count())
			}
		})
	}
	t.Run("a refusal of something else", func(t *testing.T) {
		t.Parallel()
		s := Serve(t, Reply{Status: 400, Body: `{"error":{"message":"tools.0: bad"}}`})
		if got := ask(t, p.open(Options{BaseURL: s.URL + p.Base, Effort: "medium"}), full()); got.err == nil || s.Count() != 1 {
			t.Errorf("error %v after %d requests, want the refusal after one", got.err, s.Count())
		}
	})
}
