package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/markdown"
)

// liveView shows a run to the person at a terminal. What is finished (blocks of
// text, calls that ended, notices) is a line of the scrollback; what is not
// (the block that still comes, running calls, the status line) stands in a
// region below that is drawn again. Where the terminal cannot do that there is
// no region, and everything is a line once it is finished.
//
// The mutex is for two: the loop, which calls Event and ask, and the ticker,
// which turns the spinner and draws what came in too fast. start runs the
// ticker's goroutine, Close ends it and waits.
type liveView struct {
	mu     sync.Mutex
	screen scrollback
	answer *sink // where the answer goes apart from the view; nil: nowhere
	clean  bool  // answer is a terminal too
	style  style
	moving bool
	now    func() time.Time

	text    markdown.Stream
	shown   bool // this message's text was streamed
	think   thought
	calls   []*call
	asked   map[string]bool
	status  status
	pending []string // lines that wait for the next drawing
	waiting int      // their bytes
	frame   int
	drawn   time.Time     // when the last drawing ended
	took    time.Duration // and how long it took
	paused  bool          // a question has the terminal
	chat    *echo         // of a chat: what is shown of it beside a run's; nil: a run
	over    bool          // interrupted or closed: no region any more

	stop chan struct{}
	done sync.WaitGroup
}

const (
	frameTime  = 40 * time.Millisecond  // between drawings of streamed text, at least
	spinTime   = 100 * time.Millisecond // a turn of the spinner
	maxPending = 64 << 10               // bytes of lines that wait
	restFrames = 9                      // how much longer than a drawing the rest after it is
)

func newLiveView(out, err *sink, w View) *liveView {
	v := &liveView{answer: out, clean: w.Out, style: style{on: w.Moving}, moving: w.Moving, now: time.Now}
	if w.Same {
		v.answer = nil
	}
	v.screen = scrollback{out: err, size: w.Size}
	if w.Size == nil {
		v.screen.size = func() (int, int) { return 0, 0 }
	}
	return v
}

// start runs the ticker until Close, or until interrupted says that the
// person has had enough: from then on nothing is left on the screen that a
// second Ctrl-C could leave behind.
func (v *liveView) start(interrupted <-chan struct{}) {
	if !v.moving {
		return
	}
	v.stop = make(chan struct{})
	v.done.Go(func() {
		t := time.NewTicker(spinTime)
		defer t.Stop()
		for {
			select {
			case <-v.stop:
				return
			case <-interrupted:
				v.interrupt()
				return
			case <-t.C:
				v.tick()
			}
		}
	})
}

func (v *liveView) tick() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.frame++
	v.draw()
}

func (v *liveView) interrupt() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.over {
		return
	}
	v.over = true
	v.put(v.style.dim("interrupted: ending what runs (Ctrl-C again ends at once)"))
	v.draw()
}

// Event shows one event.
func (v *liveView) Event(e event.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch b := e.Body.(type) {
	case event.TextDelta:
		if e.Agent == "" && b.Text != "" {
			v.delta(b.Text)
		}
		return
	case event.ThinkingDelta:
		if e.Agent == "" && b.Text != "" {
			v.pieces(v.text.Close())
			v.think.write(b.Text, v.now())
			v.drawSoon()
		}
		return
	}
	v.other(e)
	v.draw()
}

// other shows what is no piece of a stream.
func (v *liveView) other(e event.Event) {
	switch b := e.Body.(type) {
	case event.Init:
		if e.Agent == "" {
			v.status.model, v.status.mode, v.status.began = b.Model, b.Mode, v.now()
			v.began(b)
		}
	case event.User:
		switch {
		case v.chat != nil && !b.Generated && e.Agent == "":
			v.endText()
			v.put(v.chat.prompt(v.style, v.options().Width, b.Said())...)
		case b.Generated && e.Agent == "":
			v.put(v.style.dim("→ " + generatedLine(b.Text)))
		}
	case event.Assistant:
		if e.Agent == "" {
			v.assistant(b)
		}
	case event.ToolStart:
		v.endText()
		v.calls = append(v.calls, &call{key: e.Agent + "\x00" + b.ID, agent: e.Agent, text: callText(b.Tool, b.Input), input: b.Input, began: v.now()})
	case event.ToolEnd:
		v.endText()
		v.put(v.ended(e.Agent, b)...)
		if b.Tool == "exit_plan_mode" && !b.IsError {
			v.status.mode = "" // it is another one now
		}
	case event.Permission:
		v.endText()
		if b.Answer != nil {
			v.markAsked(e.Agent, b.ID)
		}
	case event.Hook:
		v.put(v.hook(e.Agent, b))
	case event.Compacted:
		v.put(v.label(e.Agent) + v.style.dim(fmt.Sprintf("the conversation was summed up: %s tokens became %s", thousands(b.Before), thousands(b.After))))
	case event.Spent:
		if e.Agent == "" {
			v.status.spent(b)
		}
	case event.Notice:
		v.endText()
		for i, l := range noticeLines(b.Text) {
			head := "notice:"
			if i > 0 {
				head = "       " // as wide
			}
			v.put(v.wrapped(v.label(e.Agent), head, v.style.yellow, l)...)
		}
	case event.Result:
		if v.chat != nil {
			v.endText()
			v.put(turnEnd(v.style, b)...)
			return
		}
		v.result(b)
	case event.Fault, event.TaskStart, event.TaskEnd:
		if v.chat != nil {
			v.endText()
			v.put(v.chat.said(v, e)...)
		}
	}
}

