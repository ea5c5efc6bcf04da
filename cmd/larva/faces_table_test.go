package main

// contractNumbers are the codes of the registry contract, section 3, with
// STALE_WRITE and NESTED, which came later.
var contractNumbers = map[string]int{
	"INVALID_INPUT": 1, "INTERNAL": 10, "PERSONA_NOT_FOUND": 100, "PERSONA_INVALID": 101, "PERSONA_CYCLE": 102,
	"INVALID_PERSONA_ID": 104, "REGISTRY_INDEX_READ_FAILED": 107, "REGISTRY_SPEC_READ_FAILED": 108,
	"REGISTRY_WRITE_FAILED": 109, "REGISTRY_UPDATE_FAILED": 110, "REGISTRY_DELETE_FAILED": 111,
	"INVALID_CONFIRMATION_TOKEN": 112, "FORBIDDEN_OVERRIDE_FIELD": 113, "FORBIDDEN_PATCH_FIELD": 114,
	"FORBIDDEN_FIELD": 115, "MISSING_SPEC_VERSION": 116, "REGISTRY_CORRUPT": 117, "INVALID_VARIANT_NAME": 118,
	"VARIANT_NOT_FOUND": 119, "ACTIVE_VARIANT_DELETE_FORBIDDEN": 120, "LAST_VARIANT_DELETE_FORBIDDEN": 121,
	"PERSONA_ID_MISMATCH": 122, "BASE_CONTRACT_MISMATCH": 123, "MIXED_SCOPE_PATCH": 124, "FIELD_SCOPE_VIOLATION": 125,
	"STALE_WRITE": 126, "NESTED": 127,
	"ARGUMENT_CONFLICT": 113, "REGISTRY_DIAGNOSTIC_FAILED": 107,
}

// neverEmitted are the codes that no operation gives, and why.
var neverEmitted = map[string]string{
	"INTERNAL":                   "a fault of larva itself, caught: there is none that a call is known to reach",
	"PERSONA_CYCLE":              "personas inherit nothing from each other, so no cycle can be",
	"REGISTRY_INDEX_READ_FAILED": "there is no index file",
	"FORBIDDEN_FIELD":            "a field that does not belong into a spec is the issue EXTRA_FIELD_NOT_ALLOWED of PERSONA_INVALID",
	"MISSING_SPEC_VERSION":       "a missing spec_version is the issue MISSING_REQUIRED_FIELD of PERSONA_INVALID",
	"ARGUMENT_CONFLICT":          "decided: bad usage is INVALID_INPUT",
	"REGISTRY_DIAGNOSTIC_FAILED": "doctor's, which is a command and no operation",
}

// emits are the codes that each operation can give. A row of the table must
// show each of them.
var emits = map[string][]string{
	"validate": {"ok", "INVALID_INPUT"},
	"list":     {"ok", "INVALID_INPUT", "PERSONA_INVALID", "REGISTRY_CORRUPT", "REGISTRY_SPEC_READ_FAILED"},
	"resolve": {"ok", "INVALID_INPUT", "INVALID_PERSONA_ID", "PERSONA_NOT_FOUND", "INVALID_VARIANT_NAME", "VARIANT_NOT_FOUND",
		"REGISTRY_CORRUPT", "REGISTRY_SPEC_READ_FAILED", "PERSONA_INVALID", "FORBIDDEN_OVERRIDE_FIELD"},
	"register": {"ok", "INVALID_INPUT", "PERSONA_INVALID", "INVALID_VARIANT_NAME", "REGISTRY_CORRUPT", "BASE_CONTRACT_MISMATCH",
		"REGISTRY_WRITE_FAILED", "PERSONA_ID_MISMATCH", "STALE_WRITE", "NESTED"},
	"update": {"ok", "INVALID_INPUT", "INVALID_PERSONA_ID", "PERSONA_NOT_FOUND", "INVALID_VARIANT_NAME", "VARIANT_NOT_FOUND",
		"REGISTRY_CORRUPT", "REGISTRY_SPEC_READ_FAILED", "PERSONA_INVALID", "MIXED_SCOPE_PATCH", "FIELD_SCOPE_VIOLATION",
		"FORBIDDEN_PATCH_FIELD", "REGISTRY_UPDATE_FAILED", "STALE_WRITE", "NESTED"},
	"update_batch": {"ok", "INVALID_INPUT", "MIXED_SCOPE_PATCH", "FORBIDDEN_PATCH_FIELD", "PERSONA_INVALID",
		"REGISTRY_CORRUPT", "REGISTRY_SPEC_READ_FAILED", "REGISTRY_UPDATE_FAILED", "NESTED"},
	"clone": {"ok", "INVALID_INPUT", "INVALID_PERSONA_ID", "PERSONA_NOT_FOUND", "REGISTRY_CORRUPT", "REGISTRY_SPEC_READ_FAILED",
		"PERSONA_INVALID", "BASE_CONTRACT_MISMATCH", "REGISTRY_WRITE_FAILED", "NESTED"},
	"delete": {"ok", "INVALID_INPUT", "INVALID_PERSONA_ID", "PERSONA_NOT_FOUND", "REGISTRY_DELETE_FAILED",
		"REGISTRY_CORRUPT", "STALE_WRITE", "NESTED"},
	"clear": {"ok", "INVALID_INPUT", "INVALID_CONFIRMATION_TOKEN", "REGISTRY_DELETE_FAILED", "NESTED"},
	"export": {"ok", "INVALID_INPUT", "INVALID_PERSONA_ID", "PERSONA_NOT_FOUND", "REGISTRY_CORRUPT",
		"REGISTRY_SPEC_READ_FAILED", "PERSONA_INVALID"},
	"variant_list": {"ok", "INVALID_INPUT", "INVALID_PERSONA_ID", "PERSONA_NOT_FOUND", "REGISTRY_CORRUPT", "REGISTRY_SPEC_READ_FAILED"},
	"variant_activate": {"ok", "INVALID_INPUT", "INVALID_PERSONA_ID", "PERSONA_NOT_FOUND", "INVALID_VARIANT_NAME", "VARIANT_NOT_FOUND",
		"REGISTRY_CORRUPT", "REGISTRY_SPEC_READ_FAILED", "PERSONA_INVALID", "REGISTRY_WRITE_FAILED", "STALE_WRITE", "NESTED"},
	"variant_delete": {"ok", "INVALID_INPUT", "INVALID_PERSONA_ID", "PERSONA_NOT_FOUND", "INVALID_VARIANT_NAME", "VARIANT_NOT_FOUND",
		"REGISTRY_CORRUPT", "REGISTRY_SPEC_READ_FAILED", "LAST_VARIANT_DELETE_FORBIDDEN", "ACTIVE_VARIANT_DELETE_FORBIDDEN",
		"REGISTRY_DELETE_FAILED", "STALE_WRITE", "NESTED"},
}

// hard are answers that an operation can give and no row shows, and why.
var hard = map[string]string{
	"register REGISTRY_SPEC_READ_FAILED": "the system must run out of files or memory between two reads under the lock",
	"clear REGISTRY_SPEC_READ_FAILED":    "the directory must become unreadable, which nothing is to the superuser",
}

// Why a face cannot put a call.
const (
	grammar  = "the command line's own grammar refuses it, in its own words"
	typed    = "an argument of a command line is text: it has no other type"
	argument = "Python itself refuses an argument that a function does not have"
	segment  = "a path has no segment that is empty"
	inPath   = "the path holds it, as text"
	header   = "only REST has If-Match"
	nowhere  = "--where says that it is a batch; without one it is no batch"
	exclude  = "two functions: one takes nothing, the other takes ids"
	noRoute  = "the route is found by the id that the spec itself gives"
	other    = "only there does a call name a persona twice"
	noObject = "a file or a body that is no object is unreadable input, which has its own words"
)

