package registry

import (
	"errors"
	"fmt"
	"path/filepath"
	"unicode/utf8"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// persona is all that is stored of one.
type persona struct {
	contract *spec.Object
	active   string
	variants []spec.Variant
}

func (p *persona) files(id string) ([]file, error) {
	var list []file
	add := func(name string, o *spec.Object, order []string) error {
		data, err := encode(id, o, order)
		list = append(list, file{name, data})
		return err
	}
	for _, v := range p.variants {
		if err := add(filepath.Join(variantsName, v.Name+suffix), v.Implementation, spec.ImplementationFields); err != nil {
			return nil, err
		}
	}
	if err := add(contractName, p.contract, spec.ContractFields); err != nil {
		return nil, err
	}
	return append(list, file{manifestName, encodeManifest(p.active)}), nil
}

func encodeManifest(active string) []byte {
	o := &spec.Object{Members: []spec.Member{{Key: "active", Value: active}}}
	return spec.AppendStored(nil, o, nil)
}

// encode gives a file's text and refuses one that could not be read back: a
// merge can outgrow the limits that its parts keep, and a value from a
// command line can hold bytes that are no UTF-8.
func encode(id string, o *spec.Object, order []string) ([]byte, error) {
	data := spec.AppendStored(nil, o, order)
	err := utf8Only(o)
	if err == nil {
		_, err = spec.ParseObject(data)
	}
	if err != nil {
		return nil, diag.New(diag.InvalidInput, "persona %s cannot be stored: %s", id, err).With("persona_id", id)
	}
	return data, nil
}

func utf8Only(v any) error {
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return fmt.Errorf("%q is not valid UTF-8", short(v))
		}
	case []any:
		for _, item := range v {
			if err := utf8Only(item); err != nil {
				return err
			}
		}
	case *spec.Object:
		for _, m := range v.Members {
			if err := errors.Join(utf8Only(m.Key), utf8Only(m.Value)); err != nil {
				return err
			}
		}
	}
	return nil
}
