//go:build unix

package registry

import (
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// pipes stand where files should: opening one must not wait for a writer.
func pipes(manifest, contract, variant func(*Registry) string) []corruption {
	pipe := func(path func(*Registry) string) func(*testing.T, *Registry) {
		return func(t *testing.T, r *Registry) {
			remove(path)(t, r)
			if err := unix.Mkfifo(path(r), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return []corruption{
		{"manifest a pipe", pipe(manifest), manifest, false, ""},
		{"contract a pipe", pipe(contract), contract, true, ""},
		{"variant a pipe", pipe(variant), variant, true, ""},
	}
}

func setUmask(mask int) { unix.Umask(mask) }

// limitFileSize makes every write past so many bytes of a file fail, as a
// full disk does: the first part is written, then comes the error.
func limitFileSize(bytes uint64) {
	signal.Ignore(unix.SIGXFSZ)
	_ = unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: bytes})
}

// Writes that really break off in the middle leave everything as it was.
func TestWriteBreaksOff(t *testing.T) {
	t.Parallel()
	r := Open(filepath.Join(t.TempDir(), "registry"))
	if _, _, err := r.Put(churned("kelp", 2), PutOptions{}); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, r.root)
	cmd, lines := start(t, "limit", r.root)
	for lines.Scan() {
		t.Error(lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, snapshot(t, r.root)); diff != "" {
		t.Errorf("got changes on disk, want none:\n%s", diff)
	}
}

// Without permission every operation says so with a code and a path. The
// superuser is above permissions, so there the test looks at what is left: a
// file as the root.
func TestNoPermission(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	if os.Geteuid() == 0 {
		blocked := t.TempDir() + "/file"
		write(t, blocked, "")
		for _, root := range []string{blocked, blocked + "/registry"} {
			everyOperationFails(t, Open(root))
		}
		return
	}
	for _, path := range []string{r.root} {
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		everyOperationFails(t, r)
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.List(); err != nil {
		t.Errorf("got %v, want nothing lost", err)
	}
}