func except(pairs ...string) map[string]string {
	m := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

var onlyREST = except(onCLI, header, onMCP, header, onPython, header)

func faceRows() []faceRow {
	var rows []faceRow
	for _, some := range [][]faceRow{validateRows, listRows, resolveRows, registerRows, updateRows, batchRows, cloneRows,
		deleteRows, clearRows, exportRows, variantListRows, activateRows, variantDeleteRows} {
		rows = append(rows, some...)
	}
	return rows
}

var validateRows = []faceRow{
	{name: "validate: sound", op: "validate", params: `{"spec":` + kelp + `}`, want: `{"data":{"valid":true,"errors":[],"warnings":0}}`},
	{name: "validate: warnings, one of them from the registry", op: "validate", state: none,
		params: `{"spec":` + with(kelp, `{"description":"Short.","capabilities":{"oven":"none"}}`) + `}`,
		want:   `{"data":{"valid":true,"errors":[],"warnings":4}}`},
	{name: "validate: every kind of issue", op: "validate",
		params: `{"spec":{"id":"No","description":7,"prompt":" ","model":"m","capabilities":{"shell":"all"},"can_spawn":["moss","moss","No"],"model_params":{"temperature":9,"top_k":1.0},"tools":{},"extra":1}}`,
		want: `{"data":{"valid":false,"warnings":0,"errors":[
			{"code":"INVALID_ID_FORMAT","details":{"field":"id","value":"No"}},
			{"code":"EMPTY_REQUIRED_FIELD","details":{"field":"prompt","value":" "}},
			{"code":"INVALID_FIELD_TYPE","details":{"field":"description","value":7}},
			{"code":"INVALID_MODEL_PARAMS","details":{"field":"model_params.temperature","value":9}},
			{"code":"INVALID_MODEL_PARAMS","details":{"field":"model_params.top_k","value":1.0}},
			{"code":"INVALID_POSTURE","details":{"field":"capabilities","tool":"shell","value":"all"}},
			{"code":"INVALID_CAN_SPAWN","details":{"field":"can_spawn","invalid_targets":["No"],"duplicate_targets":["moss"]}},
			{"code":"EXTRA_FIELD_NOT_ALLOWED","details":{"field":"extra","value":1}},
			{"code":"EXTRA_FIELD_NOT_ALLOWED","details":{"field":"tools","value":{}}},
			{"code":"MISSING_REQUIRED_FIELD","details":{"field":"spec_version"}}]}}`},
	{name: "validate: nothing in it", op: "validate", params: `{"spec":{}}`,
		want: `{"data":{"valid":false,"warnings":0,"errors":[
			{"code":"MISSING_REQUIRED_FIELD","details":{"field":"id"}},
			{"code":"MISSING_REQUIRED_FIELD","details":{"field":"description"}},
			{"code":"MISSING_REQUIRED_FIELD","details":{"field":"prompt"}},
			{"code":"MISSING_REQUIRED_FIELD","details":{"field":"model"}},
			{"code":"MISSING_REQUIRED_FIELD","details":{"field":"capabilities"}},
			{"code":"MISSING_REQUIRED_FIELD","details":{"field":"spec_version"}}]}}`},
	{name: "validate: a corrupt registry is not its affair", op: "validate", params: `{"spec":` + kelp + `}`, state: rootIsFile,
		want: `{"data":{"valid":true,"errors":[],"warnings":0}}`},
	{name: "validate: in a run", op: "validate", params: `{"spec":` + kelp + `}`, place: nested,
		want: `{"data":{"valid":true,"errors":[],"warnings":0}}`},
	{name: "validate: what is no object", op: "validate", params: `{"spec":["kelp"]}`, not: except(onCLI, noObject, onREST, noObject),
		want: `{"data":{"valid":false,"warnings":0,"errors":[{"code":"INVALID_FIELD_TYPE","details":{"field":"","value":["kelp"]}}]}}`},
	{name: "validate: no spec", op: "validate", params: `{}`, not: except(onCLI, grammar, onREST, "the body is the spec", onPython, argument),
		want: refused(`"operation":"validate","field":"spec","reason":"the parameter spec is missing"`)},
}

var listRows = []faceRow{
	{name: "list: two", op: "list", params: `{}`, want: `{"data":[` + summary(kelp) + `,` + summary(moss) + `]}`},
	{name: "list: no registry", op: "list", params: `{}`, state: none, want: `{"data":[]}`},
	{name: "list: strays are none of ours", op: "list", params: `{}`,
		state: two.and(put("note.txt", "x"), put("Not_Id/manifest.json", "{"), put("old.json", "{}")), want: `{"data":[` + summary(kelp) + `,` + summary(moss) + `]}`},
	{name: "list: one is corrupt", op: "list", params: `{}`, state: two.and(drop("moss/manifest.json")), want: corruptAt("moss", "moss/manifest.json")},
	{name: "list: one is invalid", op: "list", params: `{}`, state: two.and(put("moss/variants/default.json", `{"prompt":" ","model":"m"}`)),
		want: invalid(`{"code":"EMPTY_REQUIRED_FIELD","details":{"field":"prompt","value":" "}}`)},
	{name: "list: a file in the place of the registry", op: "list", params: `{}`, state: rootIsFile,
		want: failedAt("REGISTRY_SPEC_READ_FAILED", "null", "")},
	{name: "list: unknown parameter", op: "list", params: `{"limit":3,"all":true}`, not: except(onCLI, grammar, onREST, "the route reads no body", onPython, argument),
		want: refused(`"operation":"list","field":"params","reason":"unknown parameters","unknown":["all","limit"]`)},
}

var resolveRows = []faceRow{
	{name: "resolve: active", op: "resolve", params: `{"id":"kelp"}`, want: `{"data":` + kelp + `}`},
	{name: "resolve: named", op: "resolve", params: `{"id":"kelp","variant":"terse"}`, want: `{"data":` + terse + `}`},
	{name: "resolve: named, past a corrupt manifest", op: "resolve", params: `{"id":"kelp","variant":"terse"}`, state: two.and(put("kelp/manifest.json", "{")),
		want: `{"data":` + terse + `}`},
	{name: "resolve: overrides replace whole fields", op: "resolve", params: `{"id":"kelp","overrides":{"model":"acme/other","model_params":{"top_p":0.5}}}`,
		want: `{"data":` + with(kelp, `{"model":"acme/other","model_params":{"top_p":0.5}}`) + `}`},
	{name: "resolve: overrides of a variant, numbers as written", op: "resolve", params: `{"id":"kelp","variant":"terse","overrides":{"prompt":"{","compaction_prompt":"","model_params":{"a":1,"b":1.0,"c":100000000000000000000000000000001,"d":1e-07,"e":-0.0,"f":null}}}`,
		want: `{"data":` + with(terse, `{"prompt":"{","compaction_prompt":"","model_params":{"a":1,"b":1.0,"c":100000000000000000000000000000001,"d":1e-07,"e":-0.0,"f":null}}`) + `}`},
	{name: "resolve: null is not given", op: "resolve", params: `{"id":"kelp","variant":null,"overrides":null}`, want: `{"data":` + kelp + `}`},
	{name: "resolve: in a run", op: "resolve", params: `{"id":"kelp"}`, place: nested, want: `{"data":` + kelp + `}`},
	{name: "resolve: text that harms", op: "resolve", params: `{"id":"kelp","overrides":{"prompt":"<script>\u2028\u0000\u007f\ud83c\udf0a</script>"}}`,
		want: `{"data":` + with(kelp, `{"prompt":"<script>\u2028\u0000\u007f\ud83c\udf0a</script>"}`) + `}`},
	{name: "resolve: no id", op: "resolve", params: `{}`, not: except(onCLI, grammar, onREST, segment, onPython, argument),
		want: refused(`"operation":"resolve","field":"id","reason":"the parameter id is missing"`)},
	{name: "resolve: an id of another type", op: "resolve", params: `{"id":7}`, not: except(onCLI, typed, onREST, inPath),
		want: refused(`"operation":"resolve","field":"id","reason":"the parameter id is of the wrong type","expected_type":"string","received_type":"number"`)},
	{name: "resolve: overrides of another type", op: "resolve", params: `{"id":"kelp","overrides":["model"]}`, not: except(onCLI, typed),
		want: refused(`"operation":"resolve","field":"overrides","reason":"the parameter overrides is of the wrong type","expected_type":"object","received_type":"list"`)},
	{name: "resolve: a variant of another type", op: "resolve", params: `{"id":"kelp","variant":true,"overrides":{}}`, not: except(onCLI, typed),
		want: refused(`"operation":"resolve","field":"variant","reason":"the parameter variant is of the wrong type","expected_type":"string","received_type":"boolean"`)},
	{name: "resolve: no such id", op: "resolve", params: `{"id":"ghost"}`, want: failure("PERSONA_NOT_FOUND", `"persona_id":"ghost"`)},
	{name: "resolve: near a name that is there", op: "resolve", params: `{"id":"kelb"}`, want: failure("PERSONA_NOT_FOUND", `"persona_id":"kelb"`)},
	{name: "resolve: shipped and not registered", op: "resolve", params: `{"id":"code-reviewer"}`, want: failure("PERSONA_NOT_FOUND", `"persona_id":"code-reviewer"`)},
	{name: "resolve: no registry", op: "resolve", params: `{"id":"kelp"}`, state: none, want: failure("PERSONA_NOT_FOUND", `"persona_id":"kelp"`)},
	{name: "resolve: no id at all", op: "resolve", params: `{"id":"Kelp"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"Kelp"`)},
	{name: "resolve: an id that climbs", op: "resolve", params: `{"id":"../kelp"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"../kelp"`)},
	{name: "resolve: an id that is nothing but dots", op: "resolve", params: `{"id":".."}`, want: failure("INVALID_PERSONA_ID", `"persona_id":".."`)},
	{name: "resolve: an id with a line's end", op: "resolve", params: `{"id":"kelp\n"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"kelp\n"`)},
	{name: "resolve: an id like a flag", op: "resolve", params: `{"id":"--json"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"--json"`)},
	{name: "resolve: an empty id", op: "resolve", params: `{"id":""}`, not: except(onREST, segment), want: failure("INVALID_PERSONA_ID", `"persona_id":""`)},
	{name: "resolve: an id beyond ASCII", op: "resolve", params: `{"id":"k\u00e9lp \ud83c\udf0a"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"k\u00e9lp \ud83c\udf0a"`)},
	{name: "resolve: a bad variant name", op: "resolve", params: `{"id":"kelp","variant":"A/B"}`, want: failure("INVALID_VARIANT_NAME", `"variant":"A/B"`)},
	{name: "resolve: an empty variant name", op: "resolve", params: `{"id":"kelp","variant":""}`, not: except(onREST, segment), want: failure("INVALID_VARIANT_NAME", `"variant":""`)},
	{name: "resolve: an empty variant name, with overrides", op: "resolve", params: `{"id":"kelp","variant":"","overrides":{}}`, want: failure("INVALID_VARIANT_NAME", `"variant":""`)},
	{name: "resolve: the id is judged before the variant", op: "resolve", params: `{"id":"No","variant":"No"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"No"`)},
	{name: "resolve: no such variant", op: "resolve", params: `{"id":"kelp","variant":"ghost"}`, want: failure("VARIANT_NOT_FOUND", `"persona_id":"kelp","variant":"ghost"`)},
	{name: "resolve: a manifest with another key", op: "resolve", params: `{"id":"kelp"}`, state: two.and(put("kelp/manifest.json", `{"active":"default","x":1}`)), want: corruptAt("kelp", "kelp/manifest.json")},
	{name: "resolve: a manifest that names nothing", op: "resolve", params: `{"id":"kelp"}`, state: two.and(put("kelp/manifest.json", `{"active":"gone"}`)), want: corruptAt("kelp", "kelp/manifest.json")},
	{name: "resolve: a contract of another persona", op: "resolve", params: `{"id":"kelp"}`, state: two.and(put("kelp/contract.json", `{"id":"moss","description":"d","capabilities":{},"spec_version":"0.1.0"}`)), want: corruptAt("kelp", "kelp/contract.json")},
	{name: "resolve: a contract cut off", op: "resolve", params: `{"id":"kelp"}`, state: two.and(put("kelp/contract.json", `{"id":"kel`)), want: corruptAt("kelp", "kelp/contract.json")},
	{name: "resolve: a variant with a contract's field", op: "resolve", params: `{"id":"kelp"}`, state: two.and(put("kelp/variants/default.json", `{"prompt":"p","model":"m","id":"kelp"}`)), want: corruptAt("kelp", "kelp/variants/default.json")},
	{name: "resolve: a directory in the place of a variant", op: "resolve", params: `{"id":"kelp"}`, state: two.and(drop("kelp/variants/default.json"), dir("kelp/variants/default.json")), want: corruptAt("kelp", "kelp/variants/default.json")},
	{name: "resolve: a link in the place of a persona", op: "resolve", params: `{"id":"weed"}`, state: two.and(link("weed", "kelp")), want: corruptAt("weed", "weed")},
	{name: "resolve: a file in the place of the registry", op: "resolve", params: `{"id":"kelp"}`, state: rootIsFile, want: failedAt("REGISTRY_SPEC_READ_FAILED", `"kelp"`, "/kelp")},
	{name: "resolve: a name that the system takes not", op: "resolve", params: `{"id":"kelp-forest"}`, place: deep, state: bare, want: failedAt("REGISTRY_SPEC_READ_FAILED", `"kelp-forest"`, "/kelp-forest")},
	{name: "resolve: stored and invalid", op: "resolve", params: `{"id":"kelp"}`, state: two.and(put("kelp/variants/default.json", `{"prompt":7,"model":"m"}`)),
		want: invalid(`{"code":"INVALID_FIELD_TYPE","details":{"field":"prompt","value":7}}`)},
	{name: "resolve: overridden into the invalid", op: "resolve", params: `{"id":"kelp","overrides":{"model_params":{"temperature":3}}}`,
		want: invalid(`{"code":"INVALID_MODEL_PARAMS","details":{"field":"model_params.temperature","value":3}}`)},
	{name: "resolve: overridden with another type", op: "resolve", params: `{"id":"kelp","overrides":{"prompt":42}}`, not: except(onCLI, "prompt takes the argument's text as it is"),
		want: invalid(`{"code":"INVALID_FIELD_TYPE","details":{"field":"prompt","value":42}}`)},
	{name: "resolve: the first forbidden override by name", op: "resolve", params: `{"id":"kelp","overrides":{"model":"m","tools":{},"description":"d","model_params.top_p":1}}`,
		want: failure("FORBIDDEN_OVERRIDE_FIELD", `"field":"description"`)},
	{name: "resolve: a dotted override", op: "resolve", params: `{"id":"kelp","overrides":{"model_params.top_p":0.5}}`, want: failure("FORBIDDEN_OVERRIDE_FIELD", `"field":"model_params.top_p"`)},
}

