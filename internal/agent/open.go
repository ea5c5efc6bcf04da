package agent

import (
	"context"
	"fmt"

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
	for _, f := range r.Points.SessionStart {
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
	text, images := r.promptText(ctx, prompt, before, behind)
	if e := r.shorten(ctx, text); e.over() {
		return e
	}
	blocks := []model.Block{{Text: text}}
	for i := range images {
		blocks = append(blocks, model.Block{Image: &images[i]})
	}
	r.say(blocks...)
	r.emit(event.User{Text: text})
	return end{}
}

// promptText is the prompt between what the session's start and our own notes
// say of it and what it mentions and the hooks add.
func (r *run) promptText(ctx context.Context, prompt string, before, behind []note) (string, []tool.Image) {
	text := prompt
	if r.CurrentMode() == permission.Plan {
		r.Note(planNote)
	}
	for _, first := range []string{r.notes(), r.arrived(), appendNotes("", before)} {
		if first != "" {
			text = first + "\n\n" + text
		}
	}
	var images []tool.Image
	if r.Attach != nil {
		var more string
		if more, images = r.Attach(ctx, prompt); more != "" {
			text += "\n\n" + more
		}
	}
	return appendNotes(text, behind), images
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
