package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/tool"
)

// Outcome is how one hook ran.
type Outcome struct {
	Hook           Hook
	Exit           int // -1: none
	Stdout, Stderr string
	Took           time.Duration
	Says           Says
}

// Effect is what the hook did, in one word of the stream's hook event.
func (o Outcome) Effect() string {
	s := o.Says
	switch {
	case s.Verdict == event.Deny:
		return "deny"
	case s.Block != "":
		return "block"
	case s.Halt != "":
		return "halt"
	case s.Verdict == event.Ask:
		return "ask"
	case len(s.Faults) > 0:
		return "error"
	case s.Input != nil || s.Output != nil:
		return "rewrite"
	case s.Verdict == event.Allow:
		return "allow"
	case s.Context != "":
		return "context"
	}
	return "none"
}

// pick gives the event's hooks that match, and takes those with once out of
// what comes later.
func (r *Runner) pick(p Payload, call *tool.Call) []*ready {
	var out []*ready
	for _, h := range r.byEvent[p.Event] {
		if h.matches(p.subject()) && r.holds(h, call) && r.take(h) {
			out = append(out, h)
		}
	}
	return out
}

func (r *Runner) holds(h *ready, call *tool.Call) bool {
	if h.condition == nil {
		return true
	}
	if call == nil || r.o.Effects == nil {
		return true // nothing is known: a guard is rather called
	}
	return h.condition.Holds(*call, r.o.Effects(*call))
}

func (r *Runner) take(h *ready) bool {
	if !h.Once {
		return true
	}
	r.shared.mu.Lock()
	defer r.shared.mu.Unlock()
	if r.shared.spent[h] {
		return false
	}
	r.shared.spent[h] = true
	return true
}

// fire runs the hooks that match side by side and gives their outcomes in
// their order. Async ones are started and not waited for.
func (r *Runner) fire(ctx context.Context, p Payload, call *tool.Call) []Outcome {
	picked := r.pick(p, call)
	if len(picked) == 0 {
		return nil
	}
	payload, err := p.JSON()
	if err != nil {
		payload = nil // only an input that is no JSON; the hooks below say that they failed
	}
	var waited []*ready
	for _, h := range picked {
		if h.Async {
			r.runAsync(p.Event, h, payload)
			continue
		}
		waited = append(waited, h)
	}
	out := make([]Outcome, len(waited))
	var all sync.WaitGroup
	for i, h := range waited {
		r.status(h)
		all.Go(func() { out[i] = r.run(ctx, p.Event, h, payload) })
	}
	all.Wait()
	for _, o := range out {
		r.tell(ctx, o)
	}
	return out
}

func (r *Runner) status(h *ready) {
	if h.StatusMessage != "" && r.o.Tell != nil {
		r.o.Tell(event.Notice{Text: h.StatusMessage, Code: "hook_status"})
	}
}

// run runs one hook and reads what it said. It never panics: what breaks here
// is the hook's fault, in both senses.
func (r *Runner) run(ctx context.Context, ev string, h *ready, payload []byte) (o Outcome) {
	began := time.Now()
	o = Outcome{Hook: h.Hook, Exit: -1}
	defer func() {
		if p := recover(); p != nil {
			o.Says = Says{Faults: []string{fmt.Sprintf("reading it broke: %v", p)}}
		}
		o.Took = time.Since(began)
		o.fails(ev)
	}()
	got := r.start(ctx, h, payload)
	o.Exit, o.Stdout, o.Stderr = got.exit, got.stdout, got.stderr
	if got.fault == "" {
		o.Says = ReadOutput(ev, got.exit, got.stdout, got.stderr)
		return o
	}
	o.Says.fault("%s%s", got.fault, tail(got.stderr))
	o.Says.suspect(powers(ev), ev, got.stdout)
	return o
}

func (r *Runner) start(ctx context.Context, h *ready, payload []byte) ran {
	dir := r.o.Cwd
	if payload == nil {
		return ran{exit: -1, fault: "the event cannot be written as JSON"}
	}
	if h.Ready != nil {
		if err := h.Ready(dir); err != nil {
			return ran{exit: -1, fault: err.Error()}
		}
	}
	switch h.Type {
	case "prompt":
		return r.runPrompt(ctx, h, payload)
	case "http":
		return r.runHTTP(ctx, h, payload)
	}
	return r.runCommand(ctx, h, dir, payload)
}

// fails lets a hook with on_error "block" block what it was asked about.
func (o *Outcome) fails(ev string) {
	s := &o.Says
	if len(s.Faults) == 0 || o.Hook.OnError != "block" || s.Verdict == event.Deny || s.Block != "" {
		return
	}
	reason := "the hook failed and blocks when it does: " + s.Faults[0]
	switch p := powers(ev); {
	case p.decides():
		s.refuse(p, ev, reason)
	case p.halt:
		s.Halt = oneOf(s.Halt, reason)
	}
}

