package ops

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compile gives a schema as its readers would use it.
func compile(t testing.TB, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("x.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("x.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t testing.TB, raw json.RawMessage, text string) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, raw).Validate(v)
}

// fits holds a result against the operation's output schema.
func fits(t testing.TB, o Operation, v any) {
	t.Helper()
	text := canon(v)
	if o.List {
		text = `{"result":` + text + `}`
	}
	if err := valid(t, o.Output(), text); err != nil {
		t.Errorf("%s gave %s, which its output schema refuses: %v", o.Name, text, err)
	}
}

type shape struct {
	Schema               string `json:"$schema"`
	Type                 string
	AdditionalProperties any
	Properties           map[string]json.RawMessage
	Required             []string
	Defs                 map[string]json.RawMessage `json:"$defs"`
}

// The table and the schema have the same parameters.
func TestInputSchemas(t *testing.T) {
	t.Parallel()
	samples := map[Type]string{String: `"a"`, Boolean: `true`, Object: `{}`, Strings: `["a"]`}
	for _, o := range Operations() {
		var s shape
		if err := json.Unmarshal(o.Input(), &s); err != nil {
			t.Fatalf("%s: %v", o.Name, err)
		}
		if s.Type != "object" || s.AdditionalProperties != false || s.Schema != "" {
			t.Errorf("%s: got type %q, additionalProperties %v and $schema %q, want a closed object without one", o.Name, s.Type, s.AdditionalProperties, s.Schema)
		}
		var names, required []string
		for _, p := range o.Params {
			names = append(names, p.Name)
			if p.Required {
				required = append(required, p.Name)
			}
			one := s.Properties[p.Name]
			if one == nil {
				t.Errorf("%s: the schema has no %s", o.Name, p.Name)
				continue
			}
			for typ, sample := range samples {
				want := typ == p.Type || p.Type == Any && typ == Object
				if p.Name == "spec" && typ == Object {
					sample = clerk
				}
				if got := valid(t, within(t, one, s.Defs), sample) == nil; got != want {
					t.Errorf("%s: the schema of %s takes %s: got %v, want %v", o.Name, p.Name, sample, got, want)
				}
			}
		}
		if len(s.Properties) != len(names) {
			t.Errorf("%s: got %d properties, want %d", o.Name, len(s.Properties), len(names))
		}
		slices.Sort(required)
		if !slices.Equal(s.Required, required) {
			t.Errorf("%s: got required %q, want %q", o.Name, s.Required, required)
		}
	}
}

// within is one property's schema with the definitions of the whole.
func within(t *testing.T, property json.RawMessage, defs map[string]json.RawMessage) json.RawMessage {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(property, &m); err != nil {
		t.Fatal(err)
	}
	if defs != nil {
		m["$defs"] = defs
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Parameters that succeed are what the schema asks for, null apart.
func TestInputSchemasTakeWhatWorks(t *testing.T) {
	t.Parallel()
	for _, c := range successes(t) {
		o, _ := Find(c.op)
		if err := valid(t, o.Input(), c.params); err != nil && !strings.Contains(c.params, "null") {
			t.Errorf("%s: %s: %v", c.op, c.params, err)
		}
	}
}

// Output is an object, closed, in one line; only lists are wrapped.
func TestOutputSchemas(t *testing.T) {
	t.Parallel()
	for _, o := range Operations() {
		var s shape
		if err := json.Unmarshal(o.Output(), &s); err != nil {
			t.Fatalf("%s: %v", o.Name, err)
		}
		if s.Type != "object" || s.AdditionalProperties != false || len(s.Required) == 0 || s.Schema != "" {
			t.Errorf("%s: got %s, want a closed object with required members", o.Name, o.Output())
		}
		if _, wrapped := s.Properties["result"]; wrapped != o.List {
			t.Errorf("%s: got wrapped %v, want %v", o.Name, wrapped, o.List)
		}
		for _, raw := range []json.RawMessage{o.Input(), o.Output()} {
			if bytes.ContainsAny(raw, "\n") || bytes.Contains(raw, []byte(`\\p`)) {
				t.Errorf("%s: got %s, want one line and expressions that every language knows", o.Name, raw)
			}
		}
	}
}
