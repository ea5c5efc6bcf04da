package responses

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/modeltest"
	"larva.dev/larva/internal/model/wire"
	"larva.dev/larva/internal/tool"
)

func sse(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		var kind struct{ Type string }
		_ = json.Unmarshal([]byte(e), &kind)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind.Type, e)
	}
	return b.String()
}

func all(parts ...[]string) string {
	var events []string
	for _, p := range parts {
		events = append(events, p...)
	}
	return sse(events...)
}

const begin = `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m-1","error":null,"output":[],"usage":null}}`

func end(stop string) []string {
	kind, details := "completed", "null"
	if stop == "length" {
		kind, details = "incomplete", `{"reason":"max_output_tokens"}`
	}
	return []string{`{"type":"response.` + kind + `","response":{"id":"resp_1","status":"` + kind + `","model":"m-1","error":null,"incomplete_details":` + details +
		`,"output":[],"usage":{"input_tokens":16,"input_tokens_details":{"cached_tokens":5},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":23}}}`}
}

// quote keeps bytes that are not UTF-8, as a service might send them.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func said(index int, kind string, pieces ...string) []string {
	out := []string{
		fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{"id":"msg_%d","type":"message","status":"in_progress","role":"assistant","content":[]}}`, index, index),
		fmt.Sprintf(`{"type":"response.content_part.added","output_index":%d,"content_index":0,"part":{"type":"output_text","text":""}}`, index),
	}
	for _, p := range pieces {
		out = append(out, fmt.Sprintf(`{"type":"response.%s.delta","item_id":"msg_%d","output_index":%d,"content_index":0,"delta":%s}`, kind, index, index, quote(p)))
	}
	whole := quote(strings.Join(pieces, ""))
	return append(out,
		fmt.Sprintf(`{"type":"response.%s.done","output_index":%d,"content_index":0,"text":%s}`, kind, index, whole),
		fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":{"id":"msg_%d","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"text":%s}]}}`, index, index, whole),
	)
}

func thought(index int, pieces ...string) []string {
	out := []string{
		fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{"id":"rs_%d","type":"reasoning","summary":[]}}`, index, index),
		fmt.Sprintf(`{"type":"response.reasoning_summary_part.added","output_index":%d,"summary_index":0,"part":{"type":"summary_text","text":""}}`, index),
	}
	for _, p := range pieces {
		out = append(out, fmt.Sprintf(`{"type":"response.reasoning_summary_text.delta","output_index":%d,"summary_index":0,"delta":%s}`, index, quote(p)))
	}
	return append(out, fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":{"id":"rs_%d","type":"reasoning","status":null,"encrypted_content":"gAAA==","summary":[{"type":"summary_text","text":%s}]}}`,
		index, index, quote(strings.Join(pieces, ""))))
}

func calls(stop string, list ...modeltest.Call) string {
	item := func(kind string, i int, c modeltest.Call, args string) string {
		return fmt.Sprintf(`{"type":"response.output_item.%s","output_index":%d,"item":{"id":"fc_%d","type":"function_call","status":"in_progress","call_id":%q,"name":%q,"arguments":%s}}`, kind, i, i, c.ID, c.Tool, quote(args))
	}
	var events []string
	for i, c := range list {
		events = append(events, item("added", i, c, ""))
	}
	for at := 0; ; at += 4 {
		more := false
		for i, c := range list {
			if at < len(c.Args) {
				more = true
				events = append(events, fmt.Sprintf(`{"type":"response.function_call_arguments.delta","output_index":%d,"delta":%s}`, i, quote(c.Args[at:min(at+4, len(c.Args))])))
			}
		}
		if !more {
			break
		}
	}
	for i, c := range list {
		events = append(events, item("done", i, c, c.Args))
	}
	return all([]string{begin}, events, end(stop))
}

