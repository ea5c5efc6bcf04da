package profile

import (
	"math"
	"testing"
)

func TestPriceUSD(t *testing.T) {
	t.Parallel()
	plain := Price{Input: 2, Output: 10}
	cached := Price{Input: 2, Output: 10, Cached: 0.2, Written: 2.5}
	tiered := Price{Input: 2, Output: 10, Cached: 0.2, Long: &LongPrice{Above: 1000, Input: 4, Output: 15, Cached: 0.4}}
	for _, c := range []struct {
		name                     string
		price                    Price
		input, output, cr, write int
		want                     float64
	}{
		{"nothing", plain, 0, 0, 0, 0, 0},
		{"input and output", plain, 1e6, 1e6, 0, 0, 12},
		{"cached tokens without a price of their own", plain, 0, 0, 1e6, 1e6, 4},
		{"cached tokens with one", cached, 0, 0, 1e6, 1e6, 2.7},
		{"a prompt at the limit", tiered, 500, 1000, 500, 0, 0.0111},
		{"a prompt above it, all of it", tiered, 501, 1000, 500, 0, 0.017204},
		{"the cache counts into the prompt", tiered, 0, 0, 500, 501, 0.002204},
	} {
		if got := c.price.USD(c.input, c.output, c.cr, c.write); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestPriceOf(t *testing.T) {
	t.Parallel()
	e := &Effective{Profile: Profile{Prices: map[string]Price{"a/claude-opus-4-5": {Input: 1}, "a/claude-opus-4-5-20990101": {Input: 2}, "b/gpt-5": {Input: 3}},
		Providers: map[string]Provider{"b": {BaseURL: "https://b"}, "c": {BaseURL: "https://b"}, "d": {}, "a": {}}}}
	for name, want := range map[string]float64{
		"a/claude-opus-4-5": 1, "a/claude-opus-4-5-20251101": 1, "a/claude-opus-4-5-20990101": 2, "b/gpt-5-2025-08-07": 3,
		"c/gpt-5": 3, "c/gpt-5-2025-08-07": 3, "d/gpt-5": 0, "d/claude-opus-4-5": 0, "b/gpt-5-mini": 0, "b/gpt-5-2025-08": 0, "b/gpt-52025-08-07": 0, "a/gpt-5": 0, "-20251101": 0, "": 0,
	} {
		got := 0.0
		if p := e.PriceOf(name); p != nil {
			got = p.Input
		}
		if got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}
