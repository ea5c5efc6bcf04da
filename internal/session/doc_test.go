package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// TestReference holds docs/reference/events.md to the code: a section for each
// type of an event and each part of one, a row for each field, and nothing else.
func TestReference(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "reference", "events.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]string{}
	for part := range strings.SplitSeq(string(data), "\n### ") {
		name, text, _ := strings.Cut(part, "\n")
		text, _, _ = strings.Cut(text, "\n## ")
		sections[strings.Trim(name, "`")] = text
	}
	structs, types := shapes(t, filepath.Join("..", "event", "event.go"), "meta.go", "markdown.go")
	if len(types) < 18 {
		t.Errorf("got %d types of events, want at least 18: %v", len(types), types)
	}
	names := map[string][]string{}
	for goName, name := range types {
		names[name] = structs[goName]
	}
	for _, part := range []string{"PersonaRef", "Call", "Part", "Decision", "Segment", "Answer", "Usage", "Image", "AgedResult", "Denial", "Cut"} {
		names[part] = structs[part]
	}
	for name, fields := range names {
		text, ok := sections[name]
		if !ok {
			t.Errorf("events.md has no section %s", name)
			continue
		}
		for _, f := range fields {
			if !strings.Contains(text, "\n| `"+f+"` |") {
				t.Errorf("events.md, %s: no row for the field %s", name, f)
			}
		}
		if rows := strings.Count(text, "\n| `"); rows != len(fields) {
			t.Errorf("events.md, %s: got %d rows, the code has %d fields: %v", name, rows, len(fields), fields)
		}
	}
}

// shapes reads the structs' JSON fields and the names that Type methods give.
func shapes(t *testing.T, files ...string) (structs map[string][]string, types map[string]string) {
	t.Helper()
	structs, types = map[string][]string{}, map[string]string{}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					structs[n.Name.Name] = append(structs[n.Name.Name], fields(s)...)
				}
			case *ast.FuncDecl:
				if n.Name.Name == "Type" && n.Recv != nil && len(n.Body.List) == 1 {
					lit, ok := n.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit)
					if id, isID := n.Recv.List[0].Type.(*ast.Ident); ok && isID {
						types[id.Name], _ = strconv.Unquote(lit.Value)
					}
				}
			}
			return true
		})
	}
	return structs, types
}

func fields(s *ast.StructType) []string {
	var out []string
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(f.Tag.Value)
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}
