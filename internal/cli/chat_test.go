package cli

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/markdown"
)

// fakeChat is an engine that keeps what it is told.
type fakeChat struct {
	said, done  []string
	interrupted int
	busy        bool
	reply       dialog.Reply
	err         error
	candidates  []dialog.Candidate
}

func (f *fakeChat) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (f *fakeChat) Say(text string)               { f.said = append(f.said, text) }
func (f *fakeChat) Interrupt() bool               { f.interrupted++; return f.busy }
func (f *fakeChat) Do(_ context.Context, line string) (dialog.Reply, error) {
	f.done = append(f.done, line)
	return f.reply, f.err
}
func (f *fakeChat) Commands() []dialog.Command { return nil }
func (f *fakeChat) Complete(context.Context, string) []dialog.Candidate {
	return f.candidates
}
func (f *fakeChat) State() dialog.State {
	return dialog.State{Session: "s", Persona: "worker", Model: "a/b", Mode: "default"}
}
func (f *fakeChat) History(context.Context) []string { return []string{"older", "newer"} }

// typist drives a screen as bubbletea would.
type typist struct {
	*chatScreen
	engine *fakeChat
	lines  []string // of the scrollback
}

func newTypist(t *testing.T) *typist {
	t.Helper()
	f := &fakeChat{}
	y := &typist{chatScreen: newScreen(t.Context(), f, false), engine: f}
	y.cancel = func() {}
	y.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	y.send(feedMsg{state: f.State()})
	y.send(y.Init()())
	return y
}

// send takes a message and those that follow from it.
func (y *typist) send(msg tea.Msg) {
	_, cmd := y.Update(msg)
	y.follow(cmd)
}

func (y *typist) follow(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := runCmd1(cmd).(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			y.follow(c)
		}
	case replyMsg, candidatesMsg, historyMsg:
		y.send(msg)
	default:
		if fmt.Sprintf("%T", msg) == "tea.printLineMessage" {
			y.lines = append(y.lines, reflect.ValueOf(msg).Field(0).String())
		}
		if list, ok := sequence(msg); ok {
			for _, c := range list {
				y.follow(c)
			}
		}
	}
}

// runCmd1 runs a command unless it waits for time to pass.
func runCmd1(cmd tea.Cmd) tea.Msg {
	out := make(chan tea.Msg, 1)
	go func() { out <- cmd() }()
	select {
	case m := <-out:
		return m
	case <-time.After(50 * time.Millisecond):
		return nil
	}
}

// sequence opens the message of tea.Sequence, which is a list of commands of a
// type without a name outside.
func sequence(msg tea.Msg) ([]tea.Cmd, bool) {
	if fmt.Sprintf("%T", msg) != "tea.sequenceMsg" {
		return nil, false
	}
	return commandsOf(msg), true
}

func (y *typist) keys(names ...string) {
	for _, n := range names {
		y.send(keyOf(n))
	}
}

func (y *typist) write(text string) {
	for _, r := range text {
		y.send(tea.KeyPressMsg(tea.Key{Code: r, Text: string(r)}))
	}
}

func keyOf(name string) tea.KeyPressMsg {
	codes := map[string]tea.Key{"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
		"tab": {Code: tea.KeyTab}, "backspace": {Code: tea.KeyBackspace}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl}}
	k, ok := codes[name]
	if !ok {
		panic(name)
	}
	return tea.KeyPressMsg(k)
}

func (y *typist) text() string {
	return strings.Join(append(y.lines, y.region()...), "\n")
}

