package cli

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// textFields take the text after "=" as it is; every other field takes JSON,
// and what is no JSON is a string.
var textFields = []string{"id", "description", "prompt", "model", "spec_version", "compaction_prompt", "spec_digest"}

// pairs reads KEY=VALUE arguments, typed by the field. Keys stay as written;
// of a key twice the last one wins.
func pairs(flag string, args []string) (*spec.Object, error) {
	o := &spec.Object{}
	for _, a := range args {
		key, text, ok := strings.Cut(a, "=")
		if !ok || key == "" {
			return nil, diag.Usage("%s %s: expected KEY=VALUE", flag, a).With("value", a)
		}
		if !utf8.ValidString(a) {
			return nil, diag.Usage("%s %s: invalid UTF-8", flag, strings.ToValidUTF8(key, "\ufffd"))
		}
		value, err := typed(key, text)
		if err != nil {
			return nil, diag.Usage("%s %s: %v", flag, key, err).With("value", a)
		}
		o.Set(key, value)
	}
	return o, nil
}

// typed gives text the type of the field that key names. JSON that breaks a
// limit (a key twice, a number beyond float64) is an error and never a string.
func typed(key, text string) (any, error) {
	if slices.Contains(textFields, key) || !json.Valid([]byte(text)) {
		return text, nil
	}
	v, err := spec.Parse([]byte(text))
	var syntax *spec.SyntaxError
	if errors.As(err, &syntax) {
		return nil, errors.New(syntax.Message) // a place inside an argument helps nobody
	}
	return v, err
}

// nested turns dotted keys into objects: a.b=1 becomes {"a":{"b":1}}. A key
// with nothing between two dots is a slip of the hand.
func nested(flag string, flat *spec.Object) (*spec.Object, error) {
	for _, m := range flat.Members {
		if slices.Contains(strings.Split(m.Key, "."), "") {
			return nil, diag.Usage("%s %s: an empty part between dots", flag, m.Key).With("value", m.Key)
		}
	}
	return spec.Nest(flat), nil
}
