package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larva.dev/larva/internal/spec"
)

// fill writes n personas of about 1 KiB past the registry's own writers,
// which sync each file.
func fill(tb testing.TB, root string, n int) {
	tb.Helper()
	for i := range n {
		id := fmt.Sprintf("persona-%05d", i)
		write(tb, filepath.Join(root, id, contractName), fmt.Sprintf(
			`{"id": %q, "description": "Reviews code changes, number %d of many.", "capabilities": {"filesystem": "read_only", "git": "read_only"}, "can_spawn": ["persona-00000"], "spec_version": "0.1.0"}`, id, i))
		write(tb, filepath.Join(root, id, variantsName, "default.json"), fmt.Sprintf(
			`{"prompt": %q, "model": "acme/gamma-2", "model_params": {"temperature": 0.2}}`, strings.Repeat("Look at every line of it.\n", 27)))
		write(tb, filepath.Join(root, id, manifestName), `{"active": "default"}`)
	}
}

// plain is the loop that List and Export are compared with.
func plain(tb testing.TB, root string) (bytes int) {
	entries, err := os.ReadDir(root)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		for _, name := range []string{manifestName, contractName, "variants/default.json"} {
			data, err := os.ReadFile(filepath.Join(root, e.Name(), name))
			if err != nil {
				tb.Fatal(err)
			}
			bytes += len(data)
		}
	}
	return bytes
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		root := b.TempDir()
		fill(b, root, n)
		r := Open(root)
		b.Run(fmt.Sprintf("plain-%d", n), func(b *testing.B) {
			for b.Loop() {
				plain(b, root)
			}
		})
		b.Run(fmt.Sprintf("list-%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				out = out[:0]
				if err := r.EachSummary(func(s Summary) error { out = AppendSummary(out, s); return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("export-%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var out []byte
			for b.Loop() {
				if err := r.Export(nil, func(o *spec.Object) error { out = spec.AppendCanonical(out[:0], o); return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{10, 10000} {
		root := b.TempDir()
		fill(b, root, n)
		r := Open(root)
		b.Run(fmt.Sprintf("of-%d", n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				i++
				patch := &spec.Object{Members: []spec.Member{{Key: "prompt", Value: fmt.Sprintf("number %d", i)}}}
				if _, err := r.Update("persona-00003", patch, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
