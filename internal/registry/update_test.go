package registry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, patches, variant string
		field, want            string // one field of the answer, as canonical JSON
		files                  []string
	}{
		{"nothing", `{}`, "", "prompt", `"Record each tide in order."`, nil},
		{"the same", `{"prompt":"Record each tide in order."}`, "", "model", `"acme/gamma-2"`, nil},
		{"prompt", `{"prompt":"New words"}`, "", "prompt", `"New words"`, []string{"default.json"}},
		{"a named variant", `{"prompt":"New words"}`, "terse", "prompt", `"New words"`, []string{"terse.json"}},
		{"dotted into nothing", `{"model_params.temperature":1}`, "", "model_params", `{"temperature":1}`, []string{"default.json"}},
		{"deep merge", `{"model_params":{"x":{"y":1}},"model_params.x.z":2,"model_params.top_k":5}`, "terse", "model_params",
			`{"temperature":0.5,"top_k":5,"x":{"y":1,"z":2}}`, []string{"terse.json"}},
		{"null is stored", `{"model_params.x":null}`, "terse", "model_params", `{"temperature":0.5,"top_k":4,"x":null}`, []string{"terse.json"}},
		{"empty parts", `{".model_params..x.":1}`, "terse", "model_params", `{"temperature":0.5,"top_k":4,"x":1}`, []string{"terse.json"}},
		{"a capability", `{"capabilities.git":"read_only"}`, "", "capabilities", `{"filesystem":"read_write","git":"read_only","shell":"read_only"}`, []string{"contract.json"}},
		{"can_spawn is replaced", `{"can_spawn":["a","b"]}`, "", "can_spawn", `["a","b"]`, []string{"contract.json"}},
		{"absent becomes false", `{"can_spawn":false}`, "", "can_spawn", `false`, []string{"contract.json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := harbour(t)
			before := snapshot(t, r.root)
			o, err := r.Update("tide-clerk", object(t, c.patches), c.variant)
			if err != nil {
				t.Fatal(err)
			}
			if got := canon(mustGet(t, o, c.field)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if o.String("spec_digest") != spec.Digest(o) {
				t.Errorf("got digest %s, want %s", o.String("spec_digest"), spec.Digest(o))
			}
			back, err := r.Resolve("tide-clerk", c.variant, nil)
			if err != nil || canon(back) != canon(o) {
				t.Errorf("got %s, %v, want %s", canon(back), err, canon(o))
			}
			var files []string
			for path, text := range snapshot(t, r.root) {
				if before[path] != text {
					files = append(files, path[strings.LastIndexAny(path, `/\`)+1:])
				}
			}
			if diff := cmp.Diff(c.files, files); diff != "" {
				t.Errorf("changed files: got +, want -:\n%s", diff)
			}
		})
	}
}

func TestUpdateRefuses(t *testing.T) {
	t.Parallel()
	type row struct {
		id, patches, variant string
		code                 diag.Code
		details              string
	}
	rows := []row{
		{"tide-clerk", `{"prompt":"x","description":"y"}`, "", diag.MixedScopePatch, `{"contract_fields":["description"],"implementation_fields":["prompt"]}`},
		{"tide-clerk", `{"model_params.a":1,"prompt":"x","model_params.b":2,"capabilities.x":"none"}`, "", diag.MixedScopePatch,
			`{"contract_fields":["capabilities"],"implementation_fields":["model_params","prompt"]}`},
		{"nobody", `{"prompt":"x","description":"y"}`, "", diag.MixedScopePatch, ""}, // the scope comes first
		{"../x", `{"prompt":"x","description":"y"}`, "", diag.MixedScopePatch, ""},
		{"tide-clerk", `{"description":"x","capabilities.x":"none"}`, "terse", diag.FieldScopeViolation, `{"fields":["capabilities","description"],"variant":"terse"}`},
		{"tide-clerk", `{"description":"x"}`, "nope", diag.FieldScopeViolation, ""},
		{"tide-clerk", `{"model":"x"}`, "nope", diag.VariantNotFound, `{"persona_id":"tide-clerk","variant":"nope"}`},
		{"tide-clerk", `{"tools":1}`, "nope", diag.VariantNotFound, ""}, // loading comes before the patch rules
		{"tide-clerk", `{"model":"ok","tools.a":1}`, "", diag.ForbiddenPatchField, `{"field":"tools","key":"tools.a"}`},
		{"tide-clerk", `{".id":"x"}`, "", diag.ForbiddenPatchField, `{"field":"id","key":".id"}`},
		{"tide-clerk", `{"prompt.x":1}`, "", diag.PersonaInvalid, ""},
		{"tide-clerk", `{"can_spawn":null}`, "", diag.PersonaInvalid, ""},
		{"tide-clerk", `{"model_params.temperature":3}`, "", diag.PersonaInvalid, ""},
		{"tide-clerk", `{"":1}`, "", diag.PersonaInvalid, ""},
		{"tide-clerk", `{"zeta":1}`, "", diag.PersonaInvalid, ""},
	}
	for _, root := range protectedRoots {
		rows = append(rows, row{"tide-clerk", fmt.Sprintf(`{%q:"x"}`, root), "", diag.ForbiddenPatchField, fmt.Sprintf(`{"field":%q,"key":%[1]q}`, root)})
	}
	r := harbour(t)
	before := snapshot(t, r.root)
	for _, c := range rows {
		t.Run(c.id+c.patches+c.variant, func(t *testing.T) {
			_, err := r.Update(c.id, object(t, c.patches), c.variant)
			code(t, err, c.code, c.details)
		})
	}
	for name, o := range map[string]*spec.Object{
		"not UTF-8":       {Members: []spec.Member{{Key: "prompt", Value: "\xff"}}},
		"too long number": {Members: []spec.Member{{Key: "model_params.x", Value: spec.Number(strings.Repeat("9", 65))}}},
		"no number":       {Members: []spec.Member{{Key: "model_params.x", Value: spec.Number("NaN")}}},
		"too deep":        {Members: []spec.Member{{Key: "model_params" + strings.Repeat(".x", 100), Value: true}}},
	} {
		if _, err := r.Update("tide-clerk", o, ""); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if diff := cmp.Diff(before, snapshot(t, r.root)); diff != "" {
		t.Errorf("got changes on disk, want none:\n%s", diff)
	}
}

// A merge may outgrow the limits that each patch keeps; the file would then
// not be readable any more.
func TestUpdateKeepsTheLimits(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	for i := 0; ; i++ {
		patch := &spec.Object{}
		for j := range 400 {
			patch.Set(fmt.Sprintf("model_params.k%d-%d", i, j), spec.Number("1"))
		}
		if _, err := r.Update("tide-clerk", patch, ""); err != nil {
			code(t, err, diag.InvalidInput, `{"persona_id":"tide-clerk"}`)
			if i != 2 {
				t.Errorf("got the error at round %d, want 2", i)
			}
			break
		}
	}
	if _, err := r.Resolve("tide-clerk", "", nil); err != nil {
		t.Error(err)
	}
}

func TestUpdateMendsAnInvalidPersona(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	write(t, r.variant("tide-clerk", "default"), `{"prompt":"","model":"m"}`)
	if _, err := r.Update("tide-clerk", object(t, `{"prompt":"better"}`), ""); err != nil {
		t.Fatal(err)
	}
	if o, err := r.Resolve("tide-clerk", "", nil); err != nil || o.String("prompt") != "better" {
		t.Errorf("got %v, %v, want the new prompt", canon(o), err)
	}
}

func TestUpdateWhere(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	if err := r.VariantActivate("tide-clerk", "terse"); err != nil {
		t.Fatal(err)
	}
	digest := `"sha256:fa9181fa598b008fb8591461d86767473c9486afdf2e8ac462ceea3fb67647ce"`
	for where, want := range map[string]string{
		`{}`:                       "reef-scout tide-clerk",
		`{"model":"acme/gamma-9"}`: "tide-clerk",
		`{"model":"acme/gamma-9","id":"reef-scout"}`:     "",
		`{"model_params.temperature":0.50}`:              "tide-clerk",
		`{"model_params.temperature":5e-1}`:              "tide-clerk",
		`{"model_params.top_k":4.0}`:                     "tide-clerk",
		`{"model_params.top_k":true}`:                    "",
		`{"model_params.top_k":"4"}`:                     "",
		`{"model_params":{"top_k":4,"temperature":0.5}}`: "tide-clerk",
		`{"model_params":{"top_k":4}}`:                   "",
		`{"model_params.top_k.deep":4}`:                  "",
		`{"can_spawn":false}`:                            "reef-scout",
		`{"can_spawn":0}`:                                "",
		`{"can_spawn":null}`:                             "",
		`{"compaction_prompt":null}`:                     "",
		`{"capabilities":{}}`:                            "",
		`{"capabilities.http":"none"}`:                   "reef-scout",
		`{"spec_version":"0.1.0"}`:                       "reef-scout tide-clerk",
		`{"spec_digest":` + digest + `}`:                 "reef-scout",
	} {
		b, err := r.UpdateWhere(object(t, where), object(t, `{"model":"acme/n"}`), true)
		var ids []string
		for _, item := range b.Items {
			ids = append(ids, item.ID)
			if item.Updated {
				t.Errorf("%s: got updated, want a dry run", where)
			}
		}
		if got := strings.Join(ids, " "); got != want || err != nil || b.Matched != len(ids) || b.Updated != 0 {
			t.Errorf("%s: got %q, %v, want %q", where, got, err, want)
		}
	}
	b, err := r.UpdateWhere(object(t, `{"spec_version":"0.1.0"}`), object(t, `{"model":"acme/n","model_params.x":1}`), false)
	if got, want := canon(b), `{"items":[{"id":"reef-scout","updated":true},{"id":"tide-clerk","updated":true}],"matched":2,"updated":2}`; got != want || err != nil {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	for id, want := range map[string]string{"reef-scout": `{"x":1}`, "tide-clerk": `{"temperature":0.5,"top_k":4,"x":1}`} {
		o, err := r.Resolve(id, "", nil)
		if err != nil || canon(mustGet(t, o, "model_params")) != want || o.String("model") != "acme/n" {
			t.Errorf("got %s, %v, want model_params %s", canon(o), err, want)
		}
	}
}

func TestUpdateWhereRefuses(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	before := snapshot(t, r.root)
	for _, c := range []struct {
		where, patches string
		code           diag.Code
		details        string
	}{
		{`{"tools.x":1}`, `{"model":"y"}`, diag.InvalidInput, `{"field":"tools","where_key":"tools.x"}`},
		{`{"prompt.x":1}`, `{"model":"y"}`, diag.InvalidInput, `{"field":"prompt.x","root_field":"prompt","where_key":"prompt.x"}`},
		{`{"model_params..x":1}`, `{"model":"y"}`, diag.InvalidInput, `{"field":"model_params..x","where_key":"model_params..x"}`},
		{`{"":1}`, `{"model":"y"}`, diag.InvalidInput, `{"field":"where","received_key":"","received_key_type":"str"}`},
		{`{"id":"nobody"}`, `{"model":"y","description":"z"}`, diag.MixedScopePatch, ""},
		{`{"id":"nobody"}`, `{"spec_digest":"y"}`, diag.ForbiddenPatchField, `{"field":"spec_digest","key":"spec_digest"}`},
		// the second persona's outcome is invalid, so the first is not written either
		{`{}`, `{"model_params.top_k":0}`, diag.PersonaInvalid, ""},
		{`{}`, `{"zeta":1}`, diag.PersonaInvalid, ""},
	} {
		for _, dry := range []bool{false, true} {
			if dry && c.code == diag.PersonaInvalid {
				continue
			}
			_, err := r.UpdateWhere(object(t, c.where), object(t, c.patches), dry)
			code(t, err, c.code, c.details)
			if e := diag.As(err); e.ExitCode() != diag.ExitFailed {
				t.Errorf("%s: got exit %d, want 1", c.where, e.ExitCode())
			}
		}
	}
	if diff := cmp.Diff(before, snapshot(t, r.root)); diff != "" {
		t.Errorf("got changes on disk, want none:\n%s", diff)
	}
}

func TestEqual(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true}, {`-0`, `0.0`, true}, {`100`, `1e2`, true}, {`1`, `true`, false}, {`0`, `false`, false}, {`null`, `0`, false},
		{`9007199254740993`, `9007199254740992.0`, false}, {`9007199254740992`, `9007199254740992.0`, true},
		{`123456789012345678901234567890`, `123456789012345678901234567891`, false}, {`"1"`, `1`, false},
		{`[1,2]`, `[1.0,2e0]`, true}, {`[1,2]`, `[2,1]`, false}, {`{"a":1,"b":[null]}`, `{"b":[null],"a":1.0}`, true}, {`{"a":1}`, `{"a":1,"b":2}`, false},
		{`"é"`, `"\u00e9"`, true}, {`true`, `true`, true}, {`null`, `null`, true}, {`null`, `{}`, false}, {`[]`, `{}`, false}, {`1e-400`, `0`, true},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			a, errA := spec.Parse([]byte(pair[0]))
			b, errB := spec.Parse([]byte(pair[1]))
			if errA != nil || errB != nil {
				t.Fatal(errA, errB)
			}
			if got := equal(a, b); got != c.want {
				t.Errorf("%s and %s: got %v, want %v", pair[0], pair[1], got, c.want)
			}
		}
	}
}
