package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/tool"
)

// used lets a turn say how many tokens it took.
func used(n int, f turnFunc) turnFunc {
	return func(ctx context.Context, r model.Request, on func(model.Delta)) (*model.Answer, error) {
		a, err := f(ctx, r, on)
		if a != nil {
			a.Usage = event.Usage{InputTokens: n - 1, OutputTokens: 1}
		}
		return a, err
	}
}

func overflow(context.Context, model.Request, func(model.Delta)) (*model.Answer, error) {
	return nil, model.Refused("fake/one", 400, "context_length_exceeded", "too long", 0)
}

// lastText is what a request ends with.
func lastText(r model.Request) string {
	m := r.Messages[len(r.Messages)-1]
	return m.Blocks[len(m.Blocks)-1].Text
}

func TestCompactionTrigger(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		window   int
		measured int
		compacts bool
	}{
		{"at four fifths", 10_000, 8000, false},
		{"one above", 10_000, 8001, true},
		{"unknown window, at four fifths of 128k", 0, 102_400, false},
		{"unknown window, one above", 0, 102_401, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := model1(used(tt.measured, says("", call("a", "read", `{}`))), says("<summary>S</summary>"), says("end"))
			h := newLoop(t, m, look())
			h.ContextWindow = tt.window
			h.mustRun(t)
			if got := len(bodies[event.Compacted](h)) == 1; got != tt.compacts {
				t.Errorf("compacted: got %v, want %v", got, tt.compacts)
			}
		})
	}
}

func TestCompaction(t *testing.T) {
	t.Parallel()
	m := model1(
		says("", call("t", "todo_write", `{"todos":[{"content":"mend it","status":"in_progress","active_form":"x"},{"content":"look","status":"completed","active_form":"x"}]}`)),
		used(8001, says("reading", call("a", "read", `{}`))),
		says("thinking <summary>it was read</summary>"),
		says("", call("b", "read", `{"n":2}`)),
		says("end"))
	todo := &fakeTool{name: "todo_write", schema: `{"type":"object"}`}
	h := newLoop(t, m, look(), todo)
	h.ContextWindow = 10_000
	h.Params = []model.Param{{Key: "max_tokens", Value: json.RawMessage("5")}, {Key: "temperature", Value: json.RawMessage("0")}}
	forgot := 0
	h.Compaction = Compaction{Prompt: "Keep names.", Transcript: "/d/s1.jsonl", Forget: func() { forgot++ }, MaxOutput: 100_000}
	var log []string
	h.Points.BeforeCompact = append(h.Points.BeforeCompact, func(_ context.Context, trigger string) Said {
		log = append(log, "before "+trigger)
		return Said{Name: "k", Context: "Keep the port."}
	})
	h.Points.AfterCompact = append(h.Points.AfterCompact, func(_ context.Context, trigger, summary string) { log = append(log, "after "+trigger+" "+summary) })
	res := h.mustRun(t)
	if res.Result != "end" || res.Turns != 4 || forgot != 1 {
		t.Errorf("got %q, %d turns, forgot %d times", res.Result, res.Turns, forgot)
	}
	if d := cmp.Diff(log, []string{"before auto", "after auto it was read"}); d != "" {
		t.Errorf("points: got-, want+\n%s", d)
	}
	asked := m.asked[2]
	if want := "Keep names.\n\n<hook-context source=\"k\">\nKeep the port.\n</hook-context>\n\n" + summaryForm; lastText(asked) != want {
		t.Errorf("instruction: got %q\nwant %q", lastText(asked), want)
	}
	if asked.System != "sys" || len(asked.Tools) != 2 || asked.MaxTokens != 4096 || asked.Number != 3 || len(asked.Params) != 1 || asked.CacheKey != "s1" {
		t.Errorf("got system %q, %d tools, %d tokens, number %d, params %v, key %q", asked.System, len(asked.Tools), asked.MaxTokens, asked.Number, asked.Params, asked.CacheKey)
	}
	if n := len(m.asked[1].Messages); !cmp.Equal(asked.Messages[:n], m.asked[1].Messages) {
		t.Error("the request for a summary does not begin with the conversation")
	}
	after := m.asked[3].Messages
	if len(after) != 1 || after[0].Role != model.User {
		t.Fatalf("got %d messages, want the summary alone", len(after))
	}
	text := after[0].Blocks[0].Text
	for _, want := range []string{"<summary>\nit was read\n</summary>", "/d/s1.jsonl", "grep", "- mend it (in_progress)", "<request>\ngo\n</request>", "Continue the work"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want it to hold %q", text, want)
		}
	}
	if strings.Contains(text, "look (completed)") {
		t.Error("a todo that is done is carried over")
	}
	c := bodies[event.Compacted](h)
	if len(c) != 1 || c[0].Before != 8001 || c[0].After >= c[0].Before || c[0].Summary != text {
		t.Errorf("compacted: got %+v", c)
	}
	// its cost stands on the bill, and the window is as full as it is now
	spent := bodies[event.Spent](h)
	if got, want := spent[len(spent)-1].Total.InputTokens, 10+8000+10+10+10; got != want {
		t.Errorf("input tokens: got %d, want %d", got, want)
	}
	if len(bodies[event.TextDelta](h)) != 2 {
		t.Error("the summary was streamed as if it were the answer")
	}
}

