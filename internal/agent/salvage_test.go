package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
)

func offersRead(name string) bool { return name == "read" || name == "edit" }

// salvaged gives an answer's blocks in short: texts in quotes, calls with
// their input.
func salvaged(text string) []string {
	m := model.Message{Role: model.Assistant, Blocks: []model.Block{{Text: text}}}
	salvage(&m, offersRead)
	var out []string
	for _, b := range m.Blocks {
		switch {
		case b.Call == nil:
			out = append(out, fmt.Sprintf("%q", b.Text))
		case b.Call.Broken != "":
			out = append(out, b.Call.Tool+" broken "+b.Call.Broken)
		default:
			out = append(out, b.Call.Tool+" "+string(b.Call.Input))
		}
	}
	return out
}

var salvageCases = []struct {
	text string
	want []string // nil: it stays text
}{
	{"Hi.\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"n\": 1}}\n</tool_call>", []string{`"Hi."`, `read {"n": 1}`}},
	{`<tool_call>{"name":"read","arguments":{"n":1}}</tool_call><tool_call>{"name":"edit","parameters":{}}</tool_call>`, []string{`read {"n":1}`, `edit {}`}},
	{`a <tool_call>{"name":"read"}</tool_call> b`, []string{`"a  b"`, `read {}`}},
	{`<tool_call>{"tool":"read","input":{"n":2}}</tool_call>`, []string{`read {"n":2}`}},
	{`<tool_call>{"name":"read","arguments":"{\"n\":3}"}</tool_call>`, []string{`read {"n":3}`}},
	{`<tool_call>{"type":"function","function":{"name":"read","arguments":null}}</tool_call>`, []string{`read {}`}},
	{`<tool_call>[{"name":"read"},{"name":"edit"}]</tool_call>`, []string{`read {}`, `edit {}`}},
	{`<tool_call>{"name":"read","arguments":{"n":1}}`, []string{`read {"n":1}`}},
	{`<tool_call>{"name":"read","arguments":{"n":`, []string{`read broken {"name":"read","arguments":{"n":`}},
	{`<tool_call>{"name":"read","arguments":{n:1}}</tool_call>`, []string{`read broken {"name":"read","arguments":{n:1}}`}},
	{`<tool_call>{"name":"read","arguments":{"s":"</tool_call>"}}</tool_call>`, []string{`read {"s":"</tool_call>"}`}},
	{"<tool_call>{\"name\":\"read\",\"arguments\":{\"s\":\"```\"}}</tool_call><tool_call>{\"name\":\"edit\"}</tool_call>", []string{"read {\"s\":\"```\"}", "edit {}"}},
	{`<tool_call>{"name":"rm","arguments":{}}</tool_call>`, nil},
	{`<tool_call>[{"name":"read"},{"name":"rm"}]</tool_call>`, nil},
	{`<tool_call>{"name":"rm","arguments":{</tool_call>`, nil},
	{`<tool_call>read</tool_call>`, nil},
	{`<tool_call>`, nil},
	{`<tool_call>{}</tool_call>`, nil},
	{"It is written `<tool_call>{\"name\":\"read\"}</tool_call>`.", nil},
	{"```\n<tool_call>{\"name\":\"read\"}</tool_call>\n```", nil},
	{"```\ncode\n```\n<tool_call>{\"name\":\"read\"}</tool_call>", []string{"\"```\\ncode\\n```\"", "read {}"}},
	{`<tool_cal l> < <t <tool_call`, nil},
}

func TestSalvage(t *testing.T) {
	t.Parallel()
	for _, tt := range salvageCases {
		want := tt.want
		if want == nil {
			want = []string{fmt.Sprintf("%q", tt.text)}
		}
		if d := cmp.Diff(salvaged(tt.text), want); d != "" {
			t.Errorf("%s: got-, want+\n%s", tt.text, d)
		}
	}
}

