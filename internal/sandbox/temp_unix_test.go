//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestSweepTemp: what a killed run left goes, what is in use, young, or only
// bears the name stays.
func TestSweepTemp(t *testing.T) {
	top := t.TempDir()
	t.Setenv("TMPDIR", top)
	used, remove, err := RunDir()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	old := now.Add(-2 * youngTemp)
	elsewhere := t.TempDir()
	for _, name := range []string{"larva-run-1", "larva-wall-2", "larva-run-young", "larva-other-3"} {
		if err := os.MkdirAll(filepath.Join(top, name, "shut"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(top, name, "shut"), 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(top, "larva-run-link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(top, "larva-run-1", "link")); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(elsewhere, "kept")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(top, "larva-run-1"), filepath.Join(top, "larva-wall-2"), filepath.Join(top, "larva-other-3"), used} {
		if err := os.Chtimes(dir, old, old); err != nil {
			t.Fatal(err)
		}
	}
	SweepTemp(now)
	for name, want := range map[string]bool{"larva-run-1": false, "larva-wall-2": false, "larva-run-young": true, "larva-other-3": true, "larva-run-link": true, filepath.Base(used): true} {
		if _, err := os.Lstat(filepath.Join(top, name)); (err == nil) != want {
			t.Errorf("%s: got %v, want it there: %t", name, err, want)
		}
	}
	if _, err := os.Lstat(kept); err != nil {
		t.Errorf("what a link leads to: %v", err)
	}
	remove()
	if _, err := os.Lstat(used); !os.IsNotExist(err) {
		t.Errorf("the run's own: got %v, want it removed", err)
	}
}

// TestRunDirIsAbsolute though TMPDIR is not.
func TestRunDirIsAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("TMPDIR", ".")
	dir, remove, err := RunDir()
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	if !filepath.IsAbs(dir) {
		t.Errorf("got %s, want an absolute path", dir)
	}
}
