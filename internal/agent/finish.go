package agent

import (
	"context"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
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

// close says the last events of the run and gives its result, with what the
// last points have cost and said.
func (r *run) close(ctx context.Context, e end) (event.Result, error) {
	r.keep()
	r.lastPoints(ctx, e)
	res := r.result(ctx, e)
	if e.err != nil {
		r.emit(event.Fault{Code: string(e.err.Code), Message: e.err.Message})
	}
	if e.reason != "" {
		r.emit(res)
	}
	r.newBill()
	if e.err != nil {
		return res, e.err
	}
	return res, nil
}

// lastPoints runs StopFailure and SessionEnd, which have a ctx and a time of
// their own.
func (r *run) lastPoints(ctx context.Context, e end) {
	ends := r.Points.SessionEnd
	if r.seated() {
		ends = nil // End is for them
	}
	if len(ends) == 0 && (e.err == nil || len(r.Points.StopFailure) == 0) {
		return
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if e.err != nil {
		for _, f := range r.Points.StopFailure {
			f(after, e.err.Message)
		}
	}
	res := r.result(ctx, e)
	for _, f := range ends {
		f(after, res)
	}
}

func (r *run) result(ctx context.Context, e end) event.Result {
	r.root().out.Lock()
	defer r.root().out.Unlock()
	res := event.Result{Schema: event.Version, Result: r.last, StopReason: e.reason, ExitCode: exitOf(e.reason),
		SessionID: r.Session, Persona: r.Persona, Model: r.Model.Name(), Turns: r.turns, Usage: r.bill.usage,
		CostUSD: r.costLocked(), Structured: r.structured, Denials: r.denials, Notices: r.notices, DurationMS: r.now().Sub(r.began).Milliseconds()}
	if e.err != nil {
		res.ExitCode = e.err.ExitCode()
	}
	if cause, ok := context.Cause(ctx).(interface{ ExitCode() int }); ok && e.reason == event.StopInterrupted {
		res.ExitCode = cause.ExitCode()
	}
	return res
}
