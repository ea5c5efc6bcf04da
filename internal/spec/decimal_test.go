package spec

import (
	"math/big"
	"testing"
)

func TestCompareDecimal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"0", "-0", 0}, {"0.0", "0e99", 0}, {"2", "2.000", 0}, {"20e-1", "2", 0}, {"0.2e1", "2", 0},
		{"2.00000000000000000000001", "2", 1}, {"1.99999999999999999999999", "2", -1},
		{"-1e-400", "0", -1}, {"1e-400", "0", 1}, {"1e400", "2", 1}, {"-1e400", "0", -1},
		{"100", "99", 1}, {"-100", "-99", -1}, {"0.001", "0.0010", 0}, {"10", "1", 1}, {"1e999999999999999999999", "2", 1},
	} {
		if got := compareDecimal(c.a, c.b); got != c.want {
			t.Errorf("compare %s, %s: got %d, want %d", c.a, c.b, got, c.want)
		}
		if got := compareDecimal(c.b, c.a); got != -c.want {
			t.Errorf("compare %s, %s: got %d, want %d", c.b, c.a, got, -c.want)
		}
	}
}

func FuzzCompareDecimal(f *testing.F) {
	for _, s := range []string{"0", "-0.0", "2.0000000001", "1e-40", "123456789012345678901234567890", "-10.50e+3"} {
		f.Add(s, "2")
		f.Add("0.1e2", s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, ok := ratOf(a)
		y, ok2 := ratOf(b)
		if !ok || !ok2 {
			return
		}
		if got, want := compareDecimal(a, b), x.Cmp(y); got != want {
			t.Errorf("compare %s, %s: got %d, want %d", a, b, got, want)
		}
	})
}

// ratOf gives the exact value of a JSON number of modest size.
func ratOf(s string) (*big.Rat, bool) {
	v, err := Parse([]byte(s))
	n, isNumber := v.(Number)
	if err != nil || !isNumber || string(n) != s || len(s) > 60 {
		return nil, false
	}
	if d := parseDecimal(string(n)); d.exp > 400 || d.exp < -400 {
		return nil, false
	}
	return new(big.Rat).SetString(string(n))
}
