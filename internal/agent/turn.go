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
// puts the answer down. A conversation that the service finds too long is
// shortened once and sent again. An end with a reason or an error is the run's.
func (r *run) turn(ctx context.Context) (*model.Answer, end) {
	over, why := r.reserve(ctx, r.Model, func() int { return r.prefix() + estimate(r.messages) })
	if why != "" {
		return nil, r.broke(why)
	}
	defer over()
	r.turns++
	a, streamed, err := r.ask(ctx)
	if tooLong(err) && streamed == "" && ctx.Err() == nil {
		if e := r.overflowed(ctx, err); e.reason != "" || e.err != nil {
			return nil, e
		}
		a, streamed, err = r.ask(ctx)
	}
	if err != nil {
		return nil, r.cut(ctx, err, streamed)
	}
	if a == nil {
		return nil, end{err: r.failure(diag.ModelFailed, "the model gave no answer", 0)}
	}
	r.nameCalls(&a.Message)
	r.messages = append(r.messages, a.Message)
	r.context.measured = int(tokens(a.Usage))
	if t := a.Message.Text(); t != "" || len(callsOf(a.Message)) == 0 {
		r.last = t
	}
	r.emit(assistant(a.Message))
	r.spend(r.Model, a, true)
	return a, end{}
}

func tooLong(err error) bool {
	var failed *model.Error
	return errors.As(err, &failed) && failed.Overflow
}

// ask sends the conversation and streams the answer; streamed is its text as
// far as it came.
func (r *run) ask(ctx context.Context) (a *model.Answer, streamed string, err error) {
	var text strings.Builder
	say := func(s string) {
		if s != "" {
			text.WriteString(s)
			r.emit(event.TextDelta{Text: s})
		}
	}
	gate := gate{offers: r.offers}
	a, err = r.Model.Ask(ctx, r.request(), func(d model.Delta) {
		switch {
		case d.Thinking:
			r.emit(event.ThinkingDelta{Text: d.Text})
		case r.NoSalvage:
			say(d.Text)
		default:
			say(gate.write(d.Text))
		}
	})
	salvaged := err == nil && a != nil && !r.NoSalvage && salvage(&a.Message, r.offers)
	say(gate.end(salvaged))
	return a, text.String(), err
}

// offers says whether a tool is offered under this name.
func (r *run) offers(name string) bool {
	_, ok := r.Tools.Get(name)
	return ok
}

func (r *run) request() model.Request {
	r.requests++
	return model.Request{Model: model.BareName(r.Model), System: r.system, Messages: slices.Clone(r.messages),
		Tools: r.Tools.Specs(), Params: r.Params, CacheKey: r.Session, Number: r.requests}
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

// nameCalls gives a call without an id, or with one that the conversation has
// already, an id of its own: every call needs exactly one result, and what is
// kept of it is found by the id.
func (r *run) nameCalls(m *model.Message) {
	for i, b := range m.Blocks {
		if b.Call == nil {
			continue
		}
		id := b.Call.ID
		for n := i; id == "" || r.ids[id]; n++ {
			id = fmt.Sprintf("call_%d_%d", r.requests, n)
		}
		if id != b.Call.ID {
			c := *b.Call
			c.ID = id
			m.Blocks[i].Call = &c
		}
		r.ids[id] = true
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

// assistant is an answer as the stream says it. Parts are filled where text
// and calls alone would not give the message back.
func assistant(m model.Message) event.Assistant {
	e := event.Assistant{Text: m.Text()}
	texts, plain := 0, true
	for _, b := range m.Blocks {
		switch {
		case b.Call != nil:
			e.Calls = append(e.Calls, event.Call{ID: b.Call.ID, Tool: b.Call.Tool, Input: b.Call.Input, Broken: b.Call.Broken, Extra: b.Call.Extra})
			e.Parts = append(e.Parts, event.Part{Call: b.Call.ID})
		case b.Raw != nil:
			plain = false
			e.Parts = append(e.Parts, event.Part{Provider: b.Raw.Provider, Model: b.Raw.Model, Raw: b.Raw.JSON})
		case b.Text != "":
			texts++
			plain = plain && texts == 1 && len(e.Calls) == 0
			e.Parts = append(e.Parts, event.Part{Text: b.Text})
		}
	}
	if plain {
		e.Parts = nil
	}
	return e
}
