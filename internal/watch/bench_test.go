package watch

import (
	"hash/maphash"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"larva.dev/larva/internal/registry"
)

// many makes a registry of n personas as their writer leaves it, without the
// disk flushes of n writes.
func many(b *testing.B, n int) string {
	b.Helper()
	root := filepath.Join(b.TempDir(), "registry")
	put(b, registry.Open(root), "seed", "m", "")
	for i := range n {
		dir := filepath.Join(root, "p"+strconv.Itoa(i))
		if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "seed"))); err != nil {
			b.Fatal(err)
		}
	}
	return root
}

// BenchmarkLook is one look at ten thousand personas: after a notification,
// and at all their files.
func BenchmarkLook(b *testing.B) {
	root := many(b, 10000)
	for _, full := range []bool{false, true} {
		b.Run("full="+strconv.FormatBool(full), func(b *testing.B) {
			s := seen{root: root, seed: maphash.MakeSeed()}
			s.look(true)
			b.ReportAllocs()
			for b.Loop() {
				if c, any := s.look(full); any {
					b.Fatalf("got %v, want no change", c)
				}
			}
		})
	}
}

// BenchmarkReport is the time from a write to its report among ten thousand
// personas, the write's own time included.
func BenchmarkReport(b *testing.B) {
	root := many(b, 10000)
	r := registry.Open(root)
	e := start(b, root, never)
	i := 0
	for b.Loop() {
		i++
		put(b, r, "seed", "m"+strconv.Itoa(i), "")
		select {
		case <-e.changes:
		case <-time.After(patienceOfTests):
			b.Fatal("no report")
		}
	}
}
