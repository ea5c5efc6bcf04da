package cli

import (
	"fmt"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
)

// textRenderer is the text form where nobody looks on: the answer on stdout;
// refused calls and notices on stderr.
type textRenderer struct {
	out, err *sink
	clean    bool // stdout is a terminal
}

func (r *textRenderer) Event(e event.Event) {
	switch b := e.Body.(type) {
	case event.ToolEnd:
		if d := b.Decision; d != nil && d.Verdict == event.Deny {
			label := ""
			if e.Agent != "" {
				label = "[" + escape(e.Agent) + "] "
			}
			r.err.write(label + "denied: " + denialText(*d) + "\n")
		}
	case event.Notice:
		r.err.write("notice: " + strings.Join(noticeLines(b.Text), "\n  ") + "\n")
	case event.Result:
		r.result(b)
	}
}

func (r *textRenderer) Close() error {
	if r.out.err != nil {
		return r.out.err
	}
	return r.err.err
}

func (r *textRenderer) result(b event.Result) {
	if b.Result == "" || b.ExitCode == diag.ExitModel {
		return
	}
	text := b.Result
	if r.clean {
		text = clean(text)
	}
	r.out.write(strings.TrimSuffix(text, "\n") + "\n")
}

// isQuestion names the stages that only a person turns into a yes.
func isQuestion(s event.Stage) bool {
	switch s {
	case event.StagePlanExit, event.StageUndeclared, event.StageOutside, event.StageSources, event.StageAskRule, event.StageNetwork, event.StageDefault:
		return true
	}
	return false
}

func opening(b event.Init) string {
	return fmt.Sprintf("— %s (%s) · %s · mode %s", escape(b.Persona.ID), escape(b.Persona.Variant), escape(b.Model), escape(b.Mode))
}

func summary(b event.Result) string {
	parts := []string{escape(string(b.StopReason)), plural(b.Turns, "turn"),
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

// noticeLines are a notice's lines, each without what reaches into a terminal.
func noticeLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = escape(l)
	}
	return lines
}
