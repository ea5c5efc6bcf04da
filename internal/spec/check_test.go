package spec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const good = `"id":"tide-clerk","description":"Keeps harbour tide tables tidy and current.","prompt":"Record each tide in order.","model":"acme/gamma-2","capabilities":{"filesystem":"read_write","shell":"read_only"},"spec_version":"0.1.0"`

func object(t testing.TB, text string) *Object {
	t.Helper()
	o, err := ParseObject([]byte(text))
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return o
}

// with gives the good spec with its field replaced, or removed for "".
func with(t testing.TB, field, value string) *Object {
	o := object(t, "{"+good+"}")
	if value == "" {
		o.Delete(field)
		return o
	}
	v, err := Parse([]byte(value))
	if err != nil {
		t.Fatalf("parse %s: %v", value, err)
	}
	o.Set(field, v)
	return o
}

// lines gives issues as "CODE {details}" lines.
func lines(issues []Issue) []string {
	out := []string{}
	for _, i := range issues {
		out = append(out, i.Code+" "+string(AppendCanonical(nil, i.Details)))
	}
	return out
}

func TestCheckOneField(t *testing.T) {
	t.Parallel()
	ids := func(n int) string {
		s := make([]string, n)
		for i := range s {
			s[i] = fmt.Sprintf(`"a%d"`, i)
		}
		return "[" + strings.Join(s, ",") + "]"
	}
	for _, c := range []struct{ field, value, want string }{
		{"id", `"a"`, ""},
		{"id", `"Tide_Clerk"`, `INVALID_ID_FORMAT {"field":"id","value":"Tide_Clerk"}`},
		{"id", `"a\n"`, `INVALID_ID_FORMAT {"field":"id","value":"a\n"}`},
		{"id", `7`, `INVALID_ID_FORMAT {"field":"id","value":7}`},
		{"id", `null`, `INVALID_ID_FORMAT {"field":"id","value":null}`},
		{"id", `""`, `EMPTY_REQUIRED_FIELD {"field":"id","value":""}`},
		{"id", `"\u2003"`, `EMPTY_REQUIRED_FIELD {"field":"id","value":"\u2003"}`},
		{"id", ``, `MISSING_REQUIRED_FIELD {"field":"id"}`},
		{"spec_version", `"0.2.0"`, `INVALID_SPEC_VERSION {"field":"spec_version","value":"0.2.0"}`},
		{"spec_version", `null`, `INVALID_SPEC_VERSION {"field":"spec_version","value":null}`},
		{"spec_version", `" "`, `INVALID_SPEC_VERSION {"field":"spec_version","value":" "}|EMPTY_REQUIRED_FIELD {"field":"spec_version","value":" "}`},
		{"prompt", `null`, `INVALID_FIELD_TYPE {"field":"prompt","value":null}`},
		{"prompt", `" \u00a0\u0085"`, `EMPTY_REQUIRED_FIELD {"field":"prompt","value":" \u00a0\u0085"}`},
		{"description", `[1.0]`, `INVALID_FIELD_TYPE {"field":"description","value":[1.0]}`},
		{"model", `true`, `INVALID_FIELD_TYPE {"field":"model","value":true}`},
		{"compaction_prompt", `""`, ""},
		{"compaction_prompt", `3`, `INVALID_FIELD_TYPE {"field":"compaction_prompt","value":3}`},
		{"spec_digest", `"x"`, ""},
		{"spec_digest", `null`, `INVALID_FIELD_TYPE {"field":"spec_digest","value":null}`},
		{"capabilities", `{}`, ""},
		{"capabilities", `null`, `INVALID_CAPABILITIES_SHAPE {"field":"capabilities","value":null}`},
		{"capabilities", `{"shell":"rw","git":3}`, `INVALID_POSTURE {"field":"capabilities","tool":"shell","value":"rw"}|INVALID_POSTURE {"field":"capabilities","tool":"git","value":3}`},
		{"model_params", `[]`, `INVALID_MODEL_PARAMS {"field":"model_params","value":[]}`},
		{"model_params", `{"top_k":1.0,"temperature":true,"x":null}`, `INVALID_MODEL_PARAMS {"field":"model_params.top_k","value":1.0}|INVALID_MODEL_PARAMS {"field":"model_params.temperature","value":true}`},
		{"model_params", `{"temperature":2.0000000000000000000001}`, `INVALID_MODEL_PARAMS {"field":"model_params.temperature","value":2.0}`},
		{"model_params", `{"temperature":2.000,"top_p":1e0,"top_k":1,"max_tokens":123456789012345678901234567890}`, ""},
		{"model_params", `{"max_tokens":0}`, `INVALID_MODEL_PARAMS {"field":"model_params.max_tokens","value":0}`},
		{"can_spawn", `null`, `INVALID_CAN_SPAWN {"field":"can_spawn","value":null}`},
		{"can_spawn", `"all"`, `INVALID_CAN_SPAWN {"field":"can_spawn","value":"all"}`},
		{"can_spawn", `["a","a","B c",3,""]`, `INVALID_CAN_SPAWN {"duplicate_targets":["a"],"field":"can_spawn","invalid_targets":["B c",3,""]}`},
		{"can_spawn", `["b","a","b","a","b"]`, `INVALID_CAN_SPAWN {"duplicate_targets":["a","b"],"field":"can_spawn","invalid_targets":[]}`},
		{"can_spawn", ids(100), ""},
		{"can_spawn", ids(101), `INVALID_CAN_SPAWN {"count":101,"field":"can_spawn"}`},
		{"variant", `"x"`, `EXTRA_FIELD_NOT_ALLOWED {"field":"variant","value":"x"}`},
		{"modle", `{"a":[1]}`, `EXTRA_FIELD_NOT_ALLOWED {"field":"modle","value":{"a":[1]}}`},
		{"#PersonaSpec", `1`, `EXTRA_FIELD_NOT_ALLOWED {"field":"#PersonaSpec","value":1}`},
	} {
		want := []string{}
		if c.want != "" {
			want = strings.Split(c.want, "|")
		}
		if diff := cmp.Diff(lines(Check(with(t, c.field, c.value))), want); diff != "" {
			t.Errorf("%s = %.60s: got -, want +\n%s", c.field, c.value, diff)
		}
	}
}

