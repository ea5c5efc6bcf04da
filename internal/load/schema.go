package load

import (
	"bytes"
	"strings"
	"sync"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"

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

// schemaFiles are the embedded schema's files by name.
func schemaFiles() map[string]string {
	files := map[string]string{}
	entries, err := schema.FS.ReadDir(".")
	if err != nil {
		return files
	}
	for _, e := range entries {
		if data, err := schema.FS.ReadFile(e.Name()); err == nil {
			files[e.Name()] = string(data)
		}
	}
	return files
}

// schemaTables are the schema's files that hold data besides definitions (the
// capability table), each with the names it defines. CUE evaluates all of an
// imported package, and those tables cost ten times what a persona does.
var schemaTables = sync.OnceValue(func() map[string][]string {
	files := schemaFiles()
	tables := map[string][]string{}
	for name, text := range files {
		f, err := parser.ParseFile(name, text)
		if err != nil {
			continue
		}
		var names []string
		data := false
		for _, d := range f.Decls {
			if field, ok := d.(*ast.Field); ok {
				if label, _, err := ast.LabelName(field.Label); err == nil {
					names = append(names, label)
					data = data || !strings.HasPrefix(label, "#") && !strings.HasPrefix(label, "_")
				}
			}
		}
		if data {
			tables[name] = names
		}
	}
	return tables
})

// schemaFor is the schema without the tables that none of the user's files, and
// no other file of the schema, speaks of.
func schemaFor(user map[string][]byte) map[string]string {
	files := schemaFiles()
	for table, names := range schemaTables() {
		used := false
		for _, n := range names {
			for _, data := range user {
				used = used || speaksOf(data, n)
			}
			for other, text := range files {
				used = used || other != table && speaksOf([]byte(text), n)
			}
		}
		if !used {
			delete(files, table)
		}
	}
	return files
}

// speaksOf says whether a CUE text holds an identifier.
func speaksOf(text []byte, name string) bool {
	for {
		i := bytes.Index(text, []byte(name))
		if i < 0 {
			return false
		}
		if i == 0 || !identByte(text[i-1]) {
			return true // a longer identifier too: rather one too many
		}
		text = text[i+len(name):]
	}
}

func identByte(c byte) bool {
	return c == '_' || c == '#' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
