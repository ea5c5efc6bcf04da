package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
)

// turn is one request: it streams the answer, says assistant and usage, and
// puts the answer down. An end with a reason or an error is the run's.
func (r *run) turn(ctx context.Context) (*model.Answer, end) {
	r.turns++
	var text strings.Builder
	a, err := r.Model.Ask(ctx, r.request(), func(d model.Delta) {
		if d.Thinking {
			r.emit(event.ThinkingDelta{Text: d.Text})
			return
		}
		text.WriteString(d.Text)
		r.emit(event.TextDelta{Text: d.Text})
	})
	if err != nil {
		return nil, r.cut(ctx, err, text.String())
	}
	if a == nil {
		return nil, end{err: r.failure(diag.ModelFailed, "the model gave no answer", 0)}
	}
	r.nameCalls(&a.Message)
	r.messages = append(r.messages, a.Message)
	r.usage = r.usage.Add(a.Usage)
	if t := textOf(a.Message); t != "" || len(callsOf(a.Message)) == 0 {
		r.last = t
	}
	r.emit(assistant(a.Message))
	r.emit(r.spent(a))
	return a, end{}
}

func (r *run) request() model.Request {
	_, name, ok := strings.Cut(r.Model.Name(), "/")
	if !ok {
		name = r.Model.Name()
	}
	return model.Request{Model: name, System: r.System, Messages: slices.Clone(r.messages),
		Tools: r.Tools.Specs(), Params: r.Params, Number: r.turns}
}

// cut ends a run whose answer did not come whole. What was streamed is kept,
// with a mark that says so.
func (r *run) cut(ctx context.Context, err error, streamed string) end {
	var failed *model.Error
	if errors.As(err, &failed) && failed.Partial != "" && streamed == "" {
		streamed = failed.Partial
	}
	why := "the answer was cut off"
	if ctx.Err() != nil {
		why = r.whyStopped(ctx)
	}
	if streamed != "" {
		r.last = strings.TrimRight(streamed, "\n") + "\n\n[" + why + "]"
		r.emit(event.Assistant{Text: r.last})
	}
	if ctx.Err() != nil {
		return r.cancelled(ctx)
	}
	return end{err: r.modelError(err)}
}

// modelError gives a model's failure the code, the details and the exit code
// that every face shows.
func (r *run) modelError(err error) *diag.Error {
	var known *diag.Error
	if errors.As(err, &known) {
		e := *known
		if e.Exit == 0 {
			e.Exit = diag.ExitModel
		}
		e.Details = nil
		for k, v := range known.Details {
			e.With(k, v)
		}
		return e.With("session_id", r.Session).With("model", r.Model.Name())
	}
	var failed *model.Error
	if errors.As(err, &failed) {
		code := diag.ModelFailed
		if failed.Code != "" {
			code = diag.Code(failed.Code)
		}
		e := r.failure(code, failed.Error(), failed.Status)
		e.Cause = err
		return e
	}
	e := r.failure(diag.ModelFailed, fmt.Sprintf("%s: %v", r.Model.Name(), err), 0)
	e.Cause = err
	return e
}

// failure is an error of exit code 7. A status of 0 is left out.
func (r *run) failure(code diag.Code, message string, status int) *diag.Error {
	e := &diag.Error{Code: code, Message: message, Exit: diag.ExitModel}
	e.With("session_id", r.Session).With("model", r.Model.Name())
	if status != 0 {
		e.With("status", status)
	}
	return e
}

// nameCalls gives a call without an id, or with one that stands twice in the
// message, an id of its own: every call needs exactly one result.
func (r *run) nameCalls(m *model.Message) {
	seen := map[string]bool{}
	for i, b := range m.Blocks {
		if b.Call == nil {
			continue
		}
		if b.Call.ID == "" || seen[b.Call.ID] {
			c := *b.Call
			c.ID = fmt.Sprintf("call_%d_%d", r.turns, i)
			m.Blocks[i].Call = &c
		}
		seen[m.Blocks[i].Call.ID] = true
	}
}

func callsOf(m model.Message) []model.Call {
	var out []model.Call
	for _, b := range m.Blocks {
		if b.Call != nil {
			out = append(out, *b.Call)
		}
	}
	return out
}

func textOf(m model.Message) string {
	var b strings.Builder
	for _, block := range m.Blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}

func assistant(m model.Message) event.Assistant {
	e := event.Assistant{Text: textOf(m)}
	for _, c := range callsOf(m) {
		e.Calls = append(e.Calls, event.Call{ID: c.ID, Tool: c.Tool, Input: c.Input})
	}
	return e
}