var registerRows = []faceRow{
	{name: "register: new", op: "register", params: `{"spec":` + fern + `}`, want: `{"data":{"id":"fern","registered":true}}`},
	{name: "register: new, no registry", op: "register", params: `{"spec":` + fern + `}`, state: none, want: `{"data":{"id":"fern","registered":true}}`},
	{name: "register: new, as a named variant", op: "register", params: `{"spec":` + fern + `,"variant":"first"}`, want: `{"data":{"id":"fern","registered":true}}`},
	{name: "register: another variant", op: "register", params: `{"spec":` + with(kelp, `{"prompt":"New."}`) + `,"variant":"new"}`, want: `{"data":{"id":"kelp","registered":true}}`},
	{name: "register: replaces default", op: "register", params: `{"spec":` + with(kelp, `{"prompt":"New.","model_params":{"a":1.0}}`) + `}`, want: `{"data":{"id":"kelp","registered":true}}`},
	{name: "register: the same again", op: "register", params: `{"spec":` + kelp + `}`, want: `{"data":{"id":"kelp","registered":true}}`},
	{name: "register: a digest that is wrong is let pass", op: "register", params: `{"spec":` + with(kelp, `{"spec_digest":"sha256:0"}`) + `}`, want: `{"data":{"id":"kelp","registered":true}}`},
	{name: "register: no spec", op: "register", params: `{"variant":"x"}`, not: except(onCLI, grammar, onREST, noRoute, onPython, argument),
		want: refused(`"operation":"register","field":"spec","reason":"the parameter spec is missing"`)},
	{name: "register: a spec of another type", op: "register", params: `{"spec":"kelp"}`, not: except(onCLI, noObject),
		want: refused(`"operation":"register","field":"spec","reason":"the parameter spec is of the wrong type","expected_type":"object","received_type":"string"`)},
	{name: "register: invalid", op: "register", params: `{"spec":` + with(kelp, `{"model":" ","variant":"terse"}`) + `}`,
		want: invalid(`{"code":"EMPTY_REQUIRED_FIELD","details":{"field":"model","value":" "}},{"code":"EXTRA_FIELD_NOT_ALLOWED","details":{"field":"variant","value":"terse"}}`)},
	{name: "register: invalid id", op: "register", params: `{"spec":` + with(fern, `{"id":"../fern"}`) + `}`,
		want: invalid(`{"code":"INVALID_ID_FORMAT","details":{"field":"id","value":"../fern"}}`)},
	{name: "register: a bad variant name", op: "register", params: `{"spec":` + kelp + `,"variant":"A.B"}`, want: failure("INVALID_VARIANT_NAME", `"variant":"A.B"`)},
	{name: "register: an empty variant name", op: "register", params: `{"spec":` + kelp + `,"variant":""}`, not: except(onREST, segment), want: failure("INVALID_VARIANT_NAME", `"variant":""`)},
	{name: "register: an empty variant name is said first", op: "register", params: `{"spec":{},"variant":""}`, not: except(onREST, segment), want: failure("INVALID_VARIANT_NAME", `"variant":""`)},
	{name: "register: invalid is said before the variant's name", op: "register", params: `{"spec":` + with(kelp, `{"prompt":" "}`) + `,"variant":"A.B"}`,
		want: invalid(`{"code":"EMPTY_REQUIRED_FIELD","details":{"field":"prompt","value":" "}}`)},
	{name: "register: over a corrupt manifest", op: "register", params: `{"spec":` + kelp + `,"variant":"new"}`, state: two.and(drop("kelp/manifest.json")), want: corruptAt("kelp", "kelp/manifest.json")},
	{name: "register: over a corrupt contract", op: "register", params: `{"spec":` + kelp + `}`, state: two.and(put("kelp/contract.json", "[]")), want: corruptAt("kelp", "kelp/contract.json")},
	{name: "register: another contract", op: "register", params: `{"spec":` + with(kelp, `{"description":"Another thing altogether.","can_spawn":false}`) + `,"variant":"new"}`,
		want: failure("BASE_CONTRACT_MISMATCH", `"id":"kelp","mismatched_fields":["description","can_spawn"]`)},
	{name: "register: false is not absent", op: "register", params: `{"spec":` + with(moss, `{"can_spawn":false}`) + `}`,
		want: failure("BASE_CONTRACT_MISMATCH", `"id":"moss","mismatched_fields":["can_spawn"]`)},
	{name: "register: a file in the place of the registry", op: "register", params: `{"spec":` + fern + `}`, state: rootIsFile, want: failedAt("REGISTRY_WRITE_FAILED", `"fern"`, "")},
	{name: "register: no room to build in", op: "register", params: `{"spec":` + fern + `}`, state: two.and(put(".aside", "")), want: failedAt("REGISTRY_WRITE_FAILED", `"fern"`, "/.aside")},
	{name: "register: a lock that is none", op: "register", params: `{"spec":` + kelp + `,"variant":"new"}`, state: two.and(dir(".lock")), want: failedAt("REGISTRY_WRITE_FAILED", `"kelp"`, "/.lock")},
	{name: "register: a file in the place of the persona", op: "register", params: `{"spec":` + fern + `}`, state: two.and(put("fern", "")), want: failedAt("REGISTRY_WRITE_FAILED", `"fern"`, "/fern")},
	{name: "register: a name that the system takes not", op: "register", params: `{"spec":` + with(fern, `{"id":"moss"}`) + `}`, place: deep, state: bare, want: failedAt("REGISTRY_WRITE_FAILED", `"moss"`, "/moss")},
	{name: "register: two names for one persona", op: "register", params: `{"spec":` + kelp + `,"variant":"new","route_id":"moss"}`, not: except(onCLI, other, onMCP, other, onPython, other),
		want: failure("PERSONA_ID_MISMATCH", `"field":"id","expected":"moss","got":"kelp"`)},
	{name: "register: stale", op: "register", params: `{"spec":` + kelp + `,"variant":"terse"}`, match: `"sha256:0"`, not: onlyREST,
		want: failure("STALE_WRITE", `"persona_id":"kelp","variant":"terse","expected":"sha256:0","actual":"`+digest(terse)+`"`)},
	{name: "register: not stale", op: "register", params: `{"spec":` + kelp + `,"variant":"terse"}`, match: `"` + digest(terse) + `"`, not: onlyREST,
		want: `{"data":{"id":"kelp","registered":true}}`},
	{name: "register: in a run", op: "register", params: `{"spec":` + fern + `}`, place: nested, want: failure("NESTED", `"verb":"register"`)},
}

