package talk

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"larva.dev/larva/internal/tool"
)

func use(t *testing.T, l *Line, name, input string) tool.Result {
	t.Helper()
	for _, tl := range New(l) {
		if tl.Spec().Name == name {
			r, err := tl.Run(t.Context(), tool.Call{ID: "1", Tool: name, Input: json.RawMessage(input)})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
	}
	t.Fatalf("no tool %s", name)
	return tool.Result{}
}

func wants(t *testing.T, r tool.Result, isError bool, want string) {
	t.Helper()
	if r.IsError != isError || !strings.Contains(r.Output, want) || want == "" && r.Output != "" {
		t.Errorf("got %q error %v, want %q error %v", r.Output, r.IsError, want, isError)
	}
}

func TestSpecsAndEffects(t *testing.T) {
	t.Parallel()
	var names []string
	for _, tl := range New(&Line{}) {
		s := tl.Spec()
		names = append(names, s.Name)
		var schema struct {
			Type       string         `json:"type"`
			Properties map[string]any `json:"properties"`
			Required   []string       `json:"required"`
		}
		if err := json.Unmarshal(s.Schema, &schema); err != nil || schema.Type != "object" || len(schema.Required) == 0 || schema.Properties[schema.Required[0]] == nil {
			t.Errorf("%s: schema %s: %v", s.Name, s.Schema, err)
		}
		if n := len(s.Description); n < 40 || n > 400 {
			t.Errorf("%s: description of %d bytes, want 40 to 400", s.Name, n)
		}
		if e := tl.Effects(tool.Call{Input: json.RawMessage(`{`)}); e.Touches || !e.ReadOnly || len(e.Needs) > 0 || len(e.Paths) > 0 || e.Network {
			t.Errorf("%s: effects %+v, want none", s.Name, e)
		}
		if r := use(t, &Line{}, s.Name, `{"todos":7,"question":7,"plan":7,"tool_call_id":7}`); !r.IsError {
			t.Errorf("%s: numbers for arguments: got %q, want an error", s.Name, r.Output)
		}
	}
	if got := strings.Join(names, " "); got != "todo_write ask_user exit_plan_mode raw_output" {
		t.Errorf("got %s", got)
	}
}

func TestTodoWrite(t *testing.T) {
	t.Parallel()
	one := func(status string) string {
		return fmt.Sprintf(`{"content":"c","status":%q,"active_form":"doing"}`, status)
	}
	many := func(n int) string { return strings.TrimSuffix(strings.Repeat(one("pending")+",", n), ",") }
	for _, tt := range []struct {
		todos   string
		isError bool
		want    string
	}{
		{"", false, "the list is empty"},
		{one("completed") + "," + one("in_progress") + "," + one("pending"), false, "the list has 3: 1 completed, 1 in progress, 1 pending"},
		{many(50), false, "50 pending"},
		{many(51), true, "51 todos; 50 at most"},
		{one("in_progress") + "," + one("in_progress"), true, "2 todos are in progress"},
		{one("done"), true, `todo 1: status "done"`},
		{one("pending") + `,{"content":" ","status":"pending"}`, true, "todo 2: content is empty"},
	} {
		wants(t, use(t, &Line{}, "todo_write", `{"todos":[`+tt.todos+`]}`), tt.isError, tt.want)
	}
}

func TestAskUser(t *testing.T) {
	t.Parallel()
	const in = `{"question":"Which?","options":["a","b"]}`
	wants(t, use(t, &Line{}, "ask_user", in), true, "nobody is there")
	var asked string
	l := &Line{Ask: func(_ context.Context, q string, o []string) (string, bool) {
		asked = q + fmt.Sprint(o)
		return "b", true
	}}
	wants(t, use(t, l, "ask_user", in), false, "b")
	if asked != "Which?[a b]" {
		t.Errorf("asked %q", asked)
	}
	asked = ""
	wants(t, use(t, l, "ask_user", `{"question":" "}`), true, "question is empty")
	wants(t, use(t, l, "ask_user", `{"question":"x","options":["1","2","3","4","5","6","7","8","9","10"]}`), true, "10 options; 9 at most")
	if asked != "" {
		t.Errorf("asked %q, want nobody bothered", asked)
	}
	l.Ask = func(context.Context, string, []string) (string, bool) { return "", false }
	wants(t, use(t, l, "ask_user", in), true, "gave no answer")
	l.Ask = func(context.Context, string, []string) (string, bool) { return " ", true }
	wants(t, use(t, l, "ask_user", in), false, "(an empty answer)")
	ctx, cancel := context.WithCancel(t.Context())
	l.Ask = func(context.Context, string, []string) (string, bool) { cancel(); return "", false }
	r, err := askTool{l}.Run(ctx, tool.Call{Input: json.RawMessage(in)})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, r, true, "was not answered")
}

