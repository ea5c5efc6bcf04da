package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/permission"
)

// errTimeLimit is the cause of a ctx that TimeLimit ended.
var errTimeLimit = errors.New("time limit reached")

const (
	// maxContinues is how often Stop points may make one run go on: enough
	// for "run the tests first", too few for a hook that never says yes.
	maxContinues = 5
	// endTime is what the SessionEnd points have in all.
	endTime = 30 * time.Second
)

// run is one prompt on its way through the loop.
type run struct {
	*Loop
	began      time.Time
	system     string // Loop.System with what this run adds to it
	messages   []model.Message
	ids        map[string]bool // of all calls in messages
	turns      int             // answers of the conversation
	requests   int             // questions asked, those of compaction too
	last       string          // the last text of the model, the run's result
	structured json.RawMessage // the final answer by AnswerSchema
	schema     *check          // of AnswerSchema
	repairs    int
	guard      guard
	continues  int
	told       bool // of going in circles
	prompt     string
	context    fill
}

// end says how a run ended. err is set where the model's service failed or
// the model refused.
type end struct {
	reason event.StopReason
	err    *diag.Error
}

func (e end) over() bool { return e.reason != "" || e.err != nil }

// Run sends the prompt and loops until the model is done or something ends
// it. It says init first and result last. The error is a *diag.Error with
// exit code 7: the model's service failed, refused or cut its answer off;
// then an error event is said, and the result holds what is known. A run
// whose model failed has no stop reason and no result event.
//
// A cancelled ctx ends the run as interrupted, with exit code 130, or with
// that of the cancel's cause where it has a method ExitCode() int.
func (l *Loop) Run(ctx context.Context, prompt string) (event.Result, error) {
	ctx, stop := l.timed(ctx)
	defer stop()
	r := l.newRun()
	l.sayOpening()
	return r.close(ctx, r.loop(ctx, prompt))
}

// timed ends ctx after TimeLimit.
func (l *Loop) timed(ctx context.Context) (context.Context, context.CancelFunc) {
	if l.TimeLimit <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, l.TimeLimit, errTimeLimit)
}

// sayOpening says init and what a person should know before the run does
// anything: of a seated loop once.
func (l *Loop) sayOpening() {
	if l.opened {
		return
	}
	l.opened = l.seated()
	l.emit(l.init())
	for _, text := range l.Opening {
		l.Notice("", text)
	}
	if l.root().BudgetUSD != nil && l.priceOf(l.Model.Name()) == nil {
		l.Notice("no_price", fmt.Sprintf("%s has no price, so the budget in USD cannot be checked", l.Model.Name()))
	}
}

// newRun sets out from History with nothing spent. What History holds is
// never changed.
func (l *Loop) newRun() *run {
	l.root().out.Lock()
	l.denials, l.notices, l.halted, l.rawLost = nil, nil, nil, false
	if !l.seated() { // what came in between turns stands on the next one's bill
		l.bill = bill{}
	}
	l.root().out.Unlock()
	r := &run{Loop: l, began: l.now(), system: l.System, ids: map[string]bool{}}
	if l.AnswerSchema != nil {
		r.schema = compile(l.AnswerSchema)
		r.system += "\n" + answerNote(l.AnswerSchema)
	}
	for _, m := range l.History {
		r.messages = append(r.messages, model.Message{Role: m.Role, Blocks: slices.Clip(m.Blocks)})
		for _, b := range m.Blocks {
			if b.Call != nil {
				r.ids[b.Call.ID] = true
			}
		}
	}
	r.context.todos = lastTodos(r.messages)
	return r
}

func (l *Loop) init() event.Init {
	b := event.Init{SessionID: l.Session, Persona: l.Persona, Model: l.Model.Name(), Mode: l.CurrentMode(),
		Servers: l.Servers, Skills: l.Skills, Sandbox: l.Sandbox, Cwd: l.Cwd}
	if b.Sandbox == "" {
		b.Sandbox = "none"
	}
	for _, s := range l.Tools.Specs() {
		b.Tools = append(b.Tools, s.Name)
	}
	return b
}

func (r *run) loop(ctx context.Context, prompt string) end {
	if e := r.open(ctx, prompt); e.over() {
		return e
	}
	return r.work(ctx)
}

// work asks the model and runs its calls until something ends that.
func (r *run) work(ctx context.Context) end {
	for {
		if e := r.mayAsk(ctx); e.over() {
			return e
		}
		a, e := r.turn(ctx)
		if e.over() {
			return e
		}
		calls := callsOf(a.Message)
		if len(calls) > 0 {
			e = r.act(ctx, calls, a.Stop == model.MaxTokens)
		} else {
			e = r.ended(ctx, a)
		}
		if e.over() {
			return e
		}
		if e := r.shorten(ctx, ""); e.over() {
			return e
		}
	}
}

