package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/event"
)

// theRun is what the loop says of a run with one allowed, one failed, one
// refused and one broken call, and an answer that would paint the terminal.
func theRun() []event.Body {
	in := func(s string) json.RawMessage { return json.RawMessage(s) }
	allowed := event.Decision{Tool: "bash", Verdict: event.Allow, Stage: event.StageSafeList}
	byRule := event.Decision{Tool: "read", Verdict: event.Allow, Stage: event.StageAllowRule, Rule: "read(a\x1b)"}
	byPerson := event.Decision{Tool: "grep", Verdict: event.Allow, Stage: event.StageOutside}
	denied := event.Decision{Tool: "bash", Input: in(`{"command":"git push\u001b[2J\nrm x"}`), Verdict: event.Deny, Stage: event.StageDenyRule,
		Rule: "bash(git push *)", Origin: "default.cue:12", Reason: "a rule refuses it"}
	answer := "Fine.\r\n\x1b]0;owned\x07Really\u202e."
	return []event.Body{
		event.Init{Persona: event.PersonaRef{ID: "rev", Variant: "default"}, Model: "mine/m\x1b", Mode: "plan"}, event.User{Text: "go"},
		event.TextDelta{Text: "Look"}, event.TextDelta{Text: "ing."}, event.ThinkingDelta{Text: "hm"},
		event.Assistant{Text: "Looking."},
		event.ToolStart{ID: "1", Tool: "bash", Input: in(`{"command":"git diff --stat"}`)},
		event.ToolEnd{ID: "1", Tool: "bash", Output: "ok", Decision: &allowed, MS: 1200, Bytes: 2},
		event.ToolStart{ID: "2", Tool: "read", Input: in(`{"path":"a"}`)},
		event.ToolStart{ID: "3", Tool: "grep", Input: in(`{"pattern":"x","path":"src"}`)},
		event.ToolEnd{ID: "2", Tool: "read", Output: "no such file\x1b\nmore", IsError: true, Decision: &byRule},
		event.ToolEnd{ID: "3", Tool: "grep", Decision: &byPerson, MS: 3},
		event.Permission{ID: "4", Decision: denied},
		event.ToolEnd{ID: "4", Tool: "bash", IsError: true, Decision: &denied},
		event.ToolEnd{ID: "5", Tool: "lok", IsError: true, Fault: "unknown_tool", Output: "there is no tool"},
		event.Notice{Text: "something\x1b[1m odd"},
		event.TextDelta{Text: answer}, event.Assistant{Text: answer},
		event.Result{Result: answer, StopReason: event.StopEndTurn, Turns: 2, Usage: event.Usage{InputTokens: 10, OutputTokens: 5},
			Denials: []event.Denial{{Decision: denied}}, DurationMS: 1500},
	}
}

func render(t *testing.T, form string, v View, bodies []event.Body) (stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	r := NewRenderer(form, &out, &err, v)
	for i, b := range bodies {
		r.Event(event.Event{Seq: i + 1, Time: time.Unix(0, 0), Body: b})
	}
	if e := r.Close(); e != nil {
		t.Fatal(e)
	}
	return out.String(), err.String()
}

const (
	rawAnswer   = "Fine.\r\n\x1b]0;owned\x07Really\u202e.\n"
	cleanAnswer = "Fine.\n" + `\u001b]0;owned\u0007Really\u202e.` + "\n"
	deniedLine  = `denied: bash git push\u001b[2J\nrm x: a rule refuses it [deny-rule, rule bash(git push *), default.cue:12]` + "\n"
	noticeLine  = `notice: something\u001b[1m odd` + "\n"
	toolLines   = "✓ bash git diff --stat · 1.2s · 2 B · allowed (safe-list)\n" +
		`✗ read a · 0s · allowed (allow-rule read(a\u001b)) · no such file\u001b` + "\n" +
		"✓ grep x in src · 3ms · allowed by you (outside)\n" +
		"✗ " + deniedLine +
		"✗ lok · unknown_tool · there is no tool\n" +
		noticeLine
	openLine = `— rev (default) · mine/m\u001b · mode plan` + "\n"
	lastLine = "— end_turn · 2 turns · 10 tokens in, 5 out · 1 denied · 1.5s\n"
	viewed   = openLine + "Looking.\n┊ hm\n" + toolLines + `Fine. \u001b]0;owned\u0007Really\u202e.` + "\n" + lastLine
)

func TestTextForm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name           string
		view           View
		stdout, stderr string
	}{
		{"pipes", View{}, rawAnswer, deniedLine + noticeLine},
		{"stdout to a terminal, stderr to a file", View{Out: true}, cleanAnswer, deniedLine + noticeLine},
		{"stdout to a pipe, stderr to a terminal", View{Err: true}, rawAnswer, viewed},
		{"one terminal", View{Out: true, Err: true, Same: true}, "", viewed},
		{"two terminals", View{Out: true, Err: true}, cleanAnswer, viewed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := render(t, "text", tt.view, theRun())
			if out != tt.stdout {
				t.Errorf("stdout:\ngot  %q\nwant %q", out, tt.stdout)
			}
			if err != tt.stderr {
				t.Errorf("stderr:\ngot  %q\nwant %q", err, tt.stderr)
			}
		})
	}
}

