package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// BenchmarkValidate is one whole command line, the grammar's building included.
func BenchmarkValidate(b *testing.B) {
	dir := b.TempDir()
	spec := `{"spec_version":"0.1.0","id":"x","description":"Reviews code changes with care.","prompt":"p","model":"m","capabilities":{"git":"read_only"}}`
	if err := os.WriteFile(filepath.Join(dir, "p.json"), []byte(spec), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		code := Main(b.Context(), Process{Args: []string{"validate", "p.json"}, Stdin: strings.NewReader(""),
			Stdout: io.Discard, Stderr: io.Discard, Environ: []string{"HOME=" + dir}, Dir: dir})
		if code != 0 {
			b.Fatalf("exit %d, want 0", code)
		}
	}
}
