package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/frame"
)

// maxRepairs is how often a final answer that does not satisfy the schema is
// sent back.
const maxRepairs = 2

// CheckSchema says whether a final answer can be held to a JSON Schema: an
// object of draft 7 or 2020-12, whose references stay inside it.
func CheckSchema(raw []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be compiled: %v", p)
		}
	}()
	v, err := decode(raw)
	if err != nil {
		return err
	}
	if _, ok := v.(map[string]any); !ok {
		return errors.New("it is not an object")
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	s.Schema = ""
	if _, err = s.Resolve(nil); err != nil {
		return err
	}
	return knownTypes(v)
}

// knownTypes refuses a type that JSON Schema does not have: the library lets
// it pass, and then no answer ever satisfies it.
func knownTypes(v any) error {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := knownTypes(e); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, e := range v {
			switch name, isName := e.(string); {
			case k == "enum", k == "const", k == "default", k == "examples":
			case k == "type" && isName && !slices.Contains(schemaTypes, name):
				return fmt.Errorf("there is no type %q; the types are %s", name, strings.Join(schemaTypes, ", "))
			default:
				if err := knownTypes(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

var schemaTypes = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// answerNote tells the model of the schema; it stands in the system prompt, so
// that it holds after a compaction too.
func answerNote(schema json.RawMessage) string {
	return "# Final answer\n\nWhen you are done, answer with one JSON value that satisfies this JSON Schema, and with nothing else:\n" +
		frame.Block("schema", "", "", string(schema)) + "\n"
}

// satisfies checks the final answer. Where it does not satisfy the schema,
// what follows is a repair turn or the end.
func (r *run) satisfies() (end, bool) {
	value, why := r.schema.structured(r.last)
	if why == "" {
		r.structured = value
		return end{}, true
	}
	return r.repair(why), false
}

func (r *run) repair(why string) end {
	if r.repairs >= maxRepairs {
		r.Notice("schema", "the answer does not satisfy the JSON schema: "+why)
		return end{reason: event.StopSchema}
	}
	r.repairs++
	r.generated(systemNote("The answer does not satisfy the JSON Schema: " + brief(why) + "\nAnswer again with one JSON value that does, and with nothing else."))
	return end{}
}

// structured finds the value in an answer that satisfies the schema: the whole
// answer, else the last code block, else the last value in the prose that
// does. Otherwise why says what is wrong with the likeliest one.
func (c *check) structured(answer string) (value json.RawMessage, why string) {
	for _, found := range [][]string{{answer}, fenced(answer), embedded(answer)} {
		for i := len(found) - 1; i >= 0; i-- {
			v, err := decode([]byte(found[i]))
			if err != nil {
				continue
			}
			problem := c.fault(v)
			if problem == "" {
				out, err := event.Encode(v)
				if err == nil {
					return out, ""
				}
				problem = err.Error()
			}
			if why == "" {
				why = problem
			}
		}
	}
	if why == "" {
		why = "it holds no JSON value"
		if _, err := decode([]byte(answer)); err != nil && strings.HasPrefix(strings.TrimSpace(answer), "{") {
			why = "it is no JSON: " + err.Error()
		}
	}
	return nil, why
}

// fault says what is wrong with a value, "" for nothing.
func (c *check) fault(v any) (problem string) {
	defer func() {
		if p := recover(); p != nil {
			problem = fmt.Sprintf("it cannot be checked: %v", p)
		}
	}()
	if c.resolved == nil {
		return "its schema cannot be compiled"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	var plain any // with numbers as the library knows them
	if err := json.Unmarshal(b, &plain); err != nil {
		return err.Error()
	}
	err = c.resolved.Validate(plain)
	if err == nil {
		return ""
	}
	if found := walk(nil, "", plain, c.schema); len(found) > 0 {
		return strings.Join(found, "; ")
	}
	return strings.TrimPrefix(err.Error(), "validating root: ")
}

// fenced gives the texts of the code blocks.
func fenced(s string) []string {
	var out []string
	parts := strings.Split(s, fence)
	for i := 1; i < len(parts); i += 2 {
		body := parts[i]
		if info, rest, ok := strings.Cut(body, "\n"); ok && !strings.ContainsAny(info, "{[\"") {
			body = rest
		}
		out = append(out, body)
	}
	return out
}

// maxEmbedded is at how many places of an answer a value is looked for.
const maxEmbedded = 1000

// embedded gives the objects and lists that stand in prose, in order, none
// within another.
func embedded(s string) []string {
	var out []string
	for tries := 0; tries < maxEmbedded; tries++ {
		i := strings.IndexAny(s, "{[")
		if i < 0 {
			break
		}
		s = s[i:]
		dec := json.NewDecoder(strings.NewReader(s))
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			s = s[1:]
			continue
		}
		out = append(out, string(raw))
		s = s[dec.InputOffset():]
	}
	return out
}
