package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"larva.dev/larva/internal/diag"
)

// Signals gives a context that Ctrl-C, a terminate signal or the end of the
// terminal cancels once; the cause is a *diag.Error with the exit code (130 or
// 143). Shortly after the first signal the default handling is back, so a
// second one kills. stop ends the watching; call it once.
func Signals(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup(1) has said that the terminal does not matter
		signal.Notify(ch, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		select {
		case sig := <-ch:
			cancel(interrupted(sig))
			swallow(ch, done)
			signal.Stop(ch)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel(nil)
	}
}

// bounce is how long the echo of one Ctrl-C lasts: timeout(1) and some shells
// signal the process and then its group, which is one wish said twice.
const bounce = 250 * time.Millisecond

func swallow(ch <-chan os.Signal, done <-chan struct{}) {
	over := time.NewTimer(bounce)
	defer over.Stop()
	for {
		select {
		case <-ch:
		case <-over.C:
			return
		case <-done:
			return
		}
	}
}

// keepWriting makes a write to a closed pipe an error from here on, where it
// would kill this process in the middle of its work.
func keepWriting() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

func interrupted(sig os.Signal) *diag.Error {
	switch sig {
	case syscall.SIGTERM:
		return &diag.Error{Code: diag.Interrupted, Message: "terminated", Exit: diag.ExitTerminated}
	case syscall.SIGHUP:
		return &diag.Error{Code: diag.Interrupted, Message: "terminated: the terminal is gone", Exit: diag.ExitTerminated}
	}
	return &diag.Error{Code: diag.Interrupted, Message: "interrupted", Exit: diag.ExitInterrupted}
}
