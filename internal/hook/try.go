package hook

import (
	"context"
	"encoding/json"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/tool"
)

// Sample is what a trial is about.
type Sample struct {
	Call *tool.Call // of events about tools
}

// Trial is what firing an event outside a run gave.
type Trial struct {
	Payload   json.RawMessage
	Outcomes  []Outcome
	Unmatched []Hook // of the event, and not for this sample

	Verdict     event.Verdict
	Reason      string
	Block, Halt string
	Input       json.RawMessage
	Output      *string
	Context     string
}

// Try fires an event with a payload as a run would give, async hooks too, and
// waits for all of them.
func (r *Runner) Try(ctx context.Context, ev string, s Sample) Trial {
	p := r.sample(ev, s)
	t := Trial{}
	if data, err := p.JSON(); err == nil {
		t.Payload = data
	}
	fire := *r
	fire.byEvent = map[string][]*ready{}
	for _, h := range r.byEvent[ev] {
		if !h.matches(p.subject()) || !r.holds(h, s.Call) {
			t.Unmatched = append(t.Unmatched, h.Hook)
			continue
		}
		waited := *h
		waited.Async = false
		fire.byEvent[ev] = append(fire.byEvent[ev], &waited)
	}
	t.Outcomes = fire.fire(ctx, p, s.Call)
	j := fire.join(t.Outcomes)
	t.Verdict, t.Reason, t.Block, t.Halt = j.verdict, j.reason, j.block, j.halt
	t.Input, t.Output, t.Context = j.input, j.output, j.context
	return t
}

// sample is a payload with every field that the event has in a run.
func (r *Runner) sample(ev string, s Sample) Payload {
	p := r.payload(ev)
	no := false
	text := func(s string) *string { return &s }
	switch ev {
	case SessionStart:
		p.Source = text("startup")
	case UserPromptSubmit:
		p.Prompt = text("Sample prompt.")
	case Stop:
		p.StopHookActive = &no
	case SubagentStart, SubagentStop:
		p.AgentID, p.AgentType = "sample", "explore"
		if ev == SubagentStop {
			p.StopHookActive = &no
		}
	case PreCompact, PostCompact:
		p.Trigger = text("auto")
	case Notification:
		p.Message = text("Sample message.")
	case SessionEnd:
		p.Reason = text("end_turn")
	case StopFailure:
		p.Error = text("sample failure")
	}
	if s.Call == nil || !AboutTool(ev) {
		return p
	}
	call := r.toolPayload(ev, *s.Call)
	switch ev {
	case PostToolUse:
		call.ToolResponse = &Response{Output: "sample output"}
	case PostToolUseFailure:
		call.ToolResponse, call.Error = nil, text("sample failure")
	}
	return call
}