func TestExitPlanMode(t *testing.T) {
	t.Parallel()
	on := &Line{Planning: func() bool { return true }}
	wants(t, use(t, on, "exit_plan_mode", `{"plan":"do it"}`), false, "has accepted the plan")
	wants(t, use(t, on, "exit_plan_mode", `{"plan":" \n"}`), true, "the plan is empty")
	wants(t, use(t, &Line{}, "exit_plan_mode", `{"plan":"do it"}`), false, "Plan mode is not on")
}

func TestRawOutput(t *testing.T) {
	t.Parallel()
	kept := map[string][]byte{"text": []byte("hello\x1b[0m\n"), "empty": {}, "bytes": {0xff, 0x00, 0xfe}, "long": bytes.Repeat([]byte("0123456789"), 3000)}
	l := &Line{Raw: func(id string) ([]byte, error) {
		if data, ok := kept[id]; ok {
			return data, nil
		}
		return nil, errors.New("no whole output of call " + id + " is kept")
	}}
	for _, tt := range []struct {
		in      string
		isError bool
		want    string
	}{
		{`{"tool_call_id":"text"}`, false, "hello\x1b[0m\n"},
		{`{"tool_call_id":"text","offset":1,"limit":3}`, false, "[bytes 1 to 4 of 10; go on with offset 4]\nell"},
		{`{"tool_call_id":"text","offset":8}`, false, "[bytes 8 to 10, the end]\nm\n"},
		{`{"tool_call_id":"text","offset":10}`, true, "offset 10 is past the end: the output has 10 bytes"},
		{`{"tool_call_id":"text","offset":1e300}`, true, "is past the end"},
		{`{"tool_call_id":"empty"}`, false, "(the output is empty)"},
		{`{"tool_call_id":"bytes"}`, false, "[base64 of bytes 0 to 3, the end]\n/wD+"},
		{`{"tool_call_id":"none"}`, true, "no whole output of call none is kept"},
	} {
		wants(t, use(t, l, "raw_output", tt.in), tt.isError, tt.want)
	}
	wants(t, use(t, &Line{}, "raw_output", `{"tool_call_id":"x"}`), true, "no outputs are kept")
	r := use(t, l, "raw_output", `{"tool_call_id":"long","limit":99999}`)
	if want := "[bytes 0 to 20000 of 30000; go on with offset 20000]\n" + string(kept["long"][:20000]); r.Output != want {
		t.Errorf("got %d bytes %.80q, want 20000 after a line", len(r.Output), r.Output)
	}
}

// Read piece by piece, whatever the size of the pieces, an output comes out
// byte for byte.
func FuzzPieces(f *testing.F) {
	f.Add([]byte("äöü and more äöü"), 3)
	f.Add([]byte{0xff, 'a', 0xc3, 0xa4}, 1)
	f.Add([]byte("日本語"), 1)
	f.Fuzz(func(t *testing.T, data []byte, limit int) {
		if limit < 1 || limit > 100 || len(data) == 0 {
			return
		}
		l := &Line{Raw: func(string) ([]byte, error) { return data, nil }}
		var all []byte
		for at := 0; ; {
			r := use(t, l, "raw_output", fmt.Sprintf(`{"tool_call_id":"x","offset":%d,"limit":%d}`, at, limit))
			if r.IsError || len(r.Output) > 30_000 {
				t.Fatalf("got %q", r.Output)
			}
			if limit >= len(data) && r.Output == string(data) {
				return
			}
			head, text, ok := strings.Cut(r.Output, "\n")
			if !ok {
				t.Fatalf("got %q, want a line first", r.Output)
			}
			var from, to int
			form := strings.TrimPrefix(head, "[base64 of ")
			if _, err := fmt.Sscanf(strings.TrimPrefix(form, "["), "bytes %d to %d", &from, &to); err != nil || to <= at {
				t.Fatalf("got %q at %d: %v", head, at, err)
			}
			piece := []byte(text)
			if form != head {
				var err error
				if piece, err = base64.StdEncoding.DecodeString(text); err != nil {
					t.Fatal(err)
				}
			}
			if from > at || len(piece) != to-from {
				t.Fatalf("got %q with %d bytes at %d", head, len(piece), at)
			}
			all = append(all, piece[at-from:]...)
			if strings.HasSuffix(head, "the end]") {
				break
			}
			at = to
		}
		if !bytes.Equal(all, data) {
			t.Errorf("got %q, want %q", all, data)
		}
	})
}
