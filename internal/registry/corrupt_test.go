package registry

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// fault is one way to break tide-clerk, and the file that must be named.
type corruption struct {
	name  string
	spoil func(t *testing.T, r *Registry)
	path  func(r *Registry) string
	// named: also an explicit variant cannot be read.
	named bool
	// mends: doctor --repair makes it whole, with this variant active.
	mends string
}

func text(path func(*Registry) string, s string) func(*testing.T, *Registry) {
	return func(t *testing.T, r *Registry) { write(t, path(r), s) }
}

func remove(path func(*Registry) string) func(*testing.T, *Registry) {
	return func(t *testing.T, r *Registry) {
		if err := os.RemoveAll(path(r)); err != nil {
			t.Fatal(err)
		}
	}
}

// link puts a link to a sound copy in the path's place.
func link(path func(*Registry) string) func(*testing.T, *Registry) {
	return func(t *testing.T, r *Registry) {
		elsewhere := filepath.Join(t.TempDir(), "copy")
		if err := os.Rename(path(r), elsewhere); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(elsewhere, path(r)); err != nil {
			t.Fatal(err)
		}
	}
}

func directory(path func(*Registry) string) func(*testing.T, *Registry) {
	return func(t *testing.T, r *Registry) {
		remove(path)(t, r)
		if err := os.Mkdir(path(r), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func corruptions() []corruption {
	manifest := func(r *Registry) string { return r.manifest("tide-clerk") }
	contract := func(r *Registry) string { return r.contract("tide-clerk") }
	variant := func(r *Registry) string { return r.variant("tide-clerk", "default") }
	variants := func(r *Registry) string { return r.variants("tide-clerk") }
	dir := func(r *Registry) string { return r.dir("tide-clerk") }
	huge := strings.Repeat(" ", spec.MaxBytes) + "{}"
	list := []corruption{
		{"no manifest", remove(manifest), manifest, false, "default"},
		{"manifest cut", text(manifest, `{`), manifest, false, "default"},
		{"manifest empty", text(manifest, ``), manifest, false, "default"},
		{"manifest a list", text(manifest, `["default"]`), manifest, false, "default"},
		{"manifest without active", text(manifest, `{}`), manifest, false, "default"},
		{"manifest with more", text(manifest, `{"active":"default","x":1}`), manifest, false, "default"},
		{"active twice", text(manifest, `{"active":"default","active":"terse"}`), manifest, false, "default"},
		{"active null", text(manifest, `{"active":null}`), manifest, false, "default"},
		{"active out of the directory", text(manifest, `{"active":"../../x"}`), manifest, false, "default"},
		{"active is gone", text(manifest, `{"active":"ghost"}`), manifest, false, "default"},
		{"manifest huge", text(manifest, huge), manifest, false, "default"},
		{"manifest a link", link(manifest), manifest, false, ""},
		{"manifest a directory", directory(manifest), manifest, false, ""},
		{"no contract", remove(contract), contract, true, ""},
		{"contract cut", text(contract, `{"id":`), contract, true, ""},
		{"contract null", text(contract, `null`), contract, true, ""},
		{"contract of another", text(contract, `{"id":"other","description":"d","capabilities":{},"spec_version":"0.1.0"}`), contract, true, ""},
		{"contract's id null", text(contract, `{"id":null,"description":"d","capabilities":{},"spec_version":"0.1.0"}`), contract, true, ""},
		{"contract without a version", text(contract, `{"id":"tide-clerk","description":"d","capabilities":{}}`), contract, true, ""},
		{"contract with a prompt", text(contract, `{"id":"tide-clerk","description":"d","capabilities":{},"spec_version":"0.1.0","prompt":"p"}`), contract, true, ""},
		{"contract with the digest", text(contract, `{"id":"tide-clerk","description":"d","capabilities":{},"spec_version":"0.1.0","spec_digest":"x"}`), contract, true, ""},
		{"contract not UTF-8", text(contract, "{\"id\":\"tide-clerk\",\"description\":\"\xff\",\"capabilities\":{},\"spec_version\":\"0.1.0\"}"), contract, true, ""},
		{"contract NaN", text(contract, `{"id":"tide-clerk","description":NaN,"capabilities":{},"spec_version":"0.1.0"}`), contract, true, ""},
		{"contract a link", link(contract), contract, true, ""},
		{"contract a directory", directory(contract), contract, true, ""},
		{"variant without a model", text(variant, `{"prompt":"x"}`), variant, true, ""},
		{"variant with a field of the contract", text(variant, `{"prompt":"x","model":"m","description":"d"}`), variant, true, ""},
		{"variant a text", text(variant, `"x"`), variant, true, ""},
		{"variant deep", text(variant, strings.Repeat("[", 5000)), variant, true, ""},
		{"variant huge", text(variant, huge), variant, true, ""},
		{"variant a link", link(variant), variant, true, ""},
		{"variant a link to nothing", func(t *testing.T, r *Registry) {
			remove(variant)(t, r)
			if err := os.Symlink("nowhere", variant(r)); err != nil {
				t.Fatal(err)
			}
		}, variant, true, ""},
		{"variant a directory", directory(variant), variant, true, ""},
		{"variants a link", link(variants), variants, true, ""},
		{"variants a file", func(t *testing.T, r *Registry) { remove(variants)(t, r); write(t, variants(r), "") }, variants, true, ""},
		{"persona a link", link(dir), dir, true, ""},
	}
	return append(list, pipes(manifest, contract, variant)...)
}

func TestCorruption(t *testing.T) {
	t.Parallel()
	for _, c := range corruptions() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := harbour(t)
			c.spoil(t, r)
			before := snapshot(t, r.root)
			details := fmt.Sprintf(`{"persona_id":"tide-clerk","path":%q}`, c.path(r))
			broken := func(err error) { t.Helper(); code(t, err, diag.RegistryCorrupt, details) }

			_, err := r.Resolve("tide-clerk", "", nil)
			broken(err)
			_, err = r.List()
			broken(err)
			broken(r.Export(nil, func(*spec.Object) error { return nil }))
			_, err = r.Update("tide-clerk", object(t, `{"prompt":"x"}`), "")
			broken(err)
			_, err = r.UpdateWhere(nil, object(t, `{"prompt":"x"}`), false)
			broken(err)
			_, err = r.Clone("tide-clerk", "copy")
			broken(err)
			_, err = r.Register(object(t, clerk), "fresh")
			broken(err)
			_, _, err = r.Put(source(t, "tide-clerk", 1, "a", "a"), PutOptions{Update: true})
			broken(err)
			if _, err = r.Resolve("tide-clerk", "default", nil); c.named {
				broken(err)
			} else if err != nil {
				t.Errorf("got %v for a named variant, want none: the manifest is not consulted", err)
			}
			if p := c.path(r); p == r.manifest("tide-clerk") || strings.HasPrefix(p, r.variants("tide-clerk")) && filepath.Ext(p) == "" {
				broken(r.VariantActivate("tide-clerk", "terse"))
				broken(r.VariantDelete("tide-clerk", "terse"))
				_, err := r.VariantList("tide-clerk")
				broken(err)
			}
			if diff := cmp.Diff(before, snapshot(t, r.root)); diff != "" {
				t.Errorf("got changes on disk, want none:\n%s", diff)
			}
			if _, err := r.Resolve("reef-scout", "", nil); err != nil {
				t.Errorf("got %v for another persona, want none", err)
			}
			c.doctor(t, r)
			if err := r.Delete("tide-clerk"); err != nil {
				t.Errorf("got %v, want every broken persona to be deletable", err)
			}
		})
	}
}

