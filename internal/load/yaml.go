package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// parseYAML reads one YAML document as JSON's kinds of values, by YAML 1.2's
// core schema. Where YAML 1.1 reads a plain scalar otherwise (0777, 1_000,
// dates), the file is refused with the way to say it clearly.
func parseYAML(data []byte, shown string) (*doc, *diag.Problem) {
	t := &tree{file: shown, pos: spec.Positions{}}
	root, err := t.yaml(data, 1)
	if err != nil {
		return nil, asProblem(shown, err)
	}
	return &doc{file: shown, root: root, pos: t.pos}, nil
}

// yaml reads data whose first line is the given one of the file.
func (t *tree) yaml(data []byte, first int) (any, error) {
	if err := t.marks(data); err != nil {
		return nil, err
	}
	// The library leaves out the line of an error on the first line, so nothing
	// of ours stands there.
	t.shift = first - 2
	dec := yaml.NewDecoder(io.MultiReader(strings.NewReader("\n"), bytes.NewReader(data)))
	var n, second yaml.Node
	if err := dec.Decode(&n); errors.Is(err, io.EOF) {
		return nil, t.fail(spec.Pos{Line: first, Col: 1}, "", "the document is empty")
	} else if err != nil {
		return nil, t.yamlError(err, data, first)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, t.fail(spec.Pos{Line: second.Line + t.shift, Col: second.Column}, "write one file for each", "a second document starts here")
	} else if !errors.Is(err, io.EOF) {
		return nil, t.yamlError(err, data, first)
	}
	if n.Kind != yaml.DocumentNode || len(n.Content) != 1 {
		return nil, t.fail(spec.Pos{Line: first, Col: 1}, "", "the document is empty")
	}
	return t.yamlValue(n.Content[0], nil)
}

var yamlLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`) })

// yamlError finds the line in the library's message.
func (t *tree) yamlError(err error, data []byte, first int) error {
	m := yamlLine().FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	if m == nil {
		return t.fail(spec.Pos{}, "", "%s", err)
	}
	p := spec.Pos{Line: first}
	if n, err := strconv.Atoi(m[1]); err == nil {
		p.Line = n + t.shift
		if yamlParser[m[2]] {
			p.Line++ // the library counts from 0 where its parser, not its scanner, complains
		}
	}
	hint := ""
	switch {
	case strings.Contains(m[2], "mapping values are not allowed"):
		hint = "put a value that holds a colon and a space in quotes"
	case strings.Contains(m[2], "found character that cannot start any token"):
		hint = "put a value that starts with @, ` or % in quotes, and indent with spaces"
	}
	if name, ok := strings.CutPrefix(m[2], "unknown anchor '"); ok {
		p.Line = first
		if i := bytes.Index(data, []byte("*"+strings.TrimSuffix(name, "' referenced"))); i >= 0 {
			p.Line, p.Col = lineCol(data, i)
			p.Line += first - 1
		}
	}
	return slip(t.fail(p, hint, "%s", clipTo(m[2], 200)))
}

// yamlParser are the complaints of the library's parser.
var yamlParser = map[string]bool{
	"did not find expected node content": true, "did not find expected key": true, "did not find expected '-' indicator": true,
	"did not find expected ',' or ']'": true, "did not find expected ',' or '}'": true, "did not find expected <document start>": true,
}

// slip marks an error as one that a frontmatter may be healed of.
func slip(err error) error {
	err.(*fault).slip = true
	return err
}

// yamlValue turns a node into a tree value. open are the aliases being
// followed, to refuse one that holds itself.
func (t *tree) yamlValue(n *yaml.Node, open []*yaml.Node) (any, error) {
	p := spec.Pos{Line: n.Line + t.shift, Col: n.Column}
	if n.Kind == yaml.AliasNode {
		for _, o := range open {
			if o == n.Alias {
				return nil, t.fail(p, "", "the alias *%s stands inside its own anchor", clip(n.Value))
			}
		}
		return t.yamlValue(n.Alias, append(open, n.Alias))
	}
	if err := t.enter(p); err != nil {
		return nil, err
	}
	if err := t.yamlTag(n, p); err != nil {
		return nil, err
	}
	switch n.Kind {
	case yaml.MappingNode:
		o := &spec.Object{}
		return o, t.yamlMapping(n, o, open)
	case yaml.SequenceNode:
		return t.yamlList(n, p, open)
	}
	return t.yamlScalar(n, p)
}

func (t *tree) yamlTag(n *yaml.Node, p spec.Pos) error {
	if n.Style&yaml.TaggedStyle == 0 {
		return nil
	}
	switch tag := n.ShortTag(); {
	case tag == "!!str" && n.Kind == yaml.ScalarNode, tag == "!!map" && n.Kind == yaml.MappingNode, tag == "!!seq" && n.Kind == yaml.SequenceNode:
		return nil
	default:
		return t.fail(p, "leave the tag out", "the tag %s is not known here", clip(tag))
	}
}

