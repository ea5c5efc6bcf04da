package anthropic

import (
	"encoding/json"
	"strings"
	"testing"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/modeltest"
	"larva.dev/larva/internal/model/wire"
)

func TestGeneration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		major, minor int
	}{
		{"claude-opus-4-5-20251101", 4, 5}, {"claude-opus-4-5", 4, 5}, {"claude-sonnet-4-20250514", 4, 0}, {"claude-3-7-sonnet-20250219", 3, 7},
		{"claude-opus-5", 5, 0}, {"claude-fable-5-1", 5, 1}, {"us.anthropic.claude-haiku-4-5-20251001-v1:0", 4, 5}, {"anthropic/claude-opus-4.8", 4, 8},
		{"claude-sonnet-4-5@20250929", 4, 5}, {"claude-instant", 0, 0}, {"glm-5", 0, 0}, {"", 0, 0},
	} {
		if major, minor := generation(c.name); major != c.major || minor != c.minor {
			t.Errorf("%s: got %d.%d, want %d.%d", c.name, major, minor, c.major, c.minor)
		}
	}
}

func TestEffort(t *testing.T) {
	t.Parallel()
	param := func(k, v string) []model.Param { return []model.Param{{Key: k, Value: json.RawMessage(v)}} }
	thought := model.Block{Raw: &model.Raw{Provider: "peer", Model: "claude-opus-4-5", JSON: json.RawMessage(`{"type":"thinking","thinking":"x","signature":"s"}`)}}
	call := model.Block{Call: &model.Call{ID: "1", Tool: "a", Input: json.RawMessage(`{}`)}}
	answered := model.Message{Role: model.User, Blocks: []model.Block{{Result: &model.Result{ID: "1", Output: "x"}}}}
	hi := model.Message{Role: model.User, Blocks: []model.Block{{Text: "hi"}}}
	chain := func(first ...model.Block) []model.Message {
		return []model.Message{hi, {Role: model.Assistant, Blocks: first}, answered, {Role: model.Assistant, Blocks: []model.Block{call}}, answered}
	}
	for _, c := range []struct {
		name, model, effort string
		params              []model.Param
		messages            []model.Message
		want                string // thinking, output_config, max_tokens
	}{
		{"no effort, an old model", "claude-opus-4-5", "", nil, nil, `- - 16384`},
		{"a budget", "claude-opus-4-5", "medium", nil, nil, `{"budget_tokens":10240,"type":"enabled"} - 26624`},
		{"the largest budget", "claude-sonnet-4-5", "max", nil, nil, `{"budget_tokens":40960,"type":"enabled"} - 57344`},
		{"a model that says less", "claude-opus-4-1", "max", nil, nil, `{"budget_tokens":20480,"type":"enabled"} - 36864`},
		{"another service's model", "glm-5", "low", nil, nil, `{"budget_tokens":4096,"type":"enabled"} - 12288`},
		{"temperature rules it out", "claude-opus-4-5", "high", param("temperature", "0.2"), nil, `- - 16384`},
		{"temperature 1 does not", "claude-opus-4-5", "low", param("temperature", "1.0"), nil, `{"budget_tokens":4096,"type":"enabled"} - 20480`},
		{"half of a short answer", "claude-opus-4-5", "high", param("max_tokens", "4000"), nil, `{"budget_tokens":2000,"type":"enabled"} - 4000`},
		{"no room to think", "claude-opus-4-5", "high", param("max_tokens", "1000"), nil, `- - 1000`},
		{"the persona's own budget", "claude-opus-4-5", "high", param("thinking", `{"type":"enabled","budget_tokens":2000}`), nil, `{"type":"enabled","budget_tokens":2000} - 18384`},
		{"a chain that began with a thought", "claude-opus-4-5", "low", nil, chain(thought, call), `{"budget_tokens":4096,"type":"enabled"} - 20480`},
		{"a chain that another model began", "claude-opus-4-5", "low", nil, chain(call), `- - 16384`},
		{"the chain is over", "claude-opus-4-5", "low", nil, append(chain(call), model.Message{Role: model.Assistant, Blocks: []model.Block{{Text: "done"}}}, hi), `{"budget_tokens":4096,"type":"enabled"} - 20480`},
		{"4.6 without an effort", "claude-opus-4-6", "", nil, nil, `- - 16384`},
		{"4.6", "claude-sonnet-4-6", "high", nil, nil, `{"type":"adaptive"} {"effort":"high"} 32768`},
		{"4.8", "claude-opus-4-8", "xhigh", nil, nil, `{"display":"summarized","type":"adaptive"} {"effort":"xhigh"} 32768`},
		{"the scale begins at low", "claude-opus-5-5", "minimal", nil, nil, `{"display":"summarized","type":"adaptive"} {"effort":"low"} 32768`},
		{"5 thinks anyway, readably", "claude-haiku-5-5", "", nil, nil, `{"display":"summarized","type":"adaptive"} - 32768`},
		{"the persona's own way", "claude-opus-5", "high", param("thinking", `{"type":"disabled"}`), nil, `{"type":"disabled"} - 16384`},
		{"in a chain of another model", "claude-opus-5-5", "high", nil, chain(call), `{"display":"summarized","type":"adaptive"} {"effort":"high"} 32768`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.messages == nil {
				c.messages = []model.Message{hi}
			}
			e, err := encode(Options{Name: "peer", Model: c.model, Effort: c.effort}, &wire.Extras{}, model.Request{Model: c.model, Params: c.params, Messages: c.messages}, 0)
			if err != nil {
				t.Fatal(err)
			}
			var body map[string]json.RawMessage
			if err := json.Unmarshal(e.body, &body); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range []string{"thinking", "output_config", "max_tokens"} {
				v := string(body[k])
				if v == "" {
					v = "-"
				}
				got = append(got, v)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("got  %s\nwant %s", s, c.want)
			}
		})
	}
}

