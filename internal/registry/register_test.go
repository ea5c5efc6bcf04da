package registry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

func TestStoredForm(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	if _, err := r.Register(with(t, scout, "id", "kelp", "model_params", object(t, `{"z":1.50,"a":-0}`), "compaction_prompt", "", "spec_digest", "sha256:wrong"), "deep"); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"kelp": "/", "kelp/variants": "/",
		"kelp/manifest.json": "{\n  \"active\": \"deep\"\n}\n",
		"kelp/contract.json": "{\n  \"id\": \"kelp\",\n  \"description\": \"Surveys reef maps and reports hazards found.\",\n" +
			"  \"capabilities\": {\n    \"http\": \"none\"\n  },\n  \"can_spawn\": false,\n  \"spec_version\": \"0.1.0\"\n}\n",
		"kelp/variants/deep.json": "{\n  \"prompt\": \"Survey the reef.\",\n  \"model\": \"acme/delta-1\",\n" +
			"  \"model_params\": {\n    \"z\": 1.50,\n    \"a\": -0\n  },\n  \"compaction_prompt\": \"\"\n}\n",
	}
	got := snapshot(t, r.root)
	for path, text := range want {
		if got[path] != text {
			t.Errorf("%s: got %q, want %q", path, got[path], text)
		}
	}
	o, err := r.Resolve("kelp", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := canon(mustGet(t, o, "model_params")), `{"a":0,"z":1.5}`; got != want {
		t.Errorf("got model_params %s, want %s", got, want)
	}
	if got := o.String(spec.DigestField); got != spec.Digest(o) || got == "sha256:wrong" {
		t.Errorf("got digest %s, want %s", got, spec.Digest(o))
	}
}

func mustGet(t *testing.T, o *spec.Object, key string) any {
	t.Helper()
	v, ok := o.Get(key)
	if !ok {
		t.Fatalf("got no %s in %s", key, canon(o))
	}
	return v
}

