//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestSignals holds a command that waits for input to the exit codes of the
// signals that end it.
func TestSignals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal syscall.Signal
		exit   int
	}{
		"Ctrl-C":    {syscall.SIGINT, 130},
		"terminate": {syscall.SIGTERM, 143},
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
