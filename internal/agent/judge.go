package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/frame"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// Known gives the effects of a tool by its name alone, see
// permission.KnownEffects.
type Known func(name string, input json.RawMessage) (tool.Effects, bool)

// Judged is what steps 1 to 3 say of one call.
type Judged struct {
	// Call as it would run: its input tidied, and rewritten by BeforeTool.
	Call    tool.Call
	Effects tool.Effects
	// Decision is allow, ask or deny; the zero value where Fault is set.
	Decision event.Decision
	// Fault is the result of a call that step 1 refused: nobody judged it.
	Fault *tool.Result

	tool   tool.Tool // nil for a tool known by name only
	says   permission.HookSays
	answer *event.Answer // what the person said, nil where nobody was asked
	// notes of BeforeTool, appended to the result.
	notes []note
}

// Judge is steps 1 to 3 of a call: validation, the BeforeTool points, and
// permission on what they made of the input. It asks nobody and runs nothing.
func (l *Loop) Judge(ctx context.Context, c tool.Call) Judged {
	l.one.Lock()
	defer l.one.Unlock()
	return l.judge(ctx, c)
}

func (l *Loop) judge(ctx context.Context, c tool.Call) Judged {
	j := Judged{Call: c}
	l.refresh()
	t, ok := l.Tools.Get(c.Tool)
	if !ok {
		return l.judgeKnown(j)
	}
	spec := t.Spec()
	if j.Call.Input, j.Fault = l.validate(spec, c.Input); j.Fault != nil {
		return j
	}
	if s, ok := t.(tool.Standin); ok {
		return l.judgeFor(ctx, s, j)
	}
	j.tool = t
	if l.before(ctx, spec, &j); j.Fault != nil {
		return j
	}
	if j.Effects, j.Fault = effects(t, j.Call); j.Fault != nil {
		return j
	}
	j.Decision = l.Policy.Judge(j.Call, j.Effects, j.says)
	return j
}

// judgeFor judges the call that another one stands for.
func (l *Loop) judgeFor(ctx context.Context, s tool.Standin, j Judged) Judged {
	meant, fault := s.For(j.Call)
	if fault != nil {
		j.Fault = fault
		return j
	}
	if t, ok := l.Tools.Get(meant.Tool); ok {
		if _, again := t.(tool.Standin); again { // it would never end
			r := tool.Fail("%s cannot be called through another tool", frame.Attribute(meant.Tool))
			j.Fault = &r
			return j
		}
	}
	return l.judge(ctx, meant)
}

// judgeKnown judges a call by the tool's name, for explaining; in a run the
// tool is unknown.
func (l *Loop) judgeKnown(j Judged) Judged {
	if l.Known != nil {
		if eff, ok := l.Known(j.Call.Tool, j.Call.Input); ok {
			j.Effects = eff
			j.Decision = l.Policy.Judge(j.Call, eff, j.says)
			return j
		}
	}
	j.Fault = l.unknownTool(j.Call.Tool)
	return j
}

// before runs the BeforeTool points. Each sees the input as the ones before
// it left it; a rewrite that does not fit the schema refuses the call, since
// running the old input would be neither what the model nor what the hook said.
func (l *Loop) before(ctx context.Context, spec tool.Spec, j *Judged) {
	for _, f := range l.Points.BeforeTool {
		b := f(ctx, j.Call)
		if b.Input != nil {
			input, fault := l.validate(spec, b.Input)
			if fault != nil {
				fault.Output = fmt.Sprintf("The hook %s rewrote this call and the rewrite is refused. %s", frame.Attribute(b.Name), fault.Output)
				j.Fault = fault
				return
			}
			j.Call.Input = input
		}
		if b.Says.Name == "" {
			b.Says.Name = b.Name
		}
		j.says = strongest(j.says, b.Says)
		j.notes = append(j.notes, note{tagContext, b.Name, b.Context})
		if b.Halt != "" {
			l.halt(b.Name, b.Halt)
		}
	}
}

// effects asks a tool for its facts. A tool that breaks here has no known
// effects, so the call is refused.
func effects(t tool.Tool, c tool.Call) (eff tool.Effects, fault *tool.Result) {
	defer func() {
		if p := recover(); p != nil {
			r := tool.Fail("the tool %s broke while it was judged (%v); the call was not run", c.Tool, p)
			fault = &r
		}
	}()
	return t.Effects(c), nil
}
