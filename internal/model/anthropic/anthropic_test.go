package anthropic

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

const begin = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m-1","stop_reason":null,` +
	`"usage":{"input_tokens":11,"cache_read_input_tokens":5,"cache_creation_input_tokens":0,"output_tokens":1}}}`

func end(stop string) []string {
	stop = map[string]string{"end": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "refusal"}[stop]
	return []string{
		`{"type":"message_delta","delta":{"stop_reason":"` + stop + `","stop_sequence":null},"usage":{"output_tokens":7}}`,
		`{"type":"message_stop"}`,
	}
}

// quote keeps bytes that are not UTF-8, as a service might send them.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func said(index int, pieces ...string) []string {
	out := []string{fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}`, index)}
	for _, p := range pieces {
		out = append(out, `{"type":"ping"}`,
			fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}}`, index, quote(p)))
	}
	return append(out, fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
}

func all(parts ...[]string) string {
	var events []string
	for _, p := range parts {
		events = append(events, p...)
	}
	return sse(events...)
}

func calls(stop string, list ...modeltest.Call) string {
	var events []string
	for i, c := range list {
		events = append(events, fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}`, i, c.ID, c.Tool))
	}
	for at := 0; ; at += 4 {
		more := false
		for i, c := range list {
			if at < len(c.Args) {
				more = true
				piece := c.Args[at:min(at+4, len(c.Args))]
				events = append(events, fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, i, quote(piece)))
			}
		}
		if !more {
			break
		}
	}
	if stop == "end" {
		stop = "calls"
	}
	return all([]string{begin}, events, end(stop))
}

func protocol() modeltest.Protocol {
	return modeltest.Protocol{
		New: func(o modeltest.Options) model.Model {
			return New(Options{Name: o.Provider, Model: o.Model, BaseURL: o.BaseURL, Key: o.Key, Effort: o.Effort, Stall: o.Stall})
		},
		Path: "/v1/messages",
		Auth: func(h http.Header) []string { return []string{h.Get("x-api-key"), h.Get("Authorization")} },
		Text: func(stop string, pieces ...string) string {
			if len(pieces) == 0 {
				return all([]string{begin}, end(stop))
			}
			return all([]string{begin}, said(0, pieces...), end(stop))
		},
		Think: func(thought, reply string) string {
			return all([]string{
				begin,
				`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"","later":{"x":1}}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":` + quote(thought[:1]) + `}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":` + quote(thought[1:]) + `}}`,
				`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig=="}}`,
				`{"type":"content_block_stop","index":0}`,
			}, said(1, reply), end("end"))
		},
		Calls: calls,
		Failure: func(reply string) string {
			events := []string{begin}
			if reply != "" {
				events = append(events, said(0, reply)...)
			}
			return sse(append(events, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)...)
		},
		Optional: []string{"thinking"},
		Ending:   3,
		Overflow: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`,
		Input:    11, Output: 7, CacheRead: 5,
	}
}

func TestSuite(t *testing.T) { t.Parallel(); modeltest.Run(t, protocol()) }

func TestAimock(t *testing.T) { t.Parallel(); modeltest.RunPeer(t, protocol()) }

// The SDK's client would take keys, hosts and headers from the environment.
func TestEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "sk-from-env")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "token-from-env")
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Custom: from-env")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	s := modeltest.Serve(t, modeltest.Reply{Body: all([]string{begin}, said(0, "ok"), end("end"))})
	m := New(Options{Name: "peer", Model: "m-1", BaseURL: s.URL})
	if _, err := m.Ask(t.Context(), model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Text: "hi"}}}}}, nil); err != nil {
		t.Fatal(err)
	}
	for k, v := range s.Header(0) {
		if strings.Contains(strings.Join(v, " "), "from-env") {
			t.Errorf("header %s is %v, want nothing of the environment", k, v)
		}
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	png := tool.Image{MediaType: "image/png", Data: []byte("png")}
	const picture = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}}`
	user := func(b ...model.Block) model.Message { return model.Message{Role: model.User, Blocks: b} }
	for _, c := range []struct {
		name string
		req  model.Request
		want string // the parts of the body, as JSON
	}{
		{
			"cache marks, blank text, white space before the answer",
			model.Request{System: "S", Messages: []model.Message{
				user(model.Block{Text: "hi"}, model.Block{Text: " \n"}),
				{Role: model.Assistant, Blocks: []model.Block{{Text: "so: \n"}}},
			}},
			`{"max_tokens":8192,"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]},` +
				`{"role":"assistant","content":[{"type":"text","text":"so:","cache_control":{"type":"ephemeral"}}]}],` +
				`"model":"m","stream":true,"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}]}`,
		},
		{
			"a thinking budget leaves room, foreign ids are mapped, an empty error has content",
			model.Request{
				Params: []model.Param{{Key: "thinking", Value: json.RawMessage(`{"type":"enabled","budget_tokens":4000}`)}},
				Messages: []model.Message{
					user(model.Block{Text: "hi"}),
					{Role: model.Assistant, Blocks: []model.Block{{Call: &model.Call{ID: "functions.read:0", Tool: "read", Input: json.RawMessage(`{"a":"<b>"}`)}}}},
					user(model.Block{Result: &model.Result{ID: "functions.read:0", IsError: true}}),
				},
			},
			`{"max_tokens":12192,"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"functions_read_0","name":"read","input":{"a":"<b>"}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_read_0","content":"(no output)","is_error":true,"cache_control":{"type":"ephemeral"}}]}],` +
				`"model":"m","stream":true,"thinking":{"type":"enabled","budget_tokens":4000}}`,
		},
		{
			"tools and images: four marks, pictures where they may be",
			model.Request{
				System: "S", MaxTokens: 500, Tools: []tool.Spec{{Name: "a"}, {Name: "b", Description: "B"}},
				Messages: []model.Message{
					user(model.Block{Text: "see"}, model.Block{Image: &png}),
					{Role: model.Assistant, Blocks: []model.Block{{Call: &model.Call{ID: "1", Tool: "a", Input: json.RawMessage(`{}`)}}}},
					user(model.Block{Result: &model.Result{ID: "1", Output: "a picture", Images: []tool.Image{png}}}),
					{Role: model.Assistant, Blocks: []model.Block{{Call: &model.Call{ID: "2", Tool: "a", Input: json.RawMessage(`{}`)}}, {Call: &model.Call{ID: "3", Tool: "a", Input: json.RawMessage(`{}`)}}}},
					user(model.Block{Result: &model.Result{ID: "2", Output: "broken", IsError: true, Images: []tool.Image{png}}}, model.Block{Result: &model.Result{ID: "3"}}),
				},
			},
			`{"max_tokens":500,"messages":[{"role":"user","content":[{"type":"text","text":"see"},` + picture + `]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"a","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"a picture"},` + picture + `],"cache_control":{"type":"ephemeral"}}]},` +
				`{"role":"assistant","content":[{"type":"tool_use","id":"2","name":"a","input":{}},{"type":"tool_use","id":"3","name":"a","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"2","content":"broken","is_error":true},{"type":"tool_result","tool_use_id":"3"},` +
				picture[:len(picture)-1] + `,"cache_control":{"type":"ephemeral"}}]}],` +
				`"model":"m","stream":true,"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],` +
				`"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"b","description":"B","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}]}`,
		},
		{
			"nothing but blanks",
			model.Request{Messages: []model.Message{user(model.Block{Text: "  "})}},
			`{"max_tokens":8192,"messages":[{"role":"user","content":[{"type":"text","text":"(empty)","cache_control":{"type":"ephemeral"}}]}],"model":"m","stream":true}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.req.Model = "m"
			got, err := encode(Options{Name: "peer", Model: "m"}, &wire.Extras{}, c.req, 0)
			if err != nil {
				t.Fatal(err)
			}
			if string(got.body) != c.want {
				t.Errorf("got  %s\nwant %s", got.body, c.want)
			}
		})
	}
}

func TestOwnBlocksAreReplayedWhole(t *testing.T) {
	t.Parallel()
	s := modeltest.Serve(t, modeltest.Reply{Body: all([]string{
		begin,
		`{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"AAA="}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"","signature":"","new":[1]}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"si"}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"g"}}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"query\":1}"}}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"of_next_year","x":{"y":null}}}`,
		`{"type":"content_block_delta","index":3,"delta":{"type":"delta_of_next_year","z":1}}`,
		`{"type":"event_of_next_year"}`,
	}, said(4, "done"), end("end"))})
	m := New(Options{Name: "peer", Model: "m-1", BaseURL: s.URL})
	first := []model.Message{{Role: model.User, Blocks: []model.Block{{Text: "hi"}}}}
	a, err := m.Ask(t.Context(), model.Request{Messages: first}, nil)
	if err != nil {
		t.Fatal(err)
	}
	next := append(first, a.Message, model.Message{Role: model.User, Blocks: []model.Block{{Text: "on"}}})
	if _, err := m.Ask(t.Context(), model.Request{Messages: next}, nil); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(s.Body(t, 1)["messages"].([]any)[1].(map[string]any)["content"])
	want := `[{"data":"AAA=","type":"redacted_thinking"},{"new":[1],"signature":"sig","thinking":"hm","type":"thinking"},` +
		`{"id":"s1","input":{"query":1},"name":"web_search","type":"server_tool_use"},{"type":"of_next_year","x":{"y":null}},{"text":"done","type":"text"}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStreamsOfGateways(t *testing.T) {
	t.Parallel()
	// No event lines, the input of a call whole in its start.
	var b strings.Builder
	for _, e := range append([]string{
		begin, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"read","input":{"path":"x"}}}`,
	}, end("end")...) {
		b.WriteString("data: " + e + "\r\n\r\n")
	}
	s := modeltest.Serve(t, modeltest.Reply{Body: b.String()})
	a, err := New(Options{Name: "peer", Model: "m-1", BaseURL: s.URL + "/v1"}).Ask(t.Context(),
		model.Request{Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Text: "hi"}}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c := a.Message.Blocks[0].Call; c == nil || string(c.Input) != `{"path":"x"}` || a.Stop != model.ToolUse || s.Path(0) != "/v1/messages" {
		t.Errorf("call %+v, stop %q, path %s", c, a.Stop, s.Path(0))
	}
}