func TestModesWhateverTheUmask(t *testing.T) {
	t.Parallel()
	if !hasModes {
		return
	}
	r := harbour(t)
	if _, err := r.Update("tide-clerk", object(t, `{"prompt":"x"}`), ""); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Put(source(t, "reef-scout", 1, "a", "a", "b"), PutOptions{Update: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.VariantActivate("tide-clerk", "terse"); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(r.root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, want, ok := mode(path); ok && info.Mode().Perm() != want {
			t.Errorf("%s: got mode %v, want %v", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		spec    func(*testing.T) *spec.Object
		variant string
		code    diag.Code // "": success
		details string
		active  string
		list    []string
	}{
		{"overwrites default though another is active", func(t *testing.T) *spec.Object { return with(t, clerk, "prompt", "new") }, "", "", "", "terse", []string{"default", "terse"}},
		{"adds a variant", func(t *testing.T) *spec.Object { return object(t, clerkTerse) }, "third", "", "", "terse", []string{"default", "terse", "third"}},
		{"other description", func(t *testing.T) *spec.Object {
			return with(t, clerk, "description", "Something else, and long enough.")
		}, "x",
			diag.BaseContractMismatch, `{"id":"tide-clerk","mismatched_fields":["description"]}`, "", nil},
		{"absent is not false", func(t *testing.T) *spec.Object { return with(t, clerk, "can_spawn", false) }, "x",
			diag.BaseContractMismatch, `{"id":"tide-clerk","mismatched_fields":["can_spawn"]}`, "", nil},
		{"two fields", func(t *testing.T) *spec.Object {
			return with(t, clerk, "can_spawn", true, "capabilities", &spec.Object{})
		}, "x", diag.BaseContractMismatch, `{"id":"tide-clerk","mismatched_fields":["capabilities","can_spawn"]}`, "", nil},
		{"bad variant", func(t *testing.T) *spec.Object { return object(t, clerk) }, "../../x", diag.InvalidVariantName, `{"variant":"../../x"}`, "", nil},
		{"long variant", func(t *testing.T) *spec.Object { return object(t, clerk) }, strings.Repeat("a", 65), diag.InvalidVariantName, "", "", nil},
		{"invalid spec before a bad variant", func(t *testing.T) *spec.Object { return with(t, clerk, "prompt", " ") }, "../x", diag.PersonaInvalid, "", "", nil},
		{"long id", func(t *testing.T) *spec.Object { return with(t, clerk, "id", strings.Repeat("a", 300)) }, "", diag.PersonaInvalid, "", "", nil},
		{"text that is no UTF-8", func(t *testing.T) *spec.Object { return with(t, clerk, "prompt", "a\xff") }, "", diag.InvalidInput, `{"persona_id":"tide-clerk"}`, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := harbour(t)
			if err := r.VariantActivate("tide-clerk", "terse"); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, r.root)
			id, err := r.Register(c.spec(t), c.variant)
			if c.code != "" {
				code(t, err, c.code, c.details)
				if diff := cmp.Diff(before, snapshot(t, r.root)); diff != "" {
					t.Errorf("got changes on disk, want none:\n%s", diff)
				}
				return
			}
			if err != nil || id != "tide-clerk" {
				t.Fatalf("got %q, %v, want tide-clerk", id, err)
			}
			info, err := r.VariantList(id)
			want := VariantInfo{id, c.active, c.list}
			if diff := cmp.Diff(want, info); err != nil || diff != "" {
				t.Errorf("got %v, %v; +got -want:\n%s", info, err, diff)
			}
		})
	}
}

func TestRegisterLeavesNothingForABadSpec(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "a", "b")
	_, err := Open(root).Register(with(t, clerk, "capabilities", nil), "")
	code(t, err, diag.PersonaInvalid, "")
	report := diag.As(err).Details["report"].(spec.Report)
	if report.Valid || len(report.Errors) != 1 || report.Errors[0].Code != "MISSING_REQUIRED_FIELD" || report.Errors[0].Message != diag.As(err).Message {
		t.Errorf("got report %+v, want one MISSING_REQUIRED_FIELD with the error's message", report)
	}
	for _, op := range absentOps(t, Open(root)) {
		code(t, op, diag.PersonaNotFound, `{"persona_id":"nobody"}`)
	}
	if n, err := Open(root).Clear(ClearToken); n != 0 || err != nil {
		t.Errorf("got %d, %v from Clear, want 0", n, err)
	}
	if d, err := Open(root).Doctor(true); err != nil || d.Personas != 0 || len(d.Issues)+len(d.Warnings) > 0 {
		t.Errorf("got %+v, %v from Doctor, want nothing", d, err)
	}
	if list, err := Open(root).List(); err != nil || list == nil || len(list) != 0 {
		t.Errorf("got %v, %v from List, want an empty list", list, err)
	}
	if b, err := Open(root).UpdateWhere(nil, object(t, `{"model":"m"}`), false); err != nil || b.Items == nil || b.Matched != 0 {
		t.Errorf("got %v, %v from UpdateWhere, want nothing", b, err)
	}
	if _, err := os.Stat(filepath.Dir(root)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got a directory (%v), want none before the first write", err)
	}
}

// absentOps are the errors of all operations on a persona that is not there.
func absentOps(t *testing.T, r *Registry) []error {
	var errs []error
	_, err := r.Resolve("nobody", "", nil)
	errs = append(errs, err)
	_, err = r.Update("nobody", nil, "")
	errs = append(errs, err)
	_, err = r.Update("nobody", object(t, `{"id":"x"}`), "")
	errs = append(errs, err)
	_, err = r.Clone("nobody", "Bad Id")
	errs = append(errs, err)
	_, err = r.VariantList("nobody")
	return append(errs, err, r.Delete("nobody"), r.VariantActivate("nobody", "x"), r.VariantDelete("nobody", "x"))
}

func TestAbsentAndBadNames(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	write(t, r.dir("notes"), "a file with the name of a persona")
	for i, err := range absentOps(t, r) {
		if err == nil {
			t.Errorf("operation %d: got no error", i)
			continue
		}
		code(t, err, diag.PersonaNotFound, `{"persona_id":"nobody"}`)
	}
	_, err := r.Resolve("notes", "", nil)
	code(t, err, diag.PersonaNotFound, `{"persona_id":"notes"}`)
	_, err = r.Register(with(t, clerk, "id", "notes"), "")
	code(t, err, diag.RegistryWriteFailed, fmt.Sprintf(`{"persona_id":"notes","path":%q}`, r.dir("notes")))
	code(t, r.Delete("notes"), diag.PersonaNotFound, "")
	for _, id := range []string{"", "..", "../etc", "a/b", "A", "a\n", strings.Repeat("a", 129), ".lock", ".aside"} {
		want := fmt.Sprintf(`{"persona_id":%s}`, canon(id))
		_, err := r.Resolve(id, "", nil)
		code(t, err, diag.InvalidPersonaID, want)
		_, err = r.Update(id, object(t, `{"prompt":"x"}`), "")
		code(t, err, diag.InvalidPersonaID, want)
		_, err = r.Clone(id, "x")
		code(t, err, diag.InvalidPersonaID, want)
		_, err = r.VariantList(id)
		code(t, err, diag.InvalidPersonaID, want)
		code(t, r.Delete(id), diag.InvalidPersonaID, want)
		code(t, r.VariantActivate(id, "x"), diag.InvalidPersonaID, want)
		code(t, r.VariantDelete(id, "x"), diag.InvalidPersonaID, want)
		code(t, r.Export([]string{id}, nil), diag.InvalidPersonaID, fmt.Sprintf(`{"persona_id":%s,"id":%[1]s}`, canon(id)))
	}
	for _, v := range []string{"..", "a/b", "A", "x.json", strings.Repeat("a", 65)} {
		want := fmt.Sprintf(`{"variant":%s}`, canon(v))
		_, err := r.Resolve("tide-clerk", v, nil)
		code(t, err, diag.InvalidVariantName, want)
		_, err = r.Update("tide-clerk", object(t, `{"prompt":"x"}`), v)
		code(t, err, diag.InvalidVariantName, want)
		code(t, r.VariantActivate("tide-clerk", v), diag.InvalidVariantName, want)
		code(t, r.VariantDelete("tide-clerk", v), diag.InvalidVariantName, want)
	}
}

func TestClone(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	if err := r.VariantActivate("tide-clerk", "terse"); err != nil {
		t.Fatal(err)
	}
	o, err := r.Clone("tide-clerk", "tide-two")
	if err != nil {
		t.Fatal(err)
	}
	back, err := r.Resolve("tide-two", "", nil)
	if err != nil || canon(o) != canon(back) {
		t.Errorf("got %s, %v, want %s", canon(back), err, canon(o))
	}
	if got := o.String("prompt"); got != "Record tides, shortest form." {
		t.Errorf("got prompt %q, want the active variant's", got)
	}
	info, err := r.VariantList("tide-two")
	if diff := cmp.Diff(VariantInfo{"tide-two", "default", []string{"default"}}, info); err != nil || diff != "" {
		t.Errorf("got %v, %v", info, err)
	}
	for _, dst := range []string{"tide-two", "tide-clerk", "reef-scout"} {
		_, err := r.Clone("tide-clerk", dst)
		code(t, err, diag.BaseContractMismatch, fmt.Sprintf(`{"persona_id":%q,"mismatched_fields":[]}`, dst))
	}
	_, err = r.Clone("tide-clerk", "Bad Id")
	code(t, err, diag.PersonaInvalid, "")
	report := diag.As(err).Details["report"].(spec.Report)
	if got := canon(report.Errors[0].Details); report.Errors[0].Code != "INVALID_ID_FORMAT" || got != `{"field":"id","value":"Bad Id"}` {
		t.Errorf("got %s %s, want INVALID_ID_FORMAT of Bad Id", report.Errors[0].Code, got)
	}
}

func TestDeleteAndClear(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	write(t, filepath.Join(r.root, "notes.txt"), "hi")
	write(t, filepath.Join(r.root, "Not_Id", "x"), "1")
	write(t, filepath.Join(r.root, "hollow", "x"), "1")
	write(t, r.manifest("tide-clerk"), "{")
	if err := os.Mkdir(r.dir("empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.Delete("tide-clerk"); err != nil {
		t.Fatalf("got %v, want a corrupt persona to go", err)
	}
	if _, err := os.Lstat(r.dir("tide-clerk")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no directory", err)
	}
	for _, token := range []string{"", "clear registry", "CLEAR REGISTRY ", "yes"} {
		_, err := r.Clear(token)
		code(t, err, diag.InvalidConfirmationToken, "{}")
	}
	if n, err := r.Clear(ClearToken); n != 2 || err != nil {
		t.Errorf("got %d, %v, want 2: reef-scout and the empty directory", n, err)
	}
	want := map[string]string{"notes.txt": "hi", "Not_Id": "/", "Not_Id/x": "1", "hollow": "/", "hollow/x": "1"}
	if diff := cmp.Diff(want, snapshot(t, r.root)); diff != "" {
		t.Errorf("got +, want -:\n%s", diff)
	}
}

func TestResolveOverrides(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	before := snapshot(t, r.root)
	o, err := r.Resolve("tide-clerk", "terse", object(t, `{"model":"acme/z=1","model_params":{"top_p":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := canon(mustGet(t, o, "model_params")); got != `{"top_p":1}` || o.String("model") != "acme/z=1" || o.String("spec_digest") != spec.Digest(o) {
		t.Errorf("got %s, want whole fields replaced and a new digest", canon(o))
	}
	for overrides, want := range map[string]string{
		`{"model_params.temperature":1}`: "model_params.temperature", `{"id":"x","description":"y","model":"z"}`: "description",
		`{"":1}`: "", `{"spec_digest":"x"}`: "spec_digest",
	} {
		_, err := r.Resolve("tide-clerk", "", object(t, overrides))
		code(t, err, diag.ForbiddenOverrideField, fmt.Sprintf(`{"field":%q}`, want))
	}
	for _, overrides := range []string{`{"model":""}`, `{"model":null}`, `{"model_params":"{}"}`, `{"model_params":{"temperature":3}}`, `{"compaction_prompt":1}`} {
		_, err := r.Resolve("tide-clerk", "", object(t, overrides))
		code(t, err, diag.PersonaInvalid, "")
	}
	_, err = r.Resolve("tide-clerk", "nope", nil)
	code(t, err, diag.VariantNotFound, `{"persona_id":"tide-clerk","variant":"nope"}`)
	if diff := cmp.Diff(before, snapshot(t, r.root)); diff != "" {
		t.Errorf("got changes on disk, want none:\n%s", diff)
	}
}

func TestListAndExport(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	write(t, filepath.Join(r.root, "notes.txt"), "hi")
	write(t, filepath.Join(r.root, "tide-clerk.json"), "{}") // an older layout's
	write(t, filepath.Join(r.root, "Not_Id", "x"), "1")
	list, err := r.List()
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"capabilities":{"http":"none"},"description":"Surveys reef maps and reports hazards found.","id":"reef-scout","model":"acme/delta-1",` +
		`"spec_digest":"sha256:fa9181fa598b008fb8591461d86767473c9486afdf2e8ac462ceea3fb67647ce"},` +
		`{"capabilities":{"filesystem":"read_write","shell":"read_only"},"description":"Keeps harbour tide tables tidy and current.","id":"tide-clerk","model":"acme/gamma-2",` +
		`"spec_digest":"sha256:ac50339d518089572a07158393202616a9fe387718f7484d5af6c89d2a7ac5fc"}]`
	if got := canon(list); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var out []byte
	for i, s := range list {
		out = AppendSummary(append(out, ",["[min(i, 1)^1]), s)
	}
	if got := string(append(out, ']')); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, c := range []struct {
		ids  []string
		want string
	}{{nil, "reef-scout tide-clerk"}, {[]string{}, ""}, {[]string{"tide-clerk", "reef-scout", "tide-clerk"}, "tide-clerk reef-scout tide-clerk"}} {
		var got []string
		err := r.Export(c.ids, func(o *spec.Object) error {
			got = append(got, o.String("id"))
			if o.String("spec_digest") != spec.Digest(o) {
				t.Errorf("%s: got digest %s, want %s", o.String("id"), o.String("spec_digest"), spec.Digest(o))
			}
			return nil
		})
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("%v: got %v, %v, want %v", c.ids, got, err, c.want)
		}
	}
	err = r.Export([]string{"tide-clerk", "nobody"}, func(*spec.Object) error { return nil })
	code(t, err, diag.PersonaNotFound, `{"persona_id":"nobody","id":"nobody"}`)
	stop := errors.New("the pipe is closed")
	if err := r.Export(nil, func(*spec.Object) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v, want each's own error", err)
	}
}

func TestVariants(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	both := `{"persona_id":"tide-clerk","variant":"%s"}`
	code(t, r.VariantActivate("tide-clerk", "nope"), diag.VariantNotFound, fmt.Sprintf(both, "nope"))
	code(t, r.VariantDelete("tide-clerk", "nope"), diag.VariantNotFound, fmt.Sprintf(both, "nope"))
	code(t, r.VariantDelete("tide-clerk", "default"), diag.ActiveVariantDeleteForbidden, fmt.Sprintf(both, "default"))
	if err := r.VariantActivate("tide-clerk", "terse"); err != nil {
		t.Fatal(err)
	}
	if err := r.VariantActivate("tide-clerk", "terse"); err != nil {
		t.Errorf("got %v, want the active one to be activated again", err)
	}
	if err := r.VariantDelete("tide-clerk", "default"); err != nil {
		t.Fatal(err)
	}
	code(t, r.VariantDelete("tide-clerk", "terse"), diag.LastVariantDeleteForbidden, fmt.Sprintf(both, "terse"))
	info, err := r.VariantList("tide-clerk")
	if diff := cmp.Diff(VariantInfo{"tide-clerk", "terse", []string{"terse"}}, info); err != nil || diff != "" {
		t.Errorf("got %v, %v", info, err)
	}
	register(t, r, clerk, "terse-b")
	register(t, r, clerk, "a")
	info, err = r.VariantList("tide-clerk")
	if diff := cmp.Diff([]string{"a", "terse", "terse-b"}, info.Variants); err != nil || diff != "" {
		t.Errorf("got %v, %v", info, err)
	}
	write(t, r.variant("tide-clerk", "blank"), `{"prompt":" ","model":"m"}`)
	code(t, r.VariantActivate("tide-clerk", "blank"), diag.PersonaInvalid, "")
	write(t, r.variant("tide-clerk", "broken"), `{"prompt":"p"}`)
	code(t, r.VariantActivate("tide-clerk", "broken"), diag.RegistryCorrupt, fmt.Sprintf(`{"persona_id":"tide-clerk","path":%q}`, r.variant("tide-clerk", "broken")))
	if err := r.VariantDelete("tide-clerk", "broken"); err != nil {
		t.Errorf("got %v, want a broken variant to be deletable", err)
	}
}
