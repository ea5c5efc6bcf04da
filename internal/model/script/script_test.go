package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/profile"
)

func user(text string) model.Message {
	return model.Message{Role: model.User, Blocks: []model.Block{{Text: text}}}
}

// batch is an assistant message with calls and the user message with what they
// gave: tool, output, tool, output.
func batch(pairs ...string) []model.Message {
	a, u := model.Message{Role: model.Assistant}, model.Message{Role: model.User}
	for i := 0; i+1 < len(pairs); i += 2 {
		id := fmt.Sprintf("c%d", i)
		a.Blocks = append(a.Blocks, model.Block{Call: &model.Call{ID: id, Tool: pairs[i], Input: json.RawMessage(`{}`)}})
		u.Blocks = append(u.Blocks, model.Block{Result: &model.Result{ID: id, Tool: pairs[i], Output: pairs[i+1]}})
	}
	return []model.Message{a, u}
}

func request(number int, messages ...model.Message) model.Request {
	return model.Request{Model: "demo", Messages: messages, Number: number}
}

func newScript(t testing.TB, turns ...profile.Turn) model.Model {
	t.Helper()
	m, err := New("script/demo", profile.Scenario{Turns: turns})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func text(a *model.Answer) string {
	for _, b := range a.Message.Blocks {
		if b.Text != "" {
			return b.Text
		}
	}
	return ""
}

func failure(t testing.TB, err error) *model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want *model.Error", err)
	}
	return e
}

func TestConditions(t *testing.T) {
	t.Parallel()
	fresh := append([]model.Message{user("review it")}, batch("git", "On branch main", "bash", "line1\nexit code 1")...)
	stale := append(append([]model.Message{}, fresh...), model.Message{Role: model.Assistant, Blocks: []model.Block{{Text: "done"}}}, user("once more"))
	for _, c := range []struct {
		name string
		when profile.When
		req  model.Request
		want bool
	}{
		{"none", profile.When{}, request(1, user("x")), true},
		{"user, unanchored", profile.When{User: "view"}, request(1, user("review it")), true},
		{"user, case counts", profile.When{User: "View"}, request(1, user("review it")), false},
		{"user, a flag", profile.When{User: "(?i)VIEW"}, request(1, user("review it")), true},
		{"user, anchored", profile.When{User: "^view"}, request(1, user("review it")), false},
		{"user stays after results", profile.When{User: "review"}, request(2, fresh...), true},
		{"the last user text", profile.When{User: "review"}, request(3, stale...), false},
		{"turn", profile.When{Turn: 2}, request(2, fresh...), true},
		{"another turn", profile.When{Turn: 2}, request(3, fresh...), false},
		{"tool of the last result", profile.When{Tool: "^bash$"}, request(2, fresh...), true},
		{"tool of an earlier result of the batch", profile.When{Tool: "git"}, request(2, fresh...), false},
		{"text of the last result", profile.When{Result: `exit code \d`}, request(2, fresh...), true},
		{"text of an earlier result of the batch", profile.When{Result: "branch"}, request(2, fresh...), false},
		{"no result yet", profile.When{Tool: ".*"}, request(1, user("review it")), false},
		{"no result yet, for text", profile.When{Result: ".*"}, request(1, user("review it")), false},
		{"an old result answers nothing", profile.When{Tool: "bash"}, request(3, stale...), false},
		{"all must hold", profile.When{User: "review", Tool: "bash", Result: "line1", Turn: 2}, request(2, fresh...), true},
		{"one fails", profile.When{User: "review", Tool: "bash", Result: "line9", Turn: 2}, request(2, fresh...), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := newScript(t, profile.Turn{When: c.when, Text: "x"}).Ask(t.Context(), c.req, nil)
			if got := err == nil; got != c.want {
				t.Errorf("holds %v (%v), want %v", got, err, c.want)
			}
		})
	}
}

