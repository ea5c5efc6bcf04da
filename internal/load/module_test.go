package load

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// An empty cue.mod is a name that the sandbox holds in place, and no module:
// what lies beside it loads as if it were not there.
func TestEmptyModule(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"cue.mod", "p/cue.mod"} {
		dir := write(t, map[string]string{"p/a.cue": "package personas\nimport \"larva.dev/schema\"\npersonas: [string]: schema.#Persona\n" + persona("a", `"x"`)})
		if err := os.Mkdir(filepath.Join(dir, at), 0o755); err != nil {
			t.Fatal(err)
		}
		items, err := Specs(context.Background(), []string{"p/a.cue"}, Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := say(items), "p/a.cue a\n"; got != want {
			t.Errorf("%s: got %q, want %q", at, got, want)
		}
	}
}
