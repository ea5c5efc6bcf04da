package registry

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// Register stores a flat PersonaSpec as one variant ("" means default). A new
// persona gets that variant as its active one. For one that is there, the
// contract must be equal, else BASE_CONTRACT_MISMATCH {id, mismatched_fields};
// then only the variant is written and the active one stays.
func (r *Registry) Register(o *spec.Object, variant string) (id string, err error) {
	if err := checkSpec(o); err != nil {
		return "", err
	}
	if variant == "" {
		variant = DefaultVariant
	}
	if err := checkVariant(variant); err != nil {
		return "", err
	}
	id = o.String("id")
	contract, implementation := split(o)
	p := &persona{contract, variant, []spec.Variant{{Name: variant, Implementation: implementation}}}
	if _, err := p.files(id); err != nil {
		return "", err
	}
	err = r.write(diag.RegistryWriteFailed, id, func(w *writer) error {
		if err := w.asExpected(id, variant); err != nil {
			return err
		}
		there, err := w.occupied(id)
		if err != nil {
			return err
		}
		if !there {
			return w.putPersona(id, p, false)
		}
		s, err := w.load(id, "")
		if err != nil {
			return err
		}
		if fields := mismatch(s.contract, contract); len(fields) > 0 {
			return contractMismatch(id, fields).With("id", id)
		}
		return w.putVariant(id, variant, implementation)
	})
	if err != nil {
		return "", err
	}
	return id, nil
}

// occupied says whether a persona stands at id, sound or not.
func (w *writer) occupied(id string) (bool, error) {
	info, err := os.Lstat(w.dir(id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, w.failed(id, w.dir(id), err)
	case !info.IsDir() && info.Mode()&fs.ModeSymlink == 0:
		return false, w.failed(id, w.dir(id), errors.New("a file is in the way"))
	}
	return true, nil
}

// putVariant writes one variant file of a persona that is there; the same
// content is not written again.
func (w *writer) putVariant(id, name string, implementation *spec.Object) error {
	err := w.checkVariants(id)
	if errors.Is(err, fs.ErrNotExist) {
		err = corrupt(id, w.variants(id), "is missing")
	}
	if err != nil {
		return err
	}
	if old, err := w.readVariant(id, name); err == nil && same(old, implementation) {
		return nil
	}
	data, err := encode(id, implementation, spec.ImplementationFields)
	if err != nil {
		return err
	}
	return w.putFile(id, w.variant(id, name), data)
}

// split parts a flat spec into its halves, without spec_digest.
func split(o *spec.Object) (contract, implementation *spec.Object) {
	return pick(o, spec.ContractFields), pick(o, spec.ImplementationFields)
}

func pick(o *spec.Object, fields []string) *spec.Object {
	half := &spec.Object{}
	for _, key := range fields {
		if v, ok := o.Get(key); ok {
			half.Members = append(half.Members, spec.Member{Key: key, Value: v})
		}
	}
	return half
}

// same is equality by canonical JSON: key order and white space do not
// count, 1 and 1.0 differ as they do in the digest.
func same(a, b any) bool {
	return string(spec.AppendCanonical(nil, a)) == string(spec.AppendCanonical(nil, b))
}

// mismatch names the contract fields that differ; absent is not false.
func mismatch(a, b *spec.Object) []string {
	fields := []string{}
	for _, d := range differences(a, b) {
		fields = append(fields, d.Field)
	}
	return fields
}

func contractMismatch(id string, fields []string) *diag.Error {
	return diag.New(diag.BaseContractMismatch, "persona %s is there with another contract; different: %s", id, strings.Join(fields, ", ")).
		With("mismatched_fields", fields).
		WithHint("variants share one contract: larva update %s --set FIELD=VALUE changes it, or register under another id", id)
}

// Clone copies the contract and the active variant of src to the new persona
// dst, as its variant default. A dst that is there is refused.
func (r *Registry) Clone(src, dst string) (*spec.Object, error) {
	if err := r.noExpectation("clone"); err != nil {
		return nil, err
	}
	rd := &reader{Registry: r}
	o, err := rd.flat(src, "")
	if err != nil {
		return nil, err
	}
	contract, implementation := split(o)
	contract.Set("id", dst)
	o = join(contract, implementation)
	if err := checkSpec(o); err != nil {
		return nil, err
	}
	p := &persona{contract, DefaultVariant, []spec.Variant{{Name: DefaultVariant, Implementation: implementation}}}
	err = r.write(diag.RegistryWriteFailed, dst, func(w *writer) error {
		there, err := w.occupied(dst)
		if err != nil {
			return err
		}
		if there {
			return diag.New(diag.BaseContractMismatch, "persona %s is there already; clone makes new personas only", dst).
				With("persona_id", dst).With("mismatched_fields", []string{}).
				WithHint("choose another id, or larva delete %s first", dst)
		}
		return w.putPersona(dst, p, false)
	})
	if err != nil {
		return nil, err
	}
	return spec.Normalize(o), nil
}
