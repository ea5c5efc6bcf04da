//go:build unix

package pi_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"larva.dev/larva/internal/launch/pi"
)

// install puts a package with a program into prefix, linked as npm links it,
// and gives the directory for PATH.
func install(t *testing.T, prefix, name, version string) string {
	t.Helper()
	dist, bin := filepath.Join(prefix, "node_modules", name, "dist"), filepath.Join(prefix, "bin")
	for _, d := range []string{dist, bin} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dist, "package.json"), `{"type":"module"}`)
	write(t, filepath.Join(dist, "..", "package.json"), `{"name":"`+name+`","version":"`+version+`"}`)
	program(t, filepath.Join(dist, "cli.js"))
	if err := os.Symlink(filepath.Join(dist, "cli.js"), filepath.Join(bin, "pi")); err != nil {
		t.Fatal(err)
	}
	return bin
}

func program(t *testing.T, path string) {
	t.Helper()
	write(t, path, "#!/bin/sh\n")
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	good := install(t, filepath.Join(root, "good"), "@earendil-works/pi-coding-agent", "1.6.0")
	other := install(t, filepath.Join(root, "other"), "raspberry", "3.1.4")
	shim, plain := t.TempDir(), t.TempDir()
	larva := filepath.Join(t.TempDir(), "larva")
	program(t, larva)
	if err := os.Symlink(larva, filepath.Join(shim, "pi")); err != nil {
		t.Fatal(err)
	}
	program(t, filepath.Join(plain, "pi"))
	write(t, filepath.Join(plain, "no"), "")
	entry := filepath.Join(root, "good", "node_modules", "@earendil-works/pi-coding-agent", "dist", "cli.js")
	real := pi.Program{Path: filepath.Join(good, "pi"), Entry: entry, Version: "1.6.0"}
	for _, tc := range []struct {
		name, env string
		want      pi.Program
		missing   bool
	}{
		{"by PATH", "PATH=" + good, real, false},
		{"our own shim is passed over", "PATH=" + shim + ":" + good, real, false},
		{"a project's directory is passed over", "PATH=.:bin:" + good, real, false},
		{"by name", "LARVA_PI_BIN=" + filepath.Join(good, "pi"), real, false},
		{"a relative name", "LARVA_PI_BIN=pi", pi.Program{}, true},
		{"not executable", "LARVA_PI_BIN=" + filepath.Join(plain, "no"), pi.Program{}, true},
		{"nothing but ourselves", "PATH=" + shim, pi.Program{}, true},
		{"another program", "PATH=" + other, pi.Program{}, true},
		{"no PATH", "PATH=", pi.Program{}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := pi.Find([]string{tc.env}, larva)
			if errors.Is(err, pi.ErrNotFound) != tc.missing || got != tc.want {
				t.Errorf("got %+v, %v, want %+v, missing: %v", got, err, tc.want, tc.missing)
			}
		})
	}
	got, err := pi.Find([]string{"PATH=" + plain}, larva)
	if err != nil || !got.Wrapper || got.Version != "" {
		t.Errorf("a wrapper: got %+v, %v, want it found and called one", got, err)
	}
}

func TestOldNode(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{"v20.20.2\n": true, "v22.18.9": true, "v22.19.0": false, "v24.0.0": false, "v22.19.0-nightly": false, "": false, "node": false} {
		if got := pi.OldNode(version, pi.Floor); got != want {
			t.Errorf("%q: got %v, want %v", version, got, want)
		}
	}
}
