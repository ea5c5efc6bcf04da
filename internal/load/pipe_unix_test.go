//go:build unix

package load

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe that nobody writes into is an answer at once, wherever it stands.
func TestPipeWithoutWriter(t *testing.T) {
	t.Parallel()
	const embeds = "@extern(embed)\npackage p\nprompt: _ @embed(file=\"pipe.md\",type=text)\n"
	for _, name := range []string{"pipe.json", "pipe.cue", "pipe", "embeds.cue"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			pipe := name
			if name == "embeds.cue" {
				pipe = "pipe.md"
				if err := os.WriteFile(filepath.Join(dir, name), []byte(embeds), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Mkfifo(filepath.Join(dir, pipe), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			items, err := Specs(ctx, []string{name}, Options{Dir: dir})
			if err != nil || len(items) != 1 || !items[0].Unreadable {
				t.Fatalf("got %+v, %v, want one unreadable item", items, err)
			}
			if got := items[0].Err().Message; !strings.Contains(got, "a pipe that nobody writes into") {
				t.Errorf("got %q, want the pipe named as the reason", got)
			}
		})
	}
}
