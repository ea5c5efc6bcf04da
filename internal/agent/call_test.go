package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/tool"
)

const editSchema = `{"$schema":"https://example.test/odd","type":"object","required":["path","edits"],"additionalProperties":false,
 "properties":{"path":{"type":"string"},"limit":{"type":"integer","minimum":1},"all":{"type":"boolean"},"mode":{"enum":["a","b"]},
 "note":{"anyOf":[{"type":"string"},{"type":"null"}]},
 "edits":{"type":"array","minItems":1,"items":{"type":"object","required":["old"],"properties":{"old":{"type":"string"},"new":{"type":"string"}}}}}}`

func TestValidation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, input, want, fault string // want: the input as run, or a piece of the error
	}{
		{name: "as it is", input: `{"path":"a","edits":[{"old":"x"}]}`, want: `{"edits":[{"old":"x"}],"path":"a"}`},
		{name: "number kept", input: `{"path":"a","edits":[{"old":"x"}],"limit":12345678901234567}`, want: `{"edits":[{"old":"x"}],"limit":12345678901234567,"path":"a"}`},
		{name: "no html escapes", input: `{"path":"a<b>&","edits":[{"old":"x"}]}`, want: `{"edits":[{"old":"x"}],"path":"a<b>&"}`},
		{name: "null is not given", input: `{"path":"a","edits":[{"old":"x","new":null}],"limit":null}`, want: `{"edits":[{"old":"x"}],"path":"a"}`},
		{name: "null that the schema takes", input: `{"path":"a","edits":[{"old":"x"}],"note":null}`, want: `{"edits":[{"old":"x"}],"note":null,"path":"a"}`},
		{name: "extra dropped", input: `{"path":"a","edits":[{"old":"x","more":1}],"why":"because"}`, want: `{"edits":[{"more":1,"old":"x"}],"path":"a"}`},
		{name: "case variant dropped", input: `{"path":"a","Path":"/etc/passwd","edits":[{"old":"x","OLD":"y"}]}`, want: `{"edits":[{"old":"x"}],"path":"a"}`},
		{name: "duplicate key", input: `{"path":"a","path":"b","edits":[{"old":"x"}]}`, want: `{"edits":[{"old":"x"}],"path":"b"}`},
		{name: "values as text", input: `{"path":"5","edits":"[{\"old\":\"x\"}]","limit":"3","all":"true"}`, want: `{"all":true,"edits":[{"old":"x"}],"limit":3,"path":"5"}`},
		{name: "object as text", input: `"{\"path\":\"a\",\"edits\":[{\"old\":\"x\"}]}"`, want: `{"edits":[{"old":"x"}],"path":"a"}`},

		{name: "cut", input: `{"path":"a","ed`, want: "INVALID_JSON", fault: faultJSON},
		{name: "a list", input: `[1]`, want: "it is not an object", fault: faultJSON},
		{name: "two values", input: `{} {}`, want: "more follows", fault: faultJSON},
		{name: "nothing", input: ``, want: "nothing was sent", fault: faultJSON},
		{name: "missing", input: `{"edits":[{}]}`, want: "path: missing; edits[0].old: missing.", fault: faultArguments},
		{name: "required null", input: `{"path":null,"edits":[{"old":"x"}]}`, want: "path: missing.", fault: faultArguments},
		{name: "types", input: `{"path":7,"edits":{},"limit":0,"mode":"c"}`, want: `edits: want array, got {}; limit: 0 is below 1; mode: want one of [a b], got "c"; path: want string, got 7.`, fault: faultArguments},
		{name: "fraction", input: `{"path":"a","edits":[{"old":"x"}],"limit":1.5}`, want: "limit: want integer, got 1.5.", fault: faultArguments},
		{name: "too few", input: `{"path":"a","edits":[]}`, want: "edits: 0 items", fault: faultArguments},
		{name: "library only", input: `{"path":"a","edits":[{"old":"x"}],"note":5}`, want: "anyOf", fault: faultArguments},
		{name: "number out of range", input: `{"path":"a","edits":[{"old":"x"}],"limit":1e999}`, want: "1e999", fault: faultArguments},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			asked := false
			h := newLoop(t, nil, &fakeTool{name: "edit", schema: editSchema})
			h.Points.BeforeTool = append(h.Points.BeforeTool, func(context.Context, tool.Call) Before { asked = true; return Before{} })
			j := h.Judge(t.Context(), tool.Call{ID: "a", Tool: "edit", Input: json.RawMessage(tt.input)})
			if tt.fault == "" {
				if j.Fault != nil || string(j.Call.Input) != tt.want || j.Decision.Verdict != event.Allow {
					t.Errorf("got %s, fault %+v, %s; want %s", j.Call.Input, j.Fault, j.Decision.Verdict, tt.want)
				}
				return
			}
			if j.Fault == nil || j.Fault.Fault != tt.fault || !j.Fault.IsError || !strings.Contains(j.Fault.Output, tt.want) {
				t.Errorf("got %+v, want %s with %q", j.Fault, tt.fault, tt.want)
			}
			if asked || j.Decision.Verdict != "" {
				t.Error("a call that does not fit went on to the hooks or to permission")
			}
		})
	}
}

