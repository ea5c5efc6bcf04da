package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/spec"
)

// genShipped writes the shipped profiles and personas as plain JSON, evaluated
// and checked, so that no run has to compile CUE for what never changes.
func genShipped(s *schemas) ([]file, error) {
	profiles, err := load.ProfilesFS(context.Background(), os.DirFS(filepath.Join(s.root, "profiles")))
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(profiles, "", "  ")
	if err != nil {
		return nil, err
	}
	out := []file{{"profiles/shipped.json", append(data, '\n')}}

	items, err := load.SpecsFS(context.Background(), os.DirFS(filepath.Join(s.root, "personas")), "personas")
	if err != nil {
		return nil, err
	}
	all := &spec.Object{}
	for _, it := range items {
		if len(it.Problems) > 0 {
			return nil, fmt.Errorf("%s", it.Problems[0])
		}
		variants := &spec.Object{}
		for _, v := range it.Source.Variants {
			variants.Set(v.Name, v.Implementation)
		}
		one := &spec.Object{}
		one.Set("contract", it.Source.Contract)
		one.Set("active", it.Source.Active)
		one.Set("variants", variants)
		all.Set(it.ID, one)
	}
	return append(out, file{"personas/shipped.json", spec.AppendPretty(nil, all)}), nil
}