var updateRows = []faceRow{
	{name: "update: the active variant", op: "update", params: `{"id":"kelp","patches":{"prompt":"Now.","model_params":{"n":2}}}`, want: `{"data":` + with(kelp, `{"prompt":"Now.","model_params":{"n":2,"temperature":0.2}}`) + `}`},
	{name: "update: a named variant", op: "update", params: `{"id":"kelp","patches":{"prompt":"Now."},"variant":"terse"}`, want: `{"data":` + with(terse, `{"prompt":"Now."}`) + `}`},
	{name: "update: the contract", op: "update", params: `{"id":"kelp","patches":{"capabilities":{"git":"none"},"can_spawn":false}}`,
		want: `{"data":` + with(kelp, `{"capabilities":{"filesystem":"read_only","shell":"none","git":"none"},"can_spawn":false}`) + `}`},
	{name: "update: dotted keys", op: "update", params: `{"id":"kelp","patches":{"model_params.temperature":1,"model_params.deep.er":[1,1.0]}}`,
		want: `{"data":` + with(kelp, `{"model_params":{"n":1,"temperature":1,"deep":{"er":[1,1.0]}}}`) + `}`},
	{name: "update: a key and parts of it", op: "update", params: `{"id":"kelp","patches":{"model_params":[1],"model_params.a":true,"model_params.b.c":{"d":null}}}`,
		want: `{"data":` + with(kelp, `{"model_params":{"n":1,"temperature":0.2,"a":true,"b":{"c":{"d":null}}}}`) + `}`},
	{name: "update: nothing", op: "update", params: `{"id":"kelp","patches":{}}`, want: `{"data":` + kelp + `}`},
	{name: "update: mends what is invalid", op: "update", params: `{"id":"kelp","patches":{"prompt":"Better."}}`, state: two.and(put("kelp/variants/default.json", `{"prompt":" ","model":"m"}`)),
		want: `{"data":` + with(kelpContract, `{"prompt":"Better.","model":"m"}`) + `}`},
	{name: "update: no patches", op: "update", params: `{"id":"kelp"}`, not: except(onCLI, "an update without --set is one that changes nothing", onREST, "the body is the patches", onPython, argument),
		want: refused(`"operation":"update","field":"patches","reason":"the parameter patches is missing"`)},
	{name: "update: patches of another type", op: "update", params: `{"id":"kelp","patches":"prompt=x"}`, not: except(onCLI, typed, onREST, "a body that is no object has its own words"),
		want: refused(`"operation":"update","field":"patches","reason":"the parameter patches is of the wrong type","expected_type":"object","received_type":"string"`)},
	{name: "update: grows beyond what can be stored", op: "update", params: `{"id":"kelp","patches":{"model_params":{"one-more":1}}}`, state: two.and(put("kelp/variants/default.json", crowded)),
		want: failure("INVALID_INPUT", `"persona_id":"kelp"`)},
	{name: "update: a bad id", op: "update", params: `{"id":"kelp/..","patches":{"prompt":"x"}}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"kelp/.."`)},
	{name: "update: no such id", op: "update", params: `{"id":"ghost","patches":{"prompt":"x"}}`, want: failure("PERSONA_NOT_FOUND", `"persona_id":"ghost"`)},
	{name: "update: no registry", op: "update", params: `{"id":"kelp","patches":{"prompt":"x"}}`, state: none, want: failure("PERSONA_NOT_FOUND", `"persona_id":"kelp"`)},
	{name: "update: a bad variant name", op: "update", params: `{"id":"kelp","patches":{"prompt":"x"},"variant":"-"}`, want: failure("INVALID_VARIANT_NAME", `"variant":"-"`)},
	{name: "update: an empty variant name", op: "update", params: `{"id":"kelp","patches":{"prompt":"x"},"variant":""}`, not: except(onREST, segment), want: failure("INVALID_VARIANT_NAME", `"variant":""`)},
	{name: "update: no such variant", op: "update", params: `{"id":"kelp","patches":{"prompt":"x"},"variant":"ghost"}`, want: failure("VARIANT_NOT_FOUND", `"persona_id":"kelp","variant":"ghost"`)},
	{name: "update: corrupt", op: "update", params: `{"id":"kelp","patches":{"prompt":"x"}}`, state: two.and(put("kelp/manifest.json", `["default"]`)), want: corruptAt("kelp", "kelp/manifest.json")},
	{name: "update: a name that the system takes not", op: "update", params: `{"id":"kelp-forest","patches":{"prompt":"x"}}`, place: deep, state: bare, want: failedAt("REGISTRY_SPEC_READ_FAILED", `"kelp-forest"`, "/kelp-forest")},
	{name: "update: into the invalid", op: "update", params: `{"id":"kelp","patches":{"can_spawn":["No"],"description":" "}}`,
		want: invalid(`{"code":"EMPTY_REQUIRED_FIELD","details":{"field":"description","value":" "}},{"code":"INVALID_CAN_SPAWN","details":{"field":"can_spawn","invalid_targets":["No"],"duplicate_targets":[]}}`)},
	{name: "update: an unknown field", op: "update", params: `{"id":"kelp","patches":{"colour":"green"}}`, want: invalid(`{"code":"EXTRA_FIELD_NOT_ALLOWED","details":{"field":"colour","value":"green"}}`)},
	{name: "update: both halves", op: "update", params: `{"id":"kelp","patches":{"prompt":"x","model":"y","description":"z","capabilities.git":"none"}}`,
		want: failure("MIXED_SCOPE_PATCH", `"contract_fields":["capabilities","description"],"implementation_fields":["model","prompt"]`)},
	{name: "update: both halves is said before all else", op: "update", params: `{"id":"No","patches":{"prompt":"x","description":"z"}}`,
		want: failure("MIXED_SCOPE_PATCH", `"contract_fields":["description"],"implementation_fields":["prompt"]`)},
	{name: "update: the contract through a variant", op: "update", params: `{"id":"kelp","patches":{"description":"z","can_spawn":true},"variant":"terse"}`,
		want: failure("FIELD_SCOPE_VIOLATION", `"fields":["can_spawn","description"],"variant":"terse"`)},
	{name: "update: the id", op: "update", params: `{"id":"kelp","patches":{"id":"moss"}}`, want: failure("FORBIDDEN_PATCH_FIELD", `"field":"id","key":"id"`)},
	{name: "update: the digest", op: "update", params: `{"id":"kelp","patches":{"spec_digest":"x"}}`, want: failure("FORBIDDEN_PATCH_FIELD", `"field":"spec_digest","key":"spec_digest"`)},
	{name: "update: what was a field once", op: "update", params: `{"id":"kelp","patches":{"_registry.variant":"x"}}`, not: except(onCLI, "--set makes objects of dotted keys, so the key is the root"),
		want: failure("FORBIDDEN_PATCH_FIELD", `"field":"_registry","key":"_registry.variant"`)},
	{name: "update: no room to write in", op: "update", params: `{"id":"kelp","patches":{"prompt":"x"}}`, state: two.and(put(".aside", "")), want: failedAt("REGISTRY_UPDATE_FAILED", `"kelp"`, "/.aside")},
	{name: "update: a file in the place of the registry", op: "update", params: `{"id":"kelp","patches":{"prompt":"x"}}`, state: rootIsFile, want: failedAt("REGISTRY_UPDATE_FAILED", `"kelp"`, "")},
	{name: "update: stale", op: "update", params: `{"id":"kelp","patches":{"prompt":"x"}}`, match: `"` + digest(terse) + `"`, not: onlyREST,
		want: failure("STALE_WRITE", `"persona_id":"kelp","expected":"`+digest(terse)+`","actual":"`+digest(kelp)+`"`)},
	{name: "update: stale, the persona is gone", op: "update", params: `{"id":"ghost","patches":{"prompt":"x"}}`, match: `"` + digest(terse) + `"`, not: onlyREST,
		want: failure("STALE_WRITE", `"persona_id":"ghost","expected":"`+digest(terse)+`","actual":null`)},
	{name: "update: not stale", op: "update", params: `{"id":"kelp","patches":{"prompt":"x"}}`, match: `"` + digest(kelp) + `"`, not: onlyREST,
		want: `{"data":` + with(kelp, `{"prompt":"x"}`) + `}`},
	{name: "update: in a run", op: "update", params: `{"id":"kelp","patches":{"prompt":"x"}}`, place: nested, want: failure("NESTED", `"verb":"update"`)},
}

