package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"charm.land/huh/v2"
)

// maxAnswer bounds an answer that is typed: enough for a page, too little to
// flood the conversation by accident.
const maxAnswer = 4000

// askUser puts the model's own question to the person. ok is false on Ctrl-C
// (after interrupt), on Esc, at the end of input and when ctx ends.
func (k *asker) askUser(ctx context.Context, question string, options []string) (text string, ok bool) {
	u := &userAnswer{options: options}
	dropTyped(k.in)
	if k.plain || tooSmall(k.out) {
		return u.plain(ctx, question, k.lines, k.out)
	}
	fmt.Fprint(k.out, userQuestion(question))
	if !k.fill(ctx, u.form(), &u.answer) || ctx.Err() != nil {
		return "", false
	}
	return u.text(), true
}

// userQuestion is the question as it is shown: it comes from the model, so
// control characters are made visible.
func userQuestion(question string) string {
	return "\nThe agent asks:\n" + indent(clean(shorten(question, maxShown))) + "\n"
}

// userAnswer is what the form fills in. choice is an index of options, the
// number behind the last one is an answer of the person's own.
type userAnswer struct {
	answer  // for Ctrl-C
	options []string
	pick    int
	typed   string
}

func (u *userAnswer) own() bool { return u.pick >= len(u.options) }

func (u *userAnswer) text() string {
	if u.own() {
		return strings.TrimSpace(u.typed)
	}
	return u.options[u.pick]
}

func (u *userAnswer) form() *huh.Form {
	keys := huh.NewDefaultKeyMap()
	keys.Quit.SetKeys("ctrl+c", "esc")
	keys.Select.Filter.SetEnabled(false)
	own := huh.NewGroup(u.input()).WithHideFunc(func() bool { return !u.own() })
	groups := []*huh.Group{own}
	if len(u.options) > 0 {
		groups = []*huh.Group{huh.NewGroup(u.selection()), own}
	}
	return huh.NewForm(groups...).WithKeyMap(keys).WithShowHelp(true)
}

func (u *userAnswer) selection() *huh.Select[int] {
	list := make([]huh.Option[int], 0, len(u.options)+1)
	for i, o := range u.options {
		list = append(list, huh.NewOption(shorten(escape(o), 2*maxCallText), i))
	}
	list = append(list, huh.NewOption("Something else…", len(u.options)))
	return huh.NewSelect[int]().Title("Your answer").Options(list...).Value(&u.pick)
}

func (u *userAnswer) input() *huh.Input {
	title := "Your answer"
	if len(u.options) > 0 {
		title = "Another answer"
	}
	return huh.NewInput().Title(title).CharLimit(maxAnswer).Value(&u.typed)
}

// plain asks line by line, for screen readers and dumb terminals.
func (u *userAnswer) plain(ctx context.Context, question string, lines *lineSource, out io.Writer) (text string, ok bool) {
	in := &lineReader{ctx: ctx, source: lines}
	fmt.Fprint(out, userQuestion(question))
	if len(u.options) > 0 {
		if u.selection().RunAccessible(out, in) != nil || ctx.Err() != nil || in.ended {
			return "", false
		}
	}
	if u.own() && (u.input().RunAccessible(out, in) != nil || in.ended && u.typed == "") {
		return "", false
	}
	fmt.Fprintln(out)
	return u.text(), ctx.Err() == nil
}
