package cli

import (
	"fmt"
	"strings"

	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/markdown"
)

// maxEcho is how many lines of a prompt the transcript shows.
const maxEcho = 12

// echo is what a chat shows beside what a run does: prompts, failures, tasks.
type echo struct {
	who string // the last opening line
}

// prompt draws what the person said.
func (*echo) prompt(s style, width int, text string) []string {
	lines := markdown.Wrap(clean(strings.TrimSpace(text)), max(width-2, 1))
	more := len(lines) - maxEcho
	if more > 1 {
		lines = append(lines[:maxEcho:maxEcho], fmt.Sprintf("… %d more lines", more))
	}
	out := []string{""}
	for i, l := range lines {
		mark := "> "
		if i > 0 {
			mark = "  "
		}
		out = append(out, s.bold(mark+l))
	}
	return append(out, "")
}

// said draws a failure, and where a background task begins and ends.
func (*echo) said(v *liveView, e event.Event) []string {
	switch b := e.Body.(type) {
	case event.Fault:
		return v.wrapped(v.label(e.Agent), "error:", v.style.red, escape(b.Code)+": "+clean(b.Message))
	case event.TaskStart:
		if strings.HasPrefix(b.ID, "bg-") {
			return []string{v.label(e.Agent) + v.style.dim(escape(b.ID)+" begins in the background, on "+escape(b.Model))}
		}
	case event.TaskEnd:
		if strings.HasPrefix(b.ID, "bg-") {
			return []string{v.label(e.Agent) + v.style.dim(escape(b.ID)+" has ended: "+escape(b.Status))}
		}
	}
	return nil
}

// turnEnd says how a turn ended where that was not the model's own end.
func turnEnd(s style, b event.Result) []string {
	if b.StopReason == event.StopEndTurn {
		return nil
	}
	return []string{s.dim(summary(b))}
}

// began says who is talked to, in a chat only where that has changed.
func (v *liveView) began(b event.Init) {
	line := opening(b)
	if v.chat != nil {
		if v.chat.who == line {
			return
		}
		v.chat.who = line
	}
	v.put(v.style.dim(line))
}

// greet says who is talked to, before they are.
func (v *liveView) greet(st dialog.State) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.chat.who = ""
	v.began(event.Init{Persona: event.PersonaRef{ID: st.Persona, Variant: st.Variant}, Model: st.Model, Mode: st.Mode})
}

// chatView makes a liveView that draws nothing itself: take gives the finished
// lines, region what is not finished.
func chatView(size func() (int, int), color bool) *liveView {
	v := newLiveView(nil, nil, View{Err: true, Moving: true, Size: size})
	v.style.on, v.chat, v.paused = color, &echo{}, true
	return v
}

// take gives the lines for the scrollback.
func (v *liveView) take() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	out := v.pending
	v.pending, v.waiting = nil, 0
	return out
}

// open is what is not finished yet, at most rows lines.
func (v *liveView) open(width, rows int) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.frame++
	run := v.running()
	above := v.unfinished(width)
	room := max(rows-len(run), 0)
	out := append(above[max(0, len(above)-room):len(above):len(above)], run...)
	return out[max(0, len(out)-rows):]
}

// add puts lines of the chat's own.
func (v *liveView) add(lines ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.endText()
	v.put(lines...)
}
