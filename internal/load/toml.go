package load

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// parseTOML reads a TOML document. The library's decoder judges it first
// (duplicate keys, tables defined twice, types), then a second pass over its
// syntax builds the tree with places and numbers as written.
func parseTOML(data []byte, shown string) (*doc, *diag.Problem) {
	t := &tree{file: shown, pos: spec.Positions{}}
	if err := t.marks(data); err != nil {
		return nil, asProblem(shown, err)
	}
	if err := t.tomlDepth(data); err != nil {
		return nil, asProblem(shown, err)
	}
	var any map[string]any
	if err := toml.Unmarshal(data, &any); err != nil {
		return nil, tomlProblem(shown, err)
	}
	r := &tomlReader{tree: t, root: &spec.Object{}, data: data}
	r.p.Reset(data)
	if err := r.read(); err != nil {
		return nil, asProblem(shown, err)
	}
	return &doc{file: shown, root: r.root, pos: t.pos}, nil
}

func tomlProblem(shown string, err error) *diag.Problem {
	var de *toml.DecodeError
	if errors.As(err, &de) {
		line, col := de.Position()
		message := strings.TrimPrefix(de.Error(), "toml: ")
		hint := ""
		if strings.Contains(message, "overflow") || strings.Contains(message, "out of range") {
			hint = "TOML integers have 64 bits"
		}
		return &diag.Problem{File: shown, Line: line, Col: col, Path: dotted(de.Key()), Message: clipTo(message, 200), Hint: hint}
	}
	return &diag.Problem{File: shown, Message: clipTo(strings.TrimPrefix(err.Error(), "toml: "), 200)}
}

// tomlDepth refuses deep nesting before the library recurses into it, which
// would exhaust the stack. It skips strings and comments.
func (t *tree) tomlDepth(data []byte) error {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '[', '{':
			if depth++; depth > spec.MaxDepth {
				line, col := lineCol(data, i)
				return t.fail(spec.Pos{Line: line, Col: col}, "", "nested more than %d levels deep", spec.MaxDepth)
			}
		case ']', '}':
			depth = max(depth-1, 0)
		case '#':
			for i+1 < len(data) && data[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			i = tomlString(data, i)
		}
	}
	return nil
}

// tomlString gives the index of the last byte of the string that starts at i.
func tomlString(data []byte, i int) int {
	q := data[i]
	if i+2 < len(data) && data[i+1] == q && data[i+2] == q {
		for i += 3; i < len(data); i++ {
			switch {
			case q == '"' && data[i] == '\\':
				i++
			case data[i] == q && i+2 < len(data) && data[i+1] == q && data[i+2] == q:
				for i+3 < len(data) && data[i+3] == q {
					i++
				}
				return i + 2
			}
		}
		return i
	}
	for i++; i < len(data) && data[i] != q && data[i] != '\n'; i++ {
		if q == '"' && data[i] == '\\' {
			i++
		}
	}
	return i
}

// tomlReader builds the tree; the document is known to be sound.
type tomlReader struct {
	*tree
	p    unstable.Parser
	root *spec.Object
	data []byte
	line struct{ offset, line, start int } // the last place asked for; offsets only grow, mostly
}

// at is the place of a node's text.
func (r *tomlReader) at(n *unstable.Node) spec.Pos {
	off := int(n.Raw.Offset)
	if n.Raw.Length == 0 && len(n.Data) > 0 {
		return spec.Pos{}
	}
	if off < r.line.offset || r.line.line == 0 {
		r.line.offset, r.line.line, r.line.start = 0, 1, 0
	}
	for i := r.line.offset; i < off && i < len(r.data); i++ {
		if r.data[i] == '\n' {
			r.line.line++
			r.line.start = i + 1
		}
	}
	r.line.offset = off
	return spec.Pos{Line: r.line.line, Col: off - r.line.start + 1}
}

