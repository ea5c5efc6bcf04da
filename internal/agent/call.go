package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/frame"
	"larva.dev/larva/internal/tool"
)

// maxToolTime ends a tool that forgot its own limit: longer than any of them.
const maxToolTime = 15 * time.Minute

// Call is the only way to a tool: validate, BeforeTool points, permission,
// BeforeRun points, run, AfterTool points, one tool_end event. It never panics
// and always gives a result for the model.
func (l *Loop) Call(ctx context.Context, c tool.Call) tool.Result {
	j := l.authorise(ctx, c)
	if l.start(ctx, j) {
		l.run(ctx, j)
	}
	return l.finish(ctx, j)
}

// job is one call on its way through the steps.
type job struct {
	Judged
	// result is set once the call is over, or refused.
	result *tool.Result
	ran    bool
	took   time.Duration
	done   []func(context.Context, tool.Result) // of BeforeRun, each called once
}

func refuse(r tool.Result) *tool.Result { r.IsError = true; return &r }

// stopped is the result of a call that was not run because the run ended.
func stopped(why string) *tool.Result {
	return refuse(tool.Result{Output: "The call was not run: " + why + "."})
}

// authorise is steps 1 to 3 with the question put.
func (l *Loop) authorise(ctx context.Context, c tool.Call) *job {
	j := &job{}
	if ctx.Err() != nil {
		j.Judged.Call = c
		j.result = stopped(l.whyStopped(ctx))
		return j
	}
	l.one.Lock()
	defer l.one.Unlock()
	j.Judged = l.judge(ctx, c)
	l.settle(ctx, j)
	return j
}

// beforeRun lets the points keep what undo needs. Where one cannot, the call is
// not run: a change that nobody can take back was not what was permitted.
func (l *Loop) beforeRun(ctx context.Context, j *job) {
	for _, f := range l.Points.BeforeRun {
		done, err := f(ctx, j.Call, j.Effects)
		if done != nil {
			j.done = append(j.done, done)
		}
		if err != nil {
			j.result = refuse(tool.Result{Output: "The call was not run: " + sentence(err.Error())})
			return
		}
	}
}

// settle asks where the judgement is a question and refuses where it is, or
// ends as, a denial. It runs under l.one.
func (l *Loop) settle(ctx context.Context, j *job) {
	switch {
	case j.Fault != nil:
		j.result = refuse(*j.Fault)
		return
	case j.tool == nil: // known by name only
		j.result = l.unknownTool(j.Call.Tool)
		return
	case j.Decision.Verdict == event.Ask:
		l.ask(ctx, &j.Judged)
	}
	if j.Decision.Verdict == event.Allow {
		if j.answer != nil {
			l.emit(event.Permission{ID: j.Call.ID, Decision: j.Decision, Answer: j.answer})
		}
		return
	}
	if ctx.Err() != nil { // the question ended with the run: nobody refused
		j.result = stopped(l.whyStopped(ctx))
		return
	}
	l.emit(event.Permission{ID: j.Call.ID, Decision: j.Decision, Answer: j.answer})
	l.deny(j.Decision)
	j.result = refuse(tool.Result{Output: refusal(j.Decision)})
}

// start says tool_start and gives true where the call is to be run. The facts
// are stated again just before: an earlier call of the batch may have put a
// link where there was none, and a yes holds for what was judged.
func (l *Loop) start(ctx context.Context, j *job) bool {
	if j.result != nil {
		return false
	}
	if h := l.isHalted(); h != nil {
		j.result = stopped("the hook " + frame.Attribute(h.name) + " ended the run")
		return false
	}
	if ctx.Err() != nil {
		j.result = stopped(l.whyStopped(ctx))
		return false
	}
	if l.again(ctx, j); j.result != nil {
		return false
	}
	l.emit(event.ToolStart{ID: j.Call.ID, Tool: j.Call.Tool, Input: j.Call.Input})
	j.ran = true
	if s, ok := j.tool.(tool.Starter); ok {
		s.Starts(j.Call)
	}
	return true
}