// delta takes a piece of the answer.
func (v *liveView) delta(text string) {
	v.endThought()
	v.shown = true
	v.pieces(v.text.Write(text))
	v.drawSoon()
}

func (v *liveView) pieces(list []markdown.Piece) {
	for _, p := range list {
		v.put(p.Lines(v.options())...)
	}
}

func (v *liveView) options() markdown.Options {
	w, _ := v.screen.room()
	return markdown.Options{Width: w, Color: v.style.on}
}

// assistant ends the message, and shows it where the model did not stream.
func (v *liveView) assistant(b event.Assistant) {
	if !v.shown {
		v.endThought()
		v.pieces(v.text.Write(b.Text))
	}
	v.endText()
	v.shown = false
}

// endText puts what is unfinished of text and reasoning into the scrollback.
func (v *liveView) endText() {
	v.endThought()
	v.pieces(v.text.Close())
}

func (v *liveView) endThought() {
	if v.think.on {
		w, _ := v.screen.room()
		v.put(v.think.lines(v.style, w)...)
		v.think = thought{}
	}
}

func (v *liveView) markAsked(agent, id string) {
	if v.asked == nil {
		v.asked = map[string]bool{}
	}
	v.asked[agent+"\x00"+id] = true
}

// forget takes a call out of the running ones.
func (v *liveView) forget(agent, id string) *call {
	i := slices.IndexFunc(v.calls, func(c *call) bool { return c.key == agent+"\x00"+id })
	if i < 0 {
		return nil
	}
	c := v.calls[i]
	v.calls = slices.Delete(v.calls, i, i+1)
	return c
}

func (v *liveView) label(agent string) string {
	if agent == "" {
		return ""
	}
	return v.style.dim("["+escape(agent)+"]") + " "
}

func (v *liveView) result(b event.Result) {
	v.endText()
	v.over = true
	v.put(v.style.dim(summary(b)))
	v.draw()
	if v.answer == nil || b.Result == "" || b.ExitCode == diag.ExitModel {
		return
	}
	text := b.Result
	if v.clean {
		text = clean(text)
	}
	v.answer.write(strings.TrimSuffix(text, "\n") + "\n")
}

// put adds lines for the scrollback.
func (v *liveView) put(lines ...string) {
	for _, l := range lines {
		v.waiting += len(l)
	}
	v.pending = append(v.pending, lines...)
}

// drawSoon draws unless it was done a moment ago: a fast stream costs no more
// than a slow one, and hostile Markdown no more than a tenth of the time.
func (v *liveView) drawSoon() {
	rest := max(frameTime, restFrames*v.took)
	if v.waiting >= maxPending || !v.moving && len(v.pending) > 0 || v.now().Sub(v.drawn) >= rest {
		v.draw()
	}
}

func (v *liveView) draw() {
	if v.paused {
		return
	}
	began := v.now()
	v.screen.draw(v.pending, v.region())
	v.pending, v.waiting = v.pending[:0], 0
	v.drawn = v.now()
	v.took = v.drawn.Sub(began)
}

// region is what is not finished: text or reasoning, running calls, status.
func (v *liveView) region() []string {
	width, rows := v.screen.room()
	if !v.moving || v.over || rows == 0 || v.status.began.IsZero() {
		return nil
	}
	below := append(v.running(), v.style.dim(v.status.line(v.now(), width)))
	above := v.unfinished(width)
	room := max(rows-len(below), 0)
	return append(above[max(0, len(above)-room):], below...)
}

func (v *liveView) unfinished(width int) []string {
	if v.think.on {
		return v.think.lines(v.style, width)
	}
	return v.text.Rest().Lines(v.options())
}

const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

func (v *liveView) running() []string {
	var out []string
	turn := []rune(spinner)[v.frame%10]
	for i, c := range v.calls {
		if i == maxRunning-1 && len(v.calls) > maxRunning {
			out = append(out, v.style.dim(fmt.Sprintf("  … and %d more", len(v.calls)-i)))
			break
		}
		line := v.label(c.agent) + v.style.yellow(string(turn)) + " " + c.text
		if d := v.now().Sub(c.began); d >= time.Second {
			line += v.style.dim(" · " + d.Truncate(time.Second).String())
		}
		out = append(out, line)
	}
	return out
}

// asking gives ask the terminal to itself while it asks.
func (v *liveView) asking(ask func(context.Context, event.Question) event.Answer) func(context.Context, event.Question) event.Answer {
	return func(ctx context.Context, q event.Question) event.Answer {
		v.pause()
		defer v.resume()
		return ask(ctx, q)
	}
}

// askingUser does the same for a question of the model's own.
func (v *liveView) askingUser(ask func(context.Context, string, []string) (string, bool)) func(context.Context, string, []string) (string, bool) {
	return func(ctx context.Context, question string, options []string) (string, bool) {
		v.pause()
		defer v.resume()
		return ask(ctx, question, options)
	}
}

func (v *liveView) pause() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endText()
	v.screen.draw(v.pending, nil)
	v.pending, v.waiting = v.pending[:0], 0
	v.paused = true
}

func (v *liveView) resume() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.paused = false
	v.draw()
}

// Close ends the ticker, wipes the region and gives the first write error. It
// may be called again.
func (v *liveView) Close() error {
	if v.stop != nil {
		close(v.stop)
		v.done.Wait()
		v.stop = nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endText()
	v.over, v.paused = true, false
	v.draw()
	if v.answer != nil && v.answer.err != nil {
		return v.answer.err
	}
	return v.screen.out.err
}
