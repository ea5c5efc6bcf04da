package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"golang.org/x/term"

	"larva.dev/larva/internal/diag"
)

// isTerminal says whether v is a terminal of this process. The interface
// holds an *os.File or a test's reader or writer.
func isTerminal(v any) bool {
	f, ok := v.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// sizeOf gives a terminal's columns and rows, 0 for unknown.
func sizeOf(f *os.File) (width, height int) {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

// sameFile says whether two terminals are one.
func sameFile(a, b *os.File) bool {
	x, err := a.Stat()
	if err != nil {
		return false
	}
	y, err := b.Stat()
	return err == nil && os.SameFile(x, y)
}

// plainTerminal says that nothing may be drawn in place: the terminal cannot,
// or a screen reader reads it.
func plainTerminal(environ []string) bool {
	return lookup(environ, "TERM") == "dumb" || lookup(environ, "ACCESSIBLE") != ""
}

// canAsk says whether there is a person to ask: stdin and stderr are
// terminals and the answer is for eyes.
func (s *session) canAsk() bool {
	return !s.json() && isTerminal(s.process.Stdin) && isTerminal(s.process.Stderr)
}

// confirm asks a yes or no question on stderr; no is the default. Ctrl-C
// inside the question is an interrupt. Where a form has no place (a screen
// reader, a dumb or tiny terminal) it is one line in and one out.
func (s *session) confirm(ctx context.Context, question string) (bool, error) {
	in, out := s.process.Stdin.(*os.File), s.process.Stderr.(*os.File) // canAsk knows both are
	yes := false
	field := huh.NewConfirm().Title(escape(question)).Affirmative("Yes").Negative("No").Value(&yes)
	if plainTerminal(s.process.Environ) || tooSmall(out) {
		if err := field.RunAccessible(out, untilDone(ctx, in)); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		return yes && ctx.Err() == nil, ctx.Err()
	}
	err := runForm(ctx, huh.NewForm(huh.NewGroup(field)), in, out)
	if errors.Is(err, errNoTerminal) {
		return false, interrupted(syscall.SIGHUP)
	}
	if errors.Is(err, huh.ErrUserAborted) {
		return false, &diag.Error{Code: diag.Interrupted, Message: "interrupted", Exit: diag.ExitInterrupted}
	}
	return yes && err == nil, err
}

// errNoTerminal is the end of a form whose terminal has gone away.
var errNoTerminal = errors.New("the terminal is gone")

// runForm runs a form on a terminal. The library leaves a goroutine behind that
// waits for the next key and would take it from the next form: its reads end
// when the form has. The other way round, the library would wait for ever for
// keys of a terminal that is gone: then the form ends with errNoTerminal.
func runForm(ctx context.Context, form *huh.Form, in, out *os.File, options ...tea.ProgramOption) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	keys := &formInput{File: in, gone: func() { cancel(errNoTerminal) }}
	defer keys.over.Store(true)
	// The options replace what was set before them.
	err := form.WithProgramOptions(options...).WithInput(keys).WithOutput(out).RunWithContext(ctx)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errNoTerminal) {
		return cause
	}
	return err
}

// formInput is a terminal until its form is over. gone is called where it ends
// before that; in raw mode no key does that.
type formInput struct {
	*os.File
	over atomic.Bool
	gone func()
}

func (f *formInput) Read(p []byte) (int, error) {
	if f.over.Load() {
		return 0, io.EOF
	}
	n, err := f.File.Read(p)
	if err != nil && !f.over.Load() {
		f.gone()
	}
	return n, err
}
