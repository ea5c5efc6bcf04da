package cli

import (
	"context"
	"os"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
)

// play runs with the renderer of the session's form. The renderer writes to
// stdout itself and at once; what the session prints afterwards is only a
// failure that no event has shown.
func (s *session) play(ctx context.Context, in app.RunInput) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	keepWriting()
	w := viewOf(s.process.Stdout, s.process.Stderr, s.process.Environ)
	w.Interrupted = ctx.Done()
	w.Lost = func(err error) { cancel(unwritable(err)) }
	r := NewRenderer(s.format, s.process.Stdout, s.process.Stderr, w)
	defer r.Close() // also where the run panics
	if s.canAsk() {
		stdin, stderr := s.process.Stdin.(*os.File), s.process.Stderr.(*os.File) // canAsk knows both are
		k := newAsker(stdin, stderr, s.process.Environ, func(sig os.Signal) { cancel(interrupted(sig)) })
		in.Question, in.AskUser = k.ask, k.askUser
		if v, ok := r.(*liveView); ok {
			in.Question, in.AskUser = v.asking(k.ask), v.askingUser(k.askUser)
		}
	}
	shown := false
	in.Emit = func(e event.Event) {
		switch b := e.Body.(type) {
		case event.Fault:
			shown = shown || s.format == formatStream
		case event.Result:
			shown = shown || b.ExitCode != diag.ExitModel
		}
		r.Event(e)
	}
	res, err := s.app.Run(ctx, in)
	if werr := r.Close(); werr != nil && err == nil {
		return unwritable(werr)
	}
	if err == nil || shown {
		s.code = res.ExitCode
		if err != nil && s.code == diag.ExitOK {
			s.code = s.asDiag(ctx, err).ExitCode()
		}
		return nil
	}
	return s.asDiag(ctx, err)
}

func unwritable(err error) *diag.Error {
	return diag.New(diag.Internal, "cannot write the result: %v", err)
}
