package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"

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
	if errors.Is(err, huh.ErrUserAborted) {
		return false, &diag.Error{Code: diag.Interrupted, Message: "interrupted", Exit: diag.ExitInterrupted}
	}
	return yes && err == nil, err
}

// runForm runs a form on a terminal. The library leaves a goroutine behind that
// waits for the next key and would take it from the next form: its reads end
// when the form has.
func runForm(ctx context.Context, form *huh.Form, in, out *os.File, options ...tea.ProgramOption) error {
	keys := &formInput{File: in}
	defer keys.over.Store(true)
	// The options replace what was set before them.
	return form.WithProgramOptions(options...).WithInput(keys).WithOutput(out).RunWithContext(ctx)
}

// formInput is a terminal until its form is over.
type formInput struct {
	*os.File
	over atomic.Bool
}

func (f *formInput) Read(p []byte) (int, error) {
	if f.over.Load() {
		return 0, io.EOF
	}
	return f.File.Read(p)
}

// untilDone gives a reader whose Read ends when ctx does: a terminal or a
// stuck pipe must not hold back Ctrl-C. The goroutine that waits in the inner
// Read ends with the process; it owns its buffer, so nothing is shared.
func untilDone(ctx context.Context, r io.Reader) io.Reader {
	return &doneReader{ctx: ctx, inner: r}
}

type doneReader struct {
	ctx   context.Context
	inner io.Reader
	chunk []byte
	next  chan piece
	err   error
}

type piece struct {
	data []byte
	err  error
}

func (d *doneReader) Read(p []byte) (int, error) {
	for len(d.chunk) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		if d.next == nil {
			d.next = make(chan piece)
			go d.pump()
		}
		select {
		case got := <-d.next:
			d.chunk, d.err = got.data, got.err
		case <-d.ctx.Done():
			return 0, d.ctx.Err()
		}
	}
	n := copy(p, d.chunk)
	d.chunk = d.chunk[n:]
	return n, nil
}

func (d *doneReader) pump() {
	for {
		buf := make([]byte, 32<<10)
		n, err := d.inner.Read(buf)
		select {
		case d.next <- piece{buf[:n], err}:
		case <-d.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
