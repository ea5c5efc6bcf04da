package webui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRoutes runs each route once in good order on one registry and compares
// the whole answers.
func TestRoutes(t *testing.T) {
	t.Parallel()
	f := serverFor(t)
	const (
		clerkSum = `{"capabilities":{"filesystem":"read_write","shell":"read_only"},"description":"Keeps harbour tide tables tidy and current.","id":"tide-clerk","model":"acme/gamma-2","spec_digest":"DIGEST"}`
		clerkOut = `{"capabilities":{"filesystem":"read_write","shell":"read_only"},"description":"Keeps harbour tide tables tidy and current.","id":"tide-clerk","model":"acme/gamma-2","prompt":"Record each tide in order.","spec_digest":"DIGEST","spec_version":"0.1.0"}`
	)
	variants := "/api/registry/personas/tide-clerk/variants"
	tests := []struct {
		method, path, body string
		etag               bool
		want               string // what stands under data, with DIGEST for each digest
	}{
		{"GET", "/api/personas", "", false, `[]`},
		{"GET", "/api/registry/personas", "", false, `[]`},
		{"POST", "/api/personas/validate", clerk, false, `{"errors":[],"valid":true,"warnings":[]}`},
		{"POST", "/api/personas", clerk, false, `{"id":"tide-clerk","registered":true}`},
		{"POST", "/api/personas", `{"spec":` + clerk + `}`, false, `{"id":"tide-clerk","registered":true}`},
		{"GET", "/api/personas", "", false, `[` + clerkSum + `]`},
		{"GET", "/api/personas/tide-clerk", "", true, clerkOut},
		{"PUT", variants + "/terse", change(clerk, "each tide in order", "tides"), false, `{"id":"tide-clerk","registered":true}`},
		{"GET", variants, "", false, `{"active":"default","id":"tide-clerk","variants":["default","terse"]}`},
		{"GET", "/api/registry/personas", "", false, `[{"active":"default","description":"Keeps harbour tide tables tidy and current.","id":"tide-clerk","model":"acme/gamma-2","variants":["default","terse"]}]`},
		{"GET", variants + "/terse", "", true, `{"_registry":{"is_active":false,"variant":"terse"},"spec":` + change(clerkOut, "each tide in order", "tides") + `}`},
		{"PATCH", variants + "/terse", `{"model_params.temperature":1.0}`, true, change(clerkOut, "each tide in order", "tides", `"prompt"`, `"model_params":{"temperature":1.0},"prompt"`)},
		{"GET", "/api/registry/personas/tide-clerk/specs", "", false, `{"active":"default","id":"tide-clerk","specs":{"default":` + clerkOut + `,"terse":` +
			change(clerkOut, "each tide in order", "tides", `"prompt"`, `"model_params":{"temperature":1.0},"prompt"`) + `}}`},
		{"POST", variants + "/terse/activate", "", false, `{"active":"terse","id":"tide-clerk"}`},
		{"POST", variants + "/default/activate", "{}", false, `{"active":"default","id":"tide-clerk"}`},
		{"GET", variants + "/default", "", true, `{"_registry":{"is_active":true,"variant":"default"},"spec":` + clerkOut + `}`},
		{"DELETE", variants + "/terse", "", false, `{"deleted":true,"id":"tide-clerk","variant":"terse"}`},
		{"PATCH", "/api/personas/tide-clerk", `{"prompt":"Rest."}`, true, change(clerkOut, "Record each tide in order.", "Rest.")},
		{"PATCH", "/api/personas/tide-clerk", `{"prompt":"Record each tide in order."}`, true, clerkOut},
		{"POST", "/api/personas/tide-clerk/resolve", `{"overrides":{"prompt":"Rest."},"variant":"default"}`, true, change(clerkOut, "Record each tide in order.", "Rest.")},
		{"POST", "/api/personas/tide-clerk/clone", `{"new_id":"tide-two"}`, true, change(clerkOut, "tide-clerk", "tide-two")},
		{"POST", "/api/personas/export", `{"ids":["tide-two","tide-two"]}`, false, `[` + change(clerkOut, "tide-clerk", "tide-two") + `,` + change(clerkOut, "tide-clerk", "tide-two") + `]`},
		{"POST", "/api/personas/export", `{"all":true}`, false, `[` + clerkOut + `,` + change(clerkOut, "tide-clerk", "tide-two") + `]`},
		{"POST", "/api/personas/export", `{"ids":[]}`, false, `[]`},
		{"POST", "/api/personas/update_batch", `{"where":{"id":"tide-two"},"patches":{"model":"m"},"dry_run":true}`, false, `{"items":[{"id":"tide-two","updated":false}],"matched":1,"updated":0}`},
		{"POST", "/api/personas/update_batch", `{"where":{"id":"tide-two"},"patches":{"model":"m"}}`, false, `{"items":[{"id":"tide-two","updated":true}],"matched":1,"updated":1}`},
		{"DELETE", "/api/personas/tide-two", "", false, `{"deleted":true,"id":"tide-two"}`},
		{"POST", "/api/personas", scout, false, `{"id":"reef-scout","registered":true}`},
		{"GET", "/api/graph", "", false, `{"edges":[{"from":"reef-scout","to":"nobody-here"},{"from":"reef-scout","to":"tide-clerk"}],"nodes":[` +
			`{"description":"Surveys reef maps and reports hazards found.","exists":true,"id":"reef-scout","model":"acme/delta-1","spawn":"listed"},` +
			`{"description":"Keeps harbour tide tables tidy and current.","exists":true,"id":"tide-clerk","model":"acme/gamma-2","spawn":"none"},` +
			`{"description":"","exists":false,"id":"nobody-here","model":"","spawn":"none"}]}`},
		{"POST", "/api/personas/clear", `{"confirm":"CLEAR REGISTRY"}`, false, `{"cleared":true,"count":2}`},
		{"POST", "/api/import/check", `{"text":"{}","format":"json","name":"a.json"}`, false, ""},
		{"POST", "/api/import", `{"text":` + quoted(clerk) + `}`, false, `{"failed":0,"personas":[{"change":"registered","id":"tide-clerk"}]}`},
	}
	seen := map[string]bool{"GET /": true, "GET /assets/{name}": true, "POST /api/personas/assemble": true, "GET /api/events": true} // in tests of their own
	for _, tt := range tests {
		w := f.do(tt.method, tt.path, tt.body)
		seen[tt.method+" "+f.routes.match(tt.method, tt.path).route.path] = true
		if w.Code != 200 || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: got %d %s, want 200 and JSON", tt.method, tt.path, w.Code, w.Body)
			continue
		}
		got := anyDigest.ReplaceAllString(w.Body.String(), "DIGEST")
		if want := `{"data":` + tt.want + "}\n"; tt.want != "" && got != want {
			t.Errorf("%s %s:\ngot  %swant %s", tt.method, tt.path, got, want)
		}
		if etag := w.Header().Get("ETag"); (etag != "") != tt.etag || tt.etag && !strings.Contains(w.Body.String(), `"spec_digest":`+etag) {
			t.Errorf("%s %s: got ETag %q, want that of the spec: %v", tt.method, tt.path, etag, tt.etag)
		}
	}
	for _, r := range table {
		if !seen[r.method+" "+r.path] {
			t.Errorf("%s %s is not run here", r.method, r.path)
		}
	}
}

