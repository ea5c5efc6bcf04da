package load

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/inject/embed"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"larva.dev/larva/internal/diag"
)

// maxTextName bounds what a text may be called in messages.
const maxTextName = 200

// Text reads the personas of a text that is no file: one that came over a
// connection. Nothing but the text is read, so CUE can import its own packages
// and the schema alone and embed nothing. format is json, yaml, toml, cue,
// markdown, or auto for what the end of name and the text itself say. name is
// what messages call the text and nothing else. Whatever is wrong with the
// text stands in its items; the error is not nil only when the format is none
// of these or ctx ended. Of the options Trusted and Self count.
func Text(ctx context.Context, name string, data []byte, format string, o Options) ([]Item, error) {
	if name = visible(strings.ToValidUTF8(name, "\ufffd")); len(name) > maxTextName {
		name = clip(name)
	}
	f, ok := namedFormat(format, name)
	if !ok {
		return nil, diag.New(diag.InvalidInput, "there is no format %q; it is json, yaml, toml, cue, markdown or auto", clip(format)).With("field", "format")
	}
	b := &batch{o: o}
	cue := func(data []byte) { b.unit(lone(name, data), false) }
	p := text(data, name)
	switch {
	case p != nil:
		b.fail(name, *p)
	case f == asCUE:
		cue(data)
	case f == unknown:
		b.sniffed(name, data, cue)
	default:
		b.data(name, data, f)
	}
	if err := b.evaluate(ctx); err != nil {
		return nil, err
	}
	var items []Item
	for _, in := range b.inputs {
		items = append(items, in.items()...)
	}
	return items, ctx.Err()
}

func namedFormat(word, name string) (format, bool) {
	switch word {
	case "", "auto":
		if strings.Contains(name, ".") {
			return formatOf(name), true
		}
		return unknown, true
	case "json", "yaml", "toml", "cue", "markdown":
		return formatOf("." + word), true
	}
	return unknown, false
}

// lone is the unit of CUE that has nothing around it.
func lone(shown string, data []byte) *unit {
	const rel = "text.cue"
	u := &unit{Shown: shown, Files: map[string][]byte{rel: data}, Names: map[string]string{rel: shown},
		Schema: vendored, Dir: ".", File: rel, Want: "personas"}
	if len(data) > maxCUE {
		u.faults = append(u.faults, diag.Problem{File: shown, Message: fmt.Sprintf("larger than %d MiB", maxCUE>>20)})
		return u
	}
	f, err := parser.ParseFile(rel, data, parser.ParseComments)
	if err != nil || f == nil {
		return u // the evaluation says what is wrong
	}
	for is := range f.ImportSpecs() {
		if name, ours := imports(is); !ours {
			u.alone(is.Path.Pos(), fmt.Sprintf("the package %q is not here: a text on its own can import CUE's packages and %s", name, schemaPath))
		}
	}
	if bytes.Contains(data, []byte("@embed")) {
		embeds, err := embed.EmbeddedPaths(rel, f)
		for _, e := range errors.Errors(err) {
			u.alone(e.Position(), "@embed: a text on its own has no files beside it")
		}
		for _, e := range embeds {
			u.alone(e.Attribute.Pos, "@embed: a text on its own has no files beside it")
		}
	}
	return u
}

const registerInstead = "larva register takes the file with what stands around it"

func (u *unit) alone(at token.Pos, message string) {
	u.faults = append(u.faults, diag.Problem{File: u.Shown, Line: at.Line(), Col: at.Column(), Message: message, Hint: registerInstead})
}

// imports gives the name of an imported package, and whether it is one that
// needs no file: one of CUE's own, or the schema.
func imports(is *ast.ImportSpec) (name string, ours bool) {
	name = strings.Trim(is.Path.Value, `"`)
	name, _, _ = strings.Cut(name, ":")
	name, _, _ = strings.Cut(name, "@")
	first, _, _ := strings.Cut(name, "/")
	return name, !strings.Contains(first, ".") || name == schemaPath
}
