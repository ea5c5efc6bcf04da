package modeltest

import (
	"encoding/json"
	"strings"
	"testing"

	"larva.dev/larva/internal/model"
)

// persona is found in the request's system part by the server's own reading.
const persona = "You are Rex, who counts files."

const fixtures = `{"fixtures": [
	{"match": {"systemMessage": "` + persona + `", "userMessage": "count", "hasToolResult": false},
	 "response": {"reasoning": "I should look.", "content": "I will look.",
	              "toolCalls": [{"id": "toolu_1", "name": "read", "arguments": {"path": "a.txt"}},
	                            {"id": "toolu_2", "name": "read", "arguments": {"path": "b \"c\".txt"}}]}},
	{"match": {"systemMessage": "` + persona + `", "toolCallId": "toolu_2", "toolResultContains": "second"},
	 "response": {"content": "There are 2 files."}}
]}`

// RunPeer is the independent server's part of the suite: the tool loop, and
// what a server does that is not well.
func RunPeer(t *testing.T, p Protocol) {
	t.Run("tool loop", func(t *testing.T) { t.Parallel(); RunToolLoop(t, p) })
	for _, c := range []struct {
		name, flag string
		status     int
		retryable  bool
	}{
		{"rate limit", "--chaos-ratelimit", 429, true},
		{"disconnect", "--chaos-disconnect", 0, true},
		{"drop", "--chaos-drop", 500, true},
		{"malformed", "--chaos-malformed", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := StartAimock(t, fixtures, c.flag, "1")
			req := prompt("count the files")
			req.System = persona
			got := ask(t, p.open(Options{BaseURL: base + p.Base, Key: Key}), req)
			if got.err == nil || got.err.Status != c.status || got.err.Retryable != c.retryable {
				t.Fatalf("error %+v, want status %d and retryable %v", got.err, c.status, c.retryable)
			}
			keyless(t, got.err)
		})
	}
}

// RunToolLoop is a question, two calls and the answer to their results against
// the independent server in strict mode: the persona has to be in the system
// part, the results have to fit the calls.
func RunToolLoop(t *testing.T, p Protocol) {
	base := StartAimock(t, fixtures, "-c", "3")
	m := p.open(Options{BaseURL: base + p.Base, Key: Key})
	req := prompt("count the files")
	req.System = persona + "\n\nSay little."

	first := must(t, ask(t, m, req))
	if first.text != "I will look." || first.thought != "I should look." || first.answer.Stop != model.ToolUse {
		t.Fatalf("text %q, thought %q, stop %q; want the first fixture's", first.text, first.thought, first.answer.Stop)
	}
	var results []model.Block
	var inputs []string
	for _, b := range first.answer.Message.Blocks {
		if b.Call != nil {
			out := []string{"first", "second"}[len(results)%2]
			results = append(results, model.Block{Result: &model.Result{ID: b.Call.ID, Tool: b.Call.Tool, Output: out}})
			inputs = append(inputs, string(b.Call.Input))
		}
	}
	if got, want := strings.Join(inputs, " "), `{"path":"a.txt"} {"path":"b \"c\".txt"}`; got != want {
		t.Fatalf("inputs %s, want %s", got, want)
	}
	req.Messages = append(req.Messages, first.answer.Message, model.Message{Role: model.User, Blocks: results})
	req.Number = 2
	second := must(t, ask(t, m, req))
	if second.text != "There are 2 files." || second.answer.Stop != model.EndTurn {
		t.Errorf("text %q, stop %q; want the second fixture's", second.text, second.answer.Stop)
	}
	for i, a := range Journal(t, base) {
		if a.Answer.Status != 200 || a.Path != p.Path {
			t.Errorf("request %d: %s answered %d, want %s and 200", i, a.Path, a.Answer.Status, p.Path)
		}
		if !json.Valid(a.Body) || !strings.Contains(string(a.Body), "Say little.") {
			t.Errorf("request %d: body %.200s, want the persona in it", i, a.Body)
		}
	}

	req.System = "You are somebody else."
	if got := ask(t, m, req); got.err == nil || got.err.Status != 503 || !strings.Contains(got.err.Message, "no fixture matched") {
		t.Errorf("another persona: error %+v, want the strict server's 503", got.err)
	}
}