var batchRows = []faceRow{
	{name: "update_batch: all that match", op: "update_batch", params: `{"where":{"capabilities.shell":"none"},"patches":{"model":"acme/new"}}`,
		want: `{"data":{"items":[{"id":"kelp","updated":true},{"id":"moss","updated":true}],"matched":2,"updated":2}}`},
	{name: "update_batch: every persona", op: "update_batch", params: `{"where":{},"patches":{"description":"Looks after what grows in water."}}`, not: except(onCLI, nowhere),
		want: `{"data":{"items":[{"id":"kelp","updated":true},{"id":"moss","updated":true}],"matched":2,"updated":2}}`},
	{name: "update_batch: by digest", op: "update_batch", params: `{"where":{"spec_digest":"` + digest(kelp) + `"},"patches":{"model_params.n":3}}`, want: `{"data":{"items":[{"id":"kelp","updated":true}],"matched":1,"updated":1}}`},
	{name: "update_batch: numbers by value", op: "update_batch", params: `{"where":{"model_params.n":1.0},"patches":{"model":"acme/new"}}`, want: `{"data":{"items":[{"id":"kelp","updated":true}],"matched":1,"updated":1}}`},
	{name: "update_batch: a boolean is no number", op: "update_batch", params: `{"where":{"model_params.n":true},"patches":{"model":"acme/new"}}`, want: `{"data":{"items":[],"matched":0,"updated":0}}`},
	{name: "update_batch: dry run", op: "update_batch", params: `{"where":{"id":"kelp"},"patches":{"model":"acme/new"},"dry_run":true}`, want: `{"data":{"items":[{"id":"kelp","updated":false}],"matched":1,"updated":0}}`},
	{name: "update_batch: a dry run in a run", op: "update_batch", params: `{"where":{"id":"kelp"},"patches":{"model":"acme/new"},"dry_run":true}`, place: nested, want: `{"data":{"items":[{"id":"kelp","updated":false}],"matched":1,"updated":0}}`},
	{name: "update_batch: no registry", op: "update_batch", params: `{"where":{"id":"kelp"},"patches":{"model":"acme/new"}}`, state: none, want: `{"data":{"items":[],"matched":0,"updated":0}}`},
	{name: "update_batch: no patches", op: "update_batch", params: `{"where":{"id":"kelp"},"patches":{}}`, want: `{"data":{"items":[{"id":"kelp","updated":true}],"matched":1,"updated":1}}`},
	{name: "update_batch: no where", op: "update_batch", params: `{"patches":{}}`, not: except(onCLI, nowhere, onPython, argument),
		want: refused(`"operation":"update_batch","field":"where","reason":"the parameter where is missing"`)},
	{name: "update_batch: dry_run of another type", op: "update_batch", params: `{"where":{},"patches":{},"dry_run":"yes"}`, not: except(onCLI, typed),
		want: refused(`"operation":"update_batch","field":"dry_run","reason":"the parameter dry_run is of the wrong type","expected_type":"boolean","received_type":"string"`)},
	{name: "update_batch: an unknown parameter", op: "update_batch", params: `{"where":{},"patches":{},"variant":"terse"}`, not: except(onCLI, grammar, onPython, argument),
		want: refused(`"operation":"update_batch","field":"params","reason":"unknown parameters","unknown":["variant"]`)},
	{name: "update_batch: by no field", op: "update_batch", params: `{"where":{"colour":"green"},"patches":{}}`, want: failure("INVALID_INPUT", `"field":"colour","where_key":"colour"`)},
	{name: "update_batch: by an empty key", op: "update_batch", params: `{"where":{"":1},"patches":{}}`, not: except(onCLI, grammar), want: failure("INVALID_INPUT", `"field":"where","received_key":"","received_key_type":"str"`)},
	{name: "update_batch: by an empty part", op: "update_batch", params: `{"where":{"model_params..n":1},"patches":{}}`, want: failure("INVALID_INPUT", `"field":"model_params..n","where_key":"model_params..n"`)},
	{name: "update_batch: by a part of what has none", op: "update_batch", params: `{"where":{"model.name":"x"},"patches":{}}`, want: failure("INVALID_INPUT", `"field":"model.name","where_key":"model.name","root_field":"model"`)},
	{name: "update_batch: with a condition", op: "update_batch", params: `{"where":{},"patches":{}}`, match: `"sha256:0"`, not: onlyREST, want: failure("INVALID_INPUT", `"operation":"update_batch","field":"if_match"`)},
	{name: "update_batch: both halves", op: "update_batch", params: `{"where":{"id":"ghost"},"patches":{"model":"m","can_spawn":false}}`, want: failure("MIXED_SCOPE_PATCH", `"contract_fields":["can_spawn"],"implementation_fields":["model"]`)},
	{name: "update_batch: a protected field", op: "update_batch", params: `{"where":{"id":"ghost"},"patches":{"spec_version":"2"},"dry_run":true}`, want: failure("FORBIDDEN_PATCH_FIELD", `"field":"spec_version","key":"spec_version"`)},
	{name: "update_batch: into the invalid, the first one too", op: "update_batch", params: `{"where":{"capabilities.shell":"none"},"patches":{"model_params.temperature":3}}`,
		want: invalid(`{"code":"INVALID_MODEL_PARAMS","details":{"field":"model_params.temperature","value":3}}`)},
	{name: "update_batch: one is corrupt", op: "update_batch", params: `{"where":{"id":"kelp"},"patches":{"model":"m"}}`, state: two.and(put("moss/contract.json", "")), want: corruptAt("moss", "moss/contract.json")},
	{name: "update_batch: one is corrupt, dry run", op: "update_batch", params: `{"where":{"id":"kelp"},"patches":{"model":"m"},"dry_run":true}`, state: two.and(drop("moss/variants")), want: corruptAt("moss", "moss/manifest.json")},
	{name: "update_batch: a file in the place of the registry", op: "update_batch", params: `{"where":{"id":"kelp"},"patches":{"model":"m"}}`, state: rootIsFile, want: failedAt("REGISTRY_SPEC_READ_FAILED", "null", "")},
	{name: "update_batch: no room to write in", op: "update_batch", params: `{"where":{"id":"kelp"},"patches":{"model":"m"}}`, state: two.and(put(".aside", "")), want: failedAt("REGISTRY_UPDATE_FAILED", "null", "/.aside")},
	{name: "update_batch: in a run", op: "update_batch", params: `{"where":{"id":"kelp"},"patches":{"model":"m"}}`, place: nested, want: failure("NESTED", `"verb":"update"`)},
}