func TestCompactionBeforeAPrompt(t *testing.T) {
	t.Parallel()
	m := model1(says("<summary>S</summary>"), says("end"))
	h := newLoop(t, m)
	h.ContextWindow, h.Source = 1000, "resume"
	h.History = []model.Message{
		{Role: model.User, Blocks: []model.Block{{Text: strings.Repeat("old ", 900)}}},
		{Role: model.Assistant, Blocks: []model.Block{{Text: "yes"}}}}
	h.mustRun(t)
	text := m.asked[1].Messages[0].Blocks
	if len(m.asked[1].Messages) != 1 || len(text) != 2 || text[1].Text != "go" || strings.Contains(text[0].Text, "Continue the work") || strings.Contains(text[0].Text, "<request>") {
		t.Errorf("got %+v", m.asked[1].Messages)
	}
	if len(h.History) != 2 || len(h.History[1].Blocks) != 1 {
		t.Error("History was changed")
	}
}

func TestOverflowCompactsOnceAndAsksAgain(t *testing.T) {
	t.Parallel()
	m := model1(says("", call("a", "read", `{}`)), overflow, says("no tags here"), says("end"))
	h := newLoop(t, m, look())
	res := h.mustRun(t)
	if res.Result != "end" || res.Turns != 2 || len(m.asked) != 4 || len(m.asked[3].Messages) != 1 {
		t.Errorf("got %q, %d turns, %d requests", res.Result, res.Turns, len(m.asked))
	}
	if got := m.asked[3].Number; got != 4 {
		t.Errorf("number of the request: got %d, want 4", got)
	}
}

func TestOverflowThatStaysIsFatal(t *testing.T) {
	t.Parallel()
	for name, turns := range map[string][]turnFunc{
		"no summary": {says("", call("a", "read", `{}`)), overflow, says("")},
		"no room":    {says("", call("a", "read", `{}`)), overflow},
		"again":      {says("", call("a", "read", `{}`)), overflow, says("S"), overflow},
		"other fault": {says("", call("a", "read", `{}`)), overflow, func(context.Context, model.Request, func(model.Delta)) (*model.Answer, error) {
			return nil, errors.New("down")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newLoop(t, model1(turns...), look())
			failed := ""
			h.Points.StopFailure = append(h.Points.StopFailure, func(_ context.Context, m string) { failed = m })
			res, err := h.Run(t.Context(), "go")
			if e := diag.As(err); e == nil || e.ExitCode() != 7 || res.ExitCode != 7 || failed != e.Message {
				t.Errorf("got %v, exit %d, told %q", err, res.ExitCode, failed)
			}
		})
	}
}