func TestCheckOrder(t *testing.T) {
	t.Parallel()
	o := object(t, `{"zeta":1,"can_spawn":3,"capabilities":{"git":"x"},"prompt":4,"model_params":{"top_p":2},
		"spec_digest":1,"compaction_prompt":2,"model":" ","description":5,"spec_version":"9","id":"A","tools":{}}`)
	want := []string{
		`INVALID_ID_FORMAT {"field":"id","value":"A"}`,
		`INVALID_SPEC_VERSION {"field":"spec_version","value":"9"}`,
		`EMPTY_REQUIRED_FIELD {"field":"model","value":" "}`,
		`INVALID_FIELD_TYPE {"field":"description","value":5}`,
		`INVALID_FIELD_TYPE {"field":"compaction_prompt","value":2}`,
		`INVALID_FIELD_TYPE {"field":"spec_digest","value":1}`,
		`INVALID_MODEL_PARAMS {"field":"model_params.top_p","value":2}`,
		`INVALID_FIELD_TYPE {"field":"prompt","value":4}`,
		`INVALID_POSTURE {"field":"capabilities","tool":"git","value":"x"}`,
		`INVALID_CAN_SPAWN {"field":"can_spawn","value":3}`,
		`EXTRA_FIELD_NOT_ALLOWED {"field":"zeta","value":1}`,
		`EXTRA_FIELD_NOT_ALLOWED {"field":"tools","value":{}}`,
	}
	if diff := cmp.Diff(lines(Check(o)), want); diff != "" {
		t.Errorf("got -, want +\n%s", diff)
	}
	want = nil
	for _, f := range []string{"id", "description", "prompt", "model", "capabilities", "spec_version"} {
		want = append(want, `MISSING_REQUIRED_FIELD {"field":"`+f+`"}`)
	}
	if diff := cmp.Diff(lines(Check(&Object{})), want); diff != "" {
		t.Errorf("empty object: got -, want +\n%s", diff)
	}
}

// The fields that Check has an order for are those of the schema, in its
// order; the halves of the registry hold all of them but the digest.
func TestFieldOrder(t *testing.T) {
	t.Parallel()
	var closed []string
	for _, c := range constraints {
		if c.Kind == Closed && c.Path == "" {
			closed = c.Values
		}
	}
	if diff := cmp.Diff(Fields(), closed); diff != "" {
		t.Errorf("Check's fields -, the schema's +\n%s", diff)
	}
	halves := map[string]bool{"spec_digest": true}
	for _, f := range append(append([]string{}, ContractFields...), ImplementationFields...) {
		halves[f] = true
	}
	for _, f := range closed {
		if !halves[f] {
			t.Errorf("%s is in neither half", f)
		}
	}
	if len(halves) != len(closed) {
		t.Errorf("got %d fields in the halves, want %d", len(halves), len(closed))
	}
}

// What Check hands out is the caller's; the table stays.
func TestConstraintsIsACopy(t *testing.T) {
	t.Parallel()
	Constraints()[0].Code = "CHANGED"
	if got := Constraints()[0].Code; got == "CHANGED" {
		t.Error("a caller changed the table")
	}
}

func TestCheckMessages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, value, want string }{
		{"id", `"My Persona"`, `id must be kebab-case: a-z, 0-9 and single hyphens, at most 128 characters, got "My Persona"`},
		{"desciption", `"x"`, `unknown field "desciption" (did you mean "description"?)`},
		{"variant", `"x"`, `variant is not part of a PersonaSpec`},
		{"capabilities", `{"fs":"reed_only"}`, `capabilities.fs must be one of "none", "read_only", "read_write", "destructive", got "reed_only" (did you mean "read_only"?)`},
		{"can_spawn", `"all"`, `can_spawn must be true or false or a list, got "all"`},
		{"model_params", `{"top_k":"5"}`, `model_params.top_k must be an integer, got "5"`},
		{"model_params", `{"temperature":3}`, `model_params.temperature must be a number from 0 to 2, got 3`},
		{"prompt", ``, `prompt is required`},
		{"capabilities", `{"a\u001b[31m\nb":1}`, `"capabilities.a\x1b[31m\nb" must be one of "none", "read_only", "read_write", "destructive", got 1`},
	} {
		issues := Check(with(t, c.field, c.value))
		if len(issues) != 1 || issues[0].Message != c.want {
			t.Errorf("%s = %s:\ngot  %+v\nwant %s", c.field, c.value, issues, c.want)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	o := with(b, "model_params", `{"temperature":0.7,"top_p":0.95,"max_tokens":4096}`)
	b.ReportAllocs()
	for b.Loop() {
		if issues := Check(o); issues != nil {
			b.Fatal(issues)
		}
	}
}