// mayAsk is checked before each request.
func (r *run) mayAsk(ctx context.Context) end {
	switch {
	case ctx.Err() != nil:
		return r.cancelled(ctx)
	case r.overBudget() != "":
		return r.broke(r.overBudget())
	case r.turns >= r.maxTurns():
		s := "s"
		if r.maxTurns() == 1 {
			s = ""
		}
		r.Notice("max_turns", fmt.Sprintf("stopped at the limit of %d turn%s", r.maxTurns(), s))
		return end{reason: event.StopMaxTurns}
	}
	return end{}
}

// act runs the calls of one message and hands the results back.
func (r *run) act(ctx context.Context, calls []model.Call, cut bool) end {
	results, changed := r.batch(ctx, calls, cut)
	blocks := make([]model.Block, len(results))
	for i := range results {
		blocks[i].Result = &results[i]
	}
	r.say(blocks...)
	r.context.sees(calls, results)
	switch {
	case ctx.Err() != nil:
		return r.cancelled(ctx)
	case r.isHalted() != nil:
		h := r.isHalted()
		return r.halts(h.name, h.reason)
	case r.FailOnDenied && len(r.denied()) > 0:
		return end{reason: event.StopDenied}
	}
	if r.guard.sees(calls, results, changed) {
		if e := r.circling(ctx); e.over() {
			return e
		}
	}
	for _, text := range []string{r.notes(), r.arrived()} {
		if text != "" {
			r.generated(text)
		}
	}
	return end{}
}

func (r *run) broke(why string) end {
	r.Notice("budget", "stopped: "+why)
	return end{reason: event.StopBudget}
}

// generated says something to the model that no person typed.
func (r *run) generated(text string) {
	r.say(model.Block{Text: text})
	r.emit(event.User{Text: text, Generated: true})
}

// circling ends a run that nobody watches. A person is told, once.
func (r *run) circling(ctx context.Context) end {
	mode := r.CurrentMode()
	watched := r.root().Ask != nil && r.Agent == "" && mode != permission.Yolo && mode != permission.Auto
	if !watched || !r.told {
		text := fmt.Sprintf("the model has made the same calls with the same results %d times in %d steps", guardSame, guardWindow)
		r.Notice("loop", text)
		r.Alert(ctx, text)
	}
	r.told = true
	if watched {
		return end{}
	}
	return end{reason: event.StopLoop}
}

// ended handles an answer without calls.
func (r *run) ended(ctx context.Context, a *model.Answer) end {
	switch a.Stop {
	case model.Refusal:
		return end{reason: event.StopRefusal, err: r.failure(diag.ModelFailed, "the model refused to answer", 0).
			With("stop_reason", string(event.StopRefusal))}
	case model.MaxTokens:
		if r.schema != nil {
			return r.repair("it was cut off at the token limit")
		}
		r.Notice("max_tokens", "the answer was cut off at the model's token limit")
		return end{reason: event.StopMaxTokens}
	case model.Other:
		r.Notice("other_stop", "the model's service ended the answer without a reason that it names")
	}
	if strings.TrimSpace(r.last) == "" {
		r.Notice("empty_answer", "the model ended without a text")
	}
	if r.schema != nil {
		if r.idle(ctx) { // what is still to come may change the answer
			return end{}
		}
		if e, ok := r.satisfies(); !ok {
			return e
		}
	}
	return r.stopPoints(ctx)
}

func (r *run) stopPoints(ctx context.Context) end {
	var notes []note
	for _, f := range r.Points.Stop {
		s := f(ctx, Stopping{Text: r.last, Active: r.continues > 0})
		if s.Halt != "" {
			return r.halts(s.Name, s.Halt)
		}
		if s.Block != "" {
			notes = append(notes, note{tagFeedback, s.Name, brief(s.Block)})
		}
	}
	if len(notes) == 0 {
		return r.rest(ctx)
	}
	if r.continues >= maxContinues {
		if r.idle(ctx) {
			return end{}
		}
		r.Notice("stop_hook", fmt.Sprintf("the hook %s has kept the run from ending %d times; it ends now", notes[0].name, maxContinues))
		return end{reason: event.StopEndTurn}
	}
	r.continues++
	r.generated(appendNotes("", notes))
	return end{}
}

func (r *run) halts(name, reason string) end {
	r.Notice("hook_stopped", fmt.Sprintf("the hook %s ended the run: %s", name, reason))
	return end{reason: event.StopHookStopped}
}

func (r *run) cancelled(ctx context.Context) end {
	if errors.Is(context.Cause(ctx), errTimeLimit) {
		r.Notice("time_limit", "stopped: "+r.whyStopped(ctx))
		return end{reason: event.StopTimeLimit}
	}
	r.Notice("interrupted", r.whyStopped(ctx))
	return end{reason: event.StopInterrupted}
}

// say adds to the user's side of the transcript. Roles alternate: what
// follows a user message goes into it.
func (r *run) say(blocks ...model.Block) {
	if n := len(r.messages); n > 0 && r.messages[n-1].Role == model.User {
		r.messages[n-1].Blocks = append(r.messages[n-1].Blocks, blocks...)
		return
	}
	r.messages = append(r.messages, model.Message{Role: model.User, Blocks: blocks})
}

func (l *Loop) denied() []event.Denial {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	return l.denials
}