// doctor finds the file, and mends what it should and no more.
func (c corruption) doctor(t *testing.T, r *Registry) {
	t.Helper()
	d, err := r.Doctor(false)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(d.Issues, func(f Finding) bool {
		return f.PersonaID == "tide-clerk" && f.Code == diag.RegistryCorrupt && f.Path == c.path(r) && f.Message != ""
	}) {
		t.Errorf("got issues %v, want one for %s", d.Issues, c.path(r))
	}
	before := snapshot(t, r.root)
	d, err = r.Doctor(true)
	if err != nil {
		t.Fatal(err)
	}
	if c.mends == "" {
		if diff := cmp.Diff(before, snapshot(t, r.root)); len(d.Issues) == 0 || diff != "" {
			t.Errorf("got issues %v and changes, want nothing mended:\n%s", d.Issues, diff)
		}
		return
	}
	info, err := r.VariantList("tide-clerk")
	if err != nil || info.Active != c.mends || len(d.Issues) > 0 || len(d.Repaired) == 0 {
		t.Errorf("got %v, %v, issues %v, repaired %v; want %s active", info, err, d.Issues, d.Repaired, c.mends)
	}
}

// A bad name among the variants hurts only what lists them.
func TestBadVariantNames(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(t *testing.T, path string){
		"Bad_Name.json": func(t *testing.T, path string) { write(t, path, `{}`) },
		".json":         func(t *testing.T, path string) { write(t, path, `{}`) },
		"dir.json": func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := harbour(t)
			path := filepath.Join(r.variants("tide-clerk"), name)
			put(t, path)
			write(t, filepath.Join(r.variants("tide-clerk"), ".default.json.x.tmp"), "{")
			details := fmt.Sprintf(`{"persona_id":"tide-clerk","path":%q}`, path)
			_, err := r.VariantList("tide-clerk")
			code(t, err, diag.RegistryCorrupt, details)
			code(t, r.VariantActivate("tide-clerk", "terse"), diag.RegistryCorrupt, details)
			if _, err := r.Resolve("tide-clerk", "", nil); err != nil {
				t.Errorf("got %v, want the active variant to be read", err)
			}
			d, err := r.Doctor(true)
			if err != nil || len(d.Issues) != 1 || d.Issues[0].Path != path {
				t.Errorf("got %v, %v, want one issue for %s", d.Issues, err, path)
			}
			if len(d.Repaired) != 1 || d.Repaired[0].Code != Leftover {
				t.Errorf("got repairs %v, want the temporary file removed", d.Repaired)
			}
		})
	}
}

