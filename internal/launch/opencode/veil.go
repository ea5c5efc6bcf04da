package opencode

import (
	"encoding/json"
	"regexp"
	"strings"

	"larva.dev/larva/internal/spec"
)

// secretKey is a name whose text value is a secret.
var secretKey = regexp.MustCompile(`(?i)(key|token|secret|passw|credential|authorization|cookie)`)

// Veiled is the plan to be shown: a text under a name that says so is hidden,
// and so is all that a header or an environment of an MCP server holds.
func (p *Plan) Veiled() *Plan {
	out := *p
	out.Config, _ = veiled(p.Config, false).(*spec.Object)
	out.Set = nil
	for _, e := range p.Set {
		if e.Name == contentKey {
			if text, err := json.Marshal(out.Config); err == nil {
				e.Value = string(text)
			} else {
				e.Value = "(hidden)"
			}
		}
		out.Set = append(out.Set, e)
	}
	out.Argv = append([]string(nil), p.Argv...)
	return &out
}

func veiled(v any, all bool) any {
	switch v := v.(type) {
	case *spec.Object:
		if v == nil {
			return v
		}
		out := &spec.Object{}
		for _, m := range v.Members {
			value := m.Value
			if s, ok := value.(string); ok && s != "" && (all || secretKey.MatchString(m.Key)) && !strings.HasPrefix(s, "{env:") && !strings.HasPrefix(s, "{file:") {
				value = "(hidden)"
			} else {
				value = veiled(value, all || m.Key == "headers" || m.Key == "environment")
			}
			out.Members = append(out.Members, spec.Member{Key: m.Key, Value: value})
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = veiled(v[i], all)
		}
		return out
	}
	return v
}