func protocol() modeltest.Protocol {
	return modeltest.Protocol{
		New: func(o modeltest.Options) model.Model {
			return New(Options{Name: o.Provider, Model: o.Model, BaseURL: o.BaseURL, Key: o.Key, Effort: o.Effort, Stall: o.Stall})
		},
		Path: "/v1/responses", Base: "/v1",
		Auth: func(h http.Header) []string { return []string{h.Get("Authorization")} },
		Text: func(stop string, pieces ...string) string {
			kind := "output_text"
			if stop == "refusal" {
				kind = "refusal"
			}
			if len(pieces) == 0 {
				return all([]string{begin}, end(stop))
			}
			return all([]string{begin}, said(0, kind, pieces...), end(stop))
		},
		Think: func(t, text string) string {
			return all([]string{begin}, thought(0, t[:1], t[1:]), said(1, "output_text", text), end("end"))
		},
		Calls: calls,
		Failure: func(text string) string {
			events := []string{begin}
			if text != "" {
				events = append(events, said(0, "output_text", text)[:3]...)
			}
			return sse(append(events, `{"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"server_is_overloaded","message":"Overloaded"}}}`)...)
		},
		Transcript: "input",
		Optional:   []string{"prompt_cache_key", "include", "reasoning", "max_output_tokens"},
		Ending:     3,
		Overflow:   `{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","param":"input","code":"context_length_exceeded"}}`,
		Input:      11, Output: 7, CacheRead: 5,
	}
}

func TestSuite(t *testing.T) { t.Parallel(); modeltest.Run(t, protocol()) }

func TestAimock(t *testing.T) { t.Parallel(); modeltest.RunPeer(t, protocol()) }

func user(b ...model.Block) model.Message { return model.Message{Role: model.User, Blocks: b} }

func hi() []model.Message { return []model.Message{user(model.Block{Text: "hi"})} }

