package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/markdown"
)

// watched is a view on a terminal of the test's: its clock stands still until
// it is moved.
type watched struct {
	*liveView
	out           *bytes.Buffer
	width, height int
	at            time.Time
}

func watchView(width, height int) *watched {
	w := &watched{out: &bytes.Buffer{}, width: width, height: height, at: time.Unix(1000, 0)}
	w.liveView = newLiveView(&sink{w: &bytes.Buffer{}}, &sink{w: w.out}, View{Err: true, Moving: true,
		Size: func() (int, int) { return w.width, w.height }})
	w.now = func() time.Time { return w.at }
	w.style.on = false
	return w
}

// say shows events and gives what they wrote.
func (w *watched) say(bodies ...event.Body) string {
	w.out.Reset()
	for _, b := range bodies {
		w.Event(event.Event{Body: b})
	}
	return w.out.String()
}

func (w *watched) wait(d time.Duration) string {
	w.out.Reset()
	w.at = w.at.Add(d)
	w.tick()
	return w.out.String()
}

var opened = event.Init{Persona: event.PersonaRef{ID: "rev", Variant: "default"}, Model: "x/m", Mode: "plan"}

// TestViewBytes holds the view to the exact bytes that it writes.
func TestViewBytes(t *testing.T) {
	t.Parallel()
	w := watchView(60, 20)
	allowed := event.Decision{Tool: "bash", Verdict: event.Allow, Stage: event.StageSafeList}
	const here, up1, up2 = "\r\x1b[2K", "\r\x1b[2K\x1b[1A\x1b[2K", "\r\x1b[2K\x1b[1A\x1b[2K\x1b[1A\x1b[2K"
	for i, step := range []struct{ got, want string }{
		{w.say(opened), "— rev (default) · x/m · mode plan\nx/m · mode plan · 0s\r"},
		{w.say(event.TextDelta{Text: "One **two"}), ""},
		{w.wait(time.Second), here + "One **two\nx/m · mode plan · 1s\r"},
		{w.say(event.TextDelta{Text: "** three\n\nFo"}), ""},
		{w.wait(time.Second), up1 + "One two three\n\nFo\nx/m · mode plan · 2s\r"},
		{w.say(event.Assistant{}), up2 + "\nFo\nx/m · mode plan · 2s\r"},
		{w.say(event.ToolStart{ID: "1", Tool: "bash", Input: json.RawMessage(`{"command":"ls"}`)}), here + "⠹ bash ls\nx/m · mode plan · 2s\r"},
		{w.wait(time.Second), up1 + "⠸ bash ls · 1s\nx/m · mode plan · 3s\r"},
		{w.say(event.ToolEnd{ID: "1", Tool: "bash", Decision: &allowed, MS: 1000, Bytes: 1234}),
			up1 + "✓ bash ls · 1s · 1.2 kB · allowed (safe-list)\nx/m · mode plan · 3s\r"},
		{w.say(event.Spent{ContextTokens: 2500, ContextWindow: 10_000, CostUSD: new(0.5)}),
			here + "turn 1 · $0.5000 · context 25% (2.5k of 10.0k) · 3s\r"},
		{w.say(event.Spent{ContextTokens: 2500, ContextWindow: 10_000, CostUSD: new(0.5)}), here + "turn 2 · $0.5000 · context 25% (2.5k of 10.0k) · 3s\r"},
		{w.say(event.Hook{Event: "PreToolUse", Name: "check.sh", Exit: 2, Effect: "deny", MS: 12}, event.Compacted{Before: 90_000, After: 800}),
			here + "hook PreToolUse check.sh · deny · exit 2 · 12ms\nturn 2 · $0.5000 · context 25% (2.5k of 10.0k) · 3s\r" +
				here + "the conversation was summed up: 90.0k tokens became 800\nturn 2 · $0.5000 · context 25% (2.5k of 10.0k) · 3s\r"},
		{w.say(event.Result{StopReason: event.StopEndTurn, Turns: 2}), here + "— end_turn · 2 turns · 0 tokens in, 0 out · 0s\n"},
		{func() string { w.out.Reset(); _ = w.Close(); _ = w.Close(); return w.out.String() }(), ""},
	} {
		if step.got != step.want {
			t.Errorf("step %d:\n got %q\nwant %q", i, step.got, step.want)
		}
	}
}

// A terminal that becomes narrower breaks the region's lines into rows: all of
// them are wiped.
func TestViewAfterAResize(t *testing.T) {
	t.Parallel()
	w := watchView(60, 20)
	w.say(opened, event.TextDelta{Text: strings.Repeat("word ", 11)}) // 54 columns, then the status line
	w.wait(time.Second)
	w.width = 30
	if got, want := w.wait(0), "\r"+wipe(2)+"word"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q and so on", got, want)
	}
	w.width = 10 // no room for a region any more, and the status line takes two rows
	if got, want := w.wait(0), "\r\x1b[1B"+wipe(7); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The region never outgrows the terminal, and none of its lines the width.
