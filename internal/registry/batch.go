package registry

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// BatchItem is one persona that the selectors matched.
type BatchItem struct {
	ID      string `json:"id"`
	Updated bool   `json:"updated"`
}

// BatchResult is the answer of UpdateWhere; items are sorted by id.
type BatchResult struct {
	Items   []BatchItem `json:"items"`
	Matched int         `json:"matched"`
	Updated int         `json:"updated"`
}

// UpdateWhere updates every persona whose active spec, digest included,
// equals all selectors; none matches all. Keys of where are fields or dotted
// paths into capabilities and model_params; a path that is not there matches
// nothing; numbers compare as numbers, and no boolean equals one.
//
// The batch is one: selectors and patches are judged before anything is read,
// the lock is held throughout, and each outcome is checked before the first
// file is written. Only a disk that fails on the way leaves the earlier
// personas written. dryRun only matches.
func (r *Registry) UpdateWhere(where, patches *spec.Object, dryRun bool) (BatchResult, error) {
	result := BatchResult{Items: []BatchItem{}}
	if err := r.noExpectation("update_batch"); err != nil {
		return result, err
	}
	if patches == nil {
		patches = &spec.Object{}
	}
	selectors, err := parseWhere(where)
	if err != nil {
		return result, err
	}
	if err := checkScope(patches, ""); err != nil {
		return result, err
	}
	if err := checkPatches(patches); err != nil {
		return result, err
	}
	if dryRun {
		err := r.eachFlat(func(o *spec.Object) error {
			if matches(o, selectors) {
				result.Items = append(result.Items, BatchItem{ID: o.String("id")})
			}
			return nil
		})
		result.Matched = len(result.Items)
		return result, err
	}
	ids, err := r.IDs()
	if err != nil || len(ids) == 0 {
		return result, err
	}
	err = r.write(diag.RegistryUpdateFailed, "", func(w *writer) error {
		plans, err := w.planAll(selectors, patches)
		if err != nil {
			return err
		}
		for _, p := range plans {
			id := p.spec.String("id")
			if err := w.carryOut(id, p); err != nil {
				return diag.As(err).WithHint("%d of %d personas were written before; the same command does the rest", result.Updated, len(plans))
			}
			result.Items = append(result.Items, BatchItem{id, true})
			result.Updated++
		}
		result.Matched = len(plans)
		return nil
	})
	if err != nil {
		return BatchResult{Items: []BatchItem{}}, err
	}
	return result, nil
}

func (w *writer) planAll(selectors []selector, patches *spec.Object) ([]plan, error) {
	ids, err := w.IDs()
	if err != nil {
		return nil, err
	}
	var plans []plan
	for _, id := range ids {
		s, err := w.load(id, "")
		if err != nil {
			return nil, err
		}
		o, err := checkStored(id, s)
		if err != nil {
			return nil, err
		}
		if !matches(o, selectors) {
			continue
		}
		p, err := w.plan(id, s, patches)
		if err != nil {
			e := diag.As(err)
			e.Message = "persona " + id + ": " + e.Message
			return nil, e.WithHint("nothing was written")
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// selector is one condition: the value at path equals want.
type selector struct {
	path []string
	want any
}

func parseWhere(where *spec.Object) ([]selector, error) {
	if where == nil {
		return nil, nil
	}
	var list []selector
	for _, m := range where.Members {
		if m.Key == "" {
			return nil, diag.New(diag.InvalidInput, "a selector needs a field to look at").
				With("field", "where").With("received_key", "").With("received_key_type", "str")
		}
		path := strings.Split(m.Key, ".")
		bad := func(field, format string, args ...any) *diag.Error {
			return diag.New(diag.InvalidInput, format, args...).With("field", field).With("where_key", m.Key)
		}
		switch {
		case slices.Contains(path, ""):
			return nil, bad(m.Key, "the selector %q has an empty part", short(m.Key))
		case !isField(path[0]):
			return nil, bad(path[0], "%q is no field of a persona", short(path[0]))
		case len(path) > 1 && !slices.Contains(mergedFields, path[0]):
			return nil, bad(m.Key, "%s has no parts to select by", path[0]).With("root_field", path[0])
		}
		list = append(list, selector{path, m.Value})
	}
	return list, nil
}

func isField(name string) bool {
	return slices.Contains(spec.ContractFields, name) || slices.Contains(spec.ImplementationFields, name) || name == spec.DigestField
}

func matches(o *spec.Object, selectors []selector) bool {
	for _, s := range selectors {
		var at any = o
		for _, key := range s.path {
			inner, ok := at.(*spec.Object)
			if !ok {
				return false
			}
			if key == spec.DigestField && inner == o {
				at = spec.Digest(o)
				continue
			}
			if at, ok = inner.Get(key); !ok {
				return false
			}
		}
		if !equal(at, s.want) {
			return false
		}
	}
	return true
}
