//go:build !race

// As in ask_linux_test.go: the library that reads the terminal races with
// itself when it stops.

package cli

import (
	"io"
	"strings"
	"testing"
	"time"
)

// TestConfirmAtATerminal deletes at a terminal: no is the default, yes
// deletes, Ctrl-C is an interrupt, and --yes or --json ask nothing.
func TestConfirmAtATerminal(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  string
		term  string
		keys  string
		exit  int
		shown string // on the terminal, after the answer
	}{
		{"enter is no", "delete x", "xterm-256color", "\r", 1, "x is kept"},
		{"no", "delete x", "xterm-256color", "n", 1, "x is kept"},
		{"yes", "delete x", "xterm-256color", "y", 1, "PERSONA_NOT_FOUND"},
		{"Ctrl-C", "delete x", "xterm-256color", "\x03", 130, "INTERRUPTED"},
		{"dumb terminal", "delete x", "dumb", "y\r", 1, "PERSONA_NOT_FOUND"},
		{"dumb terminal, no", "delete x", "dumb", "n\r", 1, "x is kept"},
		{"--yes", "delete x --yes", "xterm-256color", "", 1, "PERSONA_NOT_FOUND"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			person, program := openTerminal(t)
			s := watch(person)
			done := make(chan int, 1)
			go func() {
				done <- Main(t.Context(), Process{Args: strings.Fields(c.args), Stdin: program, Stdout: io.Discard, Stderr: program,
					Environ: []string{"HOME=" + t.TempDir(), "TERM=" + c.term}, Dir: t.TempDir()})
			}()
			if c.keys != "" {
				s.waitFor(t, "Delete x with all its variants?")
				if _, err := io.WriteString(person, c.keys); err != nil {
					t.Fatal(err)
				}
			}
			s.waitFor(t, c.shown)
			select {
			case code := <-done:
				if code != c.exit {
					t.Errorf("exit: got %d, want %d\n%q", code, c.exit, s.text())
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("no end; the screen has %q", s.text())
			}
		})
	}
}
