package agent

import (
	"bytes"
	"context"
	"sync"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/tool"
)

// batch answers all calls of one message, one result each, in call order.
// All are authorised in order before the first one runs, so questions come in
// order and an "always" holds for the calls behind it.
// cut says that the message ended at its token limit. changed says for each
// call whether it ran, succeeded and was more than a look.
func (l *Loop) batch(ctx context.Context, calls []model.Call, cut bool) (out []model.Result, changed []bool) {
	jobs := make([]*job, len(calls))
	for i, c := range calls {
		jobs[i] = l.authorise(ctx, toolCall(c, cut))
	}
	out = make([]model.Result, 0, len(calls))
	for len(jobs) > 0 {
		n := l.beside(jobs)
		l.runBeside(ctx, jobs[:n], func(j *job) {
			r := l.finish(ctx, j)
			out = append(out, model.Result{ID: j.Call.ID, Tool: j.Call.Tool, Output: r.Output, IsError: r.IsError, Images: r.Images})
			changed = append(changed, j.ran && !r.IsError && j.Effects.Touches && !j.Effects.ReadOnly)
		})
		jobs = jobs[n:]
	}
	return out, changed
}

// beside counts the jobs that run together from the front: as many parallel
// ones as stand side by side (refused ones do not part them), or one alone.
func (l *Loop) beside(jobs []*job) int {
	n := 0
	for n < len(jobs) && (jobs[n].result != nil || jobs[n].tool.Spec().Parallel) {
		n++
	}
	return max(n, 1)
}

// runBeside runs jobs together and calls done for each in order, as soon as
// those before it are over. It starts the goroutines and waits for them.
func (l *Loop) runBeside(ctx context.Context, jobs []*job, done func(*job)) {
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, l.maxParallel())
	over := make([]chan struct{}, len(jobs))
	for i, j := range jobs {
		over[i] = make(chan struct{})
		if !l.start(ctx, j) {
			close(over[i])
			continue
		}
		if len(jobs) == 1 {
			l.run(ctx, j)
			close(over[i])
			continue
		}
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots; close(over[i]) }()
			l.run(ctx, j)
		})
	}
	for i, j := range jobs {
		<-over[i]
		done(j)
	}
}

// toolCall reads what the model wrote. Input is nil where that was no object:
// what it wrote instead may still be an object inside a string, and nothing
// at all is a call without arguments, unless the message was cut there.
func toolCall(c model.Call, cut bool) tool.Call {
	input := c.Input
	if input == nil {
		input = []byte(c.Broken)
	}
	if len(bytes.TrimSpace(input)) == 0 && !cut {
		input = []byte("{}")
	}
	return tool.Call{ID: c.ID, Tool: c.Tool, Input: input}
}
