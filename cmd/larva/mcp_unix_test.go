//go:build unix

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

const mcpHello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n"

// TestMCPEnds holds larva mcp to its exit codes: a signal's own, and none for a
// client that hangs up on either side. It says nothing but protocol.
func TestMCPEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(cmd *exec.Cmd, in io.Closer, out io.Closer) error
		exit int
	}{
		{"terminate", func(cmd *exec.Cmd, _, _ io.Closer) error { return cmd.Process.Signal(syscall.SIGTERM) }, 143},
		{"Ctrl-C", func(cmd *exec.Cmd, _, _ io.Closer) error { return cmd.Process.Signal(os.Interrupt) }, 130},
		{"end of input", func(_ *exec.Cmd, in, _ io.Closer) error { return in.Close() }, 0},
		{"nobody reads", func(_ *exec.Cmd, in, out io.Closer) error {
			err := out.Close()
			_, werr := io.WriteString(in.(io.Writer), `{"jsonrpc":"2.0","id":2,"method":"ping"}`+"\n")
			return errors.Join(err, werr)
		}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var errs strings.Builder
			cmd := exec.CommandContext(t.Context(), larvaProgram(t), "mcp")
			cmd.Env, cmd.Stderr = []string{"HOME=" + t.TempDir(), "PATH=/usr/bin:/bin"}, &errs
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
			if _, err := io.WriteString(in, mcpHello); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"serverInfo"`) {
				t.Fatalf("got %q %v, want initialize answered", line, err)
			}
			if err := c.end(cmd, in, out); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != c.exit || errs.Len() > 0 {
				t.Errorf("got exit %d and %q, want %d and silence", got, errs.String(), c.exit)
			}
		})
	}
}