func TestChatScreenSends(t *testing.T) {
	t.Parallel()
	y := newTypist(t)
	y.write(`one\`)
	y.keys("enter")
	y.write("two")
	y.keys("enter")
	if got := strings.Join(y.engine.said, "|"); got != "one\ntwo" {
		t.Errorf("got %q", got)
	}
	y.keys("enter") // nothing stands there
	y.engine.reply = dialog.Reply{Text: "**Bold** reply"}
	y.write("/cost")
	y.keys("enter")
	if got := strings.Join(y.engine.done, "|"); got != "/cost" || len(y.engine.said) != 1 {
		t.Errorf("got %q and %q", got, y.engine.said)
	}
	if !strings.Contains(y.text(), "Bold reply") {
		t.Errorf("got\n%s", y.text())
	}
	y.engine.err = diag.Usage("no such thing").WithHint("try that")
	y.write("/x")
	y.keys("enter")
	if got := y.text(); !strings.Contains(got, "error: no such thing") || !strings.Contains(got, "hint: try that") {
		t.Errorf("got\n%s", got)
	}
}

func TestChatScreenHistory(t *testing.T) {
	t.Parallel()
	y := newTypist(t)
	y.write("draft")
	for _, step := range []struct{ key, want string }{{"up", "newer"}, {"up", "older"}, {"up", "older"}, {"down", "newer"}, {"down", "draft"}, {"down", "draft"}} {
		y.keys(step.key)
		if got := y.chatScreen.text.Value(); got != step.want {
			t.Errorf("%s: got %q, want %q", step.key, got, step.want)
		}
	}
}

func TestChatScreenCompletes(t *testing.T) {
	t.Parallel()
	y := newTypist(t)
	y.engine.candidates = []dialog.Candidate{{Text: "@a.go"}, {Text: "@ab.go", Detail: "b"}}
	y.write("see @a")
	y.keys("down", "tab")
	if got := y.chatScreen.text.Value(); got != "see @ab.go " {
		t.Errorf("got %q", got)
	}
	y.write("@a")
	y.keys("esc")
	if y.popup != nil || y.engine.interrupted != 0 {
		t.Error("Esc is to take the list away, and no more")
	}
}

// question puts one and lets the time pass in which keys are no answer.
func (y *typist) question(a *asking, settled bool) *asking {
	a.answered, a.over = make(chan struct{}), make(chan struct{})
	y.send(feedMsg{asks: []*asking{a}, state: y.engine.State()})
	if settled {
		y.typed, y.chatScreen.dialog.since = time.Time{}, time.Time{}
	}
	return a
}

func questionOf(tool, input string) *event.Question {
	return &event.Question{ID: "1", Agent: "scout", Decision: event.Decision{Tool: tool, Input: []byte(input), Reason: "why not"}, Suggested: "bash(make *)", Rules: []string{"bash(make *)"}}
}

func TestChatScreenAsks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys string
		want event.Answer
	}{
		"once":    {"1 enter", event.Answer{Allow: true}},
		"always":  {"2 enter", event.Answer{Allow: true, Always: true}},
		"no":      {"3 enter x y enter", event.Answer{Feedback: "xy"}},
		"default": {"enter enter", event.Answer{}},
		"esc":     {"esc", event.Answer{}},
		"around":  {"down enter", event.Answer{Allow: true}},
		"ctrl-c":  {"ctrl+c", event.Answer{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newTypist(t)
			a := y.question(&asking{q: questionOf("bash", `{"command":"make it"}`)}, true)
			for _, k := range strings.Fields(c.keys) {
				if len(k) == 1 {
					y.write(k)
				} else {
					y.keys(k)
				}
			}
			select {
			case <-a.answered:
			default:
				t.Fatalf("there is no answer:\n%s", y.text())
			}
			if a.answer != c.want {
				t.Errorf("got %+v, want %+v", a.answer, c.want)
			}
			if y.chatScreen.dialog != nil || !strings.Contains(y.text(), "make it") {
				t.Errorf("got\n%s", y.text())
			}
		})
	}
}

// What is typed while a question comes up is no answer, and not lost.
func TestChatScreenKeysAreNoAnswer(t *testing.T) {
	t.Parallel()
	y := newTypist(t)
	y.write("take ")
	a := y.question(&asking{q: questionOf("bash", `{"command":"rm x"}`)}, false)
	y.write("1")
	y.keys("enter")
	select {
	case <-a.answered:
		t.Fatalf("got the answer %+v of a person who was typing", a.answer)
	default:
	}
	if got := strings.Join(y.engine.said, "|"); got != "take 1" {
		t.Errorf("got %q, want what was typed to be a prompt", got)
	}
}

func TestChatScreenAsksForTheModel(t *testing.T) {
	t.Parallel()
	y := newTypist(t)
	a := y.question(&asking{text: "Which?", options: []string{"red", "blue"}}, true)
	y.write("2")
	y.keys("enter")
	if a.said != "blue" || !a.ok {
		t.Errorf("got %q, %t", a.said, a.ok)
	}
	b := y.question(&asking{text: "Which?", options: []string{"red"}}, true)
	y.write("2")
	y.keys("enter")
	y.write("green")
	y.keys("backspace", "enter")
	if b.said != "gree" || !b.ok {
		t.Errorf("got %q, %t", b.said, b.ok)
	}
	d := y.question(&asking{text: "Which?", options: []string{}}, true)
	y.keys("esc")
	if d.ok {
		t.Error("Esc is no answer")
	}
}

func TestChatScreenPicks(t *testing.T) {
	t.Parallel()
	y := newTypist(t)
	y.engine.reply = dialog.Reply{Pick: &dialog.Pick{Title: "Talk to", Items: []dialog.Item{{Label: "one", Line: "/persona one"}, {Label: "two", Line: "/persona two"}, {Label: "twin", Line: "/persona twin"}}}}
	y.write("/persona")
	y.keys("enter")
	y.engine.reply = dialog.Reply{}
	y.write("tw")
	y.keys("down", "enter")
	if got := y.engine.done[len(y.engine.done)-1]; got != "/persona twin" {
		t.Errorf("got %q", got)
	}
}

func TestChatScreenInterruptsAndQuits(t *testing.T) {
	t.Parallel()
	y := newTypist(t)
	y.write("half a thought")
	y.keys("ctrl+c")
	if y.chatScreen.text.Value() != "" || !strings.Contains(y.text(), "Ctrl-C again quits") {
		t.Errorf("got\n%s", y.text())
	}
	y.keys("ctrl+c")
	if len(y.engine.done) != 1 || y.engine.done[0] != "/quit" {
		t.Errorf("got %q, want /quit", y.engine.done)
	}
	gone := false
	y.cancel = func() { gone = true }
	y.keys("ctrl+c")
	if !gone {
		t.Error("a third Ctrl-C is to end everything at once")
	}
	z := newTypist(t)
	z.engine.busy = true
	z.keys("ctrl+c")
	z.write("x") // anything else takes it back
	z.keys("ctrl+c")
	if len(z.engine.done) != 0 || z.engine.interrupted != 2 {
		t.Errorf("got %q and %d interrupts", z.engine.done, z.engine.interrupted)
	}
}

// Whatever is said, and however small the terminal, no line is wider than it,
// no region higher, and nothing of a terminal's own language comes through.
func FuzzChatScreen(f *testing.F) {
	f.Add("plain text", 80, 24)
	f.Add("\x1b]0;owned\x07\x1b[2J\u202e", 20, 5)
	f.Add("日本語日本語日本語日本語", 9, 3)
	f.Add(strings.Repeat("x", 500)+"\n```\na", 1, 1)
	f.Fuzz(func(t *testing.T, text string, width, height int) {
		if width < 1 || height < 1 || width > 300 || height > 100 || len(text) > 2000 {
			t.Skip()
		}
		m := newScreen(t.Context(), &fakeChat{}, false)
		m.Update(tea.WindowSizeMsg{Width: width, Height: height})
		st := dialog.State{Session: "s", Persona: text, Model: text, Mode: "default", Busy: true}
		m.Update(feedMsg{state: st, events: []event.Event{{Body: event.User{Text: text}}, {Body: event.TextDelta{Text: text}},
			{Agent: text, Body: event.Notice{Text: text}}, {Body: event.ToolStart{ID: "1", Tool: text, Input: []byte(`{}`)}}}})
		check := func(what string, lines []string) {
			for _, l := range lines {
				if strings.ContainsFunc(l, func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u202e' }) {
					t.Errorf("%s: %q", what, l)
				}
			}
		}
		m.text.SetValue(text)
		m.fit()
		region := m.region()
		check("region", region)
		if len(region) > max(height-1, 1) {
			t.Errorf("got %d rows of %d", len(region), height)
		}
		for _, l := range region {
			if w := markdown.Width(l); w > max(width-1, 1) {
				t.Errorf("%q has %d of %d columns", l, w, width)
			}
		}
		a := &asking{q: &event.Question{Agent: text, Decision: event.Decision{Tool: "bash", Input: []byte(fmt.Sprintf("{\"command\":%q}", text)), Reason: text}},
			answered: make(chan struct{}), over: make(chan struct{})}
		m.Update(feedMsg{state: st, asks: []*asking{a}})
		check("question", m.region())
	})
}

// The feed never makes the engine wait, loses nothing, and a question whose
// asker has gone is taken away.
func TestFeed(t *testing.T) {
	t.Parallel()
	f := newFeed()
	for i := range 1000 {
		f.event(event.Event{Seq: i})
	}
	ctx, cancel := context.WithCancel(t.Context())
	var mu sync.Mutex
	var got []event.Event
	asked := make(chan *asking, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.pump(ctx, func() dialog.State { return dialog.State{} }, func(m tea.Msg) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, m.(feedMsg).events...)
			for _, a := range m.(feedMsg).asks {
				asked <- a
			}
		})
	}()
	asking, gone := context.WithCancelCause(t.Context())
	over := make(chan event.Answer)
	go func() { over <- f.question(asking, event.Question{}) }()
	a := <-asked
	gone(errors.New("the turn is over"))
	if ans := <-over; ans.Allow {
		t.Error("nobody has said yes")
	}
	a.reply(func() { a.answer.Allow = true }) // too late
	if a.answer.Allow {
		t.Error("an answer that came too late was taken")
	}
	f.event(event.Event{Seq: 1000})
	cancel()
	<-done
	mu.Lock()
	defer mu.Unlock()
	if len(got) != 1001 {
		t.Errorf("got %d events, want 1001", len(got))
	}
}

// commandsOf are the commands of tea.Sequence's message.
func commandsOf(msg tea.Msg) []tea.Cmd {
	v := reflect.ValueOf(msg)
	out := make([]tea.Cmd, v.Len())
	for i := range out {
		out[i], _ = v.Index(i).Interface().(tea.Cmd)
	}
	return out
}