var cloneRows = []faceRow{
	{name: "clone: new", op: "clone", params: `{"source_id":"kelp","new_id":"weed"}`, want: `{"data":` + with(kelp, `{"id":"weed"}`) + `}`},
	{name: "clone: the active variant, as default", op: "clone", params: `{"source_id":"kelp","new_id":"weed"}`, state: two.and(put("kelp/manifest.json", `{"active":"terse"}`)), want: `{"data":` + with(terse, `{"id":"weed"}`) + `}`},
	{name: "clone: no new id", op: "clone", params: `{"source_id":"kelp"}`, not: except(onCLI, grammar, onPython, argument), want: refused(`"operation":"clone","field":"new_id","reason":"the parameter new_id is missing"`)},
	{name: "clone: a new id of another type", op: "clone", params: `{"source_id":"kelp","new_id":[]}`, not: except(onCLI, typed),
		want: refused(`"operation":"clone","field":"new_id","reason":"the parameter new_id is of the wrong type","expected_type":"string","received_type":"list"`)},
	{name: "clone: a bad source", op: "clone", params: `{"source_id":"Kelp","new_id":"weed"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"Kelp"`)},
	{name: "clone: no such source", op: "clone", params: `{"source_id":"ghost","new_id":"weed"}`, want: failure("PERSONA_NOT_FOUND", `"persona_id":"ghost"`)},
	{name: "clone: a corrupt source", op: "clone", params: `{"source_id":"kelp","new_id":"weed"}`, state: two.and(drop("kelp/contract.json")), want: corruptAt("kelp", "kelp/contract.json")},
	{name: "clone: a file in the place of the registry", op: "clone", params: `{"source_id":"kelp","new_id":"weed"}`, state: rootIsFile, want: failedAt("REGISTRY_SPEC_READ_FAILED", `"kelp"`, "/kelp")},
	{name: "clone: a bad new id", op: "clone", params: `{"source_id":"kelp","new_id":"Weed"}`, want: invalid(`{"code":"INVALID_ID_FORMAT","details":{"field":"id","value":"Weed"}}`)},
	{name: "clone: an invalid source", op: "clone", params: `{"source_id":"moss","new_id":"weed"}`, state: two.and(put("moss/variants/default.json", `{"prompt":"p","model":""}`)),
		want: invalid(`{"code":"EMPTY_REQUIRED_FIELD","details":{"field":"model","value":""}}`)},
	{name: "clone: onto another", op: "clone", params: `{"source_id":"kelp","new_id":"moss"}`, want: failure("BASE_CONTRACT_MISMATCH", `"persona_id":"moss","mismatched_fields":[]`)},
	{name: "clone: onto itself", op: "clone", params: `{"source_id":"kelp","new_id":"kelp"}`, want: failure("BASE_CONTRACT_MISMATCH", `"persona_id":"kelp","mismatched_fields":[]`)},
	{name: "clone: no room to build in", op: "clone", params: `{"source_id":"kelp","new_id":"weed"}`, state: two.and(put(".aside", "")), want: failedAt("REGISTRY_WRITE_FAILED", `"weed"`, "/.aside")},
	{name: "clone: in a run", op: "clone", params: `{"source_id":"kelp","new_id":"weed"}`, place: nested, want: failure("NESTED", `"verb":"clone"`)},
}

var deleteRows = []faceRow{
	{name: "delete: one", op: "delete", params: `{"id":"kelp"}`, want: `{"data":{"id":"kelp","deleted":true}}`},
	{name: "delete: a corrupt one", op: "delete", params: `{"id":"kelp"}`, state: two.and(put("kelp/contract.json", "{"), drop("kelp/manifest.json")), want: `{"data":{"id":"kelp","deleted":true}}`},
	{name: "delete: a link, not where it leads", op: "delete", params: `{"id":"weed"}`, state: two.and(link("weed", "kelp")), want: `{"data":{"id":"weed","deleted":true}}`},
	{name: "delete: not stale", op: "delete", params: `{"id":"kelp"}`, match: `"` + digest(kelp) + `"`, not: onlyREST, want: `{"data":{"id":"kelp","deleted":true}}`},
	{name: "delete: an id of another type", op: "delete", params: `{"id":{}}`, not: except(onCLI, typed, onREST, inPath),
		want: refused(`"operation":"delete","field":"id","reason":"the parameter id is of the wrong type","expected_type":"string","received_type":"object"`)},
	{name: "delete: a bad id", op: "delete", params: `{"id":"kelp/variants"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"kelp/variants"`)},
	{name: "delete: what is the registry's own", op: "delete", params: `{"id":".aside"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":".aside"`)},
	{name: "delete: no such id", op: "delete", params: `{"id":"ghost"}`, want: failure("PERSONA_NOT_FOUND", `"persona_id":"ghost"`)},
	{name: "delete: no registry", op: "delete", params: `{"id":"kelp"}`, state: none, want: failure("PERSONA_NOT_FOUND", `"persona_id":"kelp"`)},
	{name: "delete: a name that the system takes not", op: "delete", params: `{"id":"kelp"}`, place: deep, state: bare,
		want: failure("REGISTRY_DELETE_FAILED", `"operation":"delete","persona_id":"kelp","path":"{ROOT}/kelp","failed_spec_paths":["{ROOT}/kelp"]`)},
	{name: "delete: no room to put it in", op: "delete", params: `{"id":"kelp"}`, state: two.and(put(".aside", "")),
		want: failure("REGISTRY_DELETE_FAILED", `"operation":"delete","persona_id":"kelp","path":"{ROOT}/.aside","failed_spec_paths":[]`)},
	{name: "delete: a condition on what cannot be read", op: "delete", params: `{"id":"kelp"}`, match: `"` + digest(kelp) + `"`, not: onlyREST, state: two.and(put("kelp/contract.json", "{")), want: corruptAt("kelp", "kelp/contract.json")},
	{name: "delete: stale", op: "delete", params: `{"id":"kelp"}`, match: `"` + digest(moss) + `"`, not: onlyREST,
		want: failure("STALE_WRITE", `"persona_id":"kelp","expected":"`+digest(moss)+`","actual":"`+digest(kelp)+`"`)},
	{name: "delete: in a run", op: "delete", params: `{"id":"kelp"}`, place: nested, want: failure("NESTED", `"verb":"delete"`)},
}

