package agent

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
)

// Compaction says how a summary takes the place of a conversation that fills
// the model's window. The zero value summarises with the run's own model and
// the house's instruction.
type Compaction struct {
	// Prompt is the instruction, a persona's compaction_prompt; "": the house's.
	Prompt string
	// Model summarises in place of the run's own, the role compact's; nil: the
	// run's own, whose prompt cache then holds the conversation already.
	Model model.Model
	// MaxOutput is the most that the model answers, in tokens; 0: unknown.
	MaxOutput int
	// Transcript is the path of the session's log, named in the summary so that
	// details can be looked up; "": none.
	Transcript string
	// Carry gives what stands behind a summary of what it cannot hold, "" for
	// nothing; nil: nothing.
	Carry func() string
	// Forget is called when a summary has taken the place of what the model had
	// read: files count as unread from then on. nil: nobody needs to know.
	Forget func()
}

// summarise is the house's instruction.
//
//go:embed compaction.md
var summarise string

// summaryForm stands behind whatever instruction: the answer is read by us.
const summaryForm = "Call no tool now. Answer with the summary alone, between <summary> and </summary>."

const (
	triggerAuto   = "auto"
	triggerManual = "manual"
	// defaultWindow is a context window that nobody has named: what most models
	// have at least.
	defaultWindow = 128_000
	// What a summary may take: enough for a long session, bounded by what models
	// answer at most. Of a model whose most is unknown no more than all take.
	maxSummary     = 32_000
	minSummary     = 4096
	unknownSummary = 8192
)

// fill is how full the window is and what was done about it.
type fill struct {
	measured int // tokens of the last request and its answer, 0: not since the last change
	todos    []todo
	// failed says that a summary could not be had, or would not have helped: it
	// is not tried again before the next prompt. Recovery from an overflow is.
	failed bool
}

func (l *Loop) window() int {
	if l.ContextWindow > 0 {
		return l.ContextWindow
	}
	return defaultWindow
}

// projected is how many tokens the next request has, with upcoming behind it.
func (r *run) projected(upcoming string) int {
	return max(r.context.measured, r.prefix()+estimate(r.messages)+len(upcoming)/charsPerToken)
}

// shorten makes room where the next request would fill the window: first old
// results give way, then a summary takes the conversation's place. upcoming is
// a prompt that is about to be put down, "" in the middle of the work.
func (r *run) shorten(ctx context.Context, upcoming string) end {
	window := r.window()
	if len(r.messages) == 0 || r.prefix() >= window || ctx.Err() != nil || r.overBudget() != "" || r.turns >= r.maxTurns() {
		return end{}
	}
	before := r.projected(upcoming)
	if before*10 > window*ageAt {
		r.age(window)
	}
	if r.context.failed || r.projected(upcoming)*10 <= window*8 {
		return end{}
	}
	err := r.compact(ctx, triggerAuto, upcoming == "")
	var h *haltError
	switch {
	case errors.As(err, &h):
		return r.halts(h.name, h.reason)
	case ctx.Err() != nil:
		return end{} // the loop says why
	case err != nil:
		r.context.failed = true
		r.Notice("compaction_failed", fmt.Sprintf("the conversation fills the model's window and could not be summarised: %v", err))
	case r.projected(upcoming)*10 > window*8:
		r.context.failed = true
	}
	return end{}
}

// overflowed shortens a conversation that the service found too long. Where
// that fails the run is over.
func (r *run) overflowed(ctx context.Context, cause error) end {
	err := r.compact(ctx, triggerAuto, true)
	var h *haltError
	switch {
	case err == nil:
		return end{}
	case errors.As(err, &h):
		return r.halts(h.name, h.reason)
	case ctx.Err() != nil:
		return r.cancelled(ctx)
	case errors.Is(err, errBudget):
		r.Notice("budget", "stopped: "+r.overBudget())
		return end{reason: event.StopBudget}
	}
	e := r.failure(diag.ModelFailed, fmt.Sprintf("the conversation is too long for the model (%v), and it could not be summarised: %v", cause, err), 0)
	e.Cause = cause
	return end{err: e}
}

// haltError is a point that ended the run.
type haltError struct{ name, reason string }

func (h *haltError) Error() string { return "the hook " + h.name + " ended the run" }

