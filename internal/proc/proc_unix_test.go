//go:build unix

package proc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain lets the test binary be the program under test: helpers that no
// shell offers.
func TestMain(m *testing.M) {
	if h := os.Getenv("PROC_HELPER"); h != "" {
		os.Exit(helper(h))
	}
	os.Exit(m.Run())
}

func helper(name string) int {
	switch name {
	case "memory": // takes memory step by step after reading its input
		_, _ = io.ReadAll(os.Stdin)
		n, _ := strconv.Atoi(os.Getenv("PROC_MB"))
		var keep [][]byte
		for range n {
			keep = append(keep, bytes.Repeat([]byte{1}, 1<<20))
		}
		fmt.Println("held", len(keep))
	case "cpu":
		for n := uint64(1); n != 0; n++ { // longer than any test waits
		}
	case "grandparent": // is killed while its child's child runs
		k := &Keeper{}
		_, _ = Run(context.Background(), Command{Argv: []string{"/bin/sh", "-c", "(trap '' HUP TERM; sleep 60) & echo ready; sleep 60; echo never"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: os.Stdout, Keeper: k})
	case "stray": // is killed while a program runs that has left its group
		k := &Keeper{}
		_, _ = Run(context.Background(), Command{Argv: []string{"/bin/sh", "-c", "setsid sh -c 'trap \"\" HUP TERM; echo ready; sleep 60; sleep 60' & sleep 60"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: os.Stdout, Keeper: k, Mark: NewMark(nil) + ".1"})
	case "parent": // is killed while its child runs
		_, _ = Run(context.Background(), Command{Argv: []string{"/bin/sh", "-c", "echo ready; exec sleep 60"}, Env: []string{"PATH=" + os.Getenv("PATH")}, Stdout: os.Stdout})
	}
	return 0
}

// self runs this binary as a helper.
func self(t *testing.T, name string, env ...string) Command {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{Argv: []string{exe}, Env: append([]string{"PROC_HELPER=" + name, "PATH=" + os.Getenv("PATH")}, env...)}
}

func sh(line string) Command {
	return Command{Argv: []string{"/bin/sh", "-c", line}, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func run(t *testing.T, c Command) Result {
	t.Helper()
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatalf("%q: %v", c.Argv, err)
	}
	return r
}

func TestRunResult(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tt := range []struct {
		name           string
		c              Command
		stdout, stderr string
		exit           int
		signal         string
	}{
		{"streams apart", sh("echo out; echo err >&2; exit 3"), "out\n", "err\n", 3, ""},
		{"merged in order", Command{Argv: sh("echo a; echo b >&2; echo c").Argv, Merge: true}, "a\nb\nc\n", "", 0, ""},
		{"no input is an empty input", sh("cat; echo end"), "end\n", "", 0, ""},
		{"input", Command{Argv: []string{"cat"}, Env: []string{"PATH=/usr/bin:/bin"}, Stdin: strings.NewReader("hello")}, "hello", "", 0, ""},
		{"input that nobody reads", Command{Argv: []string{"true"}, Env: []string{"PATH=/usr/bin:/bin"}, Stdin: strings.NewReader(strings.Repeat("x", 1<<20))}, "", "", 0, ""},
		{"signal", sh("kill -9 $$"), "", "", 137, "SIGKILL"},
		{"dir", Command{Argv: []string{"/bin/sh", "-c", "pwd -P"}, Dir: dir, Env: []string{}}, mustReal(t, dir) + "\n", "", 0, ""},
		{"empty environment stays empty", Command{Argv: []string{"/usr/bin/env"}, Env: []string{}}, "", "", 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := run(t, tt.c)
			if string(r.Stdout) != tt.stdout || string(r.Stderr) != tt.stderr || r.Exit != tt.exit || r.Signal != tt.signal {
				t.Errorf("got %q %q exit %d %q, want %q %q exit %d %q", r.Stdout, r.Stderr, r.Exit, r.Signal, tt.stdout, tt.stderr, tt.exit, tt.signal)
			}
			if r.TimedOut || r.Cancelled || r.Truncated || r.HeldPipe || r.Group != 0 {
				t.Errorf("got flags %+v, want none", r)
			}
		})
	}
}

func mustReal(t *testing.T, p string) string {
	t.Helper()
	r, err := filepath.EvalSymlinks(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRunNilEnvIsScrubbed(t *testing.T) {
	t.Setenv("SOME_API_KEY", "k")
	t.Setenv("SOME_WORD", "w")
	r := run(t, Command{Argv: []string{"/bin/sh", "-c", "echo $SOME_WORD$SOME_API_KEY $LARVA_DEPTH"}})
	if got, want := string(r.Stdout), fmt.Sprintf("w %d\n", Depth(os.Environ())+1); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRunCannotStart(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		name string
		ctx  context.Context
		c    Command
		is   error
	}{
		{"no argv", t.Context(), Command{}, nil},
		{"missing", t.Context(), Command{Argv: []string{"no-such-program"}}, ErrNotFound},
		{"missing path", t.Context(), Command{Argv: []string{"/no/such"}}, os.ErrNotExist},
		{"missing dir", t.Context(), Command{Argv: []string{"/bin/sh"}, Dir: "/no/such"}, os.ErrNotExist},
		{"a program of the current directory", t.Context(), Command{Argv: []string{"here"}, Dir: withProgram(t, "here"), Env: []string{"PATH=:."}}, ErrNotFound},
		{"cancelled before", cancelled, sh("true"), context.Canceled},
		{"cancelled before, with input", cancelled, Command{Argv: []string{"/bin/cat"}, Stdin: strings.NewReader("x")}, context.Canceled},
	} {
		_, err := Run(tt.ctx, tt.c)
		if err == nil || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.is)
		}
	}
}

func withProgram(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho ran\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRunRelativePathIsOfDir(t *testing.T) {
	t.Parallel()
	r := run(t, Command{Argv: []string{"./here"}, Dir: withProgram(t, "here")})
	if got := string(r.Stdout); got != "ran\n" {
		t.Errorf("got %q, want ran", got)
	}
}

// A child that ignores TERM, and its own child, both end.
func TestTimeoutKillsTheGroup(t *testing.T) {
	t.Parallel()
	const stubborn = `trap '' TERM; sh -c 'trap "" TERM; echo $$; while :; do sleep 1; done' & echo $$; while :; do sleep 1; done`
	for _, how := range []string{"timeout", "cancel", "deadline"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pr, pw := io.Pipe()
			c := sh(stubborn)
			c.Stdout = pw
			pids := make(chan [2]int, 1)
			go func() {
				var two [2]int
				in := bufio.NewScanner(pr)
				for i := range two {
					in.Scan()
					two[i], _ = strconv.Atoi(in.Text())
				}
				pids <- two
				if how == "cancel" {
					cancel()
				}
				_, _ = io.Copy(io.Discard, pr)
			}()
			switch how {
			case "timeout":
				c.Timeout = 300 * time.Millisecond
			case "deadline":
				var stop context.CancelFunc
				ctx, stop = context.WithTimeout(ctx, 300*time.Millisecond)
				defer stop()
			}
			r, err := Run(ctx, c)
			pw.Close()
			if err != nil {
				t.Fatal(err)
			}
			if r.TimedOut != (how != "cancel") || r.Cancelled != (how == "cancel") || r.Signal != "SIGKILL" {
				t.Errorf("got %+v, want it ended by %s and SIGKILL", r, how)
			}
			for _, pid := range <-pids {
				wantGone(t, pid)
			}
		})
	}
}

// wantGone waits for a process that was killed to be gone: a killed orphan is
// reaped by init, which may take a moment.
func wantGone(t *testing.T, pid int) {
	t.Helper()
	if pid <= 0 {
		t.Errorf("no process id")
		return
	}
	for range 500 {
		if err := syscall.Kill(pid, 0); err == syscall.ESRCH || zombie(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond) // nothing tells of another parent's child
	}
	t.Errorf("process %d is alive, want it gone", pid)
}

// zombie: where init is a program that never reaps, a dead orphan stays listed.
func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	i := bytes.LastIndexByte(b, ')')
	return i >= 0 && i+2 < len(b) && b[i+2] == 'Z'
}

