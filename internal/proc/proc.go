// Package proc is the only room that starts programs. A program gets a
// scrubbed environment, its own process group, a deadline and bounded output,
// and its group dies when it is cancelled or overdue.
//
// Ownership: Run starts every goroutine and pipe of a program and ends them
// before it returns. One exception: a Stdin reader that blocks cannot be
// interrupted, so its copier is left behind after GraceWait and ends with the
// reader's next answer. What a program starts with setsid leaves the group: on
// Linux Command.Mark finds it again, unless it has cleared its environment, too;
// on other Unixes it is out of reach; on Windows a job object holds it.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Command is one program to run. The zero value of each optional field is the
// safe choice.
type Command struct {
	// Argv is the program and its arguments. A bare name is looked up in Env's
	// PATH (see LookPath); a relative path with a separator is taken from Dir.
	Argv []string
	// Dir is the working directory; "" is the caller's.
	Dir string
	// Env is the whole environment. nil means Env(os.Environ()): a program
	// never inherits unscrubbed.
	Env []string
	// Stdin is fed to the program. nil is the null device. An *os.File is
	// handed over as it is; note that a terminal stops a background group.
	Stdin io.Reader
	// Timeout ends the group; 0 means that only ctx does.
	Timeout time.Duration
	// MaxOutput is how many bytes of the head, and again of the tail, of each
	// stream are kept; 0 means 1 MiB. The rest is read and dropped, so a
	// flooding program neither blocks nor fills memory.
	MaxOutput int
	// Merge sends stderr into stdout, in the order of writing.
	Merge bool
	// Stdout and Stderr take the stream in place of capture. A writer is called
	// from one goroutine at a time for each field, and must not block; after it
	// failed, the rest is dropped. An *os.File is handed over as it is.
	Stdout, Stderr io.Writer
	// MemoryBytes bounds the memory of each process (0: none). On Linux the
	// data segment, heap and private maps (RLIMIT_DATA), so address space that
	// a Go or JavaScript program merely reserves is free; on Windows committed
	// memory; on other Unixes RLIMIT_DATA where the kernel honours it.
	MemoryBytes uint64
	// CPUSeconds bounds the processor time of each process (0: none); the
	// kernel kills what exceeds it.
	CPUSeconds uint64
	// GraceWait is how long Run waits, once the program has ended, for
	// background children that still hold its output pipes; 0 means 2 s.
	GraceWait time.Duration
	// Leave lets background children outlive the program; Result.Group then
	// names them for EndGroup. Otherwise they are killed when it ends.
	Leave bool
	// Mark, where there is one, is put into the environment as LARVA_RUN. What
	// bears it is ended with the group, though it has left that (Linux); with
	// Leave it may stay until EndMarked. See NewMark.
	Mark string
	// Started, where there is one, is called once the program runs.
	Started func()
	// Keeper, where there is one, ends the group, and what bears Mark, should
	// this process be killed.
	Keeper *Keeper
}

// Result is how a program ended and what it said.
type Result struct {
	// Stdout and Stderr are what was captured. Where bytes were dropped the
	// first MaxOutput bytes are the head and the rest is the tail.
	Stdout, Stderr []byte
	// Exit is the exit code, 128 plus the signal's number after a signal.
	Exit int
	// Signal that ended the program, as "SIGKILL"; "" for a plain exit.
	Signal string
	// TimedOut: the group was ended by Timeout or by ctx's deadline.
	TimedOut bool
	// Cancelled: the group was ended because ctx was cancelled.
	Cancelled bool
	// Truncated: Dropped bytes of output are missing from the middle.
	Truncated bool
	// HeldPipe: a background child kept the output open beyond GraceWait; what
	// it says from then on is lost.
	HeldPipe bool
	Dropped  int64
	// Group is the process group of background children that still run; 0 when
	// there are none. Only with Command.Leave.
	Group int
}

const (
	defaultMaxOutput = 1 << 20
	// defaultGrace bounds how long a forgotten background child can hold up a
	// call: long enough for a last line of output, too short to be felt as a hang.
	defaultGrace = 2 * time.Second
	// termGrace is what a program gets to tidy up between SIGTERM and SIGKILL:
	// enough to remove a lock file, too short to be felt after Ctrl-C.
	termGrace = 500 * time.Millisecond
	// reaped is how long it may take until we hear of a program's end.
	reaped = 10 * time.Millisecond
)

// ErrNotFound is what errors.Is finds when a program is not in PATH.
var ErrNotFound = exec.ErrNotFound