func TestTurnsAreUsedInOrder(t *testing.T) {
	t.Parallel()
	m := newScript(t,
		profile.Turn{When: profile.When{User: "b"}, Text: "for b"},
		profile.Turn{Text: "first"},
		profile.Turn{When: profile.When{User: "r"}, Text: "again", Repeat: true},
		profile.Turn{Text: "last"},
	)
	for i, c := range []struct{ in, want string }{
		{"a", "first"}, {"b", "for b"}, {"r", "again"}, {"r", "again"}, {"b", "last"}, {"r", "again"}, {"a", ""},
	} {
		a, err := m.Ask(t.Context(), request(i+1, user(c.in)), nil)
		if c.want == "" {
			if e := failure(t, err); e.Code != "SCRIPT_NO_MATCH" {
				t.Errorf("request %d: error %v, want SCRIPT_NO_MATCH", i+1, err)
			}
			continue
		}
		if err != nil || text(a) != c.want {
			t.Errorf("request %d: %v, error %v, want %q", i+1, a, err, c.want)
		}
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	m := newScript(t, profile.Turn{
		Text: `{{user}} said: {{ line 2 ( result 1 ) }}; {{result 2}}`,
		Calls: []profile.ScriptCall{
			{Tool: "write", Input: json.RawMessage(`{"path":"{{line 1 (result 1)}}.md","content":"<{{result 2}}>","n":1.50,"deep":[{"z":"{{user}}","a":null,"ok":true}]}`)},
			{Tool: "read"},
		},
	})
	var pieces []string
	a, err := m.Ask(t.Context(), request(4, append([]model.Message{user("you")}, batch("grep", "a.go\r\nb \"q\"\r\n", "read", "{{user}} \U0001F98B")...)...), func(d model.Delta) {
		pieces = append(pieces, d.Text)
	})
	if err != nil {
		t.Fatal(err)
	}
	said := "you said: b \"q\"; {{user}} \U0001F98B"
	want := &model.Answer{
		Message: model.Message{Role: model.Assistant, Blocks: []model.Block{
			{Text: said},
			{Call: &model.Call{ID: "call_4_1", Tool: "write", Input: json.RawMessage(`{"path":"a.go.md","content":"<{{user}} ` + "\U0001F98B" + `>","n":1.50,"deep":[{"z":"you","a":null,"ok":true}]}`)}},
			{Call: &model.Call{ID: "call_4_2", Tool: "read", Input: json.RawMessage(`{}`)}},
		}},
		Stop: model.ToolUse, Usage: event.Usage{}, Model: "demo",
	}
	if d := cmp.Diff(a, want); d != "" {
		t.Errorf("answer (got -, want +):\n%s", d)
	}
	if strings.Join(pieces, "") != said || len(pieces) < 2 || len(pieces) > 4 {
		t.Errorf("pieces %q, want the text in two to four", pieces)
	}
}

func TestEmptyTurnIsAnEmptyAnswer(t *testing.T) {
	t.Parallel()
	a, err := newScript(t, profile.Turn{}).Ask(t.Context(), request(1, user("x")), nil)
	if err != nil || len(a.Message.Blocks) != 0 || a.Stop != model.EndTurn {
		t.Errorf("answer %+v, error %v; want an empty one", a, err)
	}
}

func TestFailureIsPlayed(t *testing.T) {
	t.Parallel()
	m := newScript(t,
		profile.Turn{Error: &profile.ScriptFailure{Status: 429, RetryAfter: 3}},
		profile.Turn{Error: &profile.ScriptFailure{Status: 529}},
		profile.Turn{Text: "ok"},
		profile.Turn{Error: &profile.ScriptFailure{Status: 401}},
	)
	var waits []time.Duration
	retrying := model.WithRetry(m, model.RetryPolicy{Jitter: func() float64 { return 0 }, Sleep: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}})
	a, err := retrying.Ask(t.Context(), request(1, user("x")), nil)
	if err != nil || text(a) != "ok" {
		t.Fatalf("answer %v, error %v; want ok", a, err)
	}
	if d := cmp.Diff(waits, []time.Duration{3 * time.Second, time.Second}); d != "" {
		t.Errorf("waits (got -, want +):\n%s", d)
	}
	_, err = retrying.Ask(t.Context(), request(2, user("x")), nil)
	if e := failure(t, err); e.Status != 401 || e.Retryable || e.Model != "script/demo" || !strings.Contains(e.Message, "turn 4") {
		t.Errorf("error %+v, want the 401 of turn 4", e)
	}
}

