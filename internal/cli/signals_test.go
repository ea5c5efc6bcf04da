package cli

import (
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// TestSwallowTheEcho: one Ctrl-C that arrives twice does not kill, and the
// watching ends soon, so that a second wish does.
func TestSwallowTheEcho(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ch := make(chan os.Signal, 1)
		ch <- os.Interrupt
		began := time.Now()
		swallow(ch, nil)
		if got := time.Since(began); got != bounce || len(ch) != 0 {
			t.Errorf("got %d signals left after %s, want 0 after %s", len(ch), got, bounce)
		}
	})
}