// Run starts the program and waits for its end. The error is not nil only if
// it could not be started, or its limits could not be set; any way of ending
// is told by the Result.
func Run(ctx context.Context, c Command) (Result, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return Result{}, errors.New("proc: no program named")
	}
	if err := ctx.Err(); err != nil {
		return Result{Exit: -1, Cancelled: errors.Is(err, context.Canceled),
			TimedOut: errors.Is(err, context.DeadlineExceeded)}, fmt.Errorf("%s: %w", c.Argv[0], err)
	}
	cmd, err := c.command()
	if err != nil {
		return Result{}, err
	}
	// The kernel's parent-death signal follows the thread that forked, not the
	// process. Holding the thread until the child has ended keeps it from
	// firing early.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	s, err := c.connect(cmd)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", c.Argv[0], err)
	}
	prepare(cmd, c)
	cmd, err = begin(ctx, cmd)
	if err != nil {
		s.abort()
		return Result{}, fmt.Errorf("%s: %w", c.Argv[0], err)
	}
	g, err := adopt(cmd, c)
	if err != nil {
		g.kill()
		s.abort()
		_ = cmd.Wait()
		g.release()
		return Result{}, fmt.Errorf("%s: limits: %w", c.Argv[0], err)
	}
	defer g.release()
	c.Keeper.tell("+", g)
	c.Keeper.mark(c.Mark)
	if c.Started != nil {
		c.Started()
	}
	// Input starts to flow only now, so no input is worked on without limits.
	s.start()
	return c.await(ctx, cmd, g, s), nil
}

// busyWait is how long a program that somebody holds open for writing is tried
// again. A file just written is held by every child that was forked meanwhile,
// until that child becomes its own program.
const busyWait = 500 * time.Millisecond

// begin starts cmd and gives what runs.
func begin(ctx context.Context, cmd *exec.Cmd) (*exec.Cmd, error) {
	for wait, last := time.Millisecond, time.Now().Add(busyWait); ; wait *= 2 {
		err := cmd.Start()
		if !errors.Is(err, syscall.ETXTBSY) || time.Now().After(last) {
			return cmd, err
		}
		select {
		case <-ctx.Done():
			return cmd, err
		case <-time.After(wait):
		}
		cmd = &exec.Cmd{Path: cmd.Path, Args: cmd.Args, Dir: cmd.Dir, Env: cmd.Env, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
			SysProcAttr: cmd.SysProcAttr}
	}
}

// command resolves the program and builds the exec.Cmd without streams.
func (c Command) command() (*exec.Cmd, error) {
	env := c.Env
	if env == nil {
		env = Env(os.Environ())
	}
	path := c.Argv[0]
	switch {
	case filepath.IsAbs(path):
	case strings.ContainsRune(path, '/') || strings.ContainsRune(path, filepath.Separator):
		abs, err := filepath.Abs(filepath.Join(c.Dir, path))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		path = abs
	default:
		found, err := LookPath(path, env)
		if err != nil {
			return nil, err
		}
		path = found
	}
	if c.Mark != "" {
		env = append(Without(env, markKey), markKey+"="+c.Mark)
	}
	return &exec.Cmd{Path: path, Args: c.Argv, Dir: c.Dir, Env: env}, nil
}

// await waits for the program, ends its group when it must, and collects.
func (c Command) await(ctx context.Context, cmd *exec.Cmd, g group, s *streams) Result {
	var r Result
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	var overdue <-chan time.Time
	if c.Timeout > 0 {
		t := time.NewTimer(c.Timeout)
		defer t.Stop()
		overdue = t.C
	}
	select {
	case <-ended:
	case <-overdue:
		r.TimedOut = true
	case <-ctx.Done():
		// A program that has just ended by itself was not cancelled.
		select {
		case <-ended:
		case <-time.After(reaped):
			r.TimedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
			r.Cancelled = !r.TimedOut
		}
	}
	if r.TimedOut || r.Cancelled {
		endGroup(g, ended)
		// Before the output is collected: a stray may hold the pipe.
		EndMarked(c.Mark)
	}
	stayed := c.collect(ctx, &r, g, s)
	r.Exit, r.Signal = exitOf(cmd.ProcessState)
	if stayed && g.alive() {
		r.Group = g.id()
		return r
	}
	c.Keeper.tell("-", g)
	return r
}

// endGroup asks the group to end, then kills what is left of it. It returns
// when the program itself has been waited for.
func endGroup(g group, ended <-chan error) {
	g.terminate()
	last := time.NewTimer(termGrace)
	defer last.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	waited := false
	for {
		select {
		case <-ended:
			waited = true
			ended = nil
		case <-tick.C:
		case <-last.C:
			g.kill()
			if !waited {
				<-ended
			}
			return
		}
		if waited && !g.alive() {
			return
		}
	}
}

// collect waits for the output to end. Background children that hold a pipe
// get GraceWait, so that what they still write (tee behind a process
// substitution) is not cut off; a cancelled ctx ends the wait. Then, unless
// they may stay, they are killed. It reports whether they may.
func (c Command) collect(ctx context.Context, r *Result, g group, s *streams) bool {
	grace := c.GraceWait
	if grace <= 0 {
		grace = defaultGrace
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	s.stopInput()
	stay := c.Leave && !r.TimedOut && !r.Cancelled
	done := ctx.Done()
	if !stay && ctx.Err() != nil {
		done = nil // the group is dead already; what is left in the pipes is read
	}
	select {
	case <-s.outputDone:
	case <-t.C:
		r.HeldPipe = true
	case <-done:
		stay = false
		r.HeldPipe = true
	}
	if !stay {
		g.kill()
		EndMarked(c.Mark)
	}
	s.finish(r)
	return stay
}
