package ops

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/registry"
)

// Errors of the operations on harbour; each leaves the registry as it was.
func TestErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, op, params string
		want             diag.Code
		details          string
	}{
		{"unknown operation", "assemble", `{}`, diag.InvalidInput, `{"operation":"assemble"}`},
		{"unknown parameters", "list", `{"z":1,"a":null}`, diag.InvalidInput,
			`{"operation":"list","field":"params","reason":"unknown parameters","unknown":["a","z"]}`},
		{"missing parameter", "update", `{"patches":{}}`, diag.InvalidInput, `{"operation":"update","field":"id","reason":"the parameter id is missing"}`},
		{"null for a required one", "delete", `{"id":null}`, diag.InvalidInput,
			`{"operation":"delete","field":"id","reason":"the parameter id is of the wrong type","expected_type":"string","received_type":"null"}`},
		{"wrong type", "resolve", `{"id":1}`, diag.InvalidInput,
			`{"operation":"resolve","field":"id","reason":"the parameter id is of the wrong type","expected_type":"string","received_type":"number"}`},
		{"wrong type of an optional one", "resolve", `{"id":"tide-clerk","overrides":[]}`, diag.InvalidInput,
			`{"operation":"resolve","field":"overrides","reason":"the parameter overrides is of the wrong type","expected_type":"object","received_type":"list"}`},
		{"a text for a flag", "update_batch", `{"where":{},"patches":{},"dry_run":"true"}`, diag.InvalidInput,
			`{"operation":"update_batch","field":"dry_run","reason":"the parameter dry_run is of the wrong type","expected_type":"boolean","received_type":"string"}`},
		{"ids as text", "export", `{"ids":"tide-clerk"}`, diag.InvalidInput,
			`{"operation":"export","field":"ids","reason":"the parameter ids is of the wrong type","expected_type":"list","received_type":"string"}`},
		{"a number in ids", "export", `{"ids":["tide-clerk",{}]}`, diag.InvalidInput,
			`{"operation":"export","field":"ids","reason":"the parameter ids must hold strings only","index":1,"expected_type":"string","received_type":"object"}`},
		{"no selector", "export", `{}`, diag.InvalidInput, `{"field":"params"}`},
		{"all: false alone", "export", `{"all":false}`, diag.InvalidInput, `{"field":"params"}`},
		{"both selectors", "export", `{"all":true,"ids":[]}`, diag.InvalidInput, `{"field":"params"}`},

		{"register, no object", "register", `{"spec":"x"}`, diag.InvalidInput,
			`{"operation":"register","field":"spec","reason":"the parameter spec is of the wrong type","expected_type":"object","received_type":"string"}`},
		{"register, invalid", "register", `{"spec":` + with(t, clerk, "prompt", " ") + `}`, diag.PersonaInvalid, ""},
		{"register, variant", "register", `{"spec":` + clerk + `,"variant":"Bad"}`, diag.InvalidVariantName, `{"variant":"Bad"}`},
		{"register, contract", "register", `{"spec":` + with(t, clerk, "can_spawn", false) + `}`, diag.BaseContractMismatch,
			`{"id":"tide-clerk","mismatched_fields":["can_spawn"]}`},

		{"resolve, id", "resolve", `{"id":"../x"}`, diag.InvalidPersonaID, `{"persona_id":"../x"}`},
		{"resolve, nobody", "resolve", `{"id":"nobody"}`, diag.PersonaNotFound, `{"persona_id":"nobody"}`},
		{"resolve, variant name", "resolve", `{"id":"tide-clerk","variant":"../x"}`, diag.InvalidVariantName, `{"variant":"../x"}`},
		{"resolve, no variant", "resolve", `{"id":"tide-clerk","variant":"none"}`, diag.VariantNotFound, `{"persona_id":"tide-clerk","variant":"none"}`},
		{"resolve, override", "resolve", `{"id":"tide-clerk","overrides":{"model":"x","id":"y","can_spawn":true}}`, diag.ForbiddenOverrideField, `{"field":"can_spawn"}`},
		{"resolve, invalid", "resolve", `{"id":"tide-clerk","overrides":{"model":""}}`, diag.PersonaInvalid, ""},

		{"update, nobody", "update", `{"id":"nobody","patches":{"model":"x"}}`, diag.PersonaNotFound, `{"persona_id":"nobody"}`},
		{"update, mixed", "update", `{"id":"tide-clerk","patches":{"model":"x","description":"y"}}`, diag.MixedScopePatch,
			`{"contract_fields":["description"],"implementation_fields":["model"]}`},
		{"update, scope", "update", `{"id":"tide-clerk","patches":{"can_spawn":true},"variant":"terse"}`, diag.FieldScopeViolation,
			`{"fields":["can_spawn"],"variant":"terse"}`},
		{"update, forbidden", "update", `{"id":"tide-clerk","patches":{"id":"x"}}`, diag.ForbiddenPatchField, `{"field":"id","key":"id"}`},
		{"update, invalid", "update", `{"id":"tide-clerk","patches":{"bogus":1}}`, diag.PersonaInvalid, ""},

		{"batch, selector", "update_batch", `{"where":{"bogus":1},"patches":{}}`, diag.InvalidInput, `{"field":"bogus","where_key":"bogus"}`},
		{"batch, mixed", "update_batch", `{"where":{},"patches":{"model":"x","description":"y"}}`, diag.MixedScopePatch,
			`{"contract_fields":["description"],"implementation_fields":["model"]}`},
		{"batch, forbidden", "update_batch", `{"where":{},"patches":{"spec_version":"1"}}`, diag.ForbiddenPatchField, `{"field":"spec_version","key":"spec_version"}`},
		{"batch, invalid", "update_batch", `{"where":{},"patches":{"model":""}}`, diag.PersonaInvalid, ""},

		{"clone, nobody", "clone", `{"source_id":"nobody","new_id":"x"}`, diag.PersonaNotFound, `{"persona_id":"nobody"}`},
		{"clone, id", "clone", `{"source_id":"tide-clerk","new_id":"X"}`, diag.PersonaInvalid, ""},
		{"clone, taken", "clone", `{"source_id":"tide-clerk","new_id":"reef-scout"}`, diag.BaseContractMismatch, `{"persona_id":"reef-scout","mismatched_fields":[]}`},

		{"delete, nobody", "delete", `{"id":"nobody"}`, diag.PersonaNotFound, `{"persona_id":"nobody"}`},
		{"delete, id", "delete", `{"id":""}`, diag.InvalidPersonaID, `{"persona_id":""}`},
		{"clear, token", "clear", `{"confirm":"clear registry"}`, diag.InvalidConfirmationToken, ""},
		{"export, nobody", "export", `{"ids":["tide-clerk","nobody"]}`, diag.PersonaNotFound, `{"persona_id":"nobody","id":"nobody"}`},

		{"variant_list, nobody", "variant_list", `{"id":"nobody"}`, diag.PersonaNotFound, `{"persona_id":"nobody"}`},
		{"variant_activate, none", "variant_activate", `{"id":"tide-clerk","variant":"none"}`, diag.VariantNotFound, `{"persona_id":"tide-clerk","variant":"none"}`},
		{"variant_activate, name", "variant_activate", `{"id":"tide-clerk","variant":""}`, diag.InvalidVariantName, `{"variant":""}`},
		{"variant_delete, active", "variant_delete", `{"id":"tide-clerk","variant":"default"}`, diag.ActiveVariantDeleteForbidden,
			`{"persona_id":"tide-clerk","variant":"default"}`},
		{"variant_delete, last", "variant_delete", `{"id":"reef-scout","variant":"default"}`, diag.LastVariantDeleteForbidden,
			`{"persona_id":"reef-scout","variant":"default"}`},
		{"variant_delete, none", "variant_delete", `{"id":"reef-scout","variant":"none"}`, diag.VariantNotFound, `{"persona_id":"reef-scout","variant":"none"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := harbour(t)
			before := tree(t, s.Registry.Root())
			_, err := s.Do(context.Background(), c.op, object(t, c.params))
			code(t, err, c.want, c.details)
			if tree(t, s.Registry.Root()) != before {
				t.Error("a failed operation changed the registry")
			}
		})
	}
}

// What a broken persona and a disk that refuses make of each operation.
func TestErrorsOfTheDisk(t *testing.T) {
	t.Parallel()
	s := harbour(t)
	manifest := filepath.Join(s.Registry.Root(), "tide-clerk", "manifest.json")
	if err := os.WriteFile(manifest, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	blocked := &Service{Registry: registry.Open(file)}
	for _, c := range []struct {
		op, params       string
		corrupt, blocked diag.Code
	}{
		{"list", `{}`, diag.RegistryCorrupt, diag.RegistrySpecReadFailed},
		{"export", `{"all":true}`, diag.RegistryCorrupt, diag.RegistrySpecReadFailed},
		{"resolve", `{"id":"tide-clerk"}`, diag.RegistryCorrupt, diag.RegistrySpecReadFailed},
		{"variant_list", `{"id":"tide-clerk"}`, diag.RegistryCorrupt, diag.RegistrySpecReadFailed},
		{"variant_activate", `{"id":"tide-clerk","variant":"terse"}`, diag.RegistryCorrupt, diag.RegistryWriteFailed},
		{"variant_delete", `{"id":"tide-clerk","variant":"terse"}`, diag.RegistryCorrupt, diag.RegistryDeleteFailed},
		{"register", `{"spec":` + clerk + `}`, diag.RegistryCorrupt, diag.RegistryWriteFailed},
		{"update", `{"id":"tide-clerk","patches":{"model":"x"}}`, diag.RegistryCorrupt, diag.RegistryUpdateFailed},
		{"update_batch", `{"where":{},"patches":{"model":"x"}}`, diag.RegistryCorrupt, diag.RegistrySpecReadFailed},
		{"clone", `{"source_id":"tide-clerk","new_id":"x"}`, diag.RegistryCorrupt, diag.RegistrySpecReadFailed},
	} {
		_, err := s.Do(context.Background(), c.op, object(t, c.params))
		code(t, err, c.corrupt, `{"persona_id":"tide-clerk","path":"`+manifest+`"}`)
		_, err = blocked.Do(context.Background(), c.op, object(t, c.params))
		code(t, err, c.blocked, "")
	}
	for _, op := range []string{"delete", "clear"} {
		p := `{"id":"tide-clerk"}`
		if op == "clear" {
			p = `{"confirm":"CLEAR REGISTRY"}`
		}
		_, err := blocked.Do(context.Background(), op, object(t, p))
		code(t, err, diag.RegistryDeleteFailed, "")
		if _, err := s.Do(context.Background(), op, object(t, p)); err != nil {
			t.Errorf("%s: got %v, want it to work on a broken persona", op, err)
		}
	}
}
