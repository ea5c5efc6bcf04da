package profile

import (
	"slices"
	"strings"
)

// USD is what one request costs: tokens of the prompt that no cache held or
// took in, of the answer, and of the prompt that a cache held and took in.
// Requests are priced one by one, since a long prompt has a price of its own.
func (p Price) USD(input, output, cacheRead, cacheWrite int) float64 {
	if l := p.Long; l != nil && input+cacheRead+cacheWrite > l.Above {
		p = Price{Input: l.Input, Output: l.Output, Cached: l.Cached, Written: l.Written}
	}
	if p.Cached == 0 {
		p.Cached = p.Input
	}
	if p.Written == 0 {
		p.Written = p.Input
	}
	return (float64(input)*p.Input + float64(output)*p.Output +
		float64(cacheRead)*p.Cached + float64(cacheWrite)*p.Written) / 1e6
}

// PriceOf is what the profile says a model costs and holds, by provider/model;
// nil where it says nothing. A dated name is priced as the one without a date,
// and a model of a provider as that of another one at the same address.
func (e *Effective) PriceOf(name string) *Price {
	provider, model, _ := strings.Cut(name, "/")
	for _, p := range e.sameService(provider) {
		for _, m := range []string{model, undated(model)} {
			if p, ok := e.Profile.Prices[p+"/"+m]; ok {
				return &p
			}
		}
	}
	return nil
}

// sameService is provider and the others at its address, sorted.
func (e *Effective) sameService(provider string) []string {
	var others []string
	base := e.Profile.Providers[provider].BaseURL
	for name, p := range e.Profile.Providers {
		if base != "" && p.BaseURL == base && name != provider {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	return append([]string{provider}, others...)
}

// undated takes -20251101 or -2025-11-01 off the end of a name.
func undated(name string) string {
	for _, form := range []string{"-dddddddd", "-dddd-dd-dd"} {
		at := len(name) - len(form)
		if at > 0 && fits(name[at:], form) {
			return name[:at]
		}
	}
	return name
}

func fits(s, form string) bool {
	for i := range len(form) {
		if digit := s[i] >= '0' && s[i] <= '9'; digit != (form[i] == 'd') || !digit && s[i] != form[i] {
			return false
		}
	}
	return true
}
