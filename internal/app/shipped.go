package app

import (
	"encoding/json"
	"fmt"

	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/personas"
	"larva.dev/larva/profiles"
)

// shippedProfiles are the profiles that come with the binary, by name.
func shippedProfiles() (map[string]profile.Layer, error) {
	var out map[string]profile.Layer
	if err := json.Unmarshal(profiles.JSON, &out); err != nil {
		return nil, fmt.Errorf("shipped profiles: %w", err)
	}
	return out, nil
}

// shippedPersonas are the personas that come with the binary, sorted by id.
func shippedPersonas() ([]*spec.Source, error) {
	all, err := spec.ParseObject(personas.JSON)
	if err != nil {
		return nil, fmt.Errorf("shipped personas: %w", err)
	}
	var out []*spec.Source
	for _, m := range all.Members {
		o, ok := m.Value.(*spec.Object)
		if !ok {
			return nil, fmt.Errorf("shipped persona %s: not an object", m.Key)
		}
		s := &spec.Source{ID: m.Key, Active: o.String("active")}
		contract, _ := o.Get("contract")
		variants, _ := o.Get("variants")
		s.Contract, ok = contract.(*spec.Object)
		list, ok2 := variants.(*spec.Object)
		if !ok || !ok2 {
			return nil, fmt.Errorf("shipped persona %s: no contract or no variants", m.Key)
		}
		for _, v := range list.Members {
			impl, ok := v.Value.(*spec.Object)
			if !ok {
				return nil, fmt.Errorf("shipped persona %s: variant %s is not an object", m.Key, v.Key)
			}
			s.Variants = append(s.Variants, spec.Variant{Name: v.Key, Implementation: impl})
		}
		out = append(out, s)
	}
	return out, nil
}