func TestNoMatchNamesTheRequest(t *testing.T) {
	t.Parallel()
	m := newScript(t,
		profile.Turn{When: profile.When{User: "deploy"}, Text: "a"},
		profile.Turn{When: profile.When{Tool: "^read$", Result: "package"}, Text: "b"},
		profile.Turn{When: profile.When{Turn: 9}, Text: "c"},
	)
	_, err := m.Ask(t.Context(), request(2, append([]model.Message{user("review\x1b[31m it")}, batch("bash", "no such file\n"+strings.Repeat("z", 500))...)...), nil)
	e := failure(t, err)
	if e.Code != "SCRIPT_NO_MATCH" || e.Retryable || strings.ContainsAny(e.Message, "\x1b\n") || len(e.Message) > 1000 {
		t.Errorf("error %+v, want a short SCRIPT_NO_MATCH without control characters", e)
	}
	for _, part := range []string{
		"request 2", `"review\x1b[31m it"`, `"bash"`, `"no such file\nzzz`,
		`turn 1: user does not match "deploy"`, `turn 2: tool does not match "^read$" and result does not match "package"`, "turn 3: turn is not 9",
	} {
		if !strings.Contains(e.Message, part) {
			t.Errorf("%s\nlacks %s", e.Message, part)
		}
	}
	_, err = newScript(t).Ask(t.Context(), request(1, user("x")), nil)
	if e := failure(t, err); !strings.Contains(e.Message, "every turn is used up") {
		t.Errorf("error %v, want one that says that nothing is left", e)
	}
}

func TestNoMatchIsShortForAnyScript(t *testing.T) {
	t.Parallel()
	turns := make([]profile.Turn, 900)
	for i := range turns {
		turns[i] = profile.Turn{When: profile.When{User: "never"}}
	}
	_, err := newScript(t, turns...).Ask(t.Context(), request(1, user("x")), nil)
	if e := failure(t, err); len(e.Message) > 2000 || !strings.Contains(e.Message, "880 more") {
		t.Errorf("%d bytes: %.200s…, want 20 turns and a count", len(e.Message), e.Message)
	}
}

func TestTemplatesThatCannotBeFilled(t *testing.T) {
	t.Parallel()
	with := append([]model.Message{user("x")}, batch("a", "one line")...)
	for _, c := range []struct{ template, want, fails string }{
		{"{{line 2 (result 1)}}.", ".", ""},
		{"{{result 2}}", "", "the last batch has 1 results"},
	} {
		a, err := newScript(t, profile.Turn{Text: c.template}).Ask(t.Context(), request(2, with...), nil)
		if c.fails != "" {
			if e := failure(t, err); e.Code != "SCRIPT_NO_MATCH" || !strings.Contains(e.Message, c.fails) || !strings.Contains(e.Message, "turn 1") {
				t.Errorf("%s: error %v, want %q", c.template, err, c.fails)
			}
			continue
		}
		if err != nil || text(a) != c.want {
			t.Errorf("%s: %v, error %v, want %q", c.template, a, err, c.want)
		}
	}
	big := append([]model.Message{user("x")}, batch("a", strings.Repeat("y", 1<<20))...)
	_, err := newScript(t, profile.Turn{Text: strings.Repeat("{{result 1}}", 17)}).Ask(t.Context(), request(2, big...), nil)
	if e := failure(t, err); !strings.Contains(e.Message, "16 MiB") {
		t.Errorf("error %v, want the limit", err)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		turn profile.Turn
		says string
	}{
		{profile.Turn{When: profile.When{User: "("}}, "when.user: error parsing regexp"},
		{profile.Turn{When: profile.When{Tool: "a(?=b)"}}, "when.tool: "},
		{profile.Turn{When: profile.When{Result: "[z-a]"}}, "when.result: "},
		{profile.Turn{When: profile.When{Turn: -1}}, "when.turn: -1"},
		{profile.Turn{Text: "{{usr}}"}, `text: "{{usr}}" is no template`},
		{profile.Turn{Text: "a {{user"}, "text: {{ without }}"},
		{profile.Turn{Text: "{{result 0}}"}, "no template"},
		{profile.Turn{Text: "{{result -1}}"}, "no template"},
		{profile.Turn{Text: "{{result 01}}"}, "no template"},
		{profile.Turn{Text: "{{result 99999999999999999999}}"}, "no template"},
		{profile.Turn{Text: "{{line 2 result 1}}"}, "no template"},
		{profile.Turn{Text: "{{line 2 (user)}}"}, "no template"},
		{profile.Turn{Text: `{{printf "%s" user}}`}, "no template"},
		{profile.Turn{Text: "{{{{user}}}}"}, "no template"},
		{profile.Turn{Text: "{{}}"}, "no template"},
		{profile.Turn{Calls: []profile.ScriptCall{{Tool: "t", Input: json.RawMessage(`{"a":[{"b":"{{x}}"}]}`)}}}, "calls.0.input: a: 0: b: "},
		{profile.Turn{Calls: []profile.ScriptCall{{Tool: "t", Input: json.RawMessage(`[]`)}}}, "calls.0.input: no JSON object"},
		{profile.Turn{Calls: []profile.ScriptCall{{Tool: "t", Input: json.RawMessage(`{} {}`)}}}, "calls.0.input: more than one"},
		{profile.Turn{Calls: []profile.ScriptCall{{Tool: "t", Input: json.RawMessage(`{"a":` + strings.Repeat("[", 100))}}}, "nested deeper"},
		{profile.Turn{Calls: []profile.ScriptCall{{Tool: "t"}, {}}}, "calls.1: no tool"},
		{profile.Turn{Error: &profile.ScriptFailure{Status: 200}}, "error.status: 200"},
		{profile.Turn{Error: &profile.ScriptFailure{Status: 429, RetryAfter: -1}}, "error.retry_after"},
		{profile.Turn{Error: &profile.ScriptFailure{Status: 429}, Text: "x"}, "error stands alone"},
	} {
		_, err := New("script/demo", profile.Scenario{Turns: []profile.Turn{{Text: "fine"}, c.turn}})
		if err == nil || !strings.Contains(err.Error(), "script/demo: turn 2: ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one of turn 2 with %q", err, c.says)
		}
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	m := newScript(t, profile.Turn{Text: "a long answer", Repeat: true})
	said := ""
	_, err := m.Ask(ctx, request(1, user("x")), func(d model.Delta) {
		said += d.Text
		cancel()
	})
	if !errors.Is(err, context.Canceled) || failure(t, err).Partial != said || said == "" {
		t.Errorf("error %v with partial %q, want the cancel and %q", err, failure(t, err).Partial, said)
	}
	if _, err := m.Ask(ctx, request(1, user("x")), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the cancel", err)
	}
}

