package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"golang.org/x/term"

	"larva.dev/larva/internal/event"
)

// The three answers. No is also what Esc and the end of input mean; Ctrl-C
// ends the run.
const (
	answerNo     = "no"
	answerOnce   = "once"
	answerAlways = "always"
)

// asker puts questions to the person at a terminal.
type asker struct {
	in, out   *os.File
	plain     bool  // line by line: a dumb terminal, a screen reader
	style     style // of the question's text
	interrupt func(os.Signal)
	lines     *lineSource
}

// newAsker makes one. interrupt is called on Ctrl-C at a question, and with
// SIGHUP where the terminal goes away under one; nil is nothing to call. It is
// for one goroutine at a time.
func newAsker(in, out *os.File, environ []string, interrupt func(os.Signal)) *asker {
	k := &asker{in: in, out: out, plain: plainTerminal(environ), interrupt: interrupt, lines: &lineSource{in: in}}
	k.style.on = !k.plain && lookup(environ, "NO_COLOR") == ""
	return k
}

// ask puts a question and waits as long as the person does. It gives the zero
// Answer, a denial, on Ctrl-C (after interrupt), on Esc, at the end of input
// and when ctx ends. What was typed before the question stood there is no
// answer to it.
func (k *asker) ask(ctx context.Context, q event.Question) event.Answer {
	a := &answer{choice: answerNo}
	dropTyped(k.in)
	if k.plain || tooSmall(k.out) {
		return a.plain(ctx, q, k.lines, k.out)
	}
	fmt.Fprint(k.out, questionText(q, k.style))
	if !k.fill(ctx, a.form(q), a) {
		return event.Answer{}
	}
	return a.answer(ctx)
}

// fill runs a form and says whether it was filled in: not on Ctrl-C, which
// interrupts, nor on Esc, nor when ctx or the terminal ends.
func (k *asker) fill(ctx context.Context, form *huh.Form, a *answer) bool {
	// Signals end ctx.
	err := runForm(ctx, form, k.in, k.out, tea.WithoutSignalHandler(), tea.WithFilter(a.seeCtrlC))
	switch {
	case k.interrupt == nil:
	case a.ctrlC:
		k.interrupt(os.Interrupt)
	case errors.Is(err, errNoTerminal):
		k.interrupt(syscall.SIGHUP)
	}
	return err == nil && !a.ctrlC && form.State == huh.StateCompleted
}

// tooSmall says that a form has no room, or that the terminal does not know
// its size: a form would draw nothing and wait.
func tooSmall(out *os.File) bool {
	width, height, err := term.GetSize(int(out.Fd()))
	return err != nil || width < 20 || height < 8
}

// answer is what the form fills in.
type answer struct {
	choice, reason string
	ctrlC          bool
}

// seeCtrlC tells Ctrl-C, which the form takes for Esc, from it. Both end the
// form in order, so that it wipes itself off the terminal.
func (a *answer) seeCtrlC(_ tea.Model, msg tea.Msg) tea.Msg {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		a.ctrlC = a.ctrlC || msg.String() == "ctrl+c"
	case tea.InterruptMsg:
		return tea.QuitMsg{}
	}
	return msg
}

func (a *answer) form(q event.Question) *huh.Form {
	keys := huh.NewDefaultKeyMap()
	keys.Quit.SetKeys("ctrl+c", "esc")
	keys.Select.Filter.SetEnabled(false) // three lines need none, and Esc must mean no
	return huh.NewForm(
		huh.NewGroup(a.selection(q)),
		huh.NewGroup(a.why()).WithHideFunc(func() bool { return a.choice != answerNo }),
	).WithKeyMap(keys).WithShowHelp(true)
}

func (a *answer) selection(q event.Question) *huh.Select[string] {
	options := []huh.Option[string]{huh.NewOption("Allow this once", answerOnce)}
	if rules := kept(q); len(rules) == 1 {
		options = append(options, huh.NewOption("Always allow "+shorten(escape(rules[0]), maxCallText)+" in this project", answerAlways))
	} else if len(rules) > 1 {
		options = append(options, huh.NewOption(fmt.Sprintf("Always allow these %d rules in this project", len(rules)), answerAlways))
	}
	options = append(options, huh.NewOption("No", answerNo))
	return huh.NewSelect[string]().Title("Allow this call?").Options(options...).Value(&a.choice)
}

// kept are the rules that an "always" stores, none where it is not offered.
func kept(q event.Question) []string {
	switch {
	case q.NoAlways:
		return nil
	case len(q.Rules) > 0:
		return q.Rules
	case q.Suggested != "":
		return []string{q.Suggested}
	}
	return nil
}

func (a *answer) why() *huh.Input {
	return huh.NewInput().Title("What should it do instead? (may stay empty)").CharLimit(2000).Value(&a.reason)
}

func (a *answer) answer(ctx context.Context) event.Answer {
	if ctx.Err() != nil {
		return event.Answer{}
	}
	switch a.choice {
	case answerOnce:
		return event.Answer{Allow: true}
	case answerAlways:
		return event.Answer{Allow: true, Always: true}
	}
	return event.Answer{Feedback: strings.TrimSpace(a.reason)}
}

// plain asks line by line, for screen readers and dumb terminals: huh's own
// accessible fields, but only those that apply. At the end of input the choice
// stays at no.
func (a *answer) plain(ctx context.Context, q event.Question, lines *lineSource, out io.Writer) event.Answer {
	in := &lineReader{ctx: ctx, source: lines}
	fmt.Fprint(out, questionText(q, style{}))
	if a.selection(q).RunAccessible(out, in) != nil || ctx.Err() != nil {
		return event.Answer{}
	}
	if a.choice == answerNo && !in.ended {
		if a.why().RunAccessible(out, in) != nil {
			a.reason = ""
		}
	}
	fmt.Fprintln(out)
	return a.answer(ctx)
}

// lineSource owns the input of the plain form from the first question on. Its
// goroutine waits in a read that nothing can end and so lives as long as the
// process; questions take bytes from it, so what one does not read is there
// for the next.
type lineSource struct {
	in    io.Reader
	bytes chan byte // closed at the end of input
}

func (l *lineSource) open() <-chan byte {
	if l.bytes == nil {
		l.bytes = make(chan byte)
		go func() {
			defer close(l.bytes)
			buf := make([]byte, 4096)
			for {
				n, err := l.in.Read(buf)
				for _, b := range buf[:n] {
					l.bytes <- b
				}
				if err != nil {
					return
				}
			}
		}()
	}
	return l.bytes
}

// lineReader hands out a byte a read: each of huh's accessible fields reads
// through a buffer of its own and would swallow the lines of the next.
type lineReader struct {
	ctx    context.Context
	source *lineSource
	ended  bool
}

func (l *lineReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	select {
	case b, ok := <-l.source.open():
		if !ok {
			l.ended = true
			return 0, io.EOF
		}
		p[0] = b
		return 1, nil
	case <-l.ctx.Done():
		l.ended = true
		return 0, l.ctx.Err()
	}
}
