package sandbox

import (
	"os"
	"testing"

	"larva.dev/larva/internal/proc"
)

// BenchmarkCommand is a command that does nothing, with and without walls; the
// difference is what a wall costs.
func BenchmarkCommand(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	project := b.TempDir()
	for _, kind := range []string{None, Bubblewrap, Landlock} {
		b.Run(kind, func(b *testing.B) {
			f, err := Probe(b.Context(), Machine{Kind: kind, Self: []string{exe, HelperVerb}, Environ: os.Environ()})
			if err != nil {
				b.Skip(err)
			}
			w := f.Wall(Options{Project: project, Cwd: project, Roots: []string{project}, Environ: os.Environ(), State: b.TempDir()})
			defer w.Close()
			for b.Loop() {
				argv, env, done, err := w.Wrap([]string{"/bin/true"}, proc.Env(os.Environ()), WrapOptions{Dir: project})
				if err != nil {
					b.Fatal(err)
				}
				if r, err := proc.Run(b.Context(), proc.Command{Argv: argv, Env: env, Dir: project}); err != nil || r.Exit != 0 {
					b.Fatalf("%v %+v", err, r)
				}
				done()
			}
		})
	}
}

// BenchmarkProbe is what a run's start pays for knowing its wall.
func BenchmarkProbe(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []string{Bubblewrap, Landlock} {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				if _, err := Probe(b.Context(), Machine{Kind: kind, Self: []string{exe, HelperVerb}, Environ: os.Environ()}); err != nil {
					b.Skip(err)
				}
			}
		})
	}
}
