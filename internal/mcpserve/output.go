package mcpserve

import (
	"encoding/json"

	"larva.dev/larva/internal/ops"
)

// failureRequired and failureProperties describe the envelope (envelope).
const (
	failureRequired   = `["code","details","message","numeric_code"]`
	failureProperties = `{
		"code":{"type":"string","description":"Only of a call that failed: which failure, PERSONA_NOT_FOUND for instance."},
		"numeric_code":{"type":"integer","description":"Only of a call that failed: the code as a number."},
		"message":{"type":"string","description":"Only of a call that failed: what is wrong, for a person."},
		"details":{"type":"object","additionalProperties":true,"description":"Only of a call that failed: what belongs to the code."}}`
)

// outputSchema is what a tool's structured content may be: the operation's
// result or the envelope. Clients on the TypeScript SDK hold failures against
// the schema too, and throw one away that it does not describe.
//
// The members of both stand side by side, because clients look for properties
// at the top; which of them come together, anyOf says.
func outputSchema(o ops.Operation) json.RawMessage {
	var s struct {
		Type       string                     `json:"type"`
		AnyOf      []required                 `json:"anyOf"`
		Properties map[string]json.RawMessage `json:"properties"`
		Closed     bool                       `json:"additionalProperties"`
		Required   json.RawMessage            `json:"required,omitempty"`
		Defs       json.RawMessage            `json:"$defs,omitempty"`
	}
	mustUnmarshal(o.Output(), &s)
	s.AnyOf = []required{{s.Required}, {json.RawMessage(failureRequired)}}
	s.Required = nil
	mustUnmarshal([]byte(failureProperties), &s.Properties) // adds to what is there
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // it was JSON a moment ago
	}
	return data
}

type required struct {
	Required json.RawMessage `json:"required"`
}

// mustUnmarshal reads JSON that is part of the program.
func mustUnmarshal(data []byte, into any) {
	if err := json.Unmarshal(data, into); err != nil {
		panic(err)
	}
}
