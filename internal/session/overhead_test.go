package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larva.dev/larva/internal/proc"
	"larva.dev/larva/internal/tool"
)

// BenchmarkCommand is what undo adds to a shell command that changes one file
// of a repository of 1,000.
func BenchmarkCommand(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1000 {
		path := filepath.Join(dir, fmt.Sprint("d", i%30), fmt.Sprint("f", i, ".txt"))
		os.MkdirAll(filepath.Dir(path), 0o755)
		os.WriteFile(path, []byte(strings.Repeat(fmt.Sprint("line ", i, "\n"), 400)), 0o644)
	}
	r, err := proc.Run(context.Background(), proc.Command{Argv: []string{"bash", "-c", "git init -q && git config user.email a@b && git config user.name n && git add -A && git commit -qm one"}, Dir: dir, Merge: true})
	if err != nil || r.Exit != 0 {
		b.Fatal(err, string(r.Stdout))
	}
	c, err := At(b.TempDir(), dir).Checkpoints(context.Background(), id1, CheckOptions{Project: dir, Environ: os.Environ()})
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		i++
		done, err := c.BeforeRun(context.Background(), tool.Call{ID: fmt.Sprint(i), Tool: "bash"}, tool.Effects{Command: "x", Touches: true})
		if err != nil {
			b.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, "d0", "f0.txt"), []byte(fmt.Sprint(i)), 0o644)
		done(context.Background(), tool.Result{})
	}
}
