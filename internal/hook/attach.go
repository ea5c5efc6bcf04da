package hook

import (
	"context"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// Attach puts the runner on the points of the loop whose events have hooks; on
// no others, so that a run without hooks does not know of them.
func (r *Runner) Attach(p *agent.Points) {
	has := func(event string) bool { return len(r.byEvent[event]) > 0 }
	if has(SessionStart) {
		p.SessionStart = append(p.SessionStart, r.sessionStart)
	}
	if has(UserPromptSubmit) {
		p.Prompt = append(p.Prompt, r.prompt)
	}
	if has(PreToolUse) {
		p.BeforeTool = append(p.BeforeTool, r.beforeTool)
	}
	if has(PermissionRequest) {
		p.PermissionAsked = append(p.PermissionAsked, r.permissionAsked)
	}
	if has(PostToolUse) || has(PostToolUseFailure) {
		p.AfterTool = append(p.AfterTool, r.afterTool)
	}
	if has(Stop) {
		p.Stop = append(p.Stop, r.stop)
	}
	if has(StopFailure) {
		p.StopFailure = append(p.StopFailure, r.stopFailure)
	}
	if has(PreCompact) {
		p.BeforeCompact = append(p.BeforeCompact, r.beforeCompact)
	}
	if has(PostCompact) {
		p.AfterCompact = append(p.AfterCompact, r.afterCompact)
	}
	if has(Notification) {
		p.Notify = append(p.Notify, r.notify)
	}
	if has(SessionEnd) || has(Notification) || r.anyAsync() {
		p.SessionEnd = append(p.SessionEnd, r.sessionEnd)
	}
}

func (r *Runner) anyAsync() bool {
	for _, hs := range r.byEvent {
		for _, h := range hs {
			if h.Async {
				return true
			}
		}
	}
	return false
}

func (r *Runner) said(ctx context.Context, p Payload) agent.Said {
	j := r.join(r.fire(ctx, p, nil))
	return agent.Said{Name: j.by, Context: j.context, Block: j.block, Halt: j.halt}
}

func (r *Runner) sessionStart(ctx context.Context, source string) agent.Said {
	p := r.payload(SessionStart)
	p.Source = &source
	return r.said(ctx, p)
}

func (r *Runner) prompt(ctx context.Context, prompt string) agent.Said {
	p := r.payload(UserPromptSubmit)
	p.Prompt = &prompt
	return r.said(ctx, p)
}

func (r *Runner) beforeTool(ctx context.Context, c tool.Call) agent.Before {
	j := r.join(r.fire(ctx, r.toolPayload(PreToolUse, c), &c))
	b := agent.Before{Name: j.by, Input: j.input, Context: j.context, Halt: j.halt}
	if j.verdict != "" {
		b.Says = permission.HookSays{Verdict: j.verdict, Reason: j.reason, Name: j.verdictOf}
	}
	return b
}

func (r *Runner) permissionAsked(ctx context.Context, c tool.Call, _ event.Question) *agent.Reply {
	j := r.join(r.fire(ctx, r.toolPayload(PermissionRequest, c), &c))
	switch j.verdict {
	case event.Allow, event.Deny:
		return &agent.Reply{Name: j.verdictOf, Allow: j.verdict == event.Allow, Reason: j.reason}
	}
	return nil
}

func (r *Runner) afterTool(ctx context.Context, c tool.Call, res tool.Result) agent.After {
	p := r.toolPayload(PostToolUse, c)
	if res.IsError {
		p.Event = PostToolUseFailure
		p.Error = &res.Output
	} else {
		p.ToolResponse = &Response{Output: res.Output, IsError: res.IsError}
	}
	j := r.join(r.fire(ctx, p, &c))
	return agent.After{Name: j.by, Output: j.output, Feedback: j.block, Context: j.context, Halt: j.halt}
}

func (r *Runner) stop(ctx context.Context, s agent.Stopping) agent.Said {
	p := r.payload(Stop)
	p.StopHookActive = &s.Active
	return r.said(ctx, p)
}

func (r *Runner) stopFailure(ctx context.Context, message string) {
	p := r.payload(StopFailure)
	p.Error = &message
	r.fire(ctx, p, nil)
}

func (r *Runner) beforeCompact(ctx context.Context, trigger string) agent.Said {
	p := r.payload(PreCompact)
	p.Trigger = &trigger
	return r.said(ctx, p)
}

func (r *Runner) afterCompact(ctx context.Context, trigger, _ string) {
	p := r.payload(PostCompact)
	p.Trigger = &trigger
	r.fire(ctx, p, nil)
}

// notify runs its hooks behind the run's back: they must not hold it up.
func (r *Runner) notify(_ context.Context, message string) {
	p := r.payload(Notification)
	p.Message = &message
	payload, err := p.JSON()
	if err != nil {
		return // a message always marshals
	}
	for _, h := range r.pick(p, nil) {
		r.runAsync(Notification, h, payload)
	}
}

func (r *Runner) sessionEnd(ctx context.Context, res event.Result) {
	reason := string(res.StopReason)
	if reason == "" {
		reason = "error"
	}
	p := r.payload(SessionEnd)
	p.Reason = &reason
	r.fire(ctx, p, nil)
	r.End(ctx)
}

// SubagentStart fires for a subagent that is about to begin; r is its own
// runner, see For. Context goes to it, Block keeps it from starting.
func (r *Runner) SubagentStart(ctx context.Context) agent.Said {
	return r.said(ctx, r.payload(SubagentStart))
}

// SubagentStop fires where a subagent would end, on its own runner: Block
// sends the reason to it and it goes on.
func (r *Runner) SubagentStop(ctx context.Context, s agent.Stopping) agent.Said {
	p := r.payload(SubagentStop)
	p.StopHookActive = &s.Active
	return r.said(ctx, p)
}

// AttachChild is Attach for a subagent's loop: no session begins or ends, no
// person prompts, and where it ends SubagentStop fires in place of Stop.
func (r *Runner) AttachChild(p *agent.Points) {
	var q agent.Points
	r.Attach(&q)
	p.BeforeTool = append(p.BeforeTool, q.BeforeTool...)
	p.PermissionAsked = append(p.PermissionAsked, q.PermissionAsked...)
	p.AfterTool = append(p.AfterTool, q.AfterTool...)
	p.BeforeCompact = append(p.BeforeCompact, q.BeforeCompact...)
	p.AfterCompact = append(p.AfterCompact, q.AfterCompact...)
	if len(r.byEvent[SubagentStop]) > 0 {
		p.Stop = append(p.Stop, r.SubagentStop)
	}
}
