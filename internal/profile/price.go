package profile

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
