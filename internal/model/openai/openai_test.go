package openai

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/modeltest"
	"larva.dev/larva/internal/model/wire"
)

func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		if !strings.HasPrefix(e, ":") { // a comment keeps the connection alive
			e = "data: " + e
		}
		b.WriteString(e + "\n\n")
	}
	return b.String()
}

func choice(delta, finish string) string {
	if finish == "" {
		finish = "null"
	}
	return `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m-1","error":null,"choices":[{"index":0,"delta":` + delta + `,"logprobs":null,"finish_reason":` + finish + `}],"usage":null}`
}

var finishes = map[string]string{"end": `"stop"`, "calls": `"tool_calls"`, "length": `"length"`, "refusal": `"stop"`}

func end(stop string) []string {
	return []string{
		choice(`{}`, finishes[stop]),
		`{"id":"c","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[],"usage":{"prompt_tokens":16,"completion_tokens":7,"total_tokens":23,"prompt_tokens_details":{"cached_tokens":5}}}`,
		`[DONE]`,
	}
}

// quote keeps bytes that are not UTF-8, as a service might send them.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func said(field string, pieces ...string) []string {
	out := []string{choice(`{"role":"assistant","content":"","refusal":null}`, "")}
	for _, p := range pieces {
		out = append(out, ": OPENROUTER PROCESSING", choice(`{`+quote(field)+`:`+quote(p)+`}`, ""))
	}
	return out
}

func all(parts ...[]string) string {
	var events []string
	for _, p := range parts {
		events = append(events, p...)
	}
	return sse(events...)
}

