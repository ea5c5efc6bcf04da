package event

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func price(f float64) *float64 { return &f }

// lines pins the exact form of every type: a change here is a change of the
// schema that consumers read.
var lines = []struct {
	name string
	body Body
	want string
}{
	{"init", Init{SessionID: "s", Persona: PersonaRef{"p", "v", "sha256:0"}, Model: "m/x", Mode: "default", Sandbox: "none", Cwd: "/w"},
		`"type":"init","session_id":"s","persona":{"id":"p","variant":"v","digest":"sha256:0"},"model":"m/x","mode":"default","tools":[],"servers":[],"skills":[],"sandbox":"none","cwd":"/w"}`},
	{"user", User{Text: "a <b> & \"c\"\n"}, `"type":"user","text":"a <b> & \"c\"\n"}`},
	{"text_delta", TextDelta{Text: "ä"}, `"type":"text_delta","text":"ä"}`},
	{"thinking_delta", ThinkingDelta{Text: "hm"}, `"type":"thinking_delta","text":"hm"}`},
	{"assistant", Assistant{Text: "t"}, `"type":"assistant","text":"t","calls":[]}`},
	{"assistant calls", Assistant{Calls: []Call{{ID: "c1", Tool: "bash", Input: json.RawMessage(`{"command":"a && b"}`)}, {ID: "c2", Tool: "read"}, {ID: "c3", Tool: "read", Input: json.RawMessage(`{"pa`)}}},
		`"type":"assistant","text":"","calls":[{"id":"c1","tool":"bash","input":{"command":"a && b"}},{"id":"c2","tool":"read","input":null},{"id":"c3","tool":"read","input":null}]}`},
	{"permission", Permission{ID: "c1", Decision: Decision{Tool: "bash", Input: json.RawMessage(`{}`), Verdict: Ask, Stage: StageDefault, Reason: "r"}},
		`"type":"permission","id":"c1","decision":{"tool":"bash","input":{},"verdict":"ask","stage":"default","rule":"","origin":"","reason":"r","segments":[]}}`},
	{"permission answered", Permission{ID: "c1", Decision: Decision{Verdict: Deny, Stage: StageAskRule, Rule: "bash(x *)", Origin: "p.cue:3", Unanswered: true, Reasons: []string{"r"},
		Segments: []Segment{{"x y", Ask, StageAskRule, "bash(x *)"}}}, Answer: &Answer{Feedback: "no"}},
		`"type":"permission","id":"c1","decision":{"tool":"","input":null,"verdict":"deny","stage":"ask-rule","rule":"bash(x *)","origin":"p.cue:3","reason":"","segments":[{"text":"x y","verdict":"ask","stage":"ask-rule","rule":"bash(x *)"}],"unanswered":true,"reasons":["r"]},"answer":{"allow":false,"feedback":"no"}}`},
	{"tool_start", ToolStart{"c1", "read", json.RawMessage(`{"path":"a"}`)}, `"type":"tool_start","id":"c1","tool":"read","input":{"path":"a"}}`},
	{"tool_end", ToolEnd{ID: "c1", Tool: "read", Output: "o", MS: 3, Bytes: 1, Decision: &Decision{Tool: "read", Verdict: Allow, Stage: StageReadOnly}},
		`"type":"tool_end","id":"c1","tool":"read","output":"o","is_error":false,"decision":{"tool":"read","input":null,"verdict":"allow","stage":"read-only","rule":"","origin":"","reason":"","segments":[]},"ms":3,"bytes":1}`},
	{"tool_end fault", ToolEnd{ID: "c1", Tool: "x", Output: "o", IsError: true, Fault: "unknown_tool"},
		`"type":"tool_end","id":"c1","tool":"x","output":"o","is_error":true,"decision":null,"ms":0,"bytes":0,"fault":"unknown_tool"}`},
	{"usage", Spent{Model: "m/x", Turn: Usage{1, 2, 3, 4}, Total: Usage{5, 6, 7, 8}, ContextTokens: 10, ContextWindow: 200},
		`"type":"usage","model":"m/x","turn":{"input_tokens":1,"output_tokens":2,"cache_read_tokens":3,"cache_write_tokens":4},"total":{"input_tokens":5,"output_tokens":6,"cache_read_tokens":7,"cache_write_tokens":8},"cost_usd":null,"context_tokens":10,"context_window":200}`},
	{"notice", Notice{Text: "n"}, `"type":"notice","text":"n"}`},
	{"notice code", Notice{Text: "n", Code: "c"}, `"type":"notice","text":"n","code":"c"}`},
	{"error", Fault{"MODEL_FAILED", "down"}, `"type":"error","code":"MODEL_FAILED","message":"down"}`},
	{"result", Result{Result: "r", StopReason: StopEndTurn, SessionID: "s", Turns: 1, CostUSD: price(0.5), DurationMS: 7,
		Denials: []Denial{{Decision{Tool: "bash", Verdict: Deny, Stage: StageCeiling}, "explore"}}},
		`"type":"result","schema":1,"result":"r","stop_reason":"end_turn","exit_code":0,"session_id":"s","persona":{"id":"","variant":"","digest":""},"model":"","turns":1,"usage":{"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0},"cost_usd":0.5,"denials":[{"tool":"bash","input":null,"verdict":"deny","stage":"ceiling","rule":"","origin":"","reason":"","segments":[],"agent":"explore"}],"notices":[],"duration_ms":7}`},
	{"result bare", Result{Structured: json.RawMessage(`{"a":1}`), StopReason: StopBudget, ExitCode: 4},
		`"type":"result","schema":1,"result":"","structured":{"a":1},"stop_reason":"budget","exit_code":4,"session_id":"","persona":{"id":"","variant":"","digest":""},"model":"","turns":0,"usage":{"input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0},"cost_usd":null,"denials":[],"notices":[],"duration_ms":0}`},
}

