package agent

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/tool"
)

// gives is a read-only tool that answers r.
func gives(r tool.Result) *fakeTool {
	return &fakeTool{name: "read", run: func(context.Context, tool.Call) (tool.Result, error) { return r, nil }}
}

func TestWhatIsCutIsKept(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 40_000)
	for _, tt := range []struct {
		name string
		r    tool.Result
		kept string // "" where nothing is
		says string
	}{
		{"short", tool.Result{Output: "a"}, "", ""},
		{"cut by the loop", tool.Result{Output: long}, long, "10000 of 40000 bytes left out; raw_output with tool_call_id \"c\" gives them"},
		{"cut by the tool", tool.Result{Output: "a…", Raw: []byte(long)}, long, "[the whole output has 40000 bytes: raw_output with tool_call_id \"c\"]"},
		{"no UTF-8", tool.Result{Output: "a\xff"}, "a\xff", ""},
		{"failed", tool.Result{Output: long, IsError: true}, long, "raw_output"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := model1(says("", call("c", "read", `{}`)), says("end"))
			h := newLoop(t, m, gives(tt.r), &fakeTool{name: "raw_output"})
			kept := ""
			h.KeepRaw = func(id string, data []byte) error { kept += id + ":" + string(data); return nil }
			h.mustRun(t)
			want := ""
			if tt.kept != "" {
				want = "c:" + tt.kept
			}
			if kept != want {
				t.Errorf("kept %d bytes, want %d", len(kept), len(want))
			}
			if out := results(m.asked[1])[0].Output; !strings.Contains(out, tt.says) || len(out) > maxOutput+200 {
				t.Errorf("got %d bytes, want them to say %q", len(out), tt.says)
			}
		})
	}
}

func TestWhatCannotBeKeptIsNotPromised(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 40_000)
	for name, tt := range map[string]struct {
		keep  func(string, []byte) error
		tools []tool.Tool
		told  int
	}{
		"nowhere":   {tools: []tool.Tool{&fakeTool{name: "raw_output"}}},
		"no tool":   {keep: func(string, []byte) error { return nil }},
		"full disk": {keep: func(string, []byte) error { return errors.New("full") }, tools: []tool.Tool{&fakeTool{name: "raw_output"}}, told: 1},
	} {
		m := model1(says("", call("c", "read", `{}`)), says("end"))
		h := newLoop(t, m, append(tt.tools, gives(tool.Result{Output: long, Raw: []byte(long + long)}))...)
		h.KeepRaw = tt.keep
		res := h.mustRun(t)
		if out := results(m.asked[1])[0].Output; strings.Contains(out, "raw_output") || len(res.Notices) != tt.told {
			t.Errorf("%s: got %d notices, the result promises raw_output: %v", name, len(res.Notices), strings.Contains(out, "raw_output"))
		}
	}
}

func TestMaxOutputOfATool(t *testing.T) {
	t.Parallel()
	h := newLoop(t, nil, wide{gives(tool.Result{Output: strings.Repeat("x", 55_000)})})
	if r := h.Call(t.Context(), tool.Call{ID: "a", Tool: "read", Input: []byte(`{}`)}); len(r.Output) != 55_000 {
		t.Errorf("got %d bytes, want all 55000 that the tool may give", len(r.Output))
	}
}

type wide struct{ *fakeTool }

func (w wide) Spec() tool.Spec { s := w.fakeTool.Spec(); s.MaxOutput = 60_000; return s }

func TestImages(t *testing.T) {
	t.Parallel()
	png := tool.Image{MediaType: "image/png", Data: []byte{1, 2, 3}}
	big := tool.Image{MediaType: "image/png", Data: make([]byte, maxImage+1)}
	m := model1(says("", call("c", "read", `{}`)), says("end"))
	h := newLoop(t, m, gives(tool.Result{Output: "seen", Images: []tool.Image{png, big, png, png, png, png}}))
	h.mustRun(t)
	r := results(m.asked[1])[0]
	if len(r.Images) != 4 || !strings.Contains(r.Output, "[2 images left out") {
		t.Errorf("got %d images, %q", len(r.Images), r.Output)
	}
	e := bodies[event.ToolEnd](h)[0]
	if d := cmp.Diff(e.Images[0], event.Image{MediaType: "image/png", Bytes: 3}); d != "" || len(e.Images) != 4 {
		t.Errorf("event: got-, want+\n%s", d)
	}
	if got := estimate(m.asked[1].Messages); got < 4*imageTokens || got > 4*imageTokens+100 {
		t.Errorf("estimate: got %d tokens", got)
	}
}

func TestAssistantParts(t *testing.T) {
	t.Parallel()
	text := func(s string) model.Block { return model.Block{Text: s} }
	c1, c2 := call("a", "read", `{}`), model.Call{ID: "b", Tool: "read", Broken: "{", Extra: []byte(`{"sig":1}`)}
	raw := &model.Raw{Provider: "p", Model: "m", JSON: []byte(`{"type":"thinking"}`)}
	for _, tt := range []struct {
		name   string
		blocks []model.Block
		parts  []event.Part
	}{
		{"text and calls", []model.Block{text("t"), {Call: &c1}, {Call: &c2}}, nil},
		{"call alone", []model.Block{{Call: &c1}}, nil},
		{"two texts", []model.Block{text("t"), text("u")}, []event.Part{{Text: "t"}, {Text: "u"}}},
		{"text behind a call", []model.Block{{Call: &c1}, text("t")}, []event.Part{{Call: "a"}, {Text: "t"}}},
		{"raw", []model.Block{{Raw: raw}, text("t"), {Call: &c1}}, []event.Part{{Provider: "p", Model: "m", Raw: raw.JSON}, {Text: "t"}, {Call: "a"}}},
	} {
		e := assistant(model.Message{Blocks: tt.blocks})
		if d := cmp.Diff(e.Parts, tt.parts); d != "" {
			t.Errorf("%s: got-, want+\n%s", tt.name, d)
		}
	}
	e := assistant(model.Message{Blocks: []model.Block{{Call: &c2}}})
	if c := e.Calls[0]; c.Broken != "{" || string(c.Extra) != `{"sig":1}` || c.Input != nil {
		t.Errorf("got %+v", c)
	}
}
