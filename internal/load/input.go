package load

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// batch is one call's inputs. CUE ones wait until all of them are known, so
// that one child process evaluates them all.
type batch struct {
	o      Options
	inputs []*input
	trees  modules
}

// input is one file, or one CUE package, and what became of it.
type input struct {
	done []Item
	unit *unit // CUE to be evaluated; nil otherwise
	// listed: it was found in a directory, so it may be no persona at all.
	listed bool
}

func (in *input) items() []Item { return in.done }

func (b *batch) finish(items ...Item) { b.inputs = append(b.inputs, &input{done: items}) }

func (b *batch) fail(shown string, p diag.Problem) {
	b.finish((&doc{file: shown}).failed(diag.InvalidInput, p))
}

// name makes an argument a path of this process.
func (o Options) name(arg string) string {
	if o.Dir == "" || filepath.IsAbs(arg) {
		return arg
	}
	return filepath.Join(o.Dir, arg)
}

// add takes one argument: "-", a directory or a file.
func (b *batch) add(arg string) {
	switch arg {
	case "-":
		b.stdin()
		return
	case "": // a variable that is not set must not mean the whole directory
		b.fail(arg, diag.Problem{Message: "an empty file name"})
		return
	}
	name := b.o.name(arg)
	fi, err := os.Stat(name)
	switch {
	case err != nil:
		b.fail(arg, diag.Problem{File: arg, Message: diag.Reason(err)})
	case fi.IsDir():
		b.directory(arg, name)
	default:
		b.file(arg, name)
	}
}

func (b *batch) stdin() {
	in := b.o.Stdin
	if in == nil {
		in = strings.NewReader("")
	}
	data, p := readAll(in, "-", spec.MaxBytes)
	if p != nil {
		b.fail("-", *p)
		return
	}
	b.sniffed("-", data, func(data []byte) { b.cueText("-", b.o.name("."), data) })
}

// file takes a file that was named itself.
func (b *batch) file(shown, name string) {
	f := formatOf(name)
	if f == asCUE {
		b.cueFile(shown, name)
		return
	}
	data, p := openAndRead(name, shown, spec.MaxBytes)
	if p != nil {
		b.fail(shown, *p)
		return
	}
	if f == unknown {
		b.sniffed(shown, data, func(data []byte) { b.cueText(shown, filepath.Dir(name), data) })
		return
	}
	b.data(shown, data, f)
}

func (b *batch) data(shown string, data []byte, f format) {
	d, p := parse(data, f, shown)
	if p != nil {
		b.fail(shown, *p)
		return
	}
	b.finish(d.items()...)
}

// sniffed takes a text whose name says nothing of its format.
func (b *batch) sniffed(shown string, data []byte, cue func([]byte)) {
	if p := text(data, shown); p != nil {
		b.fail(shown, *p)
		return
	}
	f := sniff(data)
	if f == asCUE {
		cue(data)
		return
	}
	b.data(shown, data, f)
}

// sniff guesses a format from the text: JSON where the first character that is
// no white space is { or [; Markdown where the first line is --- and another
// such line follows; CUE where the first line that is no comment is a package
// clause, an import or a file attribute; TOML where it is a [table] or
// key = value; YAML, unless that does not parse and CUE does.
func sniff(data []byte) format {
	rest := bytes.TrimLeft(data, " \t\r\n")
	if len(rest) == 0 || rest[0] == '{' || rest[0] == '[' && !tomlHeader(firstLine(rest)) {
		return asJSON
	}
	if isFence(firstLine(data)) {
		if _, _, _, p := fences(data, ""); p == nil {
			return asMarkdown
		}
		return asYAML
	}
	line := firstLine(rest)
	for len(rest) > 0 && (len(line) == 0 || line[0] == '#' || bytes.HasPrefix(line, []byte("//"))) {
		if bytes.HasPrefix(line, []byte("//")) {
			return asCUE
		}
		rest = bytes.TrimLeft(rest[len(line):], " \t\r\n")
		line = firstLine(rest)
	}
	switch {
	case bytes.HasPrefix(line, []byte("package ")), bytes.HasPrefix(line, []byte("import ")), bytes.HasPrefix(line, []byte("import(")), bytes.HasPrefix(line, []byte("@")):
		return asCUE
	case tomlHeader(line), tomlPair(line):
		return asTOML
	}
	if _, p := parseYAML(data, ""); p != nil && parsesAsCUE(data) {
		return asCUE
	}
	return asYAML
}

func firstLine(b []byte) []byte {
	l, _, _ := bytes.Cut(b, []byte("\n"))
	return bytes.TrimRight(l, " \t\r")
}

// tomlHeader says whether a line is [table] or [[table]]; a list of JSON has
// more than a bare key between its brackets.
func tomlHeader(line []byte) bool {
	if i := bytes.IndexByte(line, '#'); i > 0 {
		line = bytes.TrimRight(line[:i], " \t")
	}
	inner := bytes.Trim(line, "[]")
	return len(line) > 2 && line[0] == '[' && line[len(line)-1] == ']' && len(inner) > 0 &&
		!bytes.ContainsAny(inner, "{},[]") && (inner[0] < '0' || inner[0] > '9')
}

// tomlPair says whether a line is key = value.
func tomlPair(line []byte) bool {
	key, _, ok := bytes.Cut(line, []byte("="))
	return ok && len(bytes.TrimSpace(key)) > 0 && !bytes.ContainsAny(key, ":{")
}

// evaluate runs the CUE of the batch and fills in what it gave.
func (b *batch) evaluate(ctx context.Context) error {
	defer b.trees.close()
	var units []*unit
	var waiting []*input
	for _, in := range b.inputs {
		if in.unit != nil {
			units, waiting = append(units, in.unit), append(waiting, in)
		}
	}
	outcomes, err := b.o.run(ctx, units)
	if err != nil {
		return err
	}
	for i, in := range waiting {
		in.done = in.unit.items(outcomes[i], in.listed)
	}
	return nil
}