func TestLines(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 14, 3, 4, 500_000_000, time.FixedZone("", 2*3600))
	seen := map[string]bool{}
	for _, tt := range lines {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Event{Seq: 3, Time: at, Agent: "a", Body: tt.body}.AppendLine(nil)
			if err != nil {
				t.Fatal(err)
			}
			want := `{"v":1,"seq":3,"time":"2026-07-01T12:03:04.5Z",` + strings.Replace(tt.want, `,`, `,"agent":"a",`, 1)
			if string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			back, err := Decode(got)
			if err != nil {
				t.Fatalf("decode: %v", err)
			}
			if back.Seq != 3 || !back.Time.Equal(at) || back.Agent != "a" {
				t.Errorf("head: got %+v", back)
			}
			again, err := back.AppendLine(nil)
			if err != nil || string(again) != string(got) {
				t.Errorf("round trip: got %s, %v\nwant %s", again, err, got)
			}
		})
		seen[tt.body.Type()] = true
	}
	if len(seen) != 12 {
		t.Errorf("got %d types, want all 12", len(seen))
	}
}

func TestMainAgentIsLeftOut(t *testing.T) {
	t.Parallel()
	got, err := Event{Seq: 1, Body: Notice{Text: "x"}}.AppendLine([]byte("> "))
	want := `> {"v":1,"seq":1,"time":"0001-01-01T00:00:00Z","type":"notice","text":"x"}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

func TestInvalidUTF8StillWrites(t *testing.T) {
	t.Parallel()
	got, err := Event{Body: ToolEnd{Output: "a\xffb\x00"}}.AppendLine(nil)
	if err != nil || !json.Valid(got) || !strings.Contains(string(got), `"output":"a\ufffdb\u0000"`) {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ line, want string }{
		{`{"v":2,"seq":4,"time":"2026-01-01T00:00:00Z","type":"user"}`, "schema version 2"},
		{`{"v":1,"seq":4,"time":"yesterday","type":"user"}`, "time"},
		{`{"v":1,"seq":4,"time":"2026-01-01T00:00:00Z","type":"user","text":1}`, "event 4 (user)"},
		{`{"v":1`, "event:"},
	} {
		if _, err := Decode([]byte(tt.line)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.line, err, tt.want)
		}
	}
}

func TestUnknownTypeIsKept(t *testing.T) {
	t.Parallel()
	line := `{"v":1,"seq":4,"time":"2026-01-01T00:00:00Z","type":"from_the_future","x":1}`
	e, err := Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(e.Body, Unknown{Name: "from_the_future", Line: json.RawMessage(line)}); d != "" {
		t.Errorf("got-, want+\n%s", d)
	}
	if _, err := e.AppendLine(nil); err == nil {
		t.Error("an unknown body was written anew; its fields would be lost")
	}
}

func TestNewSessionID(t *testing.T) {
	t.Parallel()
	id := NewSessionID(time.Date(2026, 7, 1, 1, 2, 3, 0, time.FixedZone("", 3600)))
	if !regexp.MustCompile(`^20260701-000203-[0-9a-f]{6}$`).MatchString(id) {
		t.Errorf("got %s", id)
	}
}

// Whatever is read is written again and read the same.
func FuzzDecode(f *testing.F) {
	for _, l := range lines {
		line, err := Event{Seq: 1, Body: l.body}.AppendLine(nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := Decode(line)
		if err != nil {
			return
		}
		if _, ok := e.Body.(Unknown); ok {
			return
		}
		once, err := e.AppendLine(nil)
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", line, err)
		}
		again, err := Decode(once)
		if err != nil {
			t.Fatalf("%s cannot be read: %v", once, err)
		}
		if twice, err := again.AppendLine(nil); err != nil || string(twice) != string(once) {
			t.Fatalf("got %s, %v, want %s", twice, err, once)
		}
	})
}