// A persona whose values break a rule is invalid, not corrupt, and the list
// says which one it is.
func TestInvalidValues(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	write(t, r.variant("tide-clerk", "default"), `{"prompt":"","model":"m"}`)
	_, err := r.Resolve("tide-clerk", "", nil)
	code(t, err, diag.PersonaInvalid, "")
	if got := canon(diag.As(err).Details["report"].(spec.Report).Errors[0].Details); got != `{"field":"prompt","value":""}` {
		t.Errorf("got %s, want the blank prompt", got)
	}
	_, err = r.List()
	code(t, err, diag.PersonaInvalid, "")
	if m := diag.As(err).Message; !strings.Contains(m, "tide-clerk") {
		t.Errorf("got message %q, want it to name the persona", m)
	}
	d, err := r.Doctor(true)
	if err != nil || len(d.Issues) != 1 || d.Issues[0].Code != diag.PersonaInvalid || d.Issues[0].Path != r.variant("tide-clerk", "default") {
		t.Errorf("got %v, %v, want one PERSONA_INVALID", d.Issues, err)
	}
}

// A lock or an .aside of the wrong kind stops every write while everything
// still reads: doctor fails, and the write names it.
func TestDoctorWrites(t *testing.T) {
	t.Parallel()
	for _, name := range []string{lockName, asideName} {
		r := harbour(t)
		path := filepath.Join(r.root, name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if name == lockName {
			write(t, filepath.Join(path, "x"), "")
		} else {
			write(t, path, "")
		}
		d, err := r.Doctor(false)
		if err != nil || len(d.Issues) != 1 || d.Issues[0].Path != path || d.Issues[0].Code != diag.RegistryWriteFailed {
			t.Errorf("%s: got %+v, %v, want it as the one issue", name, d.Issues, err)
		}
		_, err = r.Update("tide-clerk", object(t, `{"model":"m"}`), "")
		if e := diag.As(err); e == nil || e.Code != diag.RegistryUpdateFailed || e.Details["path"] != path {
			t.Errorf("%s: got %v, want REGISTRY_UPDATE_FAILED with its path", name, err)
		}
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	if d, err := r.Doctor(false); err != nil || d.Personas != 2 || len(d.Issues)+len(d.Warnings) > 0 {
		t.Fatalf("got %+v, %v, want a clean bill", d, err)
	}
	if _, err := r.Update("reef-scout", object(t, `{"can_spawn":["tide-clerk","ghost","wraith"]}`), ""); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(r.root, "notes.txt"), "hi")
	write(t, filepath.Join(r.root, "Not_Id", "x"), "1")
	write(t, filepath.Join(r.dir("tide-clerk"), "README"), "1")
	write(t, filepath.Join(r.dir("tide-clerk"), ".contract.json.1.tmp"), "1")
	write(t, r.aside("new-kelp-1", contractName), "{")
	if hasModes {
		for path, m := range map[string]os.FileMode{r.variant("tide-clerk", "terse"): 0o644, r.dir("reef-scout"): 0o755} {
			if err := os.Chmod(path, m); err != nil {
				t.Fatal(err)
			}
		}
	}
	d, err := r.Doctor(false)
	if err != nil || len(d.Issues) > 0 {
		t.Fatalf("got %v, %v, want no issues", d.Issues, err)
	}
	want := map[string]diag.Code{
		filepath.Join(r.root, "notes.txt"): StrayFile, filepath.Join(r.root, "Not_Id"): StrayFile,
		filepath.Join(r.dir("tide-clerk"), "README"):               StrayFile,
		filepath.Join(r.dir("tide-clerk"), ".contract.json.1.tmp"): Leftover,
		r.aside("new-kelp-1"):                                      Leftover, r.contract("reef-scout"): DanglingCanSpawn,
	}
	if hasModes {
		want[r.variant("tide-clerk", "terse")], want[r.dir("reef-scout")] = Permissions, Permissions
	}
	got := map[string]diag.Code{}
	for _, f := range d.Warnings {
		got[f.Path] = f.Code
		if f.Code == DanglingCanSpawn && !strings.HasSuffix(f.Message, ": ghost, wraith") {
			t.Errorf("got %q, want it to name ghost and wraith", f.Message)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("got +, want -:\n%s", diff)
	}
	d, err = r.Doctor(true)
	left := map[string]diag.Code{}
	for _, f := range d.Warnings {
		left[f.Path] = f.Code
	}
	for path, c := range want {
		if c == Leftover || c == Permissions {
			delete(want, path)
		}
	}
	if diff := cmp.Diff(want, left); err != nil || diff != "" {
		t.Errorf("%v: got +, want -:\n%s", err, diff)
	}
	if n := len(d.Repaired); hasModes && n != 4 {
		t.Errorf("got repairs %v, want 4", d.Repaired)
	}
	f := Finding{"", StrayFile, "/x", "m"}
	if got, want := canon(f), `{"code":"STRAY_FILE","message":"m","path":"/x","persona_id":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
