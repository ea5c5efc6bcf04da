package main

import (
	"math/big"

	"larva.dev/larva/internal/spec"
)

// plainIntegers gives v with each number that is an integer by value, like
// 4096.0, written as one. Huge ones stay: no bound is near them.
func plainIntegers(v any) any {
	switch v := v.(type) {
	case *spec.Object:
		o := &spec.Object{}
		for _, m := range v.Members {
			o.Set(m.Key, plainIntegers(m.Value))
		}
		return o
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = plainIntegers(e)
		}
		return list
	case spec.Number:
		if r, ok := new(big.Rat).SetString(string(v)); ok && r.IsInt() {
			return spec.Number(r.Num().String())
		}
	}
	return v
}
