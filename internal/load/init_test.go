package load

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/proc"
)

// filesBelow lists the files below dir.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestInit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "demo")
	written, err := Init(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(filesBelow(t, dir), written); diff != "" {
		t.Errorf("files: %s", diff)
	}
	for _, name := range []string{".gitignore", "cue.mod/module.cue", "cue.mod/pkg/larva.dev/schema/persona.cue", "personas/repo-guide.cue", "personas/repo-guide.md", "profiles/demo.cue"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	items, err := Specs(context.Background(), []string{"."}, untrusted(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(items) != 1 || items[0].Source == nil || items[0].ID != "repo-guide" || len(items[0].Source.Variants) != 2 || len(items[0].Notices) > 0 {
		t.Fatalf("got %+v", items)
	}
	if r := items[0].Report(nil); !r.Valid || len(r.Warnings) > 0 {
		t.Errorf("report %+v", r)
	}
	l, err := Profile(context.Background(), filepath.Join("profiles", "demo.cue"), untrusted(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if l.Profile.Models["*"] != "script/demo" || len(l.Profile.Scripts["demo"].Turns) != 2 {
		t.Errorf("profile %+v", l.Profile)
	}

	_, err = Init(dir)
	var e *diag.Error
	if !errors.As(err, &e) || e.Code != diag.AlreadyExists || len(e.Details["paths"].([]string)) != len(written) {
		t.Errorf("second time: got %v", err)
	}
}

func TestInitNeverOverwrites(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{"profiles/demo.cue": "mine", "README.md": "mine too"})
	_, err := Init(dir)
	var e *diag.Error
	if !errors.As(err, &e) || e.Code != diag.AlreadyExists {
		t.Fatalf("got %v", err)
	}
	if want := filepath.Join(dir, "profiles", "demo.cue") + " exists already; nothing was written"; e.Message != want {
		t.Errorf("got %q, want %q", e.Message, want)
	}
	if got := filesBelow(t, dir); len(got) != 2 {
		t.Errorf("files were written: %v", got)
	}
}

// TestInitTakesBack lets the write of one file fail.
func TestInitTakesBack(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "profiles")); err != nil {
		t.Fatal(err)
	}
	if _, err := Init(dir); err == nil {
		t.Fatal("a link out of the directory was followed")
	}
	if got := filesBelow(t, dir); len(got) != 1 {
		t.Errorf("left behind: %v", got)
	}
}

// TestInitCueVet runs the cue command over what init writes.
func TestInitCueVet(t *testing.T) {
	t.Parallel()
	env := append(os.Environ(), "CUE_REGISTRY=none", "CUE_CACHE_DIR="+t.TempDir())
	cue, err := proc.LookPath("cue", env)
	if home, herr := os.UserHomeDir(); err != nil && herr == nil {
		cue = filepath.Join(home, "go", "bin", "cue")
		_, err = os.Stat(cue)
	}
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("the cue command is missing")
		}
		t.Skip("the cue command is missing")
	}
	dir := t.TempDir()
	if _, err := Init(dir); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"vet", "./..."}, {"vet", "-c", "./..."}} {
		res, err := proc.Run(context.Background(), proc.Command{Argv: append([]string{cue}, args...), Dir: dir, Env: env, Merge: true})
		if err != nil || res.Exit != 0 {
			t.Errorf("cue %s: exit %d, %v\n%s", strings.Join(args, " "), res.Exit, err, res.Stdout)
		}
	}
}