func TestViewFits(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{20, 4}, {21, 5}, {60, 8}, {200, 100}} {
		w := watchView(size[0], size[1])
		w.say(opened, event.TextDelta{Text: strings.Repeat("日本 wide **word** 👩‍👩‍👧 ", 200)})
		for i := range 20 {
			w.say(event.ToolStart{ID: fmt.Sprint(i), Tool: "bash", Input: json.RawMessage(`{"command":"` + strings.Repeat("x", 300) + `"}`)})
		}
		w.say(event.TextDelta{Text: strings.Repeat("```\n"+strings.Repeat("y", 500), 2)}, event.Spent{ContextTokens: 1e6, ContextWindow: 1e6})
		w.wait(time.Minute)
		if n := len(w.screen.region); n >= size[1] || n == 0 {
			t.Errorf("%v: the region has %d rows", size, n)
		}
		for _, l := range w.screen.region {
			if n := markdown.Width(l); n >= size[0] {
				t.Errorf("%v: %q is %d columns wide", size, l, n)
			}
		}
	}
}

func TestViewOfEdits(t *testing.T) {
	t.Parallel()
	allowed := event.Decision{Verdict: event.Allow, Stage: event.StageAllowRule, Rule: "edit(*)"}
	run := func(tool, input string, asked bool) string {
		w := watchView(80, 20)
		w.moving = false
		w.say(opened)
		if asked {
			w.say(event.Permission{ID: "1", Decision: allowed, Answer: &event.Answer{Allow: true}})
		}
		return w.say(event.ToolStart{ID: "1", Tool: tool, Input: json.RawMessage(input)}, event.ToolEnd{ID: "1", Tool: tool, Decision: &allowed})
	}
	long := `{"path":"n","content":"` + strings.Repeat(`line\n`, 30) + `"}`
	for _, tt := range []struct {
		name, tool, input string
		asked             bool
		want              string
	}{
		{"edit", "edit", `{"path":"a.go","old_string":"one\ntwo\nthree\n","new_string":"one\n2\u001b[2J\nthree\n"}`, false,
			"✓ edit a.go · +1 -1 · 0s · allowed (allow-rule edit(*))\n      one\n    - two\n    + 2\\u001b[2J\n      three\n"},
		{"multi_edit", "multi_edit", `{"path":"a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"z","new_string":""}]}`, false,
			"✓ multi_edit a · +1 -2 · 0s · allowed (allow-rule edit(*))\n    - x\n    + y\n    ⋯\n    - z\n"},
		{"write", "write", long, false, "✓ write n · +30 · 0s · allowed (allow-rule edit(*))\n" + strings.Repeat("    + line\n", 20) + "    … 10 more lines\n"},
		{"write_files", "write_files", `{"files":[{"path":"a","content":"1"},{"path":"b","content":"2"}]}`, false,
			"✓ write_files a, b · +2 · 0s · allowed (allow-rule edit(*))\n    a\n    + 1\n    b\n    + 2\n"},
		{"seen in the question", "edit", `{"path":"a","old_string":"x","new_string":"y"}`, true, "✓ edit a · +1 -1 · 0s · allowed (allow-rule edit(*))\n"},
		{"todos", "todo_write", `{"todos":[{"content":"a","status":"completed"},{"content":"b\u0007","status":"in_progress"},{"content":"c","status":"pending"}]}`, false,
			"✓ todo_write 1 of 3 done · 0s · allowed (allow-rule edit(*))\n    ☑ a\n    ▶ b\\u0007\n    ☐ c\n"},
		{"no input of its kind", "edit", `{"path":7}`, false, "✓ edit {\"path\":7} · 0s · allowed (allow-rule edit(*))\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(run(tt.tool, tt.input, tt.asked), tt.want); d != "" {
				t.Errorf("(-got +want):\n%s", d)
			}
		})
	}
}

func TestThinkingIsFolded(t *testing.T) {
	t.Parallel()
	w := watchView(40, 20)
	w.moving = false
	got := w.say(opened, event.ThinkingDelta{Text: "short\x1b]0;x\x07"}, event.TextDelta{Text: "a\n\n"}, event.ThinkingDelta{Text: strings.Repeat("long thoughts ", 500)}, event.Assistant{Text: "b"})
	want := "— rev (default) · x/m · mode plan\n┊ short\\u001b]0;x\\u0007\na\n" +
		"┊ long thoughts long thoughts long\n┊ thoughts long thoughts long thoughts\n┊ long thoughts long… … (7.0 kB)\n"
	if d := cmp.Diff(got, want); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}

// A question has the terminal to itself: what is said meanwhile comes after.
func TestViewPauses(t *testing.T) {
	t.Parallel()
	w := watchView(60, 20)
	w.say(opened, event.ToolStart{ID: "1", Tool: "read", Input: json.RawMessage(`{"path":"a"}`)})
	w.out.Reset()
	w.pause()
	if got, want := w.out.String(), "\r"+wipe(1); got != want {
		t.Errorf("at the question: got %q, want %q", got, want)
	}
	if got := w.say(event.Notice{Text: "x"}) + w.wait(time.Hour); got != "" {
		t.Errorf("meanwhile: got %q", got)
	}
	w.resume()
	if got := w.out.String(); !strings.HasPrefix(got, "notice: x\n") {
		t.Errorf("after it: got %q", got)
	}
}

