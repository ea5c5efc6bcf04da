package mcpserve

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"larva.dev/larva/internal/ops"
)

// The envelope's members must be told from a result's.
func TestOutputSchemaTellsResultsFromFailures(t *testing.T) {
	t.Parallel()
	for _, o := range ops.Operations() {
		var result struct{ Properties map[string]any }
		if err := json.Unmarshal(o.Output(), &result); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"code", "details", "message", "numeric_code"} {
			if _, ok := result.Properties[name]; ok {
				t.Errorf("%s: its result has a member %s, which is the envelope's", o.Name, name)
			}
		}
		fits := compiled(t, outputSchema(o))
		for text, want := range map[string]bool{
			`{"code":"INVALID_INPUT","numeric_code":1,"message":"no","details":{"field":"x"}}`: true,
			`{"code":"INVALID_INPUT","numeric_code":1,"message":"no"}`:                         false,
			`{"code":"INVALID_INPUT","numeric_code":"1","message":"no","details":{}}`:          false,
			`{}`:            false,
			`{"oops":true}`: false,
		} {
			if got := fits(text) == nil; got != want {
				t.Errorf("%s: the schema takes %s: got %t, want %t", o.Name, text, got, want)
			}
		}
	}
}

// Clients on the TypeScript SDK throw away what the listed schema does not
// describe, failures too.
func TestStructuredContentFitsWhatIsListed(t *testing.T) {
	t.Parallel()
	s := connect(t, Options{Registry: store(t, "a")}, "", nil)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	works := map[string]string{
		"validate": `{"spec":{"x":1}}`, "list": `{}`, "resolve": `{"id":"a"}`, "export": `{"all":true}`, "variant_list": `{"id":"a"}`,
		"register": `{"spec":` + persona("a") + `,"variant":"b"}`, "update": `{"id":"a","patches":{}}`,
		"update_batch": `{"where":{},"patches":{},"dry_run":true}`, "clone": `{"source_id":"a","new_id":"c"}`,
		"variant_activate": `{"id":"a","variant":"b"}`, "variant_delete": `{"id":"a","variant":"default"}`,
		"delete": `{"id":"c"}`, "clear": `{"confirm":"CLEAR REGISTRY"}`,
	}
	tools := map[string]*mcp.Tool{}
	for _, tool := range list.Tools {
		tools[tool.Name] = tool
	}
	for _, name := range []string{"validate", "list", "resolve", "export", "register", "variant_list", "update", "update_batch", "clone",
		"variant_activate", "variant_delete", "delete", "clear"} {
		schema, err := json.Marshal(tools[toolPrefix+name].OutputSchema)
		if err != nil {
			t.Fatal(err)
		}
		fits := compiled(t, schema)
		for arguments, wantError := range map[string]bool{`{"nonsense":1}`: true, works[name]: false} {
			got, isError := callTool(t, s, toolPrefix+name, json.RawMessage(arguments))
			text, _ := json.Marshal(got)
			if isError != wantError {
				t.Errorf("%s %s: got %s, want a failure: %t", name, arguments, text, wantError)
			}
			if err := fits(string(text)); err != nil {
				t.Errorf("%s gave %s, which the listed schema refuses: %v", name, text, err)
			}
		}
	}
}

// compiled gives a schema as its readers would use it.
func compiled(t *testing.T, schema []byte) func(text string) error {
	t.Helper()
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err == nil {
		err = c.AddResource("x.json", doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("x.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return s.Validate(v)
	}
}
