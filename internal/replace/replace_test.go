package replace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.toml")
	if err := File(path, []byte("one"), 0o600, nil); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("no")
	err := File(path, []byte("two"), 0o600, func(aside string) error {
		if got, err := os.ReadFile(aside); err != nil || string(got) != "two" || filepath.Ext(aside) != ".toml" {
			t.Errorf("aside %s: got %q, %v, want two in a file of the same ending", aside, got, err)
		}
		return refused
	})
	if !errors.Is(err, refused) {
		t.Errorf("got %v, want %v", err, refused)
	}
	if got, _ := os.ReadFile(path); string(got) != "one" {
		t.Errorf("after a refusal: got %q, want one", got)
	}
	if err := File(path, []byte("three"), 0o600, nil); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "three" {
		t.Errorf("got %q, want three", got)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("got %d entries, %v, want the file alone", len(left), err)
	}
}