func TestViewInterrupted(t *testing.T) {
	t.Parallel()
	w := watchView(60, 20)
	w.say(opened)
	w.out.Reset()
	w.interrupt()
	want := "\r" + wipe(0) + "interrupted: ending what runs (Ctrl-C again ends at once)\n"
	if got := w.out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := w.say(event.TextDelta{Text: "x"}) + w.wait(time.Second); got != "" {
		t.Errorf("afterwards: got %q", got)
	}
}

// The ticker's goroutine ends with Close, whichever way it ended before.
func TestViewEndsItsTicker(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{false, true} {
		stop := make(chan struct{})
		v := newLiveView(&sink{w: &bytes.Buffer{}}, &sink{w: &bytes.Buffer{}}, View{Err: true, Moving: true})
		v.start(stop)
		if early {
			close(stop)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		v.done.Wait()
	}
}

// Whatever the model or a tool says, the terminal gets no escapes but ours.
func TestViewHostile(t *testing.T) {
	t.Parallel()
	evil := "\x1b]52;c;aGk=\x07\x1b]0;t\x07\x1b[2J\x1b]8;;http://x\x1b\\y\u009b31m\u202e\x00\r&#27;[2J"
	input, _ := json.Marshal(map[string]any{"path": evil, "command": evil, "old_string": "a", "new_string": evil, "todos": []any{map[string]string{"content": evil, "status": evil}}})
	d := event.Decision{Tool: evil, Input: input, Verdict: event.Allow, Stage: event.Stage("x"), Rule: evil, Origin: evil, Reason: evil}
	no := d
	no.Verdict = event.Deny
	bodies := []event.Body{
		event.Init{Persona: event.PersonaRef{ID: evil, Variant: evil}, Model: evil, Mode: evil}, event.User{Text: evil, Generated: true},
		event.ThinkingDelta{Text: evil}, event.TextDelta{Text: evil}, event.TextDelta{Text: "\n# " + evil + "\n```" + evil + "\n" + evil + "\n```\n| " + evil + "|\n|--|\n"}, event.Assistant{},
		event.Notice{Text: evil}, event.Hook{Event: evil, Name: evil, Effect: evil}, event.Permission{ID: "9", Decision: d, Answer: &event.Answer{Allow: true}},
	}
	for i, tool := range []string{"edit", "bash", "todo_write", evil} {
		id := fmt.Sprint(i)
		bodies = append(bodies, event.ToolStart{ID: id, Tool: tool, Input: input}, event.ToolEnd{ID: id, Tool: tool, Output: evil, IsError: i%2 == 1, Decision: &d, Images: []event.Image{{MediaType: evil}}},
			event.ToolEnd{ID: "x", Tool: tool, Output: evil, Decision: &no, Fault: evil})
	}
	bodies = append(bodies, event.Result{StopReason: event.StopReason(evil)})
	w := watchView(50, 20)
	w.style.on = true
	var all strings.Builder
	for _, b := range bodies {
		all.WriteString(w.say(b))
		all.WriteString(w.wait(time.Second))
	}
	all.WriteString(questionText(event.Question{Decision: d, Rules: []string{evil, evil}, KeptIn: evil}, style{on: true}))
	if left := strings.IndexFunc(withoutOurs(all.String()), func(r rune) bool { return r != '\n' && unsafeRune(r) }); left >= 0 {
		t.Errorf("an escape came through: %q", withoutOurs(all.String())[max(0, left-40):left+20])
	}
}

// withoutOurs takes away what the view itself writes: colours, up, erase, and
// the return to the first column.
func withoutOurs(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\r' {
			continue
		}
		if strings.HasPrefix(s[i:], "\x1b[") {
			end := i + 2
			for end < len(s) && (s[end] == ';' || s[end] >= '0' && s[end] <= '9') {
				end++
			}
			if end < len(s) && strings.IndexByte("mABK", s[end]) >= 0 {
				i = end
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// BenchmarkView streams text as a fast model does; the time a byte must not
// grow with the text.
func BenchmarkView(b *testing.B) {
	piece := "Some words with **bold** and `code`, eight at a time, as they come. "
	for _, size := range []int{1 << 20, 10 << 20} {
		for name, text := range map[string]string{"lines": strings.Repeat(piece+"\n\n", size/len(piece)), "one line": strings.Repeat(piece, size/len(piece))} {
			b.Run(fmt.Sprintf("%s/%dMiB", name, size>>20), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					v := newLiveView(&sink{w: &bytes.Buffer{}}, &sink{w: &bytes.Buffer{}}, View{Err: true, Moving: true, Size: func() (int, int) { return 80, 24 }})
					v.Event(event.Event{Body: opened})
					for rest := text; rest != ""; rest = rest[min(len(rest), 8):] {
						v.Event(event.Event{Body: event.TextDelta{Text: rest[:min(len(rest), 8)]}})
					}
					v.Close()
				}
			})
		}
	}
}