// The gate's output must not depend on how the answer was cut into pieces,
// and no tag of a call that is taken may pass.
func TestGatePieces(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, tt := range salvageCases {
		whole := gate{offers: offersRead}
		want := whole.write(tt.text) + whole.end(true)
		if tt.want == nil && want != tt.text {
			t.Errorf("%s: got %q", tt.text, want)
		}
		for range 200 {
			g := gate{offers: offersRead}
			got := ""
			for rest := tt.text; rest != ""; {
				n := 1 + r.IntN(len(rest))
				got += g.write(rest[:n])
				rest = rest[n:]
			}
			got += g.end(true)
			if got != want || len(g.calls) != len(whole.calls) {
				t.Fatalf("%s: got %q with %d calls, want %q with %d", tt.text, got, len(g.calls), want, len(whole.calls))
			}
		}
	}
}

func FuzzGate(f *testing.F) {
	for _, tt := range salvageCases {
		f.Add(tt.text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		if !utf8.ValidString(text) || at < 0 || at > len(text) {
			return
		}
		whole, cut := gate{offers: offersRead}, gate{offers: offersRead}
		want := whole.write(text) + whole.end(true)
		if got := cut.write(text[:at]) + cut.write(text[at:]) + cut.end(true); got != want {
			t.Errorf("%q cut at %d: got %q, want %q", text, at, got, want)
		}
		if len(whole.calls) == 0 && want != text {
			t.Errorf("%q: got %q without a call", text, want)
		}
	})
}

// streams gives the text in small pieces.
func streams(text string, err error) turnFunc {
	return func(_ context.Context, _ model.Request, on func(model.Delta)) (*model.Answer, error) {
		for i := 0; i < len(text); i += 3 {
			on(model.Delta{Text: text[i:min(i+3, len(text))]})
		}
		if err != nil {
			return nil, err
		}
		return &model.Answer{Stop: model.EndTurn, Message: model.Message{Role: model.Assistant, Blocks: []model.Block{{Text: text}}}}, nil
	}
}

func streamedText(h *harness) string {
	var b strings.Builder
	for _, d := range bodies[event.TextDelta](h) {
		b.WriteString(d.Text)
	}
	return b.String()
}

func TestTextCallsAreRunAndKeptOffTheStream(t *testing.T) {
	t.Parallel()
	const said = "Hi.\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"n\": 1}}\n</tool_call>"
	h := newLoop(t, model1(streams(said, nil), streams("<done>", nil)), look())
	res := h.mustRun(t)
	if got := streamedText(h); got != "Hi.\n<done>" || res.Result != "<done>" || res.Turns != 2 {
		t.Errorf("got %q, result %q after %d turns", got, res.Result, res.Turns)
	}
	if e := bodies[event.ToolEnd](h); len(e) != 1 || e[0].Output != `read {"n":1}` || e[0].ID == "" {
		t.Errorf("got %+v", e)
	}
	if a := bodies[event.Assistant](h)[0]; a.Text != "Hi." || len(a.Calls) != 1 {
		t.Errorf("got %+v", a)
	}
}

func TestTextCallsThatAreNotTaken(t *testing.T) {
	t.Parallel()
	const said = `<tool_call>{"name":"read"}</tool_call> or so`
	for name, tt := range map[string]struct {
		turn turnFunc
		set  func(*Loop)
		fail bool
	}{
		"switched off":  {turn: streams(said, nil), set: func(l *Loop) { l.NoSalvage = true }},
		"another call":  {turn: beside(said)},
		"answer is cut": {turn: streams(said, &model.Error{Message: "gone"}), fail: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newLoop(t, model1(tt.turn, says("")), look())
			if tt.set != nil {
				tt.set(h.Loop)
			}
			if _, err := h.Run(t.Context(), "go"); (err != nil) != tt.fail {
				t.Fatalf("got %v", err)
			}
			if got := streamedText(h); len(got) != len(said) || !strings.Contains(got, `<tool_call>{"name":"read"}</tool_call>`) {
				t.Errorf("streamed %q, want all of it", got)
			}
			if a := bodies[event.Assistant](h)[0]; !strings.HasPrefix(a.Text, said[:20]) && !tt.fail {
				t.Errorf("got %q", a.Text)
			}
		})
	}
}

// beside answers with a text and a call of its own.
func beside(text string) turnFunc {
	return says(text, call("own", "read", `{}`))
}