func TestFailedRunPrintsNoAnswer(t *testing.T) {
	t.Parallel()
	bodies := []event.Body{event.TextDelta{Text: "I will not"}, event.Assistant{Text: "I will not"}, event.Fault{Code: "MODEL_FAILED", Message: "refused"},
		event.Result{Result: "I will not", StopReason: event.StopRefusal, ExitCode: 7}}
	for _, form := range []string{"text", "json"} {
		if out, _ := render(t, form, View{}, bodies); out != "" {
			t.Errorf("%s: got %q, want nothing: the caller prints the error", form, out)
		}
	}
}

func TestOneNewlineAtTheEnd(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"a": "a\n", "a\n": "a\n", "a\n\n": "a\n\n", "": ""} {
		if got, _ := render(t, "text", View{}, []event.Body{event.Result{Result: in}}); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestJSONForm(t *testing.T) {
	t.Parallel()
	out, err := render(t, "json", View{}, theRun())
	if err != "" || strings.Count(out, "\n") != 1 {
		t.Fatalf("got %q and %q, want one line and silence", out, err)
	}
	var got struct{ Data event.Result }
	if e := json.Unmarshal([]byte(out), &got); e != nil || got.Data.Result+"\n" != rawAnswer || got.Data.Denials[0].Stage != event.StageDenyRule {
		t.Errorf("got %+v, %v", got, e)
	}
	if want := `{"data":{"cost_usd":null,"denials":[{`; !strings.HasPrefix(out, want) {
		t.Errorf("got %s, want sorted keys", out)
	}
}

func TestStreamForm(t *testing.T) {
	t.Parallel()
	out, err := render(t, "stream-json", View{Out: true, Err: true}, theRun())
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if err != "" || len(lines) != len(theRun()) {
		t.Fatalf("got %d lines, stderr %q", len(lines), err)
	}
	for i, l := range lines {
		e, err := event.Decode([]byte(l))
		if err != nil || e.Seq != i+1 || e.Body.Type() != theRun()[i].Type() {
			t.Errorf("line %d: got %+v, %v", i, e, err)
		}
	}
}

type brokenPipe struct{ writes int }

func (b *brokenPipe) Write(p []byte) (int, error) { b.writes++; return 0, errors.New("broken pipe") }

func TestWriteErrorIsKeptAndNotRepeated(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"text", "json", "stream-json"} {
		w := &brokenPipe{}
		r := NewRenderer(form, w, &bytes.Buffer{}, View{})
		for range 3 {
			r.Event(event.Event{Body: event.Result{Result: "x"}})
		}
		if err := r.Close(); err == nil || w.writes != 1 {
			t.Errorf("%s: got %v after %d writes, want the error after 1", form, err, w.writes)
		}
	}
}

func TestViewOf(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if got := viewOf(&b, &b, nil); got.Out || got.Err || got.Same || got.Moving || got.Size != nil {
		t.Errorf("got %+v for buffers", got)
	}
}

func TestAgentsAreLabelled(t *testing.T) {
	t.Parallel()
	var out, errb bytes.Buffer
	r := NewRenderer("text", &out, &errb, View{Err: true})
	for _, b := range []event.Body{event.TextDelta{Text: "inner"}, event.ToolStart{ID: "1", Tool: "read", Input: json.RawMessage(`{"path":"a"}`)}, event.ToolEnd{ID: "1", Tool: "read"}} {
		r.Event(event.Event{Agent: "explore: x", Body: b})
	}
	r.Close()
	if got, want := errb.String(), "[explore: x] ✓ read a · not run\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCallText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, input, want string }{
		{"read", `{"path":"a b"}`, "read a b"},
		{"mcp__x__y", `{"z":[1, 2]}`, `mcp__x__y {"z":[1,2]}`},
		{"todo", `{}`, "todo"},
		{"bad", `{`, "bad"},
		{"bash", `{"command":"` + strings.Repeat("x", 300) + `"}`, "bash " + strings.Repeat("x", 99) + "…"},
		{"ev\x1bil", `{"command":"a\r\nb"}`, `ev\u001bil a\r\nb`},
	} {
		if got := callText(tt.tool, json.RawMessage(tt.input)); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.tool, tt.input, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[2Jb\r\n\t\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range clean(s) {
			if r != '\n' && r != '\t' && unsafeRune(r) {
				t.Fatalf("clean(%q) = %q lets %U through", s, clean(s), r)
			}
		}
		if got := clean(clean(s)); got != clean(s) {
			t.Fatalf("clean is not stable: %q, %q", clean(s), got)
		}
	})
}