func (t *tree) yamlList(n *yaml.Node, p spec.Pos, open []*yaml.Node) (any, error) {
	if len(n.Content) > spec.MaxEntries {
		return nil, t.fail(p, "", "more than %d entries in one list", spec.MaxEntries)
	}
	list := make([]any, 0, len(n.Content))
	for i, c := range n.Content {
		v, err := t.down(strconv.Itoa(i), func() (any, error) { return t.yamlValue(c, open) })
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// yamlMapping reads a mapping into o. Keys of a merge (<<) come last and never
// replace one that is written out.
func (t *tree) yamlMapping(n *yaml.Node, o *spec.Object, open []*yaml.Node) error {
	seen := make(map[string]bool, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		p := spec.Pos{Line: k.Line + t.shift, Col: k.Column}
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			merges = append(merges, v)
			continue
		}
		name, err := t.yamlKey(k, p)
		if err != nil {
			return err
		}
		if seen[name] {
			return slip(t.fail(p, "", "the key %q stands here a second time", clip(name)))
		}
		seen[name] = true
		if err := t.yamlMember(o, name, p, v, open); err != nil {
			return err
		}
	}
	for _, m := range merges {
		if err := t.yamlMerge(o, m, open); err != nil {
			return err
		}
	}
	return nil
}

func (t *tree) yamlMember(o *spec.Object, name string, p spec.Pos, v *yaml.Node, open []*yaml.Node) error {
	if len(o.Members) == spec.MaxEntries {
		return t.fail(p, "", "more than %d keys in one object", spec.MaxEntries)
	}
	t.key(name, p)
	value, err := t.down(name, func() (any, error) { return t.yamlValue(v, open) })
	if err != nil {
		return err
	}
	o.Members = append(o.Members, spec.Member{Key: name, Value: value})
	return nil
}

// yamlMerge adds the keys of a mapping, or of a list of mappings, that o does
// not have.
func (t *tree) yamlMerge(o *spec.Object, n *yaml.Node, open []*yaml.Node) error {
	p := spec.Pos{Line: n.Line + t.shift, Col: n.Column}
	if n.Kind == yaml.AliasNode {
		for _, a := range open {
			if a == n.Alias {
				return t.fail(p, "", "the alias *%s stands inside its own anchor", clip(n.Value))
			}
		}
		return t.yamlMerge(o, n.Alias, append(open, n.Alias))
	}
	if t.nodes++; t.nodes > maxNodes || len(open) > spec.MaxDepth {
		return t.fail(p, "", "more than %d values in one document", maxNodes)
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if err := t.yamlMerge(o, c, open); err != nil {
				return err
			}
		}
		return nil
	case yaml.MappingNode:
		m := &spec.Object{}
		before := t.pos
		t.pos = spec.Positions{}
		err := t.yamlMapping(n, m, open)
		own := t.pos
		t.pos = before
		if err != nil {
			return err
		}
		for _, mem := range m.Members {
			if !o.Has(mem.Key) {
				if len(o.Members) == spec.MaxEntries {
					return t.fail(p, "", "more than %d keys in one object", spec.MaxEntries)
				}
				o.Members = append(o.Members, mem)
				t.adopt(own, mem.Key)
			}
		}
		return nil
	}
	return t.fail(p, "", "<< takes a mapping or a list of mappings")
}

// adopt takes over the places of one merged key.
func (t *tree) adopt(own spec.Positions, key string) {
	base := spec.PathKey(sub(t.path, key)...)
	for k, p := range own {
		if rest, ok := strings.CutPrefix(k, base); ok && (rest == "" || rest[0] <= 1) {
			t.pos[k] = p
		}
	}
}

// yamlKey is a key's text. Keys of other kinds would be strings in JSON that
// the writer did not mean.
func (t *tree) yamlKey(k *yaml.Node, p spec.Pos) (string, error) {
	for k.Kind == yaml.AliasNode {
		k = k.Alias
	}
	if k.Kind != yaml.ScalarNode {
		return "", t.fail(p, "", "a key must be text, not a list or a mapping")
	}
	if err := t.yamlTag(k, p); err != nil {
		return "", err
	}
	if k.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0 && k.ShortTag() != "!!str" {
		return "", t.fail(p, "put it in quotes", "the key %s is read as %s, not as text", clip(k.Value), yamlKind(k.ShortTag()))
	}
	return k.Value, nil
}

func yamlKind(tag string) string {
	switch tag {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "null"
	case "!!timestamp":
		return "a date"
	}
	return tag
}

// yamlPlain are the plain scalars of YAML 1.2 that are no text, and those of
// YAML 1.1 whose meaning depends on the reader.
var yamlPlain = sync.OnceValue(func() (r struct{ number, odd *regexp.Regexp }) {
	r.number = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	r.odd = regexp.MustCompile(`^[-+]?(0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*|[0-9][0-9_]*\.[0-9_]*([eE][-+]?[0-9]+)?|\.[0-9][0-9_]*([eE][-+]?[0-9]+)?|[0-9][0-9_]*[eE][-+]?[0-9]+)$`)
	return r
})

func (t *tree) yamlScalar(n *yaml.Node, p spec.Pos) (any, error) {
	s := n.Value
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0 {
		return s, nil
	}
	switch s {
	case "", "~", "null", "Null", "NULL":
		return nil, nil
	case "true", "True", "TRUE":
		return true, nil
	case "false", "False", "FALSE":
		return false, nil
	case ".nan", ".NaN", ".NAN":
		return nil, t.fail(p, "", "%s is not a number that JSON can hold", s)
	}
	switch strings.ToLower(strings.TrimLeft(s, "+-")) {
	case ".inf":
		return nil, t.fail(p, "", "%s is not a number that JSON can hold", s)
	}
	if n.ShortTag() == "!!timestamp" {
		return nil, t.fail(p, fmt.Sprintf("write %q in quotes", clip(s)), "a date is not a value here")
	}
	switch r := yamlPlain(); {
	case r.number.MatchString(s):
		return t.number(p, s)
	case r.odd.MatchString(s):
		return nil, t.fail(p, "write a plain decimal number, or text in quotes", "the number %s reads differently in different YAML parsers", clip(s))
	}
	return s, nil
}

// clipTo is clip for longer texts.
func clipTo(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