func TestFailedCompactionIsNotRetriedButOverflowIs(t *testing.T) {
	t.Parallel()
	full := func(n int) turnFunc {
		return used(9000, says("", call("a", "read", fmt.Sprintf(`{"n":%d}`, n))))
	}
	m := model1(full(1), says(""), full(2), overflow, says("<summary>S"), says("end"))
	h := newLoop(t, m, look())
	h.ContextWindow = 10_000
	res := h.mustRun(t)
	if res.Result != "end" || len(m.asked) != 6 || len(bodies[event.Compacted](h)) != 1 {
		t.Errorf("got %q after %d requests", res.Result, len(m.asked))
	}
	if len(res.Notices) != 1 || !strings.Contains(res.Notices[0], "could not be summarised") {
		t.Errorf("notices: got %q", res.Notices)
	}
}

func TestNoCompactionWhereItCannotHelp(t *testing.T) {
	t.Parallel()
	m := model1(used(9000, says("", call("a", "read", `{}`))), says("end"))
	h := newLoop(t, m, look())
	h.ContextWindow, h.System = 1000, strings.Repeat("long ", 1000)
	if h.mustRun(t); len(m.asked) != 2 {
		t.Errorf("got %d requests, want 2: the fixed part alone fills the window", len(m.asked))
	}
}

func TestBeforeCompactBlocksAndHalts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		said   Said
		reason event.StopReason
		result string
	}{
		{Said{Name: "k", Block: "not now"}, event.StopEndTurn, "end"},
		{Said{Name: "k", Halt: "enough"}, event.StopHookStopped, "w"},
	} {
		m := model1(used(9000, says("w", call("a", "read", `{}`))), says("end"))
		h := newLoop(t, m, look())
		h.ContextWindow = 10_000
		h.Points.BeforeCompact = append(h.Points.BeforeCompact, func(context.Context, string) Said { return tt.said })
		res := h.mustRun(t)
		if res.StopReason != tt.reason || res.Result != tt.result || len(bodies[event.Compacted](h)) != 0 {
			t.Errorf("%+v: got %s, %q", tt.said, res.StopReason, res.Result)
		}
	}
}

func TestCompactionByAnotherModel(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"it answers": true, "it fails": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := &fakeModel{name: "fake/two", turns: []turnFunc{says("<summary>two</summary>")}}
			if !ok {
				other.turns = []turnFunc{func(context.Context, model.Request, func(model.Delta)) (*model.Answer, error) {
					return nil, errors.New("down")
				}}
			}
			turns := []turnFunc{used(9000, says("", call("a", "read", `{}`)))}
			if !ok {
				turns = append(turns, says("<summary>one</summary>"))
			}
			m := model1(append(turns, says("end"))...)
			h := newLoop(t, m, look())
			h.ContextWindow = 10_000
			h.Params = []model.Param{{Key: "thinking", Value: json.RawMessage(`{}`)}}
			h.Compaction.Model = other
			h.mustRun(t)
			c := bodies[event.Compacted](h)
			want := map[bool]string{true: "two", false: "one"}[ok]
			if len(c) != 1 || !strings.Contains(c[0].Summary, want) {
				t.Errorf("got %+v, want the summary of %s", c, want)
			}
			if r := other.asked[0]; r.Model != "two" || len(r.Params) != 0 {
				t.Errorf("got model %q, params %v: they are the other model's", r.Model, r.Params)
			}
		})
	}
}

