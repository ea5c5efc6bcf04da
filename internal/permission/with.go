package permission

import "larva.dev/larva/internal/profile"

// With gives the rules and one more allow rule, the "always" of a person; the
// receiver, which may be nil, stays as it is.
func (r *Rules) With(allow profile.Rule, p Places) (*Rules, error) {
	if r == nil {
		r = &Rules{}
	}
	grown, errs := ParseRules(append(r.allow.texts(), allow), r.ask.texts(), r.deny.texts(), p)
	if len(errs) > 0 {
		return r, errs[0]
	}
	return grown, nil
}

// texts are the rules as they were read.
func (l list) texts() []profile.Rule {
	out := make([]profile.Rule, len(l.all), len(l.all)+1)
	for i, r := range l.all {
		out[i] = r.Rule
	}
	return out
}