var clearRows = []faceRow{
	{name: "clear: two", op: "clear", params: `{"confirm":"CLEAR REGISTRY"}`, want: `{"data":{"cleared":true,"count":2}}`},
	{name: "clear: what is none of ours stays", op: "clear", params: `{"confirm":"CLEAR REGISTRY"}`, state: two.and(put("note.txt", "x"), put("Not_Id/x", "x"), put("music/song", "x"), drop("moss/manifest.json")), want: `{"data":{"cleared":true,"count":2}}`},
	{name: "clear: no registry", op: "clear", params: `{"confirm":"CLEAR REGISTRY"}`, state: none, want: `{"data":{"cleared":true,"count":0}}`},
	{name: "clear: no token", op: "clear", params: `{}`, not: except(onCLI, grammar, onREST, "the route takes a missing token for an empty one", onPython, argument),
		want: refused(`"operation":"clear","field":"confirm","reason":"the parameter confirm is missing"`)},
	{name: "clear: a token of another type", op: "clear", params: `{"confirm":true}`, not: except(onCLI, typed),
		want: refused(`"operation":"clear","field":"confirm","reason":"the parameter confirm is of the wrong type","expected_type":"string","received_type":"boolean"`)},
	{name: "clear: a wrong token", op: "clear", params: `{"confirm":"clear registry"}`, want: failure("INVALID_CONFIRMATION_TOKEN", ``)},
	{name: "clear: an empty token", op: "clear", params: `{"confirm":""}`, want: failure("INVALID_CONFIRMATION_TOKEN", ``)},
	{name: "clear: a token with more", op: "clear", params: `{"confirm":"CLEAR REGISTRY "}`, state: rootIsFile, want: failure("INVALID_CONFIRMATION_TOKEN", ``)},
	{name: "clear: a name that the system takes not", op: "clear", params: `{"confirm":"CLEAR REGISTRY"}`, place: deep, state: bare,
		want: failure("REGISTRY_DELETE_FAILED", `"operation":"clear","persona_id":null,"path":"{ROOT}","failed_spec_paths":["{ROOT}/kelp"]`)},
	{name: "clear: no room to put them in", op: "clear", params: `{"confirm":"CLEAR REGISTRY"}`, state: two.and(put(".aside", "")),
		want: failure("REGISTRY_DELETE_FAILED", `"operation":"clear","persona_id":null,"path":"{ROOT}/.aside","failed_spec_paths":[]`)},
	{name: "clear: in a run", op: "clear", params: `{"confirm":"CLEAR REGISTRY"}`, place: nested, want: failure("NESTED", `"verb":"clear"`)},
}

var exportRows = []faceRow{
	{name: "export: all", op: "export", params: `{"all":true}`, want: `{"data":[` + kelp + `,` + moss + `]}`},
	{name: "export: all of nothing", op: "export", params: `{"all":true}`, state: none, want: `{"data":[]}`},
	{name: "export: by id, in order, twice", op: "export", params: `{"ids":["moss","kelp","moss"]}`, want: `{"data":[` + moss + `,` + kelp + `,` + moss + `]}`},
	{name: "export: by no id", op: "export", params: `{"ids":[]}`, not: except(onCLI, "--id that is not there cannot be told from none"), want: `{"data":[]}`},
	{name: "export: neither", op: "export", params: `{}`, not: except(onCLI, grammar, onPython, exclude), want: failure("INVALID_INPUT", `"field":"params"`)},
	{name: "export: all is false", op: "export", params: `{"all":false}`, not: except(onCLI, grammar, onPython, exclude), want: failure("INVALID_INPUT", `"field":"params"`)},
	{name: "export: both", op: "export", params: `{"all":true,"ids":["kelp"]}`, not: except(onCLI, grammar, onPython, exclude), want: failure("INVALID_INPUT", `"field":"params"`)},
	{name: "export: an id of another type", op: "export", params: `{"ids":["kelp",7]}`, not: except(onCLI, typed),
		want: refused(`"operation":"export","field":"ids","index":1,"reason":"the parameter ids must hold strings only","expected_type":"string","received_type":"number"`)},
	{name: "export: ids that are one", op: "export", params: `{"ids":"kelp"}`, not: except(onCLI, typed),
		want: refused(`"operation":"export","field":"ids","reason":"the parameter ids is of the wrong type","expected_type":"list","received_type":"string"`)},
	{name: "export: a bad id", op: "export", params: `{"ids":["kelp","Moss"]}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"Moss","id":"Moss"`)},
	{name: "export: no such id", op: "export", params: `{"ids":["kelp","ghost"]}`, want: failure("PERSONA_NOT_FOUND", `"persona_id":"ghost","id":"ghost"`)},
	{name: "export: all, one is corrupt", op: "export", params: `{"all":true}`, state: two.and(put("moss/manifest.json", `{"active":7}`)), want: corruptAt("moss", "moss/manifest.json")},
	{name: "export: by id, corrupt", op: "export", params: `{"ids":["moss"]}`, state: two.and(put("moss/manifest.json", `{"active":"A"}`)),
		want: failure("REGISTRY_CORRUPT", `"persona_id":"moss","id":"moss","path":"{ROOT}/moss/manifest.json"`)},
	{name: "export: by id, past a corrupt one", op: "export", params: `{"ids":["kelp"]}`, state: two.and(drop("moss/manifest.json")), want: `{"data":[` + kelp + `]}`},
	{name: "export: all, a file in the place of the registry", op: "export", params: `{"all":true}`, state: rootIsFile, want: failedAt("REGISTRY_SPEC_READ_FAILED", "null", "")},
	{name: "export: by id, a file in the place of the registry", op: "export", params: `{"ids":["kelp"]}`, state: rootIsFile,
		want: failure("REGISTRY_SPEC_READ_FAILED", `"persona_id":"kelp","id":"kelp","path":"{ROOT}/kelp"`)},
	{name: "export: one is invalid", op: "export", params: `{"all":true}`, state: two.and(put("moss/contract.json", `{"id":"moss","description":"d","capabilities":{"shell":"all"},"spec_version":"0.1.0"}`)),
		want: invalidWarned(1, `{"code":"INVALID_POSTURE","details":{"field":"capabilities","tool":"shell","value":"all"}}`)},
}

var variantListRows = []faceRow{
	{name: "variant_list: two", op: "variant_list", params: `{"id":"kelp"}`, want: `{"data":{"id":"kelp","active":"default","variants":["default","terse"]}}`},
	{name: "variant_list: sorted by name", op: "variant_list", params: `{"id":"kelp"}`, state: two.and(put("kelp/variants/default-2.json", "{"), put("kelp/variants/.x.tmp", "")),
		want: `{"data":{"id":"kelp","active":"default","variants":["default","default-2","terse"]}}`},
	{name: "variant_list: no id", op: "variant_list", params: `{"id":null}`, not: except(onCLI, grammar, onREST, segment),
		want: refused(`"operation":"variant_list","field":"id","reason":"the parameter id is of the wrong type","expected_type":"string","received_type":"null"`)},
	{name: "variant_list: a bad id", op: "variant_list", params: `{"id":"a--b"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"a--b"`)},
	{name: "variant_list: no such id", op: "variant_list", params: `{"id":"ghost"}`, want: failure("PERSONA_NOT_FOUND", `"persona_id":"ghost"`)},
	{name: "variant_list: no manifest", op: "variant_list", params: `{"id":"kelp"}`, state: two.and(drop("kelp/manifest.json")), want: corruptAt("kelp", "kelp/manifest.json")},
	{name: "variant_list: no variant", op: "variant_list", params: `{"id":"kelp"}`, state: two.and(drop("kelp/variants"), dir("kelp/variants")), want: corruptAt("kelp", "kelp/variants")},
	{name: "variant_list: a file with a bad name", op: "variant_list", params: `{"id":"kelp"}`, state: two.and(put("kelp/variants/Not_A.json", "{}")), want: corruptAt("kelp", "kelp/variants/Not_A.json")},
	{name: "variant_list: a file in the place of the registry", op: "variant_list", params: `{"id":"kelp"}`, state: rootIsFile, want: failedAt("REGISTRY_SPEC_READ_FAILED", `"kelp"`, "/kelp")},
}

