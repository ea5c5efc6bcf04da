package registry

import (
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// Roots that no patch may touch: what names, versions or proves a spec, and
// what never was a field of one.
var protectedRoots = []string{"id", spec.DigestField, "spec_version", "tools", "side_effect_policy",
	"variables", "variant", "_registry", "active", "manifest"}

// Contract fields that a patch may change; id and spec_version are protected.
var patchableContract = []string{"description", "capabilities", "can_spawn"}

// Fields whose patches merge key by key; any other field is replaced.
var mergedFields = []string{"capabilities", "model_params"}

// checkScope refuses patches that reach into both halves of a persona, or
// from a named variant into the contract that all variants share.
func checkScope(patches *spec.Object, variant string) error {
	var contract, implementation []string
	for _, m := range patches.Members {
		root := spec.Segments(m.Key)[0]
		switch {
		case slices.Contains(patchableContract, root):
			contract = append(contract, root)
		case slices.Contains(spec.ImplementationFields, root):
			implementation = append(implementation, root)
		}
	}
	contract, implementation = unique(contract), unique(implementation)
	switch {
	case len(contract) > 0 && len(implementation) > 0:
		return diag.New(diag.MixedScopePatch, "%s belongs to the contract, %s to one variant", strings.Join(contract, ", "), strings.Join(implementation, ", ")).
			With("contract_fields", contract).With("implementation_fields", implementation).WithHint("make it two updates")
	case len(contract) > 0 && variant != "":
		return diag.New(diag.FieldScopeViolation, "%s belongs to the contract that all variants share, not to variant %s", strings.Join(contract, ", "), short(variant)).
			With("fields", contract).With("variant", variant).WithHint("leave out --variant to change the contract")
	}
	return nil
}

func unique(words []string) []string {
	slices.Sort(words)
	return slices.Compact(words)
}

// checkPatches refuses protected fields.
func checkPatches(patches *spec.Object) error {
	for _, m := range patches.Members {
		if root := spec.Segments(m.Key)[0]; slices.Contains(protectedRoots, root) {
			return diag.New(diag.ForbiddenPatchField, "%s cannot be changed by an update", root).With("field", root).With("key", m.Key)
		}
	}
	return nil
}

// patch applies patches to a flat spec.
func patch(o, patches *spec.Object) *spec.Object {
	o = o.Clone()
	for _, m := range spec.Nest(patches).Members {
		value := m.Value
		if old, ok := o.Get(m.Key); ok && slices.Contains(mergedFields, m.Key) {
			value = spec.Merge(old, value)
		}
		o.Set(m.Key, value)
	}
	return o
}