func TestReservedParams(t *testing.T) {
	t.Parallel()
	req := request(1, user("x"))
	req.Params = []model.Param{{Key: "messages", Value: json.RawMessage("[]")}}
	if _, err := newScript(t, profile.Turn{}).Ask(t.Context(), req, nil); err == nil || failure(t, err).Code != "RESERVED_PARAM" {
		t.Errorf("error %v, want RESERVED_PARAM as from any model", err)
	}
}

func TestTurnsAreUsedOnceByManyAskers(t *testing.T) {
	t.Parallel()
	var turns []profile.Turn
	for i := range 50 {
		turns = append(turns, profile.Turn{Text: fmt.Sprint(i)})
	}
	m := newScript(t, turns...)
	got := make([]string, 50)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			if a, err := m.Ask(context.Background(), model.Request{Messages: []model.Message{user("x")}}, nil); err == nil {
				got[i] = text(a)
			}
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, s := range got {
		if s == "" || seen[s] {
			t.Errorf("%q came twice or never", s)
		}
		seen[s] = true
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"{{user}}", "a{{result 1}}b{{line 2 (result 1)}}", "{{ line 1 ( result 2 ) }}", "{{{user}}}", "}}{{", "{{result 1", "{{line(result 1)}}"} {
		f.Add(s, "u {{result 1}}", "l1\nl2 {{user}}")
	}
	f.Fuzz(func(t *testing.T, source, said, output string) {
		parsed, err := parse(source)
		if err != nil {
			return
		}
		room := maxExpanded
		at := moment{user: said, batch: []model.Result{{Output: output}, {Output: "two"}}}
		got, err := parsed.expand(at, &room)
		if err != nil {
			return
		}
		// An independent reading: split at the holes, fill each by hand.
		want, rest := "", source
		for {
			before, after, found := strings.Cut(rest, "{{")
			want += before
			if !found {
				break
			}
			hole, tail, _ := strings.Cut(after, "}}")
			rest = tail
			words := strings.Fields(strings.NewReplacer("(", " ", ")", " ").Replace(hole))
			texts := map[string]string{"1": output, "2": "two"}
			switch words[0] {
			case "user":
				want += said
			case "result":
				want += texts[words[1]]
			case "line":
				var n int
				fmt.Sscan(words[1], &n)
				if lines := strings.Split(texts[words[3]], "\n"); n <= len(lines) {
					want += strings.TrimSuffix(lines[n-1], "\r")
				}
			}
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	})
}