// Thoughts are bound to the conversation: where the service refuses those of
// a shortened one, the question is asked without them, and the next ones too.
func TestThoughtsThatAreRefused(t *testing.T) {
	t.Parallel()
	ok := modeltest.Reply{Body: all([]string{begin}, said(0, "ok"), end("end"))}
	no := modeltest.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid ` + "`signature` in `thinking`" + ` block"}}`}
	s := modeltest.Serve(t, no, ok, ok, ok)
	var told []string
	m := New(Options{Name: "peer", Model: "m-1", BaseURL: s.URL, Told: func(text string) { told = append(told, text) }})
	thought := func(sig string) model.Block {
		return model.Block{Raw: &model.Raw{Provider: "peer", Model: "m-1", JSON: json.RawMessage(`{"type":"thinking","thinking":"","signature":"` + sig + `"}`)}}
	}
	text := func(r model.Role, s string, before ...model.Block) model.Message {
		return model.Message{Role: r, Blocks: append(before, model.Block{Text: s})}
	}
	messages := []model.Message{text(model.User, "a"), text(model.Assistant, "b", thought("old")), text(model.User, "c")}
	ask := func() {
		t.Helper()
		if _, err := m.Ask(t.Context(), model.Request{Messages: messages}, nil); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	messages = append(messages, text(model.Assistant, "d", thought("new")), text(model.User, "e"))
	ask()
	messages = []model.Message{text(model.User, "fewer"), text(model.Assistant, "b", thought("own"))} // another conversation
	ask()
	for n, want := range []string{"old", "", "new", "own"} {
		data, _ := json.Marshal(s.Body(t, n))
		for _, sig := range []string{"old", "new", "own"} {
			if got := strings.Contains(string(data), `"signature":"`+sig+`"`); got != (sig == want) {
				t.Errorf("request %d holds the thought %s: %v", n, sig, got)
			}
		}
	}
	if len(told) != 1 {
		t.Errorf("told %q, want one sentence", told)
	}
}

// A service that knows no effort is asked without one.
func TestEffortThatIsRefused(t *testing.T) {
	t.Parallel()
	ok := modeltest.Reply{Body: all([]string{begin}, said(0, "ok"), end("end"))}
	no := modeltest.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"output_config.effort: not supported"}}`}
	s := modeltest.Serve(t, no, no, ok, ok)
	var told []string
	m := New(Options{Name: "peer", Model: "claude-opus-4-6", Effort: "xhigh", BaseURL: s.URL, Told: func(text string) { told = append(told, text) }})
	for range 2 {
		if _, err := m.Ask(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Text: "hi"}}}}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for n := range s.Count() {
		c, _ := json.Marshal(s.Body(t, n)["output_config"])
		got = append(got, string(c))
	}
	if want := `{"effort":"xhigh"} {"effort":"high"} null null`; strings.Join(got, " ") != want {
		t.Errorf("sent %v, want %s", got, want)
	}
	if len(told) != 2 {
		t.Errorf("told %q, want two sentences", told)
	}
}
