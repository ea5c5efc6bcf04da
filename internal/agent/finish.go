package agent

import (
	"context"
	"fmt"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
)

// exitOf is the exit code of each stop reason.
func exitOf(r event.StopReason) int {
	switch r {
	case event.StopEndTurn, event.StopMaxTokens:
		return diag.ExitOK
	case event.StopRefusal:
		return diag.ExitModel
	case event.StopBlocked, event.StopHookStopped, event.StopDenied:
		return diag.ExitDenied
	case event.StopBudget:
		return diag.ExitBudget
	case event.StopMaxTurns:
		return diag.ExitMaxTurns
	case event.StopLoop:
		return diag.ExitLoop
	case event.StopSchema:
		return diag.ExitSchema
	case event.StopTimeLimit:
		return diag.ExitTimeLimit
	case event.StopInterrupted:
		return diag.ExitInterrupted
	}
	return diag.ExitFailed
}

// close says the last events of the run and gives its result.
func (r *run) close(ctx context.Context, e end) (event.Result, error) {
	res := r.result(ctx, e)
	if len(r.Points.SessionEnd) > 0 {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer cancel()
		for _, f := range r.Points.SessionEnd {
			f(after, res)
		}
	}
	if e.err != nil {
		r.emit(event.Fault{Code: string(e.err.Code), Message: e.err.Message})
	}
	if e.reason != "" {
		r.emit(res)
	}
	if e.err != nil {
		return res, e.err
	}
	return res, nil
}

func (r *run) result(ctx context.Context, e end) event.Result {
	r.out.Lock()
	defer r.out.Unlock()
	res := event.Result{Schema: event.Version, Result: r.last, StopReason: e.reason, ExitCode: exitOf(e.reason),
		SessionID: r.Session, Persona: r.Persona, Model: r.Model.Name(), Turns: r.turns, Usage: r.usage,
		CostUSD: r.cost(r.usage), Denials: r.denials, Notices: r.notices, DurationMS: r.now().Sub(r.began).Milliseconds()}
	if e.err != nil {
		res.ExitCode = e.err.ExitCode()
	}
	if cause, ok := context.Cause(ctx).(interface{ ExitCode() int }); ok && e.reason == event.StopInterrupted {
		res.ExitCode = cause.ExitCode()
	}
	return res
}

// cost in USD, nil without a price. A cached token that has no price of its
// own costs what an ordinary one does: a budget may end early, never late.
func (l *Loop) cost(u event.Usage) *float64 {
	if l.Price == nil {
		return nil
	}
	cached := l.Price.Cached
	if cached == 0 {
		cached = l.Price.Input
	}
	usd := (float64(u.InputTokens+u.CacheWriteTokens)*l.Price.Input +
		float64(u.OutputTokens)*l.Price.Output + float64(u.CacheReadTokens)*cached) / 1e6
	return &usd
}

func tokens(u event.Usage) int64 {
	return int64(u.InputTokens) + int64(u.OutputTokens) + int64(u.CacheReadTokens) + int64(u.CacheWriteTokens)
}

// overBudget says a notice where it is true.
func (r *run) overBudget() bool {
	if r.BudgetTokens != nil && tokens(r.usage) >= *r.BudgetTokens {
		r.Notice("budget", fmt.Sprintf("stopped: %d tokens are used, the budget is %d", tokens(r.usage), *r.BudgetTokens))
		return true
	}
	if usd := r.cost(r.usage); usd != nil && r.BudgetUSD != nil && *usd >= *r.BudgetUSD {
		r.Notice("budget", fmt.Sprintf("stopped: %.4f USD are spent, the budget is %.4f", *usd, *r.BudgetUSD))
		return true
	}
	return false
}

func (r *run) spent(a *model.Answer) event.Spent {
	return event.Spent{Model: r.Model.Name(), Turn: a.Usage, Total: r.usage, CostUSD: r.cost(r.usage),
		ContextTokens: int(tokens(a.Usage)), ContextWindow: r.ContextWindow}
}
