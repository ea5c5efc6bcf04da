package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/tool"
)

// The faults of step 1.
const (
	faultUnknown   = "unknown_tool"
	faultJSON      = "invalid_json"
	faultArguments = "invalid_arguments"
)

// maxSchemaText is how much of a tool's schema an error repeats: enough for
// every built-in tool, too little to flood the context with a server's.
const maxSchemaText = 2000

// check is a tool's compiled schema. A nil resolved is a schema that is empty
// or that cannot be compiled: it is not enforced.
type check struct {
	schema   *jsonschema.Schema
	resolved *jsonschema.Resolved
}

// checkOf compiles a tool's schema once a run.
func (l *Loop) checkOf(s tool.Spec) *check {
	if c, ok := l.checks[s.Name]; ok {
		return c
	}
	c := compile(s.Schema)
	if l.checks == nil {
		l.checks = map[string]*check{}
	}
	l.checks[s.Name] = c
	return c
}

func compile(raw json.RawMessage) *check {
	var s jsonschema.Schema
	if !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) || json.Unmarshal(raw, &s) != nil {
		return &check{}
	}
	s.Schema = "" // a dialect that the library does not know is no reason to skip the rest
	resolved, err := s.Resolve(nil)
	if err != nil {
		return &check{}
	}
	return &check{schema: &s, resolved: resolved}
}

// validate is step 1: it gives the input as it is judged and run, or the
// result that tells the model what is wrong.
func (l *Loop) validate(s tool.Spec, input json.RawMessage) (json.RawMessage, *tool.Result) {
	args, fault := object(s, input)
	if fault != nil {
		return nil, fault
	}
	c := l.checkOf(s)
	if c.schema != nil {
		args = tidy(args, c.schema)
		if problems := c.problems(args); len(problems) > 0 {
			return nil, badArguments(s, problems)
		}
	}
	out, err := event.Encode(args)
	if err != nil {
		return nil, badArguments(s, []string{err.Error()})
	}
	return out, nil
}

// object reads the arguments as one JSON object, also where the model wrote
// the object into a string.
func object(s tool.Spec, input json.RawMessage) (map[string]any, *tool.Result) {
	v, err := decode(input)
	if text, ok := v.(string); ok && err == nil {
		v, err = decode([]byte(text))
	}
	if args, ok := v.(map[string]any); ok && err == nil {
		return args, nil
	}
	why := "it is not an object"
	if err != nil {
		why = err.Error()
	}
	return nil, &tool.Result{IsError: true, Fault: faultJSON, Output: fmt.Sprintf(
		"INVALID_JSON: the arguments of %s are no JSON object: %s. They may have been cut off. Send the whole call again, in smaller parts if it is long.", s.Name, why)}
}

// decode reads one JSON value with its numbers as they are written.
func decode(data []byte) (any, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("nothing was sent")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("more follows the first value")
	}
	return v, nil
}

// tidy is what we forgive: null is "not given" where the schema does not take
// null, a value written as JSON text is read where the schema wants another
// type than string, and a property that a closed schema does not know, or
// that differs from a known one by case alone, is dropped: tools decode
// without regard to case, and permission must not judge another value than
// the tool sees.
func tidy(args map[string]any, s *jsonschema.Schema) map[string]any {
	closed := len(s.PatternProperties) == 0 && s.AdditionalProperties != nil && isFalse(s.AdditionalProperties)
	out := make(map[string]any, len(args))
	for k, v := range args {
		sub, known := s.Properties[k]
		switch {
		case known && v == nil && !takesNull(sub):
		case known:
			out[k] = tidyValue(v, sub)
		case closed || foldsInto(k, s.Properties):
		default:
			out[k] = v
		}
	}
	return out
}

func tidyValue(v any, s *jsonschema.Schema) any {
	if text, ok := v.(string); ok && s.Type != "" && s.Type != "string" {
		if parsed, err := decode([]byte(text)); err == nil && jsonType(parsed, s.Type) {
			v = parsed
		}
	}
	switch v := v.(type) {
	case map[string]any:
		if s.Properties != nil {
			return tidy(v, s)
		}
	case []any:
		if s.Items != nil {
			out := make([]any, len(v))
			for i := range v {
				out[i] = tidyValue(v[i], s.Items)
			}
			return out
		}
	}
	return v
}

func isFalse(s *jsonschema.Schema) bool {
	b, err := json.Marshal(s)
	return err == nil && string(b) == "false"
}

func foldsInto(key string, props map[string]*jsonschema.Schema) bool {
	for p := range props {
		if strings.EqualFold(p, key) {
			return true
		}
	}
	return false
}

// takesNull says whether a schema names null among its types. One that names
// no type would take it too, but for an argument null still means "not given".
func takesNull(s *jsonschema.Schema) bool {
	return s.Type == "null" || slices.Contains(s.Types, "null") ||
		slices.ContainsFunc(s.AnyOf, takesNull) || slices.ContainsFunc(s.OneOf, takesNull)
}

func badArguments(s tool.Spec, problems []string) *tool.Result {
	schema := string(s.Schema)
	if len(schema) > maxSchemaText {
		schema = strings.ToValidUTF8(schema[:maxSchemaText], "") + "…"
	}
	return &tool.Result{IsError: true, Fault: faultArguments, Output: fmt.Sprintf(
		"INVALID_ARGUMENTS: %s: %s. The schema is %s", s.Name, strings.Join(problems, "; "), schema)}
}

// unknownTool answers a call for a tool that is not offered.
func (l *Loop) unknownTool(name string) *tool.Result {
	var names []string
	for _, s := range l.Tools.Specs() {
		names = append(names, s.Name)
	}
	text := fmt.Sprintf("UNKNOWN_TOOL: there is no tool %q.", name)
	if near := meant(name, names); near != "" {
		text += fmt.Sprintf(" Did you mean %s?", near)
	}
	if len(names) > 0 {
		text += " The tools are " + strings.Join(names, ", ") + "."
	}
	return &tool.Result{IsError: true, Fault: faultUnknown, Output: text}
}
