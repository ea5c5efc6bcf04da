package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"charm.land/huh/v2"
	"golang.org/x/term"

	"larva.dev/larva/internal/event"
)

// The three answers. No is also what Ctrl-C, Esc and the end of input mean.
const (
	answerNo     = "no"
	answerOnce   = "once"
	answerAlways = "always"
)

// maxShown is how much of a call a question shows. A call that is longer says
// so, since what is not seen must not be waved through unknowingly.
const maxShown = 4000

// NewAsk gives the func that puts a question to the person at a terminal. It
// waits as long as they do, and returns the zero Answer, a denial, on Ctrl-C,
// on Esc, at the end of input and when ctx ends. It is for one goroutine at a
// time.
func NewAsk(in, out *os.File) func(context.Context, event.Question) event.Answer {
	lines := &lineSource{in: in}
	return func(ctx context.Context, q event.Question) event.Answer {
		a := &answer{choice: answerNo}
		if os.Getenv("TERM") == "dumb" || os.Getenv("ACCESSIBLE") != "" || tooSmall(out) {
			return a.plain(ctx, q, lines, out)
		}
		fmt.Fprint(out, questionText(q))
		err := a.form(q).WithInput(in).WithOutput(out).RunWithContext(ctx)
		if err != nil {
			return event.Answer{}
		}
		return a.answer(ctx)
	}
}

// tooSmall says that a form has no room, or that the terminal does not know
// its size: a form would draw nothing and wait.
func tooSmall(out *os.File) bool {
	width, height, err := term.GetSize(int(out.Fd()))
	return err != nil || width < 20 || height < 8
}

// answer is what the form fills in.
type answer struct{ choice, reason string }

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
	if !q.NoAlways && q.Suggested != "" {
		options = append(options, huh.NewOption("Always allow "+escape(q.Suggested)+" in this project", answerAlways))
	}
	options = append(options, huh.NewOption("No", answerNo))
	return huh.NewSelect[string]().Title("Allow this call?").Options(options...).Value(&a.choice)
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
	fmt.Fprint(out, questionText(q))
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

// questionText is what the person decides on: the whole call, then why it is
// a question. All of it may come from the model or a repository, so control
// characters are made visible.
func questionText(q event.Question) string {
	d := q.Decision
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s wants to run:\n%s", escape(d.Tool), indent(callDetail(d)))
	if d.Reason != "" {
		fmt.Fprintf(&b, "Asked because: %s [%s]\n", escape(d.Reason), escape(string(d.Stage)))
	}
	if len(d.Segments) > 1 {
		for _, s := range d.Segments {
			if s.Verdict != event.Allow {
				fmt.Fprintf(&b, "  not yet allowed: %s [%s]\n", escape(s.Text), escape(string(s.Stage)))
			}
		}
	}
	return b.String() + "\n"
}

func callDetail(d event.Decision) string {
	text := mainOf(d)
	if len(text) > maxShown {
		cut := strings.ToValidUTF8(text[:maxShown], "")
		text = cut + fmt.Sprintf("\n… and %d bytes more that are not shown", len(text)-len(cut))
	}
	return clean(text)
}

func indent(s string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n  ") + "\n"
}