func TestRequest(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		o    Options
		req  model.Request
		want string
	}{
		{
			"everything", Options{Effort: "high"},
			model.Request{
				Model: "gpt-5", System: "S", CacheKey: "s-1", Params: []model.Param{{Key: "temperature", Value: json.RawMessage("0.0")}},
				Tools: []tool.Spec{{Name: "read", Description: "reads"}},
				Messages: []model.Message{
					user(model.Block{Text: "a"}, model.Block{Image: &tool.Image{MediaType: "image/png", Data: []byte("png")}}),
					{Role: model.Assistant, Blocks: []model.Block{{Text: "t"}, {Call: &model.Call{ID: "functions.read:0", Tool: "my tool", Input: json.RawMessage(`{"x":"<"}`)}}}},
					user(model.Block{Text: "and"}, model.Block{Result: &model.Result{ID: "functions.read:0", Output: "out", Images: []tool.Image{{MediaType: "image/gif", Data: []byte("gif")}}}}),
				},
			},
			`{"include":["reasoning.encrypted_content"],"input":[` +
				`{"content":[{"text":"a","type":"input_text"},{"image_url":"data:image/png;base64,cG5n","type":"input_image"}],"role":"user","type":"message"},` +
				`{"content":[{"text":"t","type":"output_text"}],"role":"assistant","type":"message"},` +
				`{"arguments":"{\"x\":\"<\"}","call_id":"functions_read_0","name":"my_tool","type":"function_call"},` +
				`{"call_id":"functions_read_0","output":[{"text":"out","type":"input_text"},{"image_url":"data:image/gif;base64,Z2lm","type":"input_image"}],"type":"function_call_output"},` +
				`{"content":[{"text":"and","type":"input_text"}],"role":"user","type":"message"}],` +
				`"instructions":"S","model":"gpt-5","prompt_cache_key":"s-1","reasoning":{"effort":"high","summary":"auto"},"store":false,"stream":true,"temperature":0.0,` +
				`"tools":[{"description":"reads","name":"read","parameters":{"type":"object","properties":{}},"strict":false,"type":"function"}]}`,
		},
		{
			"a model that does not reason", Options{Effort: "high"}, model.Request{Model: "gpt-4.1", Messages: hi()},
			`{"input":[{"content":[{"text":"hi","type":"input_text"}],"role":"user","type":"message"}],"model":"gpt-4.1","store":false,"stream":true}`,
		},
		{
			"the persona's own reasoning", Options{Effort: "high"},
			model.Request{Model: "o4-mini", Messages: hi(), Params: []model.Param{{Key: "reasoning", Value: json.RawMessage(`{"effort":"low"}`)}, {Key: "include", Value: json.RawMessage(`[]`)}}},
			`{"include":[],"input":[{"content":[{"text":"hi","type":"input_text"}],"role":"user","type":"message"}],"model":"o4-mini","reasoning":{"effort":"low"},"store":false,"stream":true}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.o.Name, c.o.Model = "peer", "m"
			got, _, err := encode(c.o, &wire.Extras{}, c.req, 0)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// Reasoning, a text's phase, unknown items and fields go back to the model
// that sent them, in their places, and to nobody else.
func TestItemsAreReplayedInPlace(t *testing.T) {
	t.Parallel()
	item := func(n int, fields string) string {
		return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":{%s}}`, n, fields)
	}
	s := modeltest.Serve(t, modeltest.Reply{Body: sse(begin,
		item(0, `"id":"rs_0","type":"reasoning","status":null,"encrypted_content":"AAA","summary":[{"type":"summary_text","text":"one"},{"type":"summary_text","text":"two"}]`),
		item(1, `"id":"msg_1","type":"message","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"I look."}]`),
		item(2, `"id":"fc_2","type":"function_call","status":"completed","call_id":"c2","name":"read","arguments":"{}","namespace":"files"`),
		item(3, `"id":"rs_3","type":"reasoning","encrypted_content":"BBB","summary":[]`),
		item(4, `"id":"fc_4","type":"function_call","status":"completed","call_id":"c4","name":"grep","arguments":"{}"`),
		item(5, `"id":"rs_5","type":"reasoning","summary":[]`), // without content: of no use
		item(6, `"id":"x_6","type":"of_next_year","y":{"z":1}`),
		end("end")[0],
	)})
	ask := func(name, m string, messages []model.Message) (*model.Answer, string) {
		t.Helper()
		var thought string
		a, err := New(Options{Name: name, Model: m, BaseURL: s.URL}).Ask(t.Context(), model.Request{Messages: messages}, func(d model.Delta) {
			if d.Thinking {
				thought += d.Text
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return a, thought
	}
	a, thought := ask("peer", "gpt-5", hi())
	if thought != "one\n\ntwo" || a.Stop != model.ToolUse {
		t.Errorf("thought %q, stop %q; want both summaries and tool_use", thought, a.Stop)
	}
	next := append(hi(), a.Message)
	for n, c := range []struct{ name, model, want string }{
		{"peer", "gpt-5", `[{"encrypted_content":"AAA","id":"rs_0","summary":[{"text":"one","type":"summary_text"},{"text":"two","type":"summary_text"}],"type":"reasoning"},` +
			`{"content":[{"text":"I look.","type":"output_text"}],"phase":"commentary","role":"assistant","type":"message"},` +
			`{"arguments":"{}","call_id":"c2","name":"read","namespace":"files","type":"function_call"},` +
			`{"encrypted_content":"BBB","id":"rs_3","summary":[],"type":"reasoning"},` +
			`{"arguments":"{}","call_id":"c4","name":"grep","type":"function_call"},` +
			`{"id":"x_6","type":"of_next_year","y":{"z":1}}]`},
		{"peer", "gpt-6", `[{"content":[{"text":"I look.","type":"output_text"}],"role":"assistant","type":"message"},` +
			`{"arguments":"{}","call_id":"c2","name":"read","type":"function_call"},{"arguments":"{}","call_id":"c4","name":"grep","type":"function_call"}]`},
	} {
		ask(c.name, c.model, next)
		items := s.Body(t, n+1)["input"].([]any)
		got, _ := json.Marshal(items[1 : len(items)-2]) // behind the prompt, before the two results
		if string(got) != c.want {
			t.Errorf("to %s/%s\ngot  %s\nwant %s", c.name, c.model, got, c.want)
		}
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	done := end("end")[0]
	for _, c := range []struct {
		name, stream, text string
		stop               model.Stop
		fails              string
	}{
		{"items only at the end", sse(`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"ok"}]}]}}`), "ok", model.EndTurn, ""},
		{"a text only in its item", sse(begin, `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"ok"}]}}`, done), "ok", model.EndTurn, ""},
		{"a refusal only in its item", sse(begin, `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"refusal","refusal":"no"}]}}`, done), "no", model.Refusal, ""},
		{"deltas without an item", sse(begin, `{"type":"response.output_text.delta","output_index":0,"delta":"ok"}`, done), "ok", model.EndTurn, ""},
		{"an event of next year", sse(begin, `{"type":"response.quantum.delta","output_index":0,"delta":{"x":1}}`, done), "", model.EndTurn, ""},
		{"filtered", sse(begin, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"content_filter"}}}`), "", model.Refusal, ""},
		{"incomplete for a reason of next year", sse(begin, `{"type":"response.incomplete","response":{"incomplete_details":{"reason":"x"}}}`), "", model.Other, ""},
		{"an error event", sse(begin, `{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null}`), "", "", "HTTP 429: slow down"},
		{"a bare error", "data: {\"error\":{\"message\":\"out of memory\"}}\n\n", "", "", "out of memory"},
		{"failed without a reason", sse(begin, `{"type":"response.failed","response":{}}`), "", "", "without a message"},
		{"overflow mid-stream", sse(begin, `{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"too long"}}}`), "", "", "too long"},
		{"an end mark alone", "data: [DONE]\n\n", "", "", "cut off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.Serve(t, modeltest.Reply{Body: c.stream})
			var said string
			a, err := New(Options{Name: "peer", Model: "m-1", BaseURL: s.URL}).Ask(t.Context(), model.Request{Messages: hi()}, func(d model.Delta) { said += d.Text })
			if said != c.text {
				t.Errorf("said %q, want %q", said, c.text)
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

// The SDK's client would take keys, hosts and headers from the environment.
func TestEnvironmentIsNotRead(t *testing.T) {
	for _, k := range []string{"OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"} {
		t.Setenv(k, "from-env")
	}
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Custom: from-env")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	s := modeltest.Serve(t, modeltest.Reply{Body: sse(begin, end("end")[0])})
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

// Reasoning that the service cannot read any more is left out, and only that.
func TestReasoningThatIsRefused(t *testing.T) {
	t.Parallel()
	no := modeltest.Reply{Status: 400, Body: `{"error":{"message":"The encrypted content gAAA... could not be verified.","type":"invalid_request_error","param":null,"code":"invalid_encrypted_content"}}`}
	ok := modeltest.Reply{Body: sse(begin, end("end")[0])}
	s := modeltest.Serve(t, no, ok, ok)
	var told []string
	m := New(Options{Name: "peer", Model: "m-1", BaseURL: s.URL, Told: func(text string) { told = append(told, text) }})
	item := func(data string) model.Block {
		return model.Block{Raw: &model.Raw{Provider: "peer", Model: "m-1", JSON: json.RawMessage(`{"type":"reasoning","encrypted_content":"` + data + `","summary":[]}`)}}
	}
	messages := append(hi(), model.Message{Role: model.Assistant, Blocks: []model.Block{item("old"), {Text: "t"}}}, user(model.Block{Text: "on"}))
	for range 2 {
		if _, err := m.Ask(t.Context(), model.Request{Messages: messages}, nil); err != nil {
			t.Fatal(err)
		}
		messages = append(messages, model.Message{Role: model.Assistant, Blocks: []model.Block{item("new"), {Text: "t"}}}, user(model.Block{Text: "on"}))
	}
	for n, want := range []string{"old", "", "new"} {
		for _, data := range []string{"old", "new"} {
			if got := strings.Contains(string(s.Bytes(t, n)), `"encrypted_content":"`+data+`"`); got != (data == want) {
				t.Errorf("request %d holds the reasoning %s: %v", n, data, got)
			}
		}
		if _, asked := s.Body(t, n)["include"]; !asked {
			t.Errorf("request %d does not ask for encrypted reasoning", n)
		}
	}
	if len(told) != 1 {
		t.Errorf("told %q, want one sentence", told)
	}
}
