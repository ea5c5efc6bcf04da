package agent

import (
	"context"
	"fmt"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// judgePrompts is how many prompts mode auto's judge is shown.
const judgePrompts = 3

// open runs the points before the first request and puts the prompt down,
// with the notes that are due, behind a conversation that is short enough.
func (r *run) open(ctx context.Context, prompt string) end {
	r.prompt = prompt
	r.remindJudge(prompt)
	var before, behind []note
	for _, f := range r.sessionStart() {
		s := f(ctx, r.source())
		if s.Halt != "" {
			return r.halts(s.Name, s.Halt)
		}
		before = append(before, note{tagContext, s.Name, brief(s.Context)})
	}
	for _, f := range r.Points.Prompt {
		s := f(ctx, prompt)
		if s.Halt != "" {
			return r.halts(s.Name, s.Halt)
		}
		if s.Block != "" {
			r.Notice("blocked", fmt.Sprintf("the hook %s blocked the prompt: %s", s.Name, s.Block))
			return end{reason: event.StopBlocked}
		}
		behind = append(behind, note{tagContext, s.Name, brief(s.Context)})
	}
	text, images, err := r.promptText(ctx, prompt, before, behind)
	if err != nil {
		return r.unexpanded(ctx, err)
	}
	if e := r.shorten(ctx, text); e.over() {
		return e
	}
	blocks := []model.Block{{Text: text}}
	for i := range images {
		blocks = append(blocks, model.Block{Image: &images[i]})
	}
	r.say(blocks...)
	u := event.User{Text: text}
	if text != prompt {
		u.Typed = prompt
	}
	r.emit(u)
	return end{}
}

// unexpanded ends a run whose prompt stands for a text that cannot be had.
func (r *run) unexpanded(ctx context.Context, err error) end {
	if ctx.Err() != nil {
		return r.cancelled(ctx)
	}
	return end{err: diag.As(err)}
}

// promptText is the prompt between what the session's start and our own notes
// say of it and what it mentions and the hooks add. What it mentions is read
// off what was typed, so that the text it stands for mentions nothing.
func (r *run) promptText(ctx context.Context, prompt string, before, behind []note) (string, []tool.Image, error) {
	var images []tool.Image
	more := ""
	if r.Attach != nil {
		more, images = r.Attach(ctx, prompt)
	}
	text := prompt
	if r.Expand != nil {
		var err error
		if text, err = r.Expand(ctx, prompt); err != nil {
			return "", nil, err
		}
		r.prompt = text
	}
	if r.CurrentMode() == permission.Plan {
		r.Note(planNote)
	}
	for _, first := range []string{r.notes(), r.arrived(), appendNotes("", before)} {
		if first != "" {
			text = first + "\n\n" + text
		}
	}
	if more != "" {
		text += "\n\n" + more
	}
	return appendNotes(text, behind), images, nil
}

// remindJudge keeps the last prompts for mode auto's judge.
func (r *run) remindJudge(prompt string) {
	r.one.Lock()
	defer r.one.Unlock()
	r.prompts = append(r.prompts, prompt)
	r.prompts = r.prompts[max(0, len(r.prompts)-judgePrompts):]
}

// source is why the session begins, for SessionStart.
func (l *Loop) source() string {
	if l.Source == "" {
		return "startup"
	}
	return l.Source
}
