package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// Attached is a program that takes this process's place: it has its terminal,
// its process group and its whole environment, and outlives nothing of it.
type Attached struct {
	Argv []string // the program, absolute, and its arguments
	Dir  string
	Env  []string // handed over as it is: nothing is taken out
	// Stdin, Stdout and Stderr are handed over as they are; nil is the null device.
	Stdin, Stdout, Stderr *os.File
	// Keep are files that stay open in the program, so that a lock on one is held
	// while either lives. Not on Windows.
	Keep []*os.File
}

// Attach starts the program and waits for its end; ctx does not end it. Signals
// that this process gets meanwhile are passed on. Those that a terminal sends
// to the whole group reach the program without us. The exit code is 128 plus
// the signal's number after a signal. The error is not nil only where the
// program could not be started.
//
// Ownership: the goroutine that passes signals on ends before Attach returns.
func Attach(_ context.Context, a Attached) (Result, error) {
	if len(a.Argv) == 0 {
		return Result{}, errors.New("proc: no program named")
	}
	cmd := &exec.Cmd{Path: a.Argv[0], Args: a.Argv, Dir: a.Dir, Env: a.Env}
	// A nil *os.File in an interface is not nil.
	if a.Stdin != nil {
		cmd.Stdin = a.Stdin
	}
	if a.Stdout != nil {
		cmd.Stdout = a.Stdout
	}
	if a.Stderr != nil {
		cmd.Stderr = a.Stderr
	}
	keep(cmd, a.Keep)
	ch := make(chan os.Signal, 16)
	for _, sig := range passedOn {
		if !signal.Ignored(sig) { // nohup(1) has said so, and the program is to hear it, too
			signal.Notify(ch, sig)
		}
	}
	defer signal.Stop(ch)
	if err := cmd.Start(); err != nil {
		return Result{}, fmt.Errorf("%s: %w", a.Argv[0], err)
	}
	done, idle := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(idle)
		for {
			select {
			case s := <-ch:
				if !fromTerminal(s) {
					_ = cmd.Process.Signal(s)
				}
			case <-done:
				return
			}
		}
	}()
	_ = cmd.Wait() // how it ended stands in its state
	close(done)
	<-idle
	var r Result
	r.Exit, r.Signal = exitOf(cmd.ProcessState)
	return r, nil
}
