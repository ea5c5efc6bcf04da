package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

const clerk = `{"spec_version":"0.1.0","id":"tide-clerk","description":"Keeps harbour tide tables tidy and current.",
	"prompt":"Record each tide in order.","model":"acme/gamma-2","capabilities":{"filesystem":"read_write","shell":"read_only"}}`

const clerkTerse = `{"spec_version":"0.1.0","id":"tide-clerk","description":"Keeps harbour tide tables tidy and current.",
	"prompt":"Record tides, shortest form.","model":"acme/gamma-9","capabilities":{"filesystem":"read_write","shell":"read_only"},
	"model_params":{"temperature":0.5,"top_k":4}}`

const scout = `{"spec_version":"0.1.0","id":"reef-scout","description":"Surveys reef maps and reports hazards found.",
	"prompt":"Survey the reef.","model":"acme/delta-1","capabilities":{"http":"none"},"can_spawn":false}`

func object(t testing.TB, text string) *spec.Object {
	t.Helper()
	o, err := spec.ParseObject([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return o
}

// with gives text's object with some fields replaced; nil removes.
func with(t testing.TB, text string, pairs ...any) *spec.Object {
	t.Helper()
	o := object(t, text)
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == nil {
			o.Delete(pairs[i].(string))
		} else {
			o.Set(pairs[i].(string), pairs[i+1])
		}
	}
	return o
}

func register(t testing.TB, r *Registry, text, variant string) {
	t.Helper()
	if _, err := r.Register(object(t, text), variant); err != nil {
		t.Fatal(err)
	}
}

// harbour is a registry with tide-clerk (default, terse) and reef-scout.
func harbour(t testing.TB) *Registry {
	t.Helper()
	r := Open(filepath.Join(t.TempDir(), "registry"))
	r.wait = 20 * time.Second
	register(t, r, clerk, "")
	register(t, r, clerkTerse, "terse")
	register(t, r, scout, "")
	return r
}

// canon is v's canonical JSON.
func canon(v any) string { return string(spec.AppendCanonical(nil, v)) }

// code checks an error's code and its details, given as canonical JSON.
func code(t *testing.T, err error, want diag.Code, details string) {
	t.Helper()
	var e *diag.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want %s", err, want)
	}
	if e.Code != want {
		t.Fatalf("got %s (%s), want %s", e.Code, e.Message, want)
	}
	if e.Message == "" || strings.ContainsAny(e.Message, "\n\t") {
		t.Errorf("got message %q, want one line", e.Message)
	}
	if details != "" {
		if e.Details == nil {
			e.Details = map[string]any{}
		}
		if got := canon(e.Details); got != canon(jsonText(details)) {
			t.Errorf("%s: got details %s, want %s", want, got, details)
		}
	}
}

// jsonText lets canon sort a text's keys.
func jsonText(s string) any {
	v, err := spec.Parse([]byte(s))
	if err != nil {
		return err.Error()
	}
	return v
}

// snapshot maps every file below root to its text, directories to "/" and
// links to their targets; the lock and an empty .aside do not count.
func snapshot(t testing.TB, root string) map[string]string {
	t.Helper()
	m := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		switch {
		case rel == "." || rel == lockName || rel == asideName:
		case d.IsDir():
			m[rel] = "/"
		case d.Type()&fs.ModeSymlink != 0:
			m[rel], err = os.Readlink(path)
		case !d.Type().IsRegular():
			m[rel] = d.Type().String()
		default:
			var data []byte
			data, err = os.ReadFile(path)
			m[rel] = string(data)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return m
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// source builds a persona source: description and all prompts carry n.
func source(t testing.TB, id string, n int, active string, variants ...string) *spec.Source {
	t.Helper()
	s := &spec.Source{ID: id, Active: active, Contract: object(t, fmt.Sprintf(
		`{"id":%q,"description":"version %d","capabilities":{"shell":"none"},"spec_version":"0.1.0"}`, id, n))}
	for _, v := range variants {
		s.Variants = append(s.Variants, spec.Variant{Name: v, Implementation: object(t, fmt.Sprintf(`{"prompt":"version %d","model":"acme/%s"}`, n, v))})
	}
	return s
}