func TestExtractSummary(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<summary>a</summary>":              "a",
		"so\n<summary>\na\n</summary>\nbye": "a",
		"a":                                 "a",
		"x <summary>a":                      "a",
		"a</summary>":                       "a",
		"<summary><summary>a</summary></summary>":          "a",
		"<summary>\n<summary>a</summary>":                  "a",
		"<summary>tag <summary> is read</summary>":         "tag <summary> is read",
		"<summary></summary>":                              "",
		"  ":                                               "",
		"<summary>a</summary> and <summary>b</summary>":    "a</summary> and <summary>b",
		"<summary><summary><summary>":                      "",
		"<analysis>z</analysis><summary>a\n\nb</summary> ": "a\n\nb",
	} {
		if got := extractSummary(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzExtractSummary(f *testing.F) {
	f.Add("<summary>a</summary>")
	f.Fuzz(func(t *testing.T, in string) {
		if got := extractSummary(in); got != strings.TrimSpace(got) || len(got) > len(in) {
			t.Errorf("%q: got %q", in, got)
		}
	})
}

func TestAgeing(t *testing.T) {
	t.Parallel()
	kept := map[string]string{}
	big := &fakeTool{name: "read", run: func(_ context.Context, c tool.Call) (tool.Result, error) {
		return tool.Result{Output: c.ID + strings.Repeat("x", 4000)}, nil // about 1000 tokens
	}}
	raw := &fakeTool{name: "raw_output"}
	var turns []turnFunc
	for i := range 30 {
		turns = append(turns, says("", call(fmt.Sprint("c", i), "read", fmt.Sprintf(`{"n":%d}`, i))))
	}
	m := model1(append(turns, says("end"))...)
	h := newLoop(t, m, big, raw)
	h.ContextWindow = 20_000
	h.KeepRaw = func(id string, data []byte) error {
		if _, twice := kept[id]; twice {
			return errors.New("kept twice")
		}
		kept[id] = string(data)
		return nil
	}
	h.mustRun(t)
	steps := 0
	for i := 1; i < len(m.asked); i++ {
		before, now := m.asked[i-1].Messages, m.asked[i].Messages
		if !cmp.Equal(before, now[:len(before)]) {
			steps++
		}
	}
	if steps < 2 || steps > 4 {
		t.Errorf("the prefix changed %d times in 30 requests, want few", steps)
	}
	if n := len(bodies[event.Compacted](h)); n != 0 {
		t.Errorf("compacted %d times: ageing makes room enough", n)
	}
	last := m.asked[len(m.asked)-1]
	rs := last.Messages[2].Blocks[0].Result
	if !strings.HasPrefix(rs.Output, "[old result left out to save room: 4002 bytes; read it again with raw_output with tool_call_id \"c0\"]") || kept["c0"] == "" || !strings.HasPrefix(kept["c0"], "c0xx") {
		t.Errorf("got %q, kept %d bytes", rs.Output, len(kept["c0"]))
	}
	if out := last.Messages[len(last.Messages)-1].Blocks[0].Result.Output; len(out) < 4000 {
		t.Error("the newest result was aged")
	}
	// what gave way is told, so that a session goes on with the same bytes
	stands := map[string]string{}
	for _, a := range bodies[event.Aged](h) {
		for _, r := range a.Results {
			stands[r.ID] = r.Output
		}
	}
	told := 0
	for _, m := range last.Messages {
		for _, b := range m.Blocks {
			if b.Result == nil || !strings.HasPrefix(b.Result.Output, "[old result") {
				continue
			}
			told++
			if got := stands[b.Result.ID]; got != b.Result.Output {
				t.Errorf("%s: told %q, sent %q", b.Result.ID, got, b.Result.Output)
			}
		}
	}
	if told == 0 || told != len(stands) {
		t.Errorf("told of %d results, sent %d lines in their place", len(stands), told)
	}
	// what the stream said stays whole
	if e := bodies[event.ToolEnd](h)[0]; len(e.Output) < 4000 {
		t.Error("the event was changed")
	}
}

func TestAgeingWithoutAPlaceForOutputs(t *testing.T) {
	t.Parallel()
	r := &run{Loop: newLoop(t, nil, look()).Loop}
	got := r.stub(&model.Result{ID: "a", Output: "12345", Images: make([]tool.Image, 2)})
	if want := "[old result left out to save room: 5 bytes and 2 images; call the tool again where it is needed]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestShrinkLeavesTheConversation(t *testing.T) {
	t.Parallel()
	var msgs []model.Message
	for i := range 8 {
		msgs = append(msgs, model.Message{Role: model.User, Blocks: []model.Block{{Text: fmt.Sprint(i)}, {Result: &model.Result{Output: strings.Repeat("x", 5000)}}}})
	}
	was := estimate(msgs)
	size := was + 1
	for level := range shrinkLevels {
		got := estimate(shrink(msgs, level))
		if got >= size {
			t.Errorf("level %d: got %d tokens, want fewer than %d", level, got, size)
		}
		size = got
	}
	if estimate(msgs) != was {
		t.Error("shrink changed what it was given")
	}
}
