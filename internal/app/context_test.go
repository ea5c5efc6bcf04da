package app

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A minimal context has the project's own instructions, a full one the
// person's too, whichever the parent has.
func TestContextOfAChild(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{filepath.Join(home, ".config/larva/AGENTS.md"): "Mine.\n", filepath.Join(dir, "AGENTS.md"): "Ours.\n"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := New(Options{Home: home, Dir: dir})
	parent, err := a.stand(t.Context(), about{persona: "worker", portable: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		parent, child string
		want          []string
	}{
		{"", "", []string{"Mine.\n", "Ours.\n"}}, {"full", "minimal", []string{"Ours.\n"}},
		{"minimal", "", []string{"Mine.\n", "Ours.\n"}}, {"minimal", "minimal", []string{"Ours.\n"}},
	} {
		above, child := *parent, *parent
		above.route.Context, child.route.Context = c.parent, c.child
		above.instruct()
		child.instructions = nil
		child.instructAs(&above)
		var got []string
		for _, in := range child.instructions {
			got = append(got, in.Text)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("parent %q, child %q (-want +got):\n%s", c.parent, c.child, d)
		}
	}
}
