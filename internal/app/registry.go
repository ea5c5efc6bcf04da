package app

import (
	"errors"
	"slices"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// Resolve gives the stored persona's active or named variant with overrides.
func (a *App) Resolve(id, variant string, overrides *spec.Object) (*spec.Object, error) {
	r, err := a.registry()
	if err != nil {
		return nil, err
	}
	o, err := r.Resolve(id, variant, overrides)
	return o, a.lost(id, err)
}

// List gives the active variants, sorted by id.
func (a *App) List() ([]registry.Summary, error) {
	r, err := a.registry()
	if err != nil {
		return nil, err
	}
	return r.List()
}

// Update patches one persona.
func (a *App) Update(id string, patches *spec.Object, variant string) (*spec.Object, error) {
	r, err := a.writable("update")
	if err != nil {
		return nil, err
	}
	o, err := r.Update(id, patches, variant)
	return o, a.lost(id, err)
}

// UpdateWhere patches every persona that matches. A dry run changes nothing.
func (a *App) UpdateWhere(where, patches *spec.Object, dryRun bool) (registry.BatchResult, error) {
	open := a.registry
	if !dryRun {
		open = func() (*registry.Registry, error) { return a.writable("update") }
	}
	r, err := open()
	if err != nil {
		return registry.BatchResult{}, err
	}
	return r.UpdateWhere(where, patches, dryRun)
}

// Clone copies a persona's contract and active variant to a new id.
func (a *App) Clone(src, dst string) (*spec.Object, error) {
	r, err := a.writable("clone")
	if err != nil {
		return nil, err
	}
	o, err := r.Clone(src, dst)
	return o, a.lost(src, err)
}

// Delete removes a persona.
func (a *App) Delete(id string) error {
	r, err := a.writable("delete")
	if err != nil {
		return err
	}
	return a.lost(id, r.Delete(id))
}

// Clear removes all personas where confirm is the exact token.
func (a *App) Clear(confirm string) (int, error) {
	r, err := a.writable("clear")
	if err != nil {
		return 0, err
	}
	return r.Clear(confirm)
}

// Export gives each whole spec in turn; nil ids means all, by id.
func (a *App) Export(ids []string, each func(*spec.Object) error) error {
	r, err := a.registry()
	if err != nil {
		return err
	}
	err = r.Export(ids, each)
	for _, id := range ids {
		if e := (*diag.Error)(nil); errors.As(err, &e) && e.Details["persona_id"] == id {
			return a.lost(id, err)
		}
	}
	return err
}

// VariantList gives a persona's variants.
func (a *App) VariantList(id string) (registry.VariantInfo, error) {
	r, err := a.registry()
	if err != nil {
		return registry.VariantInfo{}, err
	}
	v, err := r.VariantList(id)
	return v, a.lost(id, err)
}

// VariantActivate moves the active pointer.
func (a *App) VariantActivate(id, variant string) error {
	r, err := a.writable("variant activate")
	if err != nil {
		return err
	}
	return a.lost(id, r.VariantActivate(id, variant))
}

// VariantDelete removes one variant.
func (a *App) VariantDelete(id, variant string) error {
	r, err := a.writable("variant delete")
	if err != nil {
		return err
	}
	return a.lost(id, r.VariantDelete(id, variant))
}

// PersonaIDs lists the stored ids without reading the personas.
func (a *App) PersonaIDs() ([]string, error) {
	r, err := a.registry()
	if err != nil {
		return nil, err
	}
	return r.IDs()
}

// RunnableIDs lists what run takes by id: the stored personas, the shipped
// ones, and the definitions that count.
func (a *App) RunnableIDs() ([]string, error) {
	ids, err := a.PersonaIDs()
	if err != nil {
		return nil, err
	}
	all, err := shippedPersonas()
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		ids = append(ids, s.ID)
	}
	// Definitions that cannot be read are nothing to complete.
	if defs, err := a.agentIDs(agentFile.counts); err == nil {
		ids = append(ids, defs...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// VariantNames lists a persona's variants; those of a shipped one where none
// is stored.
func (a *App) VariantNames(id string) ([]string, error) {
	v, err := a.VariantList(id)
	if err == nil {
		return v.Variants, nil
	}
	all, shippedErr := shippedPersonas()
	if shippedErr != nil {
		return nil, shippedErr
	}
	for _, s := range all {
		if s.ID == id {
			names := make([]string, 0, len(s.Variants))
			for _, v := range s.Variants {
				names = append(names, v.Name)
			}
			return names, nil
		}
	}
	return nil, err
}

// writable opens the registry for a verb that changes it.
func (a *App) writable(verb string) (*registry.Registry, error) {
	if err := a.refuseNested(verb); err != nil {
		return nil, err
	}
	return a.registry()
}