func (r *tomlReader) read() error {
	r.pos[spec.PathKey()] = spec.Pos{Line: 1, Col: 1}
	table := r.root
	for r.p.NextExpression() {
		e := r.p.Expression()
		var err error
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			r.path = nil
			table, err = r.table(e)
		case unstable.KeyValue:
			keep := len(r.path)
			err = r.keyValue(table, e)
			if err == nil {
				r.path = r.path[:keep]
			}
		}
		if err != nil {
			return err
		}
	}
	if err := r.p.Error(); err != nil {
		return r.fail(spec.Pos{}, "", "%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	return nil
}

// table opens the table of a header and leaves its path in r.path.
func (r *tomlReader) table(e *unstable.Node) (*spec.Object, error) {
	o := r.root
	for it := e.Key(); it.Next(); {
		k := it.Node()
		last := it.IsLast()
		next, err := r.step(o, string(k.Data), r.at(k), last && e.Kind == unstable.ArrayTable)
		if err != nil {
			return nil, err
		}
		o = next
	}
	return o, nil
}

// step goes to the table that key names in o, made where it is not there. Of
// an array of tables the last element is meant; more asks for a new one.
func (r *tomlReader) step(o *spec.Object, key string, p spec.Pos, more bool) (*spec.Object, error) {
	v, there := o.Get(key)
	if !there {
		if err := r.room(len(o.Members), p); err != nil {
			return nil, err
		}
		r.key(key, p)
	}
	r.path = append(r.path, key)
	if !there {
		if err := r.enter(p); err != nil {
			return nil, err
		}
	}
	list, isList := v.([]any)
	switch {
	case more:
		if err := r.room(len(list), p); err != nil {
			return nil, err
		}
		next := &spec.Object{}
		o.Set(key, append(list, next))
		r.path = append(r.path, strconv.Itoa(len(list)))
		return next, r.enter(p)
	case isList && len(list) > 0:
		next, ok := list[len(list)-1].(*spec.Object)
		if !ok {
			return nil, r.fail(p, "", "%q is no table", clip(key))
		}
		r.path = append(r.path, strconv.Itoa(len(list)-1))
		return next, nil
	case !there:
		next := &spec.Object{}
		o.Set(key, next)
		return next, nil
	}
	next, ok := v.(*spec.Object)
	if !ok {
		return nil, r.fail(p, "", "%q is no table", clip(key))
	}
	return next, nil
}

func (r *tomlReader) room(n int, p spec.Pos) error {
	if n >= spec.MaxEntries {
		return r.fail(p, "", "more than %d entries in one table or array", spec.MaxEntries)
	}
	return nil
}

// keyValue sets a possibly dotted key in o. On success r.path is longer by the
// key; the caller cuts it.
func (r *tomlReader) keyValue(o *spec.Object, e *unstable.Node) error {
	for it := e.Key(); it.Next(); {
		k := it.Node()
		key, p := string(k.Data), r.at(k)
		if !it.IsLast() {
			next, err := r.step(o, key, p, false)
			if err != nil {
				return err
			}
			o = next
			continue
		}
		if o.Has(key) {
			return r.fail(p, "", "the key %q stands here a second time", clip(key))
		}
		if err := r.room(len(o.Members), p); err != nil {
			return err
		}
		r.key(key, p)
		r.path = append(r.path, key)
		v, err := r.value(e.Value(), p)
		if err != nil {
			return err
		}
		o.Members = append(o.Members, spec.Member{Key: key, Value: v})
	}
	return nil
}

// value turns a node into a tree value. Nodes without a place of their own
// (arrays, inline tables) take that of what holds them.
func (r *tomlReader) value(n *unstable.Node, near spec.Pos) (any, error) {
	p := near
	if n.Raw.Length > 0 {
		p = r.at(n)
	}
	if err := r.enter(p); err != nil {
		return nil, err
	}
	switch n.Kind {
	case unstable.String:
		return string(n.Data), nil
	case unstable.Bool:
		return n.Data[0] == 't', nil
	case unstable.Integer:
		return r.integer(p, string(n.Data))
	case unstable.Float:
		return r.float(p, string(n.Data))
	case unstable.Array:
		return r.array(n, p)
	case unstable.InlineTable:
		return r.inline(n)
	}
	return nil, r.fail(p, "write it in quotes", "a date or time is not a value here")
}

func (r *tomlReader) array(n *unstable.Node, p spec.Pos) (any, error) {
	list := []any{}
	for it := n.Children(); it.Next(); {
		c := it.Node()
		if c.Kind == unstable.Comment {
			continue
		}
		if err := r.room(len(list), p); err != nil {
			return nil, err
		}
		v, err := r.down(strconv.Itoa(len(list)), func() (any, error) { return r.value(c, p) })
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (r *tomlReader) inline(n *unstable.Node) (any, error) {
	o := &spec.Object{}
	keep := len(r.path)
	for it := n.Children(); it.Next(); {
		if it.Node().Kind != unstable.KeyValue {
			continue
		}
		if err := r.keyValue(o, it.Node()); err != nil {
			return nil, err
		}
		r.path = r.path[:keep]
	}
	return o, nil
}

func (r *tomlReader) integer(p spec.Pos, s string) (any, error) {
	s = strings.TrimPrefix(strings.ReplaceAll(s, "_", ""), "+")
	n, ok := new(big.Int).SetString(s, 0)
	if !ok {
		return nil, r.fail(p, "", "%s is not an integer", clip(s))
	}
	return r.number(p, n.String())
}

func (r *tomlReader) float(p spec.Pos, s string) (any, error) {
	s = strings.TrimPrefix(strings.ReplaceAll(s, "_", ""), "+")
	if strings.HasSuffix(s, "inf") || strings.HasSuffix(s, "nan") {
		return nil, r.fail(p, "", "%s is not a number that JSON can hold", s)
	}
	return r.number(p, s)
}