func batch(stop string, list ...modeltest.Call) string {
	var events []string
	for i, c := range list {
		events = append(events, choice(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":""}}]}`, i, c.ID, c.Tool), ""))
	}
	for at := 0; ; at += 4 {
		more := false
		for i, c := range list {
			if at < len(c.Args) {
				more = true
				piece := c.Args[at:min(at+4, len(c.Args))]
				events = append(events, choice(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(piece)), ""))
			}
		}
		if !more {
			break
		}
	}
	if stop == "end" {
		stop = "calls"
	}
	return all(events, end(stop))
}

func protocol() modeltest.Protocol {
	return modeltest.Protocol{
		New: func(o modeltest.Options) model.Model {
			return New(Options{Name: o.Provider, Model: o.Model, BaseURL: o.BaseURL, Key: o.Key, Effort: o.Effort, Stall: o.Stall})
		},
		Path: "/v1/chat/completions", Base: "/v1",
		Auth: func(h http.Header) []string { return []string{h.Get("Authorization")} },
		Text: func(stop string, pieces ...string) string {
			field := "content"
			if stop == "refusal" {
				field = "refusal"
			}
			return all(said(field, pieces...), end(stop))
		},
		Think: func(thought, text string) string {
			return all(said("reasoning_content", thought[:1], thought[1:]), said("content", text), end("end"))
		},
		Calls: batch,
		Failure: func(text string) string {
			var events []string
			if text != "" {
				events = said("content", text)
			}
			return sse(append(events, `{"error":{"message":"Overloaded","type":"server_error","code":529}}`)...)
		},
		Optional: []string{"stream_options", "reasoning_effort", "max_tokens"},
		Ending:   3,
		Overflow: `{"error":{"message":"This model's maximum context length is 8192 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`,
		Input:    11, Output: 7, CacheRead: 5,
	}
}

func TestSuite(t *testing.T) { t.Parallel(); modeltest.Run(t, protocol()) }

func TestAimock(t *testing.T) { t.Parallel(); modeltest.RunPeer(t, protocol()) }

func hi() []model.Message {
	return []model.Message{{Role: model.User, Blocks: []model.Block{{Text: "hi"}}}}
}

// The SDK's client would take keys, hosts and headers from the environment.
func TestEnvironmentIsNotRead(t *testing.T) {
	for _, k := range []string{"OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"} {
		t.Setenv(k, "from-env")
	}
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: from-env")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	s := modeltest.Serve(t, modeltest.Reply{Body: all(said("content", "ok"), end("end"))})
	m := New(Options{Name: "peer", Model: "m-1", BaseURL: s.URL})
	if _, err := m.Ask(t.Context(), model.Request{Messages: hi()}, nil); err != nil {
		t.Fatal(err)
	}
	for k, v := range s.Header(0) {
		if strings.Contains(strings.Join(v, " "), "from-env") {
			t.Errorf("header %s is %v, want nothing of the environment", k, v)
		}
	}
}

// What services make of the protocol: each row was seen at one.
func TestCallsOfOtherServices(t *testing.T) {
	t.Parallel()
	in := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, c := range []struct {
		name   string
		deltas []string
		want   []model.Call
	}{
		{"no index, told apart by id", []string{
			`{"id":"a","function":{"name":"read","arguments":"{\"x\""}}`, `{"id":"b","function":{"name":"grep","arguments":"{\"y\""}}`,
			`{"id":"a","function":{"arguments":":1}"}}`, `{"id":"b","function":{"arguments":":2}"}}`,
		}, []model.Call{{ID: "a", Tool: "read", Input: in(`{"x":1}`)}, {ID: "b", Tool: "grep", Input: in(`{"y":2}`)}}},
		{"no index, whole calls", []string{
			`{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}}`, `{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}`,
		}, []model.Call{{ID: "a", Tool: "read", Input: in(`{}`)}, {ID: "b", Tool: "read", Input: in(`{}`)}}},
		{"no index, no id", []string{
			`{"function":{"name":"read","arguments":"{\"a\""}}`, `{"function":{"arguments":":1}"}}`, `{"function":{"name":"read","arguments":"{}"}}`,
		}, []model.Call{{ID: "call_3_1", Tool: "read", Input: in(`{"a":1}`)}, {ID: "call_3_2", Tool: "read", Input: in(`{}`)}}},
		{"index 0 for every call", []string{
			`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`, `{"index":0,"id":"b","function":{"name":"grep","arguments":"{\"p\":1}"}}`,
		}, []model.Call{{ID: "a", Tool: "read", Input: in(`{}`)}, {ID: "b", Tool: "grep", Input: in(`{"p":1}`)}}},
		{"a new id with every piece", []string{
			`{"index":0,"id":"a1","function":{"name":"read","arguments":"{"}}`, `{"index":0,"id":"a2","function":{"name":null,"arguments":"}"}}`,
		}, []model.Call{{ID: "a1", Tool: "read", Input: in(`{}`)}}},
		{"the name with every piece", []string{
			`{"index":0,"id":"a","function":{"name":"read","arguments":"{"}}`, `{"index":0,"id":"a","function":{"name":"read","arguments":"}"}}`,
		}, []model.Call{{ID: "a", Tool: "read", Input: in(`{}`)}}},
		{"one id for all calls", []string{
			`{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}`, `{"index":1,"id":"a","function":{"name":"grep","arguments":"{}"}}`,
		}, []model.Call{{ID: "a", Tool: "read", Input: in(`{}`)}, {ID: "call_3_2", Tool: "grep", Input: in(`{}`)}}},
		{"empty ids", []string{
			`{"index":0,"id":"","function":{"name":"read","arguments":"{}"}}`, `{"index":1,"id":"","function":{"name":"grep","arguments":"{}"}}`,
		}, []model.Call{{ID: "call_3_1", Tool: "read", Input: in(`{}`)}, {ID: "call_3_2", Tool: "grep", Input: in(`{}`)}}},
		{"index 0 and no id for every call", []string{
			`{"index":0,"function":{"name":"read","arguments":"{\"a\":1}"}}`, `{"index":0,"function":{"name":"read","arguments":"{}"}}`,
		}, []model.Call{{ID: "call_3_1", Tool: "read", Input: in(`{"a":1}`)}, {ID: "call_3_2", Tool: "read", Input: in(`{}`)}}},
		{"arguments as an object", []string{`{"index":0,"id":"a","function":{"name":"read","arguments":{"p":1.0}}}`},
			[]model.Call{{ID: "a", Tool: "read", Input: in(`{"p":1.0}`)}}},
		{"arguments null", []string{`{"index":0,"id":"a","function":{"name":"read","arguments":null}}`},
			[]model.Call{{ID: "a", Tool: "read", Input: in(`{}`)}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var events []string
			for _, d := range c.deltas {
				events = append(events, choice(`{"tool_calls":[`+d+`]}`, ""))
			}
			s := modeltest.Serve(t, modeltest.Reply{Body: all(events, end("end"))}) // "stop" beside calls
			a, err := New(Options{Name: "peer", Model: "m-1", BaseURL: s.URL}).Ask(t.Context(), model.Request{Messages: hi(), Number: 3}, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []model.Call
			for _, b := range a.Message.Blocks {
				got = append(got, *b.Call)
			}
			if d := cmp.Diff(got, c.want); d != "" {
				t.Errorf("calls (got -, want +):\n%s", d)
			}
			if a.Stop != model.ToolUse {
				t.Errorf("stop %q, want tool_use", a.Stop)
			}
		})
	}
}

// Gemini refuses the next request without the signature that it put beside a
// call; nobody else may see it.
func TestUnknownFieldsOfACallGoBack(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t, modeltest.Reply{Body: all([]string{
		choice(`{"reasoning":"r1 ","reasoning_details":[{"type":"reasoning.text","text":"r1 "}]}`, ""),
		choice(`{"reasoning":"r2","reasoning_details":[{"type":"reasoning.encrypted","data":"xyz"}]}`, ""),
		choice(`{"tool_calls":[{"index":0,"id":"a","type":"function","extra_content":{"google":{"thought_signature":"sig"}},"function":{"name":"read","arguments":"{}","strict":true}}]}`, ""),
	}, end("calls"))})
	ask := func(provider string, messages []model.Message) *model.Answer {
		t.Helper()
		a, err := New(Options{Name: provider, Model: "m-1", BaseURL: s.URL}).Ask(t.Context(), model.Request{Messages: messages}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := ask("gemini", hi())
	next := append(hi(), a.Message)
	ask("gemini", next)
	ask("other", next)
	second := func(n int) string {
		data, _ := json.Marshal(s.Body(t, n)["messages"].([]any)[1])
		return string(data)
	}
	want := `{"reasoning":"r1 r2","reasoning_details":[{"text":"r1 ","type":"reasoning.text"},{"data":"xyz","type":"reasoning.encrypted"}],"role":"assistant",` +
		`"tool_calls":[{"extra_content":{"google":{"thought_signature":"sig"}},"function":{"arguments":"{}","name":"read","strict":true},"id":"a","type":"function"}]}`
	if got := second(1); got != want {
		t.Errorf("to its own service\ngot  %s\nwant %s", got, want)
	}
	want = `{"role":"assistant","tool_calls":[{"function":{"arguments":"{}","name":"read"},"id":"a","type":"function"}]}`
	if got := second(2); got != want {
		t.Errorf("to another service\ngot  %s\nwant %s", got, want)
	}
}

func TestStreamsOfOtherServices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, stream, text string
		stop               model.Stop
		fails              string
	}{
		{"no usage and no end mark", all(said("content", "ok"), []string{choice(`{}`, `"stop"`)}), "ok", model.EndTurn, ""},
		{"the finish beside the last text", sse(choice(`{"content":"ok"}`, `"stop"`)), "ok", model.EndTurn, ""},
		{"an empty finish in every event", sse(choice(`{"content":"o"}`, `""`), choice(`{"content":"k"}`, `""`), choice(`{}`, `"length"`)), "ok", model.MaxTokens, ""},
		{"an end mark without a finish", sse(choice(`{"content":"ok"}`, ""), "[DONE]"), "ok", "", "cut off"},
		{"content in parts", sse(choice(`{"content":[{"type":"text","text":"ok"}]}`, ""), choice(`{}`, `"stop"`)), "ok", model.EndTurn, ""},
		{"content filter", sse(choice(`{"content":"ok"}`, ""), choice(`{}`, `"content_filter"`)), "ok", model.Refusal, ""},
		{"a reason of next year", sse(choice(`{"content":"ok"}`, `"quantum"`)), "ok", model.Other, ""},
		{"a second choice", sse(choice(`{"content":"ok"}`, ""), `{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"}]}`, choice(`{}`, `"stop"`)), "ok", model.EndTurn, ""},
		{"no event without a delta", sse(`{"choices":[{"delta":null}]}`, choice(`{"content":"ok"}`, `"stop"`)), "ok", model.EndTurn, ""},
		{"an error as a text", sse(choice(`{"content":"ok"}`, ""), `{"error":"out of memory"}`), "ok", "", "out of memory"},
		{"an error object of vLLM", sse(`{"object":"error","message":"bad token","type":"BadRequestError","code":400}`), "", "", "bad token"},
		{"both names of reasoning", sse(choice(`{"reasoning":"r","reasoning_content":"r"}`, ""), choice(`{"content":"ok"}`, `"stop"`)), "ok", model.EndTurn, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.Serve(t, modeltest.Reply{Body: c.stream})
			var text, thought string
			a, err := New(Options{Name: "peer", Model: "m-1", BaseURL: s.URL}).Ask(t.Context(), model.Request{Messages: hi()}, func(d model.Delta) {
				if d.Thinking {
					thought += d.Text
				} else {
					text += d.Text
				}
			})
			if text != c.text || len(thought) > 1 {
				t.Errorf("text %q thought %q, want text %q and the thought once", text, thought, c.text)
			}
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("error %v, want one with %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if a.Stop != c.stop {
				t.Errorf("stop %q, want %q", a.Stop, c.stop)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	got, err := encode(Options{Name: "peer", Model: "m"}, &wire.Extras{}, model.Request{
		Model: "m", System: "S", Params: []model.Param{{Key: "temperature", Value: json.RawMessage("0.0")}},
		Messages: []model.Message{
			{Role: model.User, Blocks: []model.Block{{Text: "a"}, {Text: "b"}}},
			{Role: model.Assistant, Blocks: []model.Block{{Text: "t"}, {Call: &model.Call{ID: "functions.read:0", Tool: "my tool", Input: json.RawMessage(`{"x":"<"}`)}}}},
			{Role: model.User, Blocks: []model.Block{{Text: "and"}, {Result: &model.Result{ID: "functions.read:0", Output: "out"}}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"messages":[{"content":"S","role":"system"},{"content":"a\n\nb","role":"user"},` +
		`{"content":"t","role":"assistant","tool_calls":[{"function":{"arguments":"{\"x\":\"<\"}","name":"my_tool"},"id":"functions.read:0","type":"function"}]},` +
		`{"content":"out","role":"tool","tool_call_id":"functions.read:0"},{"content":"and","role":"user"}],` +
		`"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.0}`
	if string(got.body) != want {
		t.Errorf("got  %s\nwant %s", got.body, want)
	}
}

// Google's compatible endpoint is the same protocol at another address.
func TestGemini(t *testing.T) {
	t.Parallel()
	p := protocol()
	p.Base, p.Path = "/v1beta/openai", "/v1beta/openai/chat/completions"
	p.New = func(o modeltest.Options) model.Model {
		return New(Options{Name: "gemini", Model: "gemini-3-flash-preview", BaseURL: o.BaseURL, Key: o.Key, Effort: "low"})
	}
	modeltest.RunToolLoop(t, p)
}

// What is said of a signature: each call keeps its own, and a call that none
// of Google's models made gets what the service takes in its place.
func TestSignatures(t *testing.T) {
	t.Parallel()
	signed := func(id, sig string) string {
		extra := ""
		if sig != "" {
			extra = `"extra_content":{"google":{"thought_signature":"` + sig + `"}},`
		}
		return choice(`{"role":"assistant","tool_calls":[{`+extra+`"function":{"arguments":"{}","name":"read"},"id":"`+id+`","type":"function","index":0}]}`, "")
	}
	stream := sse(
		choice(`{"role":"assistant","content":"<thought>hm</thought>","extra_content":{"google":{"thought":true}}}`, ""),
		choice(`{}`, ""), choice(`{"content":""}`, ""),
		signed("a", "sig-a"), signed("b", ""), signed("", "sig-c"),
		`{"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":"FUNCTION_CALL"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`, "[DONE]")
	s := modeltest.Serve(t, modeltest.Reply{Body: stream})
	ask := func(name, m string, messages []model.Message) (*model.Answer, string, string) {
		t.Helper()
		var said, thought string
		a, err := New(Options{Name: name, Model: m, BaseURL: s.URL}).Ask(t.Context(), model.Request{Messages: messages, Number: 1}, func(d model.Delta) {
			if d.Thinking {
				thought += d.Text
			} else {
				said += d.Text
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return a, said, thought
	}
	a, said, thought := ask("gemini", "gemini-3-pro", hi())
	if said != "" || thought != "<thought>hm</thought>" || a.Stop != model.ToolUse || len(a.Message.Blocks) != 3 {
		t.Errorf("said %q, thought %q, stop %q, blocks %+v; want the thought and three calls", said, thought, a.Stop, a.Message.Blocks)
	}
	for n, c := range []struct {
		name, model string
		want        []string // the signatures that go out, in call order
	}{
		{"gemini", "gemini-3-pro", []string{"sig-a", "", "sig-c"}},
		{"gemini", "gemini-3.1-pro", []string{"skip_thought_signature_validator", "", ""}},
		{"gemini", "gemini-2.5-pro", []string{"", "", ""}},
		{"openrouter", "google/gemini-3-pro", []string{"", "", ""}},
	} {
		ask(c.name, c.model, append(hi(), a.Message))
		var body struct {
			Messages []struct {
				Calls []struct {
					ID    string `json:"id"`
					Extra struct {
						Google struct {
							Signature string `json:"thought_signature"`
						} `json:"google"`
					} `json:"extra_content"`
				} `json:"tool_calls"`
			} `json:"messages"`
		}
		if err := json.Unmarshal(s.Bytes(t, n+1), &body); err != nil {
			t.Fatal(err)
		}
		var got, ids []string
		for _, call := range body.Messages[1].Calls {
			got, ids = append(got, call.Extra.Google.Signature), append(ids, call.ID)
		}
		if d := cmp.Diff(got, c.want); d != "" {
			t.Errorf("to %s/%s (got -, want +):\n%s", c.name, c.model, d)
		}
		if d := cmp.Diff(ids, []string{"a", "b", "call_1_3"}); d != "" {
			t.Errorf("ids (got -, want +):\n%s", d)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	req := model.Request{Model: "m", Messages: hi(), CacheKey: "s-1", MaxTokens: 99}
	own := append(hi(), model.Message{Role: model.Assistant, Blocks: []model.Block{
		{Raw: &model.Raw{Provider: "peer", Model: "m", JSON: json.RawMessage(`{"reasoning_content":"r"}`)}}, {Text: "t"}}})
	called := append(own[:1:1], model.Message{Role: model.Assistant, Blocks: append(own[1].Blocks[:2:2],
		model.Block{Call: &model.Call{ID: "1", Tool: "a", Input: json.RawMessage(`{}`)}})})
	for _, c := range []struct {
		name     string
		o        Options
		messages []model.Message
		params   []model.Param
		has, not []string
	}{
		{"OpenAI", Options{Name: "openai", Effort: "xhigh"}, hi(), nil, []string{`"prompt_cache_key":"s-1"`, `"max_completion_tokens":99`, `"reasoning_effort":"xhigh"`}, []string{`"max_tokens"`}},
		{"OpenAI by its address", Options{Name: "x", BaseURL: "https://eu.api.openai.com/v1"}, hi(), nil, []string{`"prompt_cache_key":"s-1"`}, []string{"reasoning_effort"}},
		{"another service", Options{Name: "peer"}, hi(), nil, []string{`"max_tokens":99`}, []string{"prompt_cache_key", "reasoning_effort", "max_completion_tokens"}},
		{"the persona's own", Options{Name: "peer", Effort: "low"}, hi(), []model.Param{{Key: "max_tokens", Value: json.RawMessage("7")}, {Key: "reasoning_effort", Value: json.RawMessage(`"high"`)}},
			[]string{`"max_tokens":7`, `"reasoning_effort":"high"`}, []string{"99", "low"}},
		{"reasoning without calls stays here", Options{Name: "peer"}, own, nil, nil, []string{"reasoning_content"}},
		{"reasoning beside calls goes back", Options{Name: "peer"}, called, nil, []string{`"reasoning_content":"r"`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := req
			r.Messages, r.Params = c.messages, c.params
			e, err := encode(c.o, &wire.Extras{}, r)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range c.has {
				if !strings.Contains(string(e.body), part) {
					t.Errorf("%s is not in %s", part, e.body)
				}
			}
			for _, part := range c.not {
				if strings.Contains(string(e.body), part) {
					t.Errorf("%s is in %s", part, e.body)
				}
			}
		})
	}
}

// A strict service that takes no reasoning back is asked without it.
func TestReasoningThatIsRefused(t *testing.T) {
	t.Parallel()
	no := modeltest.Reply{Status: 400, Body: `{"error":{"message":"property 'reasoning_content' is unsupported"}}`}
	s := modeltest.Serve(t, no, modeltest.Reply{Body: all(said("content", "ok"), end("end"))})
	messages := append(hi(), model.Message{Role: model.Assistant, Blocks: []model.Block{
		{Raw: &model.Raw{Provider: "peer", Model: "m", JSON: json.RawMessage(`{"reasoning_content":"r"}`)}},
		{Call: &model.Call{ID: "1", Tool: "a", Input: json.RawMessage(`{}`)}}}})
	m := New(Options{Name: "peer", Model: "m", BaseURL: s.URL})
	if _, err := m.Ask(t.Context(), model.Request{Messages: messages}, nil); err != nil {
		t.Fatal(err)
	}
	for n, want := range []bool{true, false} {
		if got := strings.Contains(string(s.Bytes(t, n)), "reasoning_content"); got != want {
			t.Errorf("request %d holds the reasoning: %v, want %v", n+1, got, want)
		}
	}
}
