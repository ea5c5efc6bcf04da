package proc

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestMemoryLimitBindsAGoProgram(t *testing.T) {
	t.Parallel()
	const limit = shadow * 256 << 20
	for _, tt := range []struct {
		mb   string
		fits bool
	}{{"16", true}, {strconv.Itoa(shadow * 512), false}} {
		c := self(t, "memory", "PROC_MB="+tt.mb)
		c.MemoryBytes = limit
		c.Stdin = strings.NewReader("go")
		c.Timeout = time.Minute
		r := run(t, c)
		if fits := r.Exit == 0 && strings.HasPrefix(string(r.Stdout), "held"); fits != tt.fits || r.TimedOut {
			t.Errorf("%s MB under %d: got exit %d %q %.200q, want fits %v", tt.mb, limit, r.Exit, r.Stdout, r.Stderr, tt.fits)
		}
	}
}

func TestCPULimit(t *testing.T) {
	t.Parallel()
	c := self(t, "cpu")
	c.CPUSeconds, c.Timeout = 1, time.Minute
	if r := run(t, c); r.Signal != "SIGKILL" || r.TimedOut {
		t.Errorf("got %+v, want SIGKILL by the kernel", r)
	}
}

// A killed larva leaves no program behind, nor what that has started.
func TestParentDeathKillsTheChild(t *testing.T) {
	t.Parallel()
	for _, helper := range []string{"parent", "grandparent", "stray"} {
		t.Run(helper, func(t *testing.T) { parentDeath(t, helper) })
	}
}

func parentDeath(t *testing.T, helper string) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	parent := exec.Command(exe)
	parent.Env = []string{"PROC_HELPER=" + helper, "PATH=" + os.Getenv("PATH")}
	parent.Stdout = w
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	in := bufio.NewReader(r)
	if line, err := in.ReadString('\n'); line != "ready\n" {
		t.Fatalf("got %q %v, want ready", line, err)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	if err := r.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(in); err != nil {
		t.Errorf("the child outlived its parent: %v", err)
	}
}

// What has left the group by setsid ends with it all the same, twice removed,
// too.
func TestMarkedStrayEndsWithTheCommand(t *testing.T) {
	t.Parallel()
	const line = `setsid setsid sh -c 'trap "" HUP TERM; echo $$; exec sleep 60' & `
	for _, tt := range []struct {
		name, rest string
		leave      bool
	}{
		{"timeout", "sleep 60", true},
		{"ended", "sleep 0.3", false},
		{"left", "sleep 0.3", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			run1 := NewMark(nil)
			c := sh(line + tt.rest)
			c.Mark, c.Leave, c.Timeout, c.GraceWait = run1+".1", tt.leave, 700*time.Millisecond, 50*time.Millisecond
			r := run(t, c)
			pid, _ := strconv.Atoi(strings.TrimSpace(string(r.Stdout)))
			if tt.name == "left" {
				if pid <= 0 || syscall.Kill(pid, 0) != nil {
					t.Fatalf("got %+v, want the process to stay", r)
				}
				EndMarked(NewMark(nil))
				EndMarked(run1 + ".11")
				if syscall.Kill(pid, 0) != nil {
					t.Error("another mark ended it")
				}
				EndMarked(run1)
			}
			wantGone(t, pid)
		})
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		environ string
		want    bool
	}{
		{"A=1\x00LARVA_RUN=M.1\x00B=2\x00", true}, {"LARVA_RUN=M", true}, {"LARVA_RUN=M.1/N.2\x00", true}, {"LARVA_RUN=M/N\x00", true},
		{"LARVA_RUN=MM.1\x00", false}, {"XLARVA_RUN=M.1\x00", false}, {"A=LARVA_RUN=M\x00", false}, {"", false}, {"LARVA_RUN=\x00", false},
	} {
		if got := marks(tt.environ, "M"); got != tt.want {
			t.Errorf("marks(%q) = %v, want %v", tt.environ, got, tt.want)
		}
	}
	if got := NewMark([]string{"LARVA_RUN=OUT.3"}); !strings.HasPrefix(got, "OUT.3/") || !goodMark(got) {
		t.Errorf("got %q, want it inside OUT.3", got)
	}
	if got := NewMark([]string{"LARVA_RUN=.*"}); strings.Contains(got, "*") {
		t.Errorf("got %q, want a foreign value left out", got)
	}
}

// The child's death signal must not fire when a thread that once ran our code
// ends while the program runs.
func TestThreadsMayEndMeanwhile(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			}()
			<-done
		}
	}()
	for range 20 {
		if r := run(t, sh("sleep 0.02")); r.Exit != 0 {
			t.Errorf("got %+v, want exit 0", r)
		}
	}
	close(stop)
	<-ended
}

// A gigabyte of output is read in bounded memory.
func TestFloodInBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("a gigabyte through a pipe")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := sh("head -c 1073741824 /dev/zero")
	c.MaxOutput = 64 << 10
	r := run(t, c)
	runtime.ReadMemStats(&after)
	if len(r.Stdout) != 128<<10 || r.Dropped != 1<<30-128<<10 {
		t.Errorf("kept %d, dropped %d, want %d, %d", len(r.Stdout), r.Dropped, 128<<10, 1<<30-128<<10)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 8<<20 {
		t.Errorf("allocated %d bytes, want under 8 MiB", got)
	}
}

// TestRunBusyProgram starts a program that is still being written: it is tried
// until the writer has closed it, and not for ever.
func TestRunBusyProgram(t *testing.T) {
	t.Parallel()
	dir := withProgram(t, "busy")
	f, err := os.OpenFile(filepath.Join(dir, "busy"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := Run(t.Context(), Command{Argv: []string{"./busy"}, Dir: dir}); !errors.Is(err, syscall.ETXTBSY) {
		t.Errorf("held open: got %v, want %v", err, syscall.ETXTBSY)
	}
	closing := time.AfterFunc(20*time.Millisecond, func() { _ = f.Close() })
	defer closing.Stop()
	if r := run(t, Command{Argv: []string{"./busy"}, Dir: dir}); string(r.Stdout) != "ran\n" {
		t.Errorf("closed meanwhile: got %q", r.Stdout)
	}
}