var activateRows = []faceRow{
	{name: "variant_activate: another", op: "variant_activate", params: `{"id":"kelp","variant":"terse"}`, want: `{"data":{"id":"kelp","active":"terse"}}`},
	{name: "variant_activate: the same", op: "variant_activate", params: `{"id":"kelp","variant":"default"}`, want: `{"data":{"id":"kelp","active":"default"}}`},
	{name: "variant_activate: not stale", op: "variant_activate", params: `{"id":"kelp","variant":"terse"}`, match: `"` + digest(terse) + `"`, not: onlyREST, want: `{"data":{"id":"kelp","active":"terse"}}`},
	{name: "variant_activate: no variant", op: "variant_activate", params: `{"id":"kelp"}`, not: except(onCLI, grammar, onREST, segment, onPython, argument),
		want: refused(`"operation":"variant_activate","field":"variant","reason":"the parameter variant is missing"`)},
	{name: "variant_activate: a bad id", op: "variant_activate", params: `{"id":"K","variant":"terse"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"K"`)},
	{name: "variant_activate: no such id", op: "variant_activate", params: `{"id":"ghost","variant":"terse"}`, want: failure("PERSONA_NOT_FOUND", `"persona_id":"ghost"`)},
	{name: "variant_activate: a bad name", op: "variant_activate", params: `{"id":"kelp","variant":"terse.json"}`, want: failure("INVALID_VARIANT_NAME", `"variant":"terse.json"`)},
	{name: "variant_activate: an empty name", op: "variant_activate", params: `{"id":"kelp","variant":""}`, not: except(onREST, segment), want: failure("INVALID_VARIANT_NAME", `"variant":""`)},
	{name: "variant_activate: no such variant", op: "variant_activate", params: `{"id":"kelp","variant":"ghost"}`, want: failure("VARIANT_NOT_FOUND", `"persona_id":"kelp","variant":"ghost"`)},
	{name: "variant_activate: mends no manifest", op: "variant_activate", params: `{"id":"kelp","variant":"terse"}`, state: two.and(put("kelp/manifest.json", "{")), want: corruptAt("kelp", "kelp/manifest.json")},
	{name: "variant_activate: a corrupt variant", op: "variant_activate", params: `{"id":"kelp","variant":"terse"}`, state: two.and(put("kelp/variants/terse.json", `{"model":"m"}`)), want: corruptAt("kelp", "kelp/variants/terse.json")},
	{name: "variant_activate: a name that the system takes not", op: "variant_activate", params: `{"id":"kelp-forest","variant":"terse"}`, place: deep, state: bare, want: failedAt("REGISTRY_SPEC_READ_FAILED", `"kelp-forest"`, "/kelp-forest")},
	{name: "variant_activate: an invalid variant", op: "variant_activate", params: `{"id":"kelp","variant":"terse"}`, state: two.and(put("kelp/variants/terse.json", `{"prompt":"\t","model":"m"}`)),
		want: invalid(`{"code":"EMPTY_REQUIRED_FIELD","details":{"field":"prompt","value":"\t"}}`)},
	{name: "variant_activate: no room to write in", op: "variant_activate", params: `{"id":"kelp","variant":"terse"}`, state: two.and(put(".aside", "")), want: failedAt("REGISTRY_WRITE_FAILED", `"kelp"`, "/.aside")},
	{name: "variant_activate: stale", op: "variant_activate", params: `{"id":"kelp","variant":"terse"}`, match: `"sha256:0"`, not: onlyREST,
		want: failure("STALE_WRITE", `"persona_id":"kelp","variant":"terse","expected":"sha256:0","actual":"`+digest(terse)+`"`)},
	{name: "variant_activate: in a run", op: "variant_activate", params: `{"id":"kelp","variant":"terse"}`, place: nested, want: failure("NESTED", `"verb":"variant activate"`)},
}

var variantDeleteRows = []faceRow{
	{name: "variant_delete: one of two", op: "variant_delete", params: `{"id":"kelp","variant":"terse"}`, want: `{"data":{"id":"kelp","variant":"terse","deleted":true}}`},
	{name: "variant_delete: an invalid one", op: "variant_delete", params: `{"id":"kelp","variant":"terse"}`, state: two.and(put("kelp/variants/terse.json", "{")), want: `{"data":{"id":"kelp","variant":"terse","deleted":true}}`},
	{name: "variant_delete: not stale", op: "variant_delete", params: `{"id":"kelp","variant":"terse"}`, match: `"` + digest(terse) + `"`, not: onlyREST, want: `{"data":{"id":"kelp","variant":"terse","deleted":true}}`},
	{name: "variant_delete: a variant of another type", op: "variant_delete", params: `{"id":"kelp","variant":0}`, not: except(onCLI, typed, onREST, inPath),
		want: refused(`"operation":"variant_delete","field":"variant","reason":"the parameter variant is of the wrong type","expected_type":"string","received_type":"number"`)},
	{name: "variant_delete: a bad id", op: "variant_delete", params: `{"id":"kelp ","variant":"terse"}`, want: failure("INVALID_PERSONA_ID", `"persona_id":"kelp "`)},
	{name: "variant_delete: no such id", op: "variant_delete", params: `{"id":"ghost","variant":"terse"}`, want: failure("PERSONA_NOT_FOUND", `"persona_id":"ghost"`)},
	{name: "variant_delete: a bad name", op: "variant_delete", params: `{"id":"kelp","variant":"../../moss/manifest"}`, want: failure("INVALID_VARIANT_NAME", `"variant":"../../moss/manifest"`)},
	{name: "variant_delete: no such variant", op: "variant_delete", params: `{"id":"moss","variant":"ghost"}`, want: failure("VARIANT_NOT_FOUND", `"persona_id":"moss","variant":"ghost"`)},
	{name: "variant_delete: corrupt", op: "variant_delete", params: `{"id":"kelp","variant":"terse"}`, state: two.and(put("kelp/manifest.json", `{"active":"gone"}`)), want: corruptAt("kelp", "kelp/manifest.json")},
	{name: "variant_delete: a name that the system takes not", op: "variant_delete", params: `{"id":"kelp-forest","variant":"terse"}`, place: deep, state: bare, want: failedAt("REGISTRY_SPEC_READ_FAILED", `"kelp-forest"`, "/kelp-forest")},
	{name: "variant_delete: the last one, which is active", op: "variant_delete", params: `{"id":"moss","variant":"default"}`, want: failure("LAST_VARIANT_DELETE_FORBIDDEN", `"persona_id":"moss","variant":"default"`)},
	{name: "variant_delete: the active one", op: "variant_delete", params: `{"id":"kelp","variant":"default"}`, want: failure("ACTIVE_VARIANT_DELETE_FORBIDDEN", `"persona_id":"kelp","variant":"default"`)},
	{name: "variant_delete: no lock", op: "variant_delete", params: `{"id":"kelp","variant":"terse"}`, state: two.and(dir(".lock")),
		want: failure("REGISTRY_DELETE_FAILED", `"operation":"variant_delete","persona_id":"kelp","path":"{ROOT}/.lock","failed_spec_paths":[]`)},
	{name: "variant_delete: stale", op: "variant_delete", params: `{"id":"kelp","variant":"terse"}`, match: `"` + digest(kelp) + `"`, not: onlyREST,
		want: failure("STALE_WRITE", `"persona_id":"kelp","variant":"terse","expected":"`+digest(kelp)+`","actual":"`+digest(terse)+`"`)},
	{name: "variant_delete: in a run", op: "variant_delete", params: `{"id":"kelp","variant":"terse"}`, place: nested, want: failure("NESTED", `"verb":"variant delete"`)},
}
