package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"larva.dev/larva/internal/event"
)

func question() event.Question {
	return event.Question{ID: "1", Suggested: "bash(git push *)", Decision: event.Decision{
		Tool: "bash", Input: json.RawMessage(`{"command":"git push\u001b[2J\necho two"}`), Verdict: event.Ask, Stage: event.StageAskRule,
		Reason: "a rule asks\x07", Segments: []event.Segment{{Text: "git push\x1b[2J", Verdict: event.Ask, Stage: event.StageAskRule}, {Text: "echo two", Verdict: event.Allow, Stage: event.StageSafeList}}}}
}

func askPlainly(ctx context.Context, q event.Question, input string) (event.Answer, string) {
	var out bytes.Buffer
	a := &answer{choice: answerNo}
	got := a.plain(ctx, q, &lineSource{in: strings.NewReader(input)}, &out)
	return got, out.String()
}

func TestPlainAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		noAlways bool
		input    string
		want     event.Answer
	}{
		{"once", false, "1\n", event.Answer{Allow: true}},
		{"always", false, "2\n", event.Answer{Allow: true, Always: true}},
		{"no with a reason", false, "3\nuse look  instead \n", event.Answer{Feedback: "use look  instead"}},
		{"no without one", false, "3\n\n", event.Answer{}},
		{"no, then the end", false, "3\n", event.Answer{}},
		{"enter is no", false, "\n\n", event.Answer{}},
		{"the end of input is no", false, "", event.Answer{}},
		{"nonsense, then once", false, "yes\n9\n1\n", event.Answer{Allow: true}},
		{"always is hidden", true, "2\nno\n", event.Answer{Feedback: "no"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			q := question()
			q.NoAlways = tt.noAlways
			got, out := askPlainly(t.Context(), q, tt.input)
			if got != tt.want {
				t.Errorf("got %+v, want %+v\n%s", got, tt.want, out)
			}
			if strings.Contains(out, "Always allow bash(git push *)") == tt.noAlways {
				t.Errorf("always offered: %v\n%s", !tt.noAlways, out)
			}
			if strings.ContainsAny(out, "\x07") || strings.Contains(out, "\x1b[2J") {
				t.Errorf("the question lets control characters through: %q", out)
			}
		})
	}
}

func TestPlainEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	done := make(chan event.Answer)
	go func() {
		a := &answer{choice: answerNo}
		done <- a.plain(ctx, question(), &lineSource{in: r}, io.Discard)
	}()
	cancel()
	if got := <-done; got != (event.Answer{}) {
		t.Errorf("got %+v", got)
	}
}

// One question must not swallow the answer to the next.
func TestTwoQuestionsShareOneInput(t *testing.T) {
	t.Parallel()
	lines := &lineSource{in: strings.NewReader("3\nwhy\n1\n2\n")}
	want := []event.Answer{{Feedback: "why"}, {Allow: true}, {Allow: true, Always: true}}
	for i, w := range want {
		a := &answer{choice: answerNo}
		if got := a.plain(t.Context(), question(), lines, io.Discard); got != w {
			t.Errorf("question %d: got %+v, want %+v", i, got, w)
		}
	}
}

func TestQuestionText(t *testing.T) {
	t.Parallel()
	want := "\nbash wants to run:\n" +
		`  git push\u001b[2J` + "\n  echo two\n" +
		`Asked because: a rule asks\u0007 [ask-rule]` + "\n" +
		`  not yet allowed: git push\u001b[2J [ask-rule]` + "\n\n"
	if got := questionText(question(), style{}); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	q := event.Question{Decision: event.Decision{Tool: "bash", Input: json.RawMessage(`{"command":"a","timeout":5}`)}}
	if got, want := questionText(q, style{}), "\nbash wants to run:\n  a\n  {\n    \"timeout\": 5\n  }\n\n"; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	q.Decision = event.Decision{Tool: "exit_plan_mode", Input: json.RawMessage(`{"plan":"# Plan\n\n1. One\u001b[2J"}`)}
	if got, want := questionText(q, style{}), "\nexit_plan_mode hands in a plan:\n  # Plan\n  \n  1. One\\u001b[2J\n\n"; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got, want := callText(q.Decision.Tool, q.Decision.Input), "exit_plan_mode # Plan"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	q.Decision = event.Decision{Tool: "write", Input: json.RawMessage(`{"path":"x","content":"` + strings.Repeat("y", 9000) + `"}`)}
	if got := questionText(q, style{}); !strings.Contains(got, "bytes not shown") || len(got) > maxShown+200 {
		t.Errorf("got %d bytes", len(got))
	}
}
