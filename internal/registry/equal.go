package registry

import (
	"math/big"
	"strconv"

	"larva.dev/larva/internal/spec"
)

// equal is JSON equality with numbers compared by value: 1 equals 1.0, an
// integer beyond float64's digits equals only itself, true equals no number.
func equal(a, b any) bool {
	switch a := a.(type) {
	case spec.Number:
		b, ok := b.(spec.Number)
		return ok && equalNumbers(a, b)
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case *spec.Object:
		b, ok := b.(*spec.Object)
		if !ok || len(a.Members) != len(b.Members) {
			return false
		}
		for _, m := range a.Members {
			if v, ok := b.Get(m.Key); !ok || !equal(m.Value, v) {
				return false
			}
		}
		return true
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	}
	return false
}

func equalNumbers(a, b spec.Number) bool {
	x, okX := value(a)
	y, okY := value(b)
	return okX && okY && x.Cmp(y) == 0
}

// value is a number as the digest sees it: an integer in full, a float as the
// nearest float64. Neither can grow beyond what the parser lets in.
func value(n spec.Number) (*big.Rat, bool) {
	if !n.IsFloat() {
		i, ok := new(big.Int).SetString(string(n), 10)
		if !ok {
			return nil, false
		}
		return new(big.Rat).SetInt(i), true
	}
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return nil, false
	}
	r := new(big.Rat).SetFloat64(f)
	return r, r != nil
}
