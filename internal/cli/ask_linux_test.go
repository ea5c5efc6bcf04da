//go:build !race

// The library that reads the terminal races with itself when it stops; what
// is tested here is which keys mean what.

package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"larva.dev/larva/internal/event"
)

// openTerminal gives both ends of a pseudo-terminal: what the person has and
// what the program has.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { person.Close() })
	raw, err := person.SyscallConn() // Fd would leave it blocking, and then Close waits for who reads
	if err != nil {
		t.Fatal(err)
	}
	var n int
	var failed error
	_ = raw.Control(func(fd uintptr) {
		if n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err == nil {
			failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		}
	})
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	if failed != nil {
		t.Fatal(failed)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { program.Close() })
	size := &unix.Winsize{Row: 40, Col: 100}
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, size); err != nil {
		t.Fatal(err)
	}
	return person, program
}

// screen collects what the program draws and says when a text has come.
type screen struct {
	mu   sync.Mutex
	seen strings.Builder
	more chan struct{}
}

func watch(person io.Reader) *screen {
	s := &screen{more: make(chan struct{}, 1)}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := person.Read(buf)
			s.mu.Lock()
			s.seen.Write(buf[:n])
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return s
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen.String()
}

func (s *screen) waitFor(t *testing.T, text string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for !strings.Contains(s.text(), text) {
		select {
		case <-s.more:
		case <-late:
			t.Fatalf("%q did not come; the screen has %q", text, s.text())
		}
	}
}

var fancy = []string{"TERM=xterm-256color"}

func TestAskAtATerminal(t *testing.T) {
	for _, tt := range []struct {
		name  string
		steps []string // "text to wait for|keys"
		want  event.Answer
		ctrlC bool
	}{
		{"once", []string{"Always allow|\x1b[A", "|\x1b[A", "|\r"}, event.Answer{Allow: true}, false},
		{"always", []string{"Always allow|\x1b[A", "|\r"}, event.Answer{Allow: true, Always: true}, false},
		{"enter is no", []string{"Always allow|\r", "do instead|\r"}, event.Answer{}, false},
		{"no with a reason", []string{"Always allow|\r", "do instead|use look\r"}, event.Answer{Feedback: "use look"}, false},
		{"ctrl-c", []string{"Always allow|\x03"}, event.Answer{}, true},
		{"ctrl-c on a yes", []string{"Always allow|\x1b[A", "|\x1b[A", "|\x03"}, event.Answer{}, true},
		{"ctrl-c at the reason", []string{"Always allow|\r", "do instead|x\x03"}, event.Answer{}, true},
		{"esc", []string{"Always allow|\x1b"}, event.Answer{}, false},
		{"esc at the reason", []string{"Always allow|\r", "do instead|x\x1b"}, event.Answer{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			person, program := openTerminal(t)
			s := watch(person)
			done := make(chan event.Answer, 1)
			interrupted := false
			go func() {
				done <- newAsker(program, program, fancy, func(sig os.Signal) { interrupted = sig == os.Interrupt }).ask(t.Context(), question())
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
		})
	}
}

func TestAskWhereAFormHasNoRoom(t *testing.T) {
	person, program := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{}); err != nil {
		t.Fatal(err)
	}
	s := watch(person)
	done := make(chan event.Answer, 1)
	go func() { done <- newAsker(program, program, fancy, nil).ask(t.Context(), question()) }()
	s.waitFor(t, "Enter a number")
	if _, err := io.WriteString(person, "1\r"); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-done:
		if got != (event.Answer{Allow: true}) {
			t.Errorf("got %+v\n%q", got, s.text())
		}
	case <-time.After(20 * time.Second):
		t.Fatalf("no answer; the screen has %q", s.text())
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	person, program := openTerminal(t)
	s := watch(person)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan event.Answer, 1)
	go func() { done <- newAsker(program, program, fancy, nil).ask(ctx, question()) }()
	s.waitFor(t, "Always allow")
	cancel()
	select {
	case got := <-done:
		if got != (event.Answer{}) {
			t.Errorf("got %+v", got)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the question outlived its run")
	}
}

// TestAskEndsWithItsTerminal: nobody can answer at a terminal that is gone,
// and a process that a closed window leaves behind must not wait there for ever.
func TestAskEndsWithItsTerminal(t *testing.T) {
	person, program := openTerminal(t)
	s := watch(person)
	done := make(chan event.Answer, 1)
	told := make(chan os.Signal, 1)
	go func() {
		done <- newAsker(program, program, fancy, func(sig os.Signal) { told <- sig }).ask(t.Context(), question())
	}()
	s.waitFor(t, "Always allow")
	person.Close()
	select {
	case got := <-done:
		if got != (event.Answer{}) {
			t.Errorf("got %+v, want a denial", got)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the question outlived its terminal")
	}
	select {
	case sig := <-told:
		if sig != unix.SIGHUP {
			t.Errorf("got %v, want %v", sig, unix.SIGHUP)
		}
	default:
		t.Error("the run was not told")
	}
}
