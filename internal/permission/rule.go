package permission

import (
	"larva.dev/larva/internal/profile"
)

// Rules are parsed rules, read-only.
type Rules struct {
	allow, ask, deny []profile.Rule
}

// RuleError is a rule that cannot be read. It is never skipped.
type RuleError struct {
	Rule    profile.Rule
	List    string // allow, ask or deny
	Message string
	Hint    string
}

func (e RuleError) Error() string {
	s := e.List + " rule " + e.Rule.Text + ": " + e.Message
	if e.Rule.Origin != "" {
		s = e.Rule.Origin + ": " + s
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// ParseRules reads the rules of all layers.
func ParseRules(allow, ask, deny []profile.Rule, p Places) (*Rules, []RuleError) {
	return &Rules{allow: allow, ask: ask, deny: deny}, nil
}
