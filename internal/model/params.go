package model

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"larva.dev/larva/internal/tool"
)

// Reserved says whether a request owns this key of its body itself, so that
// model_params may not name it.
func Reserved(key string) bool {
	switch key {
	case "model", "messages", "system", "tools", "tool_choice", "stream", "stream_options", "input", "instructions":
		return true
	}
	return false
}

// HasParam says whether params name key.
func HasParam(params []Param, key string) bool {
	for _, p := range params {
		if p.Key == key {
			return true
		}
	}
	return false
}

// CheckParams refuses reserved keys, empty keys and values that are no JSON.
// name is the model's, for the error.
func CheckParams(name string, params []Param) error {
	for _, p := range params {
		switch {
		case Reserved(p.Key):
			return &Error{Model: name, Code: "RESERVED_PARAM", Message: fmt.Sprintf("model_params: %q belongs to the request itself", p.Key)}
		case p.Key == "":
			return &Error{Model: name, Code: "RESERVED_PARAM", Message: "model_params: a key is empty"}
		case !json.Valid(p.Value):
			return &Error{Model: name, Message: fmt.Sprintf("model_params: the value of %q is no JSON", p.Key)}
		}
	}
	return nil
}

// Body writes a request's JSON: own keys, and the params by their literal
// keys. A param replaces a default of the same key; own keys that are reserved
// can never be replaced, since CheckParams refuses those.
func Body(name string, own map[string]any, params []Param) (json.RawMessage, error) {
	if err := CheckParams(name, params); err != nil {
		return nil, err
	}
	all := make(map[string]any, len(own)+len(params))
	for k, v := range own {
		all[k] = v
	}
	for _, p := range params {
		all[p.Key] = p.Value
	}
	data, err := encode(all)
	if err != nil {
		return nil, &Error{Model: name, Message: "the request cannot be written as JSON: " + err.Error(), Cause: err}
	}
	return data, nil
}

// encode is json.Marshal without the HTML escapes, which only cost tokens'
// worth of bytes on the wire.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// SafeName maps a name or id that a model or another service made up onto what
// services accept: letters, digits, _ and -, at most limit of them.
func SafeName(s string, limit int) string {
	out := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
	if out == "" {
		return "unknown"
	}
	return out[:min(len(out), limit)]
}

// DataURL is an image as a data: URL.
func DataURL(i tool.Image) string {
	return "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// Input gives the arguments of a call as the model wrote them: input for a
// JSON object (nothing written is an empty one), else nil and the text.
func Input(written string) (input json.RawMessage, broken string) {
	text := bytes.TrimSpace([]byte(written))
	if len(text) == 0 {
		return json.RawMessage("{}"), ""
	}
	if text[0] != '{' || !json.Valid(text) {
		return nil, written
	}
	return text, ""
}