// tell says the hook's event, and as notices what a person has to know.
func (r *Runner) tell(ctx context.Context, o Outcome) {
	if r.o.Tell != nil {
		r.o.Tell(event.Hook{Event: o.Hook.Event, Name: o.Hook.Name, Exit: o.Exit, Effect: o.Effect(), MS: o.Took.Milliseconds()})
	}
	if ctx.Err() != nil {
		return // it ended with the run, which the run says itself
	}
	for _, f := range o.Says.Faults {
		r.notice("hook_error", o.Hook.at()+": "+f)
	}
	for _, t := range o.Says.Told {
		r.notice("hook_unused", o.Hook.at()+": "+t)
	}
	if o.Says.Message != "" {
		r.notice("hook_message", o.Hook.Name+": "+clip(o.Says.Message, 4000))
	}
}

// at names the hook and where it stands.
func (h Hook) at() string { return "the hook " + h.Name + " (" + h.Origin + ")" }

func (r *Runner) notice(code, text string) {
	if r.o.Notice != nil {
		r.o.Notice(code, text)
	}
}

// runAsync starts a hook that nobody waits for until the session ends.
func (r *Runner) runAsync(ev string, h *ready, payload []byte) {
	s := r.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	r.status(h)
	s.async.Go(func() {
		o := r.run(s.ctx, ev, h, payload)
		if o.Says.Verdict != "" || o.Says.Block != "" || o.Says.Halt != "" || o.Says.Input != nil || o.Says.Output != nil || o.Says.Context != "" {
			o.Says = Says{Faults: append(o.Says.Faults, "it is async, so what it decides comes too late"), Message: o.Says.Message}
		}
		r.tell(context.Background(), o)
	})
}

// End waits for async hooks until ctx ends, then ends them. No async hook
// begins after it.
func (r *Runner) End(ctx context.Context) {
	s := r.shared
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.async.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		s.cancel()
		<-done
	}
	s.cancel()
}

// joined is what the hooks of one firing say together.
type joined struct {
	by          string // all that said anything
	verdict     event.Verdict
	verdictOf   string // those whose verdict it is
	reason      string
	block, halt string
	input       json.RawMessage
	output      *string
	context     string
}

// join lets deny win over ask over allow, any block block and any halt halt;
// of rewrites the last one counts, and that they differ is told.
func (r *Runner) join(outs []Outcome) joined {
	var j joined
	var names, reasons, blocks, contexts, who []string
	var rewrote string
	for _, o := range outs {
		s := o.Says
		if o.Effect() != "none" && o.Effect() != "error" {
			names = append(names, o.Hook.Name)
		}
		if strength(s.Verdict) > strength(j.verdict) {
			j.verdict, reasons, who = s.Verdict, nil, nil
		}
		if s.Verdict != "" && s.Verdict == j.verdict {
			who = append(who, o.Hook.Name)
			if s.Reason != "" {
				reasons = append(reasons, s.Reason)
			}
		}
		if s.Block != "" {
			blocks = append(blocks, s.Block)
		}
		if j.halt == "" {
			j.halt = s.Halt
		}
		if s.Context != "" {
			contexts = append(contexts, s.Context)
		}
		if s.Input != nil {
			if j.input != nil && !sameJSON(j.input, s.Input) {
				r.notice("hook_conflict", fmt.Sprintf("the hooks %s and %s rewrite the same call differently; what %s says counts", rewrote, o.Hook.Name, o.Hook.Name))
			}
			j.input, rewrote = s.Input, o.Hook.Name
		}
		if s.Output != nil {
			if j.output != nil && *j.output != *s.Output {
				r.notice("hook_conflict", fmt.Sprintf("several hooks replace the same result; what %s says counts", o.Hook.Name))
			}
			j.output = s.Output
		}
	}
	j.reason, j.block, j.context = strings.Join(reasons, "\n"), strings.Join(blocks, "\n"), strings.Join(contexts, "\n\n")
	j.verdictOf, j.by = strings.Join(who, ", "), strings.Join(names, ", ")
	return j
}

func strength(v event.Verdict) int {
	return map[event.Verdict]int{event.Allow: 1, event.Ask: 2, event.Deny: 3}[v]
}

func sameJSON(a, b json.RawMessage) bool {
	x, errA := spec.Parse(a)
	y, errB := spec.Parse(b)
	return errA == nil && errB == nil && bytes.Equal(spec.AppendCanonical(nil, x), spec.AppendCanonical(nil, y))
}