// TestErrors runs each route into each of its errors; details are compared
// whole. ROOT stands for the registry's directory.
func TestErrors(t *testing.T) {
	t.Parallel()
	const variants = "/api/registry/personas/tide-clerk/variants"
	tests := []struct {
		name, method, path, body string
		status                   int
		code                     string
		details                  string // "*" is not compared
	}{
		{"get, not there", "GET", "/api/personas/nobody", "", 404, "PERSONA_NOT_FOUND", `{"persona_id":"nobody"}`},
		{"get, no id", "GET", "/api/personas/No_Id", "", 400, "INVALID_PERSONA_ID", `{"persona_id":"No_Id"}`},
		{"get a name of a verb", "GET", "/api/personas/clear", "", 404, "PERSONA_NOT_FOUND", `{"persona_id":"clear"}`},
		{"get, corrupt", "GET", "/api/personas/broken", "", 500, "REGISTRY_CORRUPT", `{"path":"ROOT/broken/manifest.json","persona_id":"broken"}`},
		{"get, invalid", "GET", "/api/personas/zero", "", 400, "PERSONA_INVALID", "*"},
		{"list, corrupt", "GET", "/api/personas", "", 500, "REGISTRY_CORRUPT", `*`},
		{"list of variants, corrupt", "GET", "/api/registry/personas", "", 500, "REGISTRY_CORRUPT", `*`},
		{"graph, corrupt", "GET", "/api/graph", "", 500, "REGISTRY_CORRUPT", `*`},
		{"register, invalid", "POST", "/api/personas", `{"id":"x"}`, 400, "PERSONA_INVALID", "*"},
		{"register, wrapped invalid", "POST", "/api/personas", `{"spec":{"id":"x"}}`, 400, "PERSONA_INVALID", "*"},
		{"register, more than spec", "POST", "/api/personas", `{"spec":{},"variant":"a","and":1}`, 400, "INVALID_INPUT", `{"field":"params","unknown":["and","variant"]}`},
		{"register, spec is a list", "POST", "/api/personas", `{"spec":[]}`, 400, "INVALID_INPUT", `{"expected_type":"object","field":"spec","operation":"register","reason":"the parameter spec is of the wrong type","received_type":"list"}`},
		{"register, other contract", "POST", "/api/personas", change(clerk, "tidy", "neat"), 400, "BASE_CONTRACT_MISMATCH", `{"id":"tide-clerk","mismatched_fields":["description"]}`},
		{"register, no JSON", "POST", "/api/personas", `{"id":`, 400, "INVALID_INPUT", `{"field":"params","received_type":"invalid_json"}`},
		{"register, nothing", "POST", "/api/personas", ` `, 400, "INVALID_INPUT", `{"field":"params","received_type":"invalid_json"}`},
		{"register, NaN", "POST", "/api/personas", `{"a":NaN}`, 400, "INVALID_INPUT", `{"field":"params","received_type":"invalid_json"}`},
		{"register, a key twice", "POST", "/api/personas", `{"id":"a","id":"b"}`, 400, "INVALID_INPUT", `{"field":"params","received_type":"invalid_json"}`},
		{"register, not UTF-8", "POST", "/api/personas", "{\"id\":\"\xff\"}", 400, "INVALID_INPUT", `{"field":"params","received_type":"invalid_json"}`},
		{"register, a list", "POST", "/api/personas", `[1]`, 400, "INVALID_INPUT", `{"field":"params","received_type":"list"}`},
		{"register, a string", "POST", "/api/personas", `"x"`, 400, "INVALID_INPUT", `{"field":"params","received_type":"string"}`},
		{"register, a number", "POST", "/api/personas", `1`, 400, "INVALID_INPUT", `{"field":"params","received_type":"number"}`},
		{"register, null", "POST", "/api/personas", `null`, 400, "INVALID_INPUT", `{"field":"params","received_type":"null"}`},
		{"register, true", "POST", "/api/personas", `true`, 400, "INVALID_INPUT", `{"field":"params","received_type":"boolean"}`},
		{"update, not there", "PATCH", "/api/personas/nobody", `{"model":"m"}`, 404, "PERSONA_NOT_FOUND", `{"persona_id":"nobody"}`},
		{"update, invalid", "PATCH", "/api/personas/tide-clerk", `{"prompt":" "}`, 400, "PERSONA_INVALID", "*"},
		{"update, unknown field", "PATCH", "/api/personas/tide-clerk", `{"colour":"red"}`, 400, "PERSONA_INVALID", "*"},
		{"update, forbidden", "PATCH", "/api/personas/tide-clerk", `{"id":"x"}`, 400, "FORBIDDEN_PATCH_FIELD", `{"field":"id","key":"id"}`},
		{"update, both kinds", "PATCH", "/api/personas/tide-clerk", `{"prompt":"x","description":"y"}`, 400, "MIXED_SCOPE_PATCH", `{"contract_fields":["description"],"implementation_fields":["prompt"]}`},
		{"update, a list", "PATCH", "/api/personas/tide-clerk", `[]`, 400, "INVALID_INPUT", `{"field":"params","received_type":"list"}`},
		{"update a variant's contract", "PATCH", variants + "/default", `{"description":"x"}`, 400, "FIELD_SCOPE_VIOLATION", `{"fields":["description"],"variant":"default"}`},
		{"update, no such variant", "PATCH", variants + "/none", `{"prompt":"x"}`, 404, "VARIANT_NOT_FOUND", `{"persona_id":"tide-clerk","variant":"none"}`},
		{"delete, not there", "DELETE", "/api/personas/nobody", "", 404, "PERSONA_NOT_FOUND", `{"persona_id":"nobody"}`},
		{"delete, no id", "DELETE", "/api/personas/a_b", "", 400, "INVALID_PERSONA_ID", `{"persona_id":"a_b"}`},
		{"clear, no token", "POST", "/api/personas/clear", `{}`, 400, "INVALID_CONFIRMATION_TOKEN", `*`},
		{"clear, wrong token", "POST", "/api/personas/clear", `{"confirm":"clear registry"}`, 400, "INVALID_CONFIRMATION_TOKEN", `*`},
		{"clear, a number", "POST", "/api/personas/clear", `{"confirm":1}`, 400, "INVALID_INPUT", `{"expected_type":"string","field":"confirm","operation":"clear","reason":"the parameter confirm is of the wrong type","received_type":"number"}`},
		{"validate, a list", "POST", "/api/personas/validate", `[]`, 400, "INVALID_INPUT", `{"field":"params","received_type":"list"}`},
		{"export, nothing chosen", "POST", "/api/personas/export", `{}`, 400, "INVALID_INPUT", `*`},
		{"export, both", "POST", "/api/personas/export", `{"all":true,"ids":[]}`, 400, "INVALID_INPUT", `*`},
		{"export, all false", "POST", "/api/personas/export", `{"all":false}`, 400, "INVALID_INPUT", `*`},
		{"export, not there", "POST", "/api/personas/export", `{"ids":["nobody"]}`, 404, "PERSONA_NOT_FOUND", `{"id":"nobody","persona_id":"nobody"}`},
		{"export, ids of numbers", "POST", "/api/personas/export", `{"ids":[1]}`, 400, "INVALID_INPUT", `*`},
		{"batch, unknown where", "POST", "/api/personas/update_batch", `{"where":{"colour":"x"},"patches":{}}`, 400, "INVALID_INPUT", `*`},
		{"batch, no where", "POST", "/api/personas/update_batch", `{"patches":{}}`, 400, "INVALID_INPUT", `*`},
		{"batch, forbidden", "POST", "/api/personas/update_batch", `{"where":{},"patches":{"id":"x"}}`, 400, "FORBIDDEN_PATCH_FIELD", `{"field":"id","key":"id"}`},
		{"batch, forbidden, dry", "POST", "/api/personas/update_batch", `{"where":{},"patches":{"manifest":1},"dry_run":true}`, 400, "FORBIDDEN_PATCH_FIELD", `{"field":"manifest","key":"manifest"}`},
		{"assemble", "POST", "/api/personas/assemble", `{}`, 404, "INVALID_INPUT", `{"path":"/api/personas/assemble"}`},
		{"assemble, no JSON", "POST", "/api/personas/assemble", `{`, 404, "INVALID_INPUT", `{"path":"/api/personas/assemble"}`},
		{"variants, not there", "GET", "/api/registry/personas/nobody/variants", "", 404, "PERSONA_NOT_FOUND", `{"persona_id":"nobody"}`},
		{"variants, corrupt", "GET", "/api/registry/personas/broken/variants", "", 500, "REGISTRY_CORRUPT", `*`},
		{"specs, not there", "GET", "/api/registry/personas/nobody/specs", "", 404, "PERSONA_NOT_FOUND", `{"persona_id":"nobody"}`},
		{"variant, not there", "GET", variants + "/none", "", 404, "VARIANT_NOT_FOUND", `{"persona_id":"tide-clerk","variant":"none"}`},
		{"variant, bad name", "GET", variants + "/No_Name", "", 400, "INVALID_VARIANT_NAME", `{"variant":"No_Name"}`},
		{"put, another id", "PUT", variants + "/x", scout, 400, "PERSONA_ID_MISMATCH", `{"expected":"tide-clerk","field":"id","got":"reef-scout"}`},
		{"put, no id", "PUT", variants + "/x", `{}`, 400, "PERSONA_ID_MISMATCH", `{"expected":"tide-clerk","field":"id","got":null}`},
		{"put, id is a number", "PUT", variants + "/x", `{"id":1e2}`, 400, "PERSONA_ID_MISMATCH", `{"expected":"tide-clerk","field":"id","got":100.0}`},
		{"put, wrapped", "PUT", variants + "/x", `{"spec":` + clerk + `}`, 400, "PERSONA_ID_MISMATCH", `{"expected":"tide-clerk","field":"id","got":null}`},
		{"put, other contract", "PUT", variants + "/x", change(clerk, "tidy", "neat"), 400, "BASE_CONTRACT_MISMATCH", `{"id":"tide-clerk","mismatched_fields":["description"]}`},
		{"put, bad name", "PUT", variants + "/No_Name", clerk, 400, "INVALID_VARIANT_NAME", `{"variant":"No_Name"}`},
		{"activate, not there", "POST", variants + "/none/activate", "", 404, "VARIANT_NOT_FOUND", `{"persona_id":"tide-clerk","variant":"none"}`},
		{"delete the last", "DELETE", variants + "/default", "", 409, "LAST_VARIANT_DELETE_FORBIDDEN", `{"persona_id":"tide-clerk","variant":"default"}`},
		{"delete the active", "DELETE", "/api/registry/personas/reef-scout/variants/default", "", 409, "ACTIVE_VARIANT_DELETE_FORBIDDEN", `{"persona_id":"reef-scout","variant":"default"}`},
		{"resolve, forbidden", "POST", "/api/personas/tide-clerk/resolve", `{"overrides":{"id":"x","description":"y"}}`, 400, "FORBIDDEN_OVERRIDE_FIELD", `*`},
		{"resolve, unknown", "POST", "/api/personas/tide-clerk/resolve", `{"id":"x"}`, 400, "INVALID_INPUT", `{"field":"params","unknown":["id"]}`},
		{"clone, no new id", "POST", "/api/personas/tide-clerk/clone", `{}`, 400, "INVALID_INPUT", `{"field":"new_id","operation":"clone","reason":"the parameter new_id is missing"}`},
		{"clone, bad new id", "POST", "/api/personas/tide-clerk/clone", `{"new_id":"A B"}`, 400, "PERSONA_INVALID", `*`},
		{"clone, is there", "POST", "/api/personas/tide-clerk/clone", `{"new_id":"reef-scout"}`, 400, "BASE_CONTRACT_MISMATCH", `{"mismatched_fields":[],"persona_id":"reef-scout"}`},
		{"import, no text", "POST", "/api/import/check", `{}`, 400, "INVALID_INPUT", `{"field":"text"}`},
		{"import, text is a number", "POST", "/api/import/check", `{"text":1}`, 400, "INVALID_INPUT", `{"expected_type":"string","field":"text","received_type":"number"}`},
		{"import, unknown format", "POST", "/api/import/check", `{"text":"","format":"ini"}`, 400, "INVALID_INPUT", `{"field":"format"}`},
		{"import, check stores nothing", "POST", "/api/import/check", `{"text":"","update":true}`, 400, "INVALID_INPUT", `{"field":"params","unknown":["update"]}`},
		{"import, invalid", "POST", "/api/import", `{"text":"{}","format":"json"}`, 400, "PERSONA_INVALID", `*`},
	}
	f := serverFor(t, clerk, scout)
	f.must(200, f.do("PUT", "/api/registry/personas/reef-scout/variants/other", scout))
	f.must(200, f.do("POST", "/api/personas", change(clerk, "tide-clerk", "zero")))
	f.must(200, f.do("POST", "/api/personas", change(clerk, "tide-clerk", "broken")))
	write(t, filepath.Join(f.root, "broken", "manifest.json"), "{}")
	write(t, filepath.Join(f.root, "zero", "variants", "default.json"), `{"prompt":" ","model":"m"}`)
	before := f.files()
	for _, tt := range tests {
		w := f.do(tt.method, tt.path, tt.body)
		got := failureOf(t, w)
		details := strings.ReplaceAll(got.Details, f.root, "ROOT")
		if w.Code != tt.status || got.Code != tt.code || tt.details != "*" && details != tt.details {
			t.Errorf("%s:\ngot  %d %s %s\nwant %d %s %s", tt.name, w.Code, got.Code, details, tt.status, tt.code, tt.details)
		}
	}
	if after := f.files(); after != before {
		t.Errorf("files are\n%s\nwant\n%s", after, before)
	}
}

