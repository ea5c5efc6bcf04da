package load

import (
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/schema"
)

// SchemaNames lists the names that SchemaCUE and SchemaJSON know, in reading
// order.
func SchemaNames() []string {
	var names []string
	for _, e := range schema.Entries() {
		names = append(names, e.Name)
	}
	return names
}

// SchemaCUE gives the CUE file that defines name.
func SchemaCUE(name string) ([]byte, error) {
	e, err := schemaEntry(name)
	if err != nil {
		return nil, err
	}
	return schema.FS.ReadFile(e.File)
}

// SchemaJSON gives name's JSON Schema (draft 2020-12).
func SchemaJSON(name string) ([]byte, error) {
	e, err := schemaEntry(name)
	if err != nil {
		return nil, err
	}
	return schema.JSON.ReadFile(e.JSONFile())
}

func schemaEntry(name string) (schema.Entry, error) {
	for _, e := range schema.Entries() {
		if e.Name == name || e.Def == name || e.Def == "#"+name {
			return e, nil
		}
	}
	hint := didYouMean(name, SchemaNames())
	if hint == "" {
		hint = "larva schema lists the names"
	}
	return schema.Entry{}, diag.Usage("there is no schema named %s", quoted(name)).WithHint("%s", hint)
}
