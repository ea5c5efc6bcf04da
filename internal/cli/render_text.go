package cli

import (
	"fmt"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
)

// textRenderer is the text form. It remembers what a terminal shows last, so
// that lines never run into each other.
type textRenderer struct {
	out, err *sink
	view     View
	style    style

	inText   bool              // the last thing shown is streamed text
	streamed bool              // this message's text has been streamed
	newline  bool              // that text ended with a newline
	open     string            // id of the tool line that has no newline yet
	calls    map[string]string // what each running call is shown as
}

func (r *textRenderer) Event(e event.Event) {
	switch b := e.Body.(type) {
	case event.Init:
		if r.view.Err && e.Agent == "" { // the model may take its time; say which one it is
			r.talk(r.style.dim(opening(b)))
		}
	case event.TextDelta:
		if e.Agent == "" {
			r.text(b.Text)
		}
	case event.Assistant:
		if e.Agent == "" {
			r.assistant(b)
		}
	case event.ToolStart:
		r.toolStart(e.Agent, b)
	case event.ToolEnd:
		r.toolEnd(e.Agent, b)
	case event.Permission:
		r.closeLine() // a question may follow
	case event.Notice:
		r.talk(r.style.yellow("notice:") + " " + escape(b.Text))
	case event.Result:
		r.result(b)
	}
}

func (r *textRenderer) Close() error {
	r.closeLine()
	if r.out.err != nil {
		return r.out.err
	}
	return r.err.err
}

// text shows a piece of the model's text, where somebody is looking.
func (r *textRenderer) text(s string) {
	if !r.view.Err || s == "" {
		return
	}
	if !r.inText {
		r.closeLine()
	}
	shown := clean(s)
	if r.view.Out {
		r.out.write(shown)
	} else {
		r.err.write(r.style.dim(shown))
	}
	r.inText, r.streamed, r.newline = true, true, strings.HasSuffix(shown, "\n")
}

// assistant closes the message, and shows it where the model did not stream.
func (r *textRenderer) assistant(b event.Assistant) {
	if !r.streamed {
		r.text(b.Text)
	}
	r.closeLine()
	r.streamed = false
}

// closeLine ends what stands on the terminal's last line.
func (r *textRenderer) closeLine() {
	switch {
	case r.inText && !r.newline && r.view.Out:
		r.out.write("\n")
	case r.inText && !r.newline, r.open != "":
		r.err.write("\n")
	}
	r.inText, r.open = false, ""
}

// talk writes one line to stderr.
func (r *textRenderer) talk(line string) {
	r.closeLine()
	r.err.write(line + "\n")
}

func (r *textRenderer) toolStart(agent string, b event.ToolStart) {
	if !r.view.Err {
		return
	}
	r.closeLine()
	if r.calls == nil {
		r.calls = map[string]string{}
	}
	r.calls[agent+"\x00"+b.ID] = callText(b.Tool, b.Input)
	r.err.write(r.label(agent) + r.style.green("●") + " " + callText(b.Tool, b.Input))
	r.open = agent + "\x00" + b.ID
}

func (r *textRenderer) toolEnd(agent string, b event.ToolEnd) {
	d := b.Decision
	if d != nil && d.Verdict == event.Deny {
		r.talk(r.label(agent) + r.style.red("denied:") + " " + denialText(*d))
		return
	}
	if !r.view.Err {
		return
	}
	key := agent + "\x00" + b.ID
	call, ran := r.calls[key]
	delete(r.calls, key)
	end := r.style.dim(" · " + strings.Join(r.facts(b), " · "))
	if b.IsError {
		end += r.style.red(" · " + firstLine(b.Output))
	}
	if ran && r.open == key {
		r.err.write(end + "\n")
		r.open = ""
		return
	}
	if !ran {
		call = escape(b.Tool)
	}
	r.talk(r.label(agent) + r.style.green("○") + " " + call + end)
}

// facts of a call that was not refused, for its line.
func (r *textRenderer) facts(b event.ToolEnd) []string {
	if b.Decision == nil {
		if b.Fault != "" {
			return []string{escape(b.Fault)}
		}
		return []string{"not run"}
	}
	why := string(b.Decision.Stage)
	if b.Decision.Rule != "" {
		why += " " + escape(b.Decision.Rule)
	}
	by := "allowed"
	if isQuestion(b.Decision.Stage) {
		by = "allowed by you"
	}
	return []string{by + " (" + why + ")", (time.Duration(b.MS) * time.Millisecond).String()}
}

// isQuestion names the stages that only a person turns into a yes.
func isQuestion(s event.Stage) bool {
	switch s {
	case event.StagePlanExit, event.StageUndeclared, event.StageOutside, event.StageSources, event.StageAskRule, event.StageNetwork, event.StageDefault:
		return true
	}
	return false
}

func (r *textRenderer) label(agent string) string {
	if agent == "" {
		return ""
	}
	return r.style.dim("["+escape(agent)+"]") + " "
}

func (r *textRenderer) result(b event.Result) {
	r.closeLine()
	shown := r.view.Out && r.view.Err // streamed to stdout already
	if !shown && b.Result != "" && b.ExitCode != diag.ExitModel {
		text := b.Result
		if r.view.Out {
			text = clean(text)
		}
		r.out.write(strings.TrimSuffix(text, "\n") + "\n")
	}
	if r.view.Err {
		r.err.write(r.style.dim(summary(b)) + "\n")
	}
}

func opening(b event.Init) string {
	return fmt.Sprintf("— %s (%s) · %s · mode %s", escape(b.Persona.ID), escape(b.Persona.Variant), escape(b.Model), escape(b.Mode))
}

func summary(b event.Result) string {
	parts := []string{string(b.StopReason), plural(b.Turns, "turn"),
		fmt.Sprintf("%d tokens in, %d out", b.Usage.InputTokens+b.Usage.CacheReadTokens+b.Usage.CacheWriteTokens, b.Usage.OutputTokens)}
	if b.CostUSD != nil {
		parts = append(parts, fmt.Sprintf("%.4f USD", *b.CostUSD))
	}
	if n := len(b.Denials); n > 0 {
		parts = append(parts, fmt.Sprintf("%d denied", n))
	}
	parts = append(parts, (time.Duration(b.DurationMS) * time.Millisecond).String())
	return "— " + strings.Join(parts, " · ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