func TestSchemasThatAreNotEnforced(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{`null`, `{}`, `{"type":"object","properties":{"a":{"pattern":"("}}}`, `{"type":`, `"x"`} {
		h := newLoop(t, nil, &fakeTool{name: "t", schema: schema})
		if j := h.Judge(t.Context(), tool.Call{Tool: "t", Input: json.RawMessage(`{"a":1}`)}); j.Fault != nil {
			t.Errorf("%s: got %+v", schema, j.Fault)
		}
	}
}

func TestUnknownTool(t *testing.T) {
	t.Parallel()
	h := newLoop(t, nil, &fakeTool{name: "bash"}, &fakeTool{name: "todo_write"}, &fakeTool{name: "read"})
	for _, tt := range []struct{ name, near string }{
		{"Bash", "bash"}, {"TodoWrite", "todo_write"}, {"raed", "read"}, {"read_file", "read"}, {"zzz", ""},
	} {
		r := h.Judge(t.Context(), tool.Call{Tool: tt.name, Input: json.RawMessage(`{}`)}).Fault
		if r == nil || r.Fault != faultUnknown || !strings.Contains(r.Output, "The tools are bash, read, todo_write.") {
			t.Fatalf("%s: got %+v", tt.name, r)
		}
		if got := strings.Contains(r.Output, "Did you mean "+tt.near+"?"); got != (tt.near != "") {
			t.Errorf("%s: got %q, want %q", tt.name, r.Output, tt.near)
		}
	}
}

func TestKnownByNameIsJudgedAndNeverRun(t *testing.T) {
	t.Parallel()
	h := newLoop(t, nil)
	h.Known = func(name string, _ json.RawMessage) (tool.Effects, bool) { return readOnly(tool.Call{}), name == "lsp" }
	c := tool.Call{ID: "a", Tool: "lsp", Input: json.RawMessage(`{}`)}
	if j := h.Judge(t.Context(), c); j.Fault != nil || j.Decision.Verdict == "" {
		t.Errorf("got %+v", j)
	}
	if r := h.Call(t.Context(), c); r.Fault != faultUnknown {
		t.Errorf("got %+v", r)
	}
}

func TestToolsThatBreak(t *testing.T) {
	t.Parallel()
	boom := func(context.Context, tool.Call) (tool.Result, error) { panic("boom") }
	for _, tt := range []struct {
		name string
		tool *fakeTool
		want string
	}{
		{"run panics", &fakeTool{run: boom}, "the tool t broke: boom"},
		{"parallel run panics", &fakeTool{run: boom, parallel: true}, "the tool t broke: boom"},
		{"effects panic", &fakeTool{effects: func(tool.Call) tool.Effects { panic("boom") }}, "broke while it was judged (boom)"},
		{"go error", &fakeTool{run: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("no disk") }}, "could not run: no disk"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.tool.name = "t"
			m := model1(says("", call("a", "t", `{}`), call("b", "t", `{}`)), says("ok"))
			h := newLoop(t, m, tt.tool)
			h.mustRun(t)
			for _, r := range results(m.asked[1]) {
				if !r.IsError || !strings.Contains(r.Output, tt.want) {
					t.Errorf("got %+v, want %q", r, tt.want)
				}
			}
		})
	}
}

// What was judged is what runs: a call whose facts have changed since, here
// because an earlier call of the batch made a link, is judged again.
func TestFactsAreStatedAgainBeforeTheRun(t *testing.T) {
	t.Parallel()
	linked := false
	ran := false
	link := &fakeTool{name: "link", run: func(context.Context, tool.Call) (tool.Result, error) {
		linked = true
		return tool.Result{}, nil
	}}
	read := &fakeTool{name: "read", effects: func(c tool.Call) tool.Effects {
		e := readOnly(c)
		p := tool.Path{Given: "x", Abs: "/w/x", Real: "/w/x"}
		if linked {
			p.Real, p.Outside = "/etc/x", true
		}
		e.Paths = []tool.Path{p}
		return e
	}, run: func(context.Context, tool.Call) (tool.Result, error) { ran = true; return tool.Result{}, nil }}
	h := newLoop(t, model1(says("", call("a", "link", `{}`), call("b", "read", `{}`)), says("ok")), link, read)
	res := h.mustRun(t)
	if ran || len(res.Denials) != 1 || res.Denials[0].Stage != event.StageOutside {
		t.Errorf("ran %v, denials %+v", ran, res.Denials)
	}
	if n := len(bodies[event.ToolStart](h)); n != 1 {
		t.Errorf("got %d tool_start, want 1", n)
	}
}

func TestCallAlone(t *testing.T) {
	t.Parallel()
	h := newLoop(t, nil, look())
	r := h.Call(t.Context(), tool.Call{ID: "c1.1", Tool: "read", Input: json.RawMessage(`{"n":1}`)})
	if r.IsError || r.Output != `read {"n":1}` {
		t.Errorf("got %+v", r)
	}
	if got, want := h.types(), "tool_start tool_end"; got != want {
		t.Errorf("events: got %s, want %s", got, want)
	}
}

