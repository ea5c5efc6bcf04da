//go:build !race

package cli

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestAskUserAtATerminal(t *testing.T) {
	type answer struct {
		text string
		ok   bool
	}
	for _, tt := range []struct {
		name    string
		options []string
		steps   []string // "text to wait for|keys"
		want    answer
		ctrlC   bool
	}{
		{"typed", nil, []string{"Your answer|the blue one\r"}, answer{"the blue one", true}, false},
		{"the first option", []string{"red", "green"}, []string{"Something else|\r"}, answer{"red", true}, false},
		{"the second", []string{"red", "green"}, []string{"Something else|\x1b[B", "|\r"}, answer{"green", true}, false},
		{"another answer", []string{"red", "green"}, []string{"Something else|\x1b[A", "|\r", "Another answer|blue\r"}, answer{"blue", true}, false},
		{"esc", []string{"red"}, []string{"Something else|\x1b"}, answer{}, false},
		{"esc while typing", nil, []string{"Your answer|x\x1b"}, answer{}, false},
		{"ctrl-c", []string{"red"}, []string{"Something else|\x03"}, answer{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			person, program := openTerminal(t)
			s := watch(person)
			done := make(chan answer, 1)
			interrupted := false
			go func() {
				text, ok := newAsker(program, program, fancy, func(sig os.Signal) { interrupted = sig == os.Interrupt }).askUser(t.Context(), "Which\x1b[2Jcolour?", tt.options)
				done <- answer{text, ok}
			}()
			for _, step := range tt.steps {
				text, keys, _ := strings.Cut(step, "|")
				s.waitFor(t, text)
				if _, err := io.WriteString(person, keys); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case got := <-done:
				if got != tt.want || interrupted != tt.ctrlC {
					t.Errorf("got %+v, interrupted %v, want %+v, %v\n%q", got, interrupted, tt.want, tt.ctrlC, s.text())
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("no answer; the screen has %q", s.text())
			}
			if strings.Contains(s.text(), "Which\x1b[2J") {
				t.Errorf("the question reaches the terminal as it came: %q", s.text())
			}
		})
	}
}