func TestNoSuchRoute(t *testing.T) {
	t.Parallel()
	f := serverFor(t, clerk)
	tests := []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/nothing", 404, ""},
		{"GET", "/api", 404, ""},
		{"GET", "/api/", 404, ""},
		{"GET", "/api/personas/", 404, ""},
		{"GET", "/api//personas", 404, ""},
		{"GET", "//api/personas", 404, ""},
		{"GET", "/api/personas/tide-clerk/", 404, ""},
		{"GET", "/api/components", 404, ""},
		{"GET", "/api/components/prompts", 404, ""},
		{"GET", "/openapi.json", 404, ""},
		{"GET", "/assets/", 404, ""},
		{"GET", "/assets/nothing.js", 404, ""},
		{"GET", "/assets", 404, ""},
		{"GET", "/API/personas", 404, ""},
		{"PUT", "/api/personas", 405, "GET, HEAD, POST"},
		{"DELETE", "/api/personas", 405, "GET, HEAD, POST"},
		{"POST", "/api/personas/tide-clerk", 405, "DELETE, GET, HEAD, PATCH"},
		{"PUT", "/api/personas/clear", 405, "DELETE, GET, HEAD, PATCH, POST"},
		{"OPTIONS", "/api/personas", 405, "GET, HEAD, POST"},
		{"TRACE", "/", 405, "GET, HEAD"},
		{"POST", "/", 405, "GET, HEAD"},
		{"POST", "/api/registry/personas/tide-clerk/variants", 405, "GET, HEAD"},
		{"GET", "/api/registry/personas/tide-clerk/variants/default/activate", 405, "POST"},
		{"POST", "/api/registry/personas/tide-clerk/variants/default", 405, "DELETE, GET, HEAD, PATCH, PUT"},
	}
	for _, tt := range tests {
		w := f.do(tt.method, tt.path, "")
		want := map[int]string{404: `{"detail":"Not Found"}`, 405: `{"detail":"Method Not Allowed"}`}[tt.status] + "\n"
		if w.Code != tt.status || w.Header().Get("Allow") != tt.allow || w.Body.String() != want {
			t.Errorf("%s %s: got %d, Allow %q, %swant %d, %q, %s", tt.method, tt.path, w.Code, w.Header().Get("Allow"), w.Body, tt.status, tt.allow, want)
		}
	}
}

// TestVariantOfCorruptManifest: a named variant does not depend on the
// manifest, so it is given, and whether it is active is not known.
func TestVariantOfCorruptManifest(t *testing.T) {
	t.Parallel()
	f := serverFor(t, clerk)
	write(t, filepath.Join(f.root, "tide-clerk", "manifest.json"), "{")
	body := f.must(200, f.do("GET", "/api/registry/personas/tide-clerk/variants/default", ""))
	if !strings.Contains(body, `{"is_active":null,"variant":"default"}`) {
		t.Errorf("got %s, want is_active null", body)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
