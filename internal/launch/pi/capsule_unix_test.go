//go:build unix

package pi_test

import (
	"os"
	"path/filepath"
	"testing"

	"larva.dev/larva/internal/launch/pi"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCapsule(t *testing.T) {
	t.Parallel()
	base, dir := t.TempDir(), filepath.Join(t.TempDir(), "agent")
	write(t, filepath.Join(base, "settings.json"), `{"a":1}`)
	write(t, filepath.Join(base, "auth.json"), `{"key":"kept"}`)
	if err := os.Symlink("nowhere", filepath.Join(base, "trust.json")); err != nil {
		t.Fatal(err)
	}
	if err := pi.Capsule(base, dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{"": os.ModeDir | 0o700, "settings.json": 0o600} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%q: got %v, %v, want %v", name, info, err, want)
		}
	}
	for _, name := range []string{"sessions", "auth.json", "trust.json", "models-store.json"} {
		got, err := os.Readlink(filepath.Join(dir, name))
		if want := filepath.Join(base, name); err != nil || got != want {
			t.Errorf("%s: got a link to %q, %v, want %q", name, got, err, want)
		}
	}
	write(t, filepath.Join(dir, "settings.json"), "changed")
	if err := pi.Remove(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"settings.json": `{"a":1}`, "auth.json": `{"key":"kept"}`, "models-store.json": "{}\n"} {
		if got, err := os.ReadFile(filepath.Join(base, name)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, want)
		}
	}
	if _, err := os.Lstat(filepath.Join(base, "nowhere")); err == nil {
		t.Error("a dangling link in the base directory was followed")
	}
}

func TestCapsuleRefuses(t *testing.T) {
	t.Parallel()
	base, run := t.TempDir(), t.TempDir()
	dir := filepath.Join(run, "agent")
	if err := os.Symlink(base, dir); err != nil {
		t.Fatal(err)
	}
	if err := pi.Capsule(base, dir); err == nil {
		t.Error("got a capsule, want none where a link stands in its place")
	}
	if err := pi.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(base, "sessions")); err != nil {
		t.Errorf("got %v, want the base directory untouched behind the link", err)
	}
	if err := os.Mkdir(filepath.Join(base, "settings.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := pi.Capsule(base, dir); err == nil {
		t.Error("got a capsule, want none of settings that are no file")
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Error("a failed capsule is still there")
	}
}
