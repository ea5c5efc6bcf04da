package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// VariantInfo is what variant list shows.
type VariantInfo struct {
	ID       string   `json:"id"`
	Active   string   `json:"active"`
	Variants []string `json:"variants"` // sorted, never empty
}

// VariantList names a persona's variants and the active one.
func (r *Registry) VariantList(id string) (VariantInfo, error) {
	if err := checkID(id); err != nil {
		return VariantInfo{}, err
	}
	rd := &reader{Registry: r}
	for range tries {
		info, err := rd.variantInfo(id)
		if err == nil || !doubtful(err) && !errors.Is(err, errChanged) {
			return info, err
		}
	}
	unlock, ok := rd.rlock()
	if ok {
		defer unlock()
	}
	info, err := rd.variantInfo(id)
	if errors.Is(err, errChanged) {
		err = r.readFailed(id, r.dir(id), err)
	}
	return info, err
}

// variantInfo lists once; the manifest is held as in reader.once.
func (rd *reader) variantInfo(id string) (VariantInfo, error) {
	if err := rd.checkDir(id); err != nil {
		return VariantInfo{}, err
	}
	h, active, err := rd.readManifest(id)
	if h != nil {
		defer h.file.Close()
	}
	if err != nil {
		return VariantInfo{}, err
	}
	names, err := rd.variantNames(id)
	if h.changed() {
		return VariantInfo{}, errChanged
	}
	if err != nil {
		return VariantInfo{}, err
	}
	if !slices.Contains(names, active) {
		return VariantInfo{}, corrupt(id, rd.manifest(id), "names the variant %s, which is not there", active)
	}
	return VariantInfo{id, active, names}, nil
}

// variantNames lists the variant files. Names without .json are none of ours.
func (r *Registry) variantNames(id string) ([]string, error) {
	dir := r.variants(id)
	err := r.checkVariants(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, corrupt(id, dir, "is missing")
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, r.unreadable(id, dir, err)
	}
	var names []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok {
			continue
		}
		if !spec.ValidVariant(name) {
			return nil, corrupt(id, filepath.Join(dir, e.Name()), "is not named like a variant")
		}
		if err := r.checkRegular(id, e); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil, corrupt(id, dir, "holds no variant")
	}
	slices.Sort(names) // "a-b.json" comes before "a.json", the names the other way
	return names, nil
}

func (r *Registry) checkRegular(id string, e fs.DirEntry) error {
	path := filepath.Join(r.variants(id), e.Name())
	switch t := e.Type(); {
	case t.IsRegular():
		return nil
	case t&fs.ModeSymlink != 0:
		return corrupt(id, path, "is a symbolic link")
	case t.IsDir():
		return corrupt(id, path, "is a directory")
	}
	return corrupt(id, path, "is not a regular file")
}

// VariantActivate makes a variant the active one. The variant must be there
// and give a valid spec, and the manifest must be sound: mending is doctor's.
func (r *Registry) VariantActivate(id, name string) error {
	if err := checkBoth(id, name); err != nil {
		return err
	}
	return r.change(diag.RegistryWriteFailed, id, name, func(w *writer) error {
		info, err := w.metadata(id)
		if err != nil {
			return err
		}
		if !slices.Contains(info.Variants, name) {
			return variantNotFound(id, name)
		}
		s, err := w.load(id, name)
		if err != nil {
			return err
		}
		if _, err := checkStored(id, s); err != nil {
			return err
		}
		if info.Active == name {
			return nil
		}
		return w.putFile(id, w.manifest(id), encodeManifest(name))
	})
}

// checkBoth judges both names, the variant's also where it is empty.
func checkBoth(id, variant string) error {
	if err := checkID(id); err != nil {
		return err
	}
	return checkVariant(variant)
}

// metadata is variantInfo under the lock.
func (w *writer) metadata(id string) (VariantInfo, error) {
	info, err := w.variantInfo(id)
	if errors.Is(err, errChanged) {
		err = w.readFailed(id, w.dir(id), errors.New("somebody changes the persona without the lock"))
	}
	return info, err
}

// VariantDelete removes a variant that is neither the last nor the active one.
func (r *Registry) VariantDelete(id, name string) error {
	if err := checkBoth(id, name); err != nil {
		return err
	}
	return deleting("variant_delete", r.change(diag.RegistryDeleteFailed, id, name, func(w *writer) error {
		info, err := w.metadata(id)
		if err != nil {
			return err
		}
		switch {
		case !slices.Contains(info.Variants, name):
			return variantNotFound(id, name)
		case len(info.Variants) == 1:
			return diag.New(diag.LastVariantDeleteForbidden, "%s is the only variant of persona %s", name, id).
				With("persona_id", id).With("variant", name).WithHint("larva delete %s removes the persona", id)
		case info.Active == name:
			return diag.New(diag.ActiveVariantDeleteForbidden, "%s is the active variant of persona %s", name, id).
				With("persona_id", id).With("variant", name).WithHint("larva variant activate %s VARIANT makes another one active first", id)
		}
		return w.removeFile(id, w.variant(id, name))
	}))
}