// compact asks for a summary and puts it in the conversation's place. midway
// says that the model was at work. On an error everything is as it was.
func (r *run) compact(ctx context.Context, trigger string, midway bool) error {
	var notes []note
	for _, f := range r.Points.BeforeCompact {
		s := f(ctx, trigger)
		if s.Halt != "" {
			return &haltError{s.Name, s.Halt}
		}
		if s.Block != "" {
			return fmt.Errorf("the hook %s keeps it as it is: %s", s.Name, s.Block)
		}
		notes = append(notes, note{tagContext, s.Name, brief(s.Context)})
	}
	before := r.projected("")
	r.emit(event.Notice{Code: "compacting", Text: fmt.Sprintf("the conversation has about %d tokens of %d; it is being summarised", before, r.window())})
	summary, err := r.summary(ctx, appendNotes(r.instruction(), notes)+"\n\n"+summaryForm)
	if err != nil {
		return err
	}
	text := r.standsFor(summary, midway)
	r.messages = []model.Message{{Role: model.User, Blocks: []model.Block{{Text: text}}}}
	r.context.measured = 0
	after := r.projected("")
	r.root().out.Lock()
	r.bill.context = after
	r.emitLocked(event.Compacted{Before: before, After: after, Summary: text})
	r.root().out.Unlock()
	if r.Compaction.Forget != nil {
		r.Compaction.Forget()
	}
	for _, f := range r.Points.AfterCompact {
		f(ctx, trigger, summary)
	}
	return nil
}

func (r *run) instruction() string {
	if p := r.Compaction.Prompt; strings.TrimSpace(p) != "" {
		return p
	}
	return strings.TrimSpace(summarise)
}

// summary asks the model for compaction, then, where that one fails, the
// run's own.
func (r *run) summary(ctx context.Context, instruction string) (string, error) {
	if m := r.Compaction.Model; m != nil && m.Name() != r.Model.Name() && r.holds(m) {
		text, err := r.summaryOf(ctx, m, instruction, nil)
		if err == nil || ctx.Err() != nil || errors.Is(err, errBudget) {
			return text, err
		}
		r.Notice("compaction_model", fmt.Sprintf("%s gave no summary (%v); %s is asked", m.Name(), err, r.Model.Name()))
	}
	return r.summaryOf(ctx, r.Model, instruction, forSummary(r.Params))
}

// holds says whether a model's window takes the conversation, as far as its
// size is known.
func (r *run) holds(m model.Model) bool {
	p := r.priceOf(m.Name())
	return p == nil || p.Window <= 0 || r.projected("")*10 <= p.Window*9
}

// summaryOf sends the conversation as it stands, so that the prompt cache
// holds all but the instruction. Where it does not fit it is sent again with
// less of it.
func (r *run) summaryOf(ctx context.Context, m model.Model, instruction string, params []model.Param) (string, error) {
	var last error
	for level := range shrinkLevels {
		r.requests++
		req := model.Request{Model: model.BareName(m), System: r.system, Tools: r.Tools.Specs(), Params: params, CacheKey: r.Session,
			Number: r.requests, MaxTokens: r.summaryRoom(), Messages: withInstruction(shrink(r.messages, level), instruction)}
		a, err := r.Side(ctx, m, req)
		switch {
		case err == nil && a.Stop == model.Refusal:
			return "", errors.New("the model refused to summarise")
		case err == nil:
			if text := extractSummary(a.Message.Text()); text != "" {
				return text, nil
			}
			return "", errors.New("the model gave no summary")
		case !tooLong(err):
			return "", err
		}
		last = err
	}
	return "", last
}

func (r *run) summaryRoom() int {
	most := r.Compaction.MaxOutput
	if most <= 0 {
		most = unknownSummary
	}
	return min(maxSummary, most, max(r.window()/4, minSummary))
}

// forSummary leaves out of the persona's params what shapes or cuts its
// answers; the rest stays, since services key their cache by it.
func forSummary(params []model.Param) []model.Param {
	return slices.DeleteFunc(slices.Clone(params), func(p model.Param) bool {
		switch p.Key {
		case "max_tokens", "max_completion_tokens", "max_output_tokens", "stop", "stop_sequences", "response_format", "output_format", "text":
			return true
		}
		return false
	})
}

// withInstruction puts the instruction behind the conversation, which stays
// as it is.
func withInstruction(messages []model.Message, instruction string) []model.Message {
	out := slices.Clone(messages)
	block := model.Block{Text: instruction}
	if n := len(out); n > 0 && out[n-1].Role == model.User {
		out[n-1].Blocks = append(slices.Clip(out[n-1].Blocks), block)
		return out
	}
	return append(out, model.Message{Role: model.User, Blocks: []model.Block{block}})
}