// A tool may call tools: the loop must not hold a lock while it runs.
func TestToolThatCallsTools(t *testing.T) {
	t.Parallel()
	var h *harness
	outer := &fakeTool{name: "outer", run: func(ctx context.Context, c tool.Call) (tool.Result, error) {
		return h.Call(ctx, tool.Call{ID: c.ID + ".1", Tool: "read", Input: json.RawMessage(`{}`)}), nil
	}}
	h = newLoop(t, model1(says("", call("a", "outer", `{}`)), says("ok")), outer, look())
	h.mustRun(t)
	if got, want := h.types(), "init user assistant usage tool_start tool_start tool_end tool_end text_delta assistant usage result"; got != want {
		t.Errorf("events: got %s\nwant %s", got, want)
	}
}

func TestCapOutput(t *testing.T) {
	t.Parallel()
	short := strings.Repeat("a", maxOutput)
	if got := brief(short); got != short {
		t.Errorf("%d bytes were cut to %d", maxOutput, len(got))
	}
	long := strings.Repeat("ä", 30_000) + "\xff"
	got := brief(long)
	if len(got) > maxOutput+80 || !strings.Contains(got, "bytes left out") || strings.ToValidUTF8(got, "?") != got {
		t.Errorf("got %d bytes, valid %v", len(got), strings.ToValidUTF8(got, "?") == got)
	}
	head, tail, _ := strings.Cut(got, "\n[…")
	if len(head) != 20_000 || !strings.HasSuffix(tail, "\uFFFD") {
		t.Errorf("head %d, tail ends %q", len(head), tail[len(tail)-6:])
	}
}

func TestOutputIsCappedAndMeasured(t *testing.T) {
	t.Parallel()
	big := &fakeTool{name: "big", run: func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Output: strings.Repeat("x", 100_000)}, nil
	}}
	m := model1(says("", call("a", "big", `{}`)), says("ok"))
	h := newLoop(t, m, big)
	h.mustRun(t)
	e := bodies[event.ToolEnd](h)[0]
	if e.Bytes != 100_000 || len(e.Output) > maxOutput+100 {
		t.Errorf("got %d bytes measured, %d kept", e.Bytes, len(e.Output))
	}
	if d := cmp.Diff(results(m.asked[1])[0].Output, e.Output); d != "" {
		t.Errorf("the model saw other text than the event: %s", d)
	}
}

func TestCallsWithoutIDs(t *testing.T) {
	t.Parallel()
	m := model1(says("", call("", "read", `{}`), call("x", "read", `{}`), call("x", "read", `{}`)), says("ok"))
	h := newLoop(t, m, look())
	h.mustRun(t)
	msgs := m.asked[1].Messages
	var ids, answered []string
	for _, c := range callsOf(msgs[1]) {
		ids = append(ids, c.ID)
	}
	for _, r := range results(m.asked[1]) {
		answered = append(answered, r.ID)
	}
	if d := cmp.Diff(answered, ids); d != "" || ids[0] == "" || ids[1] == ids[2] {
		t.Errorf("ids %v, answered %v", ids, answered)
	}
}

func TestBrokenCallIsAnsweredAndTheLoopGoesOn(t *testing.T) {
	t.Parallel()
	m := model1(
		stops(model.MaxTokens, "", model.Call{ID: "a", Tool: "read", Broken: `{"n":`}, model.Call{ID: "b", Tool: "read"}),
		says("", model.Call{ID: "c", Tool: "read"}, model.Call{ID: "d", Tool: "read", Broken: `"{\"n\":1}"`}),
		says("ok"))
	h := newLoop(t, m, look())
	if res := h.mustRun(t); res.StopReason != event.StopEndTurn {
		t.Fatalf("got %s", res.StopReason)
	}
	var got []string
	for _, e := range bodies[event.ToolEnd](h) {
		got = append(got, e.ID+" "+e.Fault)
	}
	// nothing at all is a call without arguments, but not in a message that was cut
	if d := cmp.Diff(got, []string{"a invalid_json", "b invalid_json", "c ", "d "}); d != "" {
		t.Errorf("got-, want+\n%s", d)
	}
}

// What step 1 lets through fits the schema, and goes through unchanged a
// second time: a hook's rewrite is validated by the same rules.
func FuzzValidate(f *testing.F) {
	f.Add(`{"path":"a","edits":[{"old":"x"}],"limit":"3","note":null,"Path":1}`)
	f.Add(`"{\"path\":\"a\",\"edits\":\"[{\\\"old\\\":1}]\"}"`)
	f.Fuzz(func(t *testing.T, input string) {
		l := &Loop{}
		s := (&fakeTool{name: "edit", schema: editSchema}).Spec()
		once, fault := l.validate(s, []byte(input))
		if fault != nil {
			return
		}
		twice, fault := l.validate(s, once)
		if fault != nil || string(twice) != string(once) {
			t.Fatalf("%s became %s and then %s, %+v", input, once, twice, fault)
		}
	})
}
