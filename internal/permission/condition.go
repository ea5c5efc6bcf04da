package permission

import (
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

// Condition is one rule asked whether it speaks of a call, apart from any
// list: what `if` of a hook says. It reads as a rule that restricts does, so
// that a guard is rather called once too often: one command of a line is
// enough, and what cannot be known before it runs may be what the rule means.
type Condition struct {
	rule   *rule
	policy *Policy
}

// NewCondition reads a rule. The error says what is wrong with it.
func NewCondition(text, origin string, p Places) (*Condition, error) {
	r, bad := parse(profile.Rule{Text: text, Origin: origin, User: true}, "deny", p)
	if bad != nil {
		return nil, conditionError(bad)
	}
	c := &Condition{rule: r, policy: &Policy{Rules: &Rules{}, Places: p}}
	c.policy.Rules.deny.add(r)
	return c, nil
}

type conditionErr string

func (e conditionErr) Error() string { return string(e) }

func conditionError(e *RuleError) error {
	s := "the rule " + e.Rule.Text + " cannot be read: " + e.Message
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return conditionErr(s)
}

// Holds says whether the rule speaks of the call.
func (c *Condition) Holds(call tool.Call, eff tool.Effects) bool {
	for _, u := range c.policy.units(call, eff) {
		if len(u.restricting(&c.policy.Rules.deny)) > 0 {
			return true
		}
		unknown := u.broken != "" || u.seg != nil && u.seg.Dynamic != ""
		if unknown && (c.rule.tool == "bash" || fileTool(c.rule.tool)) {
			return true
		}
	}
	return false
}
