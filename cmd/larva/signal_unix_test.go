//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSignals holds a command that waits for input to the exit codes of the
// signals that end it.
func TestSignals(t *testing.T) {
	t.Parallel()
	// What is caught here has its default in what is started, also where the
	// tests themselves run under nohup, which larva would honour.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	for name, c := range map[string]struct {
		signal syscall.Signal
		exit   int
	}{
		"Ctrl-C":    {syscall.SIGINT, 130},
		"terminate": {syscall.SIGTERM, 143},
		"hang up":   {syscall.SIGHUP, 143},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, in, out := waiting(t)
			// One answer proves that the command runs and watches for signals.
			if _, err := io.WriteString(in, `{"tool":"read","input":{"path":"x"}}`+"\n"); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
				t.Fatalf("got %q and %v, want a decision", line, err)
			}
			if err := cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != c.exit {
				t.Errorf("got %v, want exit code %d", err, c.exit)
			}
		})
	}
}

// waiting starts this test binary as larva, reading calls from a pipe that
// stays open.
func waiting(t *testing.T) (*exec.Cmd, io.WriteCloser, io.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	cmd := &exec.Cmd{Path: self, Args: []string{"larva", "permission", "explain", "-"}, Dir: t.TempDir(),
		Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, out
}

// TestNobodyReads: a run whose stream is not read any more ends, but not in the
// middle of what it does, and tidies up.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	work, temp := t.TempDir(), t.TempDir()
	write(t, filepath.Join(work, "s.json"), `{"turns":[{"calls":[{"tool":"bash","input":{"command":"mkfifo f; read x <f; echo ended >>ended"}}]},{"text":"never said"}]}`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd := &exec.Cmd{Path: self, Args: []string{"larva", "run", "worker", "--model", "script/./s.json", "--mode", "yolo", "-o", "stream-json", "go"}, Dir: work,
		Env: []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + temp}, Stderr: &errs}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), `"tool_start"`) {
	}
	_ = out.Close()
	// The command is running; now it may end, and the run cannot say so.
	fifo := filepath.Join(work, "f")
	var in *os.File
	for in == nil { // until the command has made it
		in, _ = os.OpenFile(fifo, os.O_WRONLY, 0)
	}
	_, _ = in.WriteString("x\n")
	_ = in.Close()
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(errs.String(), "cannot write the result") {
		t.Errorf("got %v and %q, want exit code 1 and the reason", err, errs.String())
	}
	if got, err := os.ReadFile(filepath.Join(work, "ended")); string(got) != "ended\n" {
		t.Errorf("the command was cut off: got %q and %v", got, err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("got %v and %v, want nothing left in the temp directory", left, err)
	}
}