func TestTermLetsAProgramTidyUp(t *testing.T) {
	t.Parallel()
	c := sh(`trap 'echo tidy; exit 7' TERM; echo up; while :; do sleep 0.01; done`)
	c.Timeout = 300 * time.Millisecond
	r := run(t, c)
	if !r.TimedOut || r.Exit != 7 || !strings.HasSuffix(string(r.Stdout), "tidy\n") {
		t.Errorf("got %q exit %d timed out %v, want tidy, 7, true", r.Stdout, r.Exit, r.TimedOut)
	}
}

func TestHeldPipe(t *testing.T) {
	t.Parallel()
	for _, exit := range []int{0, 5} {
		c := sh(fmt.Sprintf("sleep 60 & echo $!; exit %d", exit))
		c.GraceWait = 50 * time.Millisecond
		r := run(t, c)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(r.Stdout)))
		if !r.HeldPipe || r.Exit != exit || r.Group != 0 {
			t.Errorf("got %+v, want a held pipe and exit %d", r, exit)
		}
		wantGone(t, pid)
	}
}

func TestLeaveAndEndGroup(t *testing.T) {
	t.Parallel()
	c := sh("sleep 60 >/dev/null 2>&1 & echo $!")
	c.Leave = true
	r := run(t, c)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(r.Stdout)))
	if r.HeldPipe || r.Group == 0 || syscall.Kill(pid, 0) != nil {
		t.Fatalf("got %+v, want a group left behind with process %d alive", r, pid)
	}
	EndGroup(r.Group)
	wantGone(t, pid)
	EndGroup(0)
	EndGroup(os.Getpid()) // its leader lives: not ours to kill
}

func TestLeaveIsOverWhenCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	pr, pw := io.Pipe()
	left := make(chan int, 1)
	go func() {
		var shell, child int
		_, _ = fmt.Fscan(pr, &shell, &child)
		wantGone(t, shell) // the program has ended, its child holds the pipe
		left <- child
		cancel()
	}()
	c := sh("sleep 60 & echo $$ $!")
	c.Leave, c.Stdout, c.GraceWait = true, pw, time.Minute
	r, err := Run(ctx, c)
	if err != nil || r.Group != 0 || r.Exit != 0 || r.Cancelled {
		t.Errorf("got %+v, %v, want exit 0 and nothing left", r, err)
	}
	wantGone(t, <-left)
}

func TestOutputIsBounded(t *testing.T) {
	t.Parallel()
	c := sh("printf START; head -c 300000 /dev/zero | tr '\\0' x; printf END")
	c.MaxOutput = 1000
	r := run(t, c)
	if len(r.Stdout) != 2000 || !r.Truncated || r.Dropped != 300008-2000 {
		t.Errorf("got %d bytes, truncated %v, dropped %d, want 2000, true, %d", len(r.Stdout), r.Truncated, r.Dropped, 300008-2000)
	}
	if !bytes.HasPrefix(r.Stdout, []byte("STARTx")) || !bytes.HasSuffix(r.Stdout, []byte("xEND")) {
		t.Errorf("got %.10q…%.10q, want START and END", r.Stdout, r.Stdout[len(r.Stdout)-10:])
	}
}

func TestFailingWriterDoesNotBlock(t *testing.T) {
	t.Parallel()
	c := sh("head -c 1000000 /dev/zero; echo done >&2")
	c.Stdout = failing{}
	if r := run(t, c); string(r.Stderr) != "done\n" || r.Exit != 0 {
		t.Errorf("got %q exit %d, want done, 0", r.Stderr, r.Exit)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no") }

func TestBlockedInputDoesNotHang(t *testing.T) {
	t.Parallel()
	pr, pw := io.Pipe()
	defer pw.Close()
	c := sh("exit 0")
	c.Stdin = pr
	if r := run(t, c); r.Exit != 0 || r.HeldPipe {
		t.Errorf("got %+v, want exit 0", r)
	}
}

func TestHeadTail(t *testing.T) {
	t.Parallel()
	const text = "abcdefghijklmnopqrstuvwxyz"
	for limit := 1; limit <= 15; limit++ {
		for size := range len(text) + 1 {
			for step := 1; step <= size; step++ {
				b := &headTail{limit: limit}
				for i := 0; i < size; i += step {
					_, _ = b.Write([]byte(text[i:min(i+step, size)]))
				}
				want := text[:size]
				if size > 2*limit {
					want = text[:limit] + text[size-limit:size]
				}
				if got := string(b.bytes()); got != want || b.dropped() != int64(max(0, size-2*limit)) {
					t.Fatalf("limit %d, %d bytes by %d: got %q dropped %d, want %q", limit, size, step, got, b.dropped(), want)
				}
			}
		}
	}
}
