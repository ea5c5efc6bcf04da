package agent

import (
	"strings"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/frame"
	"larva.dev/larva/internal/permission"
)

const (
	// exitPlan is the tool that ends plan mode; the loop acts on its yes.
	exitPlan = "exit_plan_mode"
	tagNote  = "system-note"

	planNote     = "Plan mode is on: read and search, and change nothing; calls that would are denied. When the plan stands, hand it over with exit_plan_mode, or answer with it where there is no such tool."
	planOverNote = "Plan mode has ended: the plan is accepted. The mode is %s now; go on with the plan."
)

// SetMode changes the mode of the run that is on: what is judged from now on
// is judged by it. A tool may call it while it runs, a point may not. The
// model is told where plan mode begins or ends.
func (l *Loop) SetMode(mode string) {
	if l.seated() {
		l.Parent.SetMode(mode)
		return
	}
	l.one.Lock()
	defer l.one.Unlock()
	was := l.CurrentMode()
	if mode == was {
		return
	}
	if l.Policy != nil { // a host has none
		p := *l.Policy
		p.Mode = mode
		l.Policy = &p
	}
	l.root().out.Lock()
	l.Mode = mode
	l.emitLocked(event.Notice{Code: "mode", Text: "the mode is " + mode + " now"})
	l.root().out.Unlock()
	switch {
	case was == permission.Plan:
		l.Note(strings.Replace(planOverNote, "%s", mode, 1))
	case mode == permission.Plan:
		l.Note(planNote)
	}
}

// CurrentMode is the mode that calls are judged by now. Tools, points and
// other goroutines may ask for it.
func (l *Loop) CurrentMode() string {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	return l.modeLocked()
}

// Note puts a note of ours before the model with the next thing it is sent: an
// undo, say. Any goroutine may call it.
func (l *Loop) Note(text string) {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	l.queued = append(l.queued, text)
}

// notes takes the queued notes, as one text; "" where there is none.
func (l *Loop) notes() string {
	l.root().out.Lock()
	queued := l.queued
	l.queued = nil
	if l.seated() {
		queued = append(l.Parent.queued, queued...)
		l.Parent.queued = nil
	}
	l.root().out.Unlock()
	var out []string
	for _, text := range queued {
		out = append(out, systemNote(text))
	}
	return strings.Join(out, "\n\n")
}

func systemNote(text string) string { return frame.Block(tagNote, "", "", text) }

// planOver acts on a call of exit_plan_mode that ran: the person's answer
// names the mode that follows, and none that asks less than accept-edits.
func (l *Loop) planOver(j *job) {
	if j.Call.Tool != exitPlan || !j.ran || j.result == nil || j.result.IsError || j.answer == nil || !j.answer.Allow {
		return
	}
	next := permission.Default
	if j.answer.Mode == permission.AcceptEdits {
		next = permission.AcceptEdits
	}
	if l.CurrentMode() == permission.Plan {
		l.SetMode(next)
	}
}