func (l *Loop) again(ctx context.Context, j *job) {
	l.one.Lock()
	defer l.one.Unlock()
	l.refresh()
	eff, fault := effects(j.tool, j.Call)
	if fault != nil {
		j.result = fault
		return
	}
	if !reflect.DeepEqual(eff, j.Effects) {
		j.Effects, j.answer = eff, nil
		j.Decision = l.Policy.Judge(j.Call, eff, j.says)
		l.settle(ctx, j)
	}
	if j.result == nil {
		l.beforeRun(ctx, j)
	}
}

// run is step 5. A panic is the tool's failure, not ours.
func (l *Loop) run(ctx context.Context, j *job) {
	began := l.now()
	defer func() {
		j.took = l.now().Sub(began)
		if p := recover(); p != nil {
			j.result = refuse(tool.Fail("the tool %s broke: %v", j.Call.Tool, p))
		}
	}()
	if !j.tool.Spec().Endless {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, maxToolTime)
		defer cancel()
	}
	r, err := j.tool.Run(ctx, j.Call)
	if err != nil {
		r = broke(ctx, j.Call.Tool, err)
	}
	j.result = &r
}

func broke(ctx context.Context, name string, err error) tool.Result {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && errors.Is(err, context.DeadlineExceeded) {
		return tool.Fail("the tool %s was stopped: it took longer than it may", name)
	}
	return tool.Fail("the tool %s could not run: %v", name, err)
}

// finish is steps 6 and 7. It is called once for every call.
func (l *Loop) finish(ctx context.Context, j *job) tool.Result {
	r := *j.result
	size := len(r.Output)
	if j.ran && ctx.Err() != nil {
		r.IsError = true
		r.Output = joinLines(r.Output, "[stopped: "+l.whyStopped(ctx)+"]")
	}
	l.fit(j, &r)
	for _, done := range j.done {
		done(ctx, r)
	}
	if j.ran {
		r.Output = appendNotes(r.Output, append(j.notes, l.after(ctx, j, &r)...))
	}
	l.planOver(j)
	end := event.ToolEnd{ID: j.Call.ID, Tool: j.Call.Tool, Output: r.Output, IsError: r.IsError,
		MS: j.took.Milliseconds(), Bytes: size, Fault: r.Fault}
	for _, i := range r.Images {
		end.Images = append(end.Images, event.Image{MediaType: i.MediaType, Bytes: len(i.Data)})
	}
	if j.Decision.Verdict != "" {
		d := j.Decision
		end.Decision = &d
	}
	l.emit(end)
	return r
}

// after runs the AfterTool points; one that gives the result another text
// gives it to those behind it too.
func (l *Loop) after(ctx context.Context, j *job, r *tool.Result) []note {
	var notes []note
	for _, f := range l.Points.AfterTool {
		a := f(ctx, j.Call, *r)
		if a.Output != nil {
			r.Output = capOutput(*a.Output, l.room(j), "")
		}
		notes = append(notes, note{tagFeedback, a.Name, brief(a.Feedback)}, note{tagContext, a.Name, brief(a.Context)})
		if a.Halt != "" {
			l.halt(a.Name, a.Halt)
		}
	}
	return notes
}

// whyStopped words the end of ctx for the model.
func (l *Loop) whyStopped(ctx context.Context) string {
	if errors.Is(context.Cause(ctx), errTimeLimit) {
		return fmt.Sprintf("the run's time limit of %v was reached", l.root().TimeLimit)
	}
	if why, ok := context.Cause(ctx).(interface{ Why() string }); ok {
		return why.Why()
	}
	var failed *diag.Error // a session that cannot be written, say
	if errors.As(context.Cause(ctx), &failed) && failed.Code != diag.Interrupted {
		return failed.Message
	}
	return "interrupted by the user"
}
