package permission

import "larva.dev/larva/internal/profile"

// With gives the rules and one more allow rule, the "always" of a person; the
// receiver, which may be nil, stays as it is.
func (r *Rules) With(allow profile.Rule, p Places) (*Rules, error) {
	if r == nil {
		r = &Rules{}
	}
	allows := append(r.allow[:len(r.allow):len(r.allow)], allow)
	grown, errs := ParseRules(allows, r.ask, r.deny, p)
	if len(errs) > 0 {
		return r, errs[0]
	}
	return grown, nil
}
