package ops

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

const (
	clerk = `{"spec_version":"0.1.0","id":"tide-clerk","description":"Keeps harbour tide tables tidy and current.",
	"prompt":"Record each tide in order.","model":"acme/gamma-2","capabilities":{"filesystem":"read_write","shell":"read_only"}}`
	clerkTerse = `{"spec_version":"0.1.0","id":"tide-clerk","description":"Keeps harbour tide tables tidy and current.",
	"prompt":"Record tides, shortest form.","model":"acme/gamma-9","capabilities":{"filesystem":"read_write","shell":"read_only"},
	"model_params":{"temperature":0.5,"top_k":4}}`
	scout = `{"spec_version":"0.1.0","id":"reef-scout","description":"Surveys reef maps and reports hazards found.",
	"prompt":"Survey the reef.","model":"acme/delta-1","capabilities":{"http":"none"},"can_spawn":["tide-clerk"]}`
)

// harbour is a service with tide-clerk (default, terse) and reef-scout.
func harbour(t testing.TB) *Service {
	t.Helper()
	s := &Service{Registry: registry.Open(filepath.Join(t.TempDir(), "registry"))}
	for _, p := range []string{`{"spec":` + clerk + `}`, `{"spec":` + clerkTerse + `,"variant":"terse"}`, `{"spec":` + scout + `}`} {
		if _, err := s.Do(context.Background(), "register", object(t, p)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func object(t testing.TB, text string) *spec.Object {
	t.Helper()
	o, err := spec.ParseObject([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// canon is v's canonical JSON.
func canon(v any) string { return string(spec.AppendCanonical(nil, v)) }

// sorted is a JSON text in canonical form.
func sorted(t testing.TB, text string) string {
	t.Helper()
	v, err := spec.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return canon(v)
}

// with is a text's object with other values for some keys.
func with(t testing.TB, text string, pairs ...any) string {
	t.Helper()
	o := object(t, text)
	for i := 0; i < len(pairs); i += 2 {
		o.Set(pairs[i].(string), pairs[i+1])
	}
	return canon(o)
}

// proved is a spec's text with the digest that it should have.
func proved(t testing.TB, text string) string {
	t.Helper()
	return canon(spec.Normalize(object(t, text)))
}

func digest(t testing.TB, text string) string {
	t.Helper()
	return spec.Digest(object(t, text))
}

// code checks an error's code and details.
func code(t *testing.T, err error, want diag.Code, details string) {
	t.Helper()
	var e *diag.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want %s", err, want)
	}
	if e.Code != want {
		t.Fatalf("got %s (%s), want %s", e.Code, e.Message, want)
	}
	if got := canon(e.Details); details != "" && got != sorted(t, details) {
		t.Errorf("%s: got details %s, want %s", want, got, details)
	}
}

// tree is all files below root by name, to see that nothing was written.
func tree(t testing.TB, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		b.WriteString(path + "\n" + string(data) + "\n")
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return b.String()
}
