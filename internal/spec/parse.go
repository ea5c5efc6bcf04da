package spec

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The limits of every document that a person writes, whatever its format.
// They keep one hostile file from costing more than a glance: 16 MiB is a
// hundred times the largest prompt seen, 64 levels and 1,000 entries are far
// beyond any spec, and 64 digits hold every integer that a program means.
const (
	MaxBytes     = 16 << 20
	MaxDepth     = 64
	MaxEntries   = 1000
	MaxIntDigits = 64
)

// lenientDepth bounds recursion where the input is our own encoder's output.
const lenientDepth = 10000

// SyntaxError says why a text is no acceptable JSON, and where. Line and Col
// count from 1 (Col in bytes, as CUE does), Offset from 0.
type SyntaxError struct {
	Line, Col, Offset int
	Message           string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Message)
}

// Pos is a place in a text; both count from 1, Col in bytes.
type Pos struct{ Line, Col int }

// Positions maps PathKey(parts...) to where that value starts, and
// PathKey(parts...)+"\x00key" to where its key starts. List indexes are
// decimal parts; the root is PathKey().
type Positions map[string]Pos

// PathKey is the key of a path in Positions.
func PathKey(parts ...string) string { return strings.Join(parts, "\x01") }

// Parse reads one JSON value in one pass and keeps key order and the lexical
// form of numbers. Beyond the grammar it refuses duplicate keys, invalid
// UTF-8, a byte order mark, lone surrogates, NaN and Infinity, floats beyond
// float64, and whatever exceeds the limits above. The error is a *SyntaxError.
func Parse(data []byte) (any, error) {
	p := parser{strict: true}
	return p.document(data)
}

// ParseObject is Parse for a text whose root must be an object.
func ParseObject(data []byte) (*Object, error) {
	p := parser{strict: true}
	v, err := p.document(data)
	if err != nil {
		return nil, err
	}
	o, ok := v.(*Object)
	if !ok {
		return nil, &SyntaxError{p.root.Line, p.root.Col, p.rootOffset,
			"the root must be an object, not " + kind(v)}
	}
	return o, nil
}

// ParsePositions is Parse that also tells where each value and key stands.
func ParsePositions(data []byte) (any, Positions, error) {
	p := parser{strict: true, positions: Positions{}}
	v, err := p.document(data)
	if err != nil {
		return nil, nil, err
	}
	return v, p.positions, nil
}

// parser is one pass over one text. Line breaks stand only between tokens
// (strings refuse them), so skipSpace alone keeps line and lineStart.
type parser struct {
	s          string
	i          int
	line       int
	lineStart  int
	depth      int
	strict     bool // false: our own encoder's output; no limits, last key wins
	root       Pos
	rootOffset int
	members    []Member // stack of the members of all open objects
	items      []any    // stack of the items of all open lists
	positions  Positions
	path       []string // kept only with positions
}

func (p *parser) document(data []byte) (any, error) {
	p.line = 1
	if p.strict && len(data) > MaxBytes {
		return nil, &SyntaxError{1, 1, 0, fmt.Sprintf("the text has %d bytes; %d are allowed", len(data), MaxBytes)}
	}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		return nil, p.fail(0, "a byte order mark is not allowed; save the text as UTF-8 without one")
	}
	p.s = string(data)
	p.members = make([]Member, 0, 16) // a spec with its nested objects fits
	p.skipSpace()
	p.root, p.rootOffset = p.pos(p.i), p.i
	if p.i == len(p.s) {
		return nil, p.fail(p.i, "a JSON value is missing; the text is empty")
	}
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	p.skipSpace()
	if p.i < len(p.s) {
		return nil, p.fail(p.i, "unexpected %s after the end of the JSON value", p.here(p.i))
	}
	return v, nil
}

func (p *parser) pos(i int) Pos { return Pos{p.line, i - p.lineStart + 1} }

func (p *parser) fail(i int, format string, args ...any) error {
	at := p.pos(i)
	return &SyntaxError{at.Line, at.Col, i, fmt.Sprintf(format, args...)}
}

// here names what stands at i, printable.
func (p *parser) here(i int) string {
	if i >= len(p.s) {
		return "end of text"
	}
	r, _ := utf8.DecodeRuneInString(p.s[i:])
	return strconv.QuoteRuneToASCII(r)
}

func (p *parser) skipSpace() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case '\n':
			p.line++
			p.lineStart = p.i + 1
		case ' ', '\t', '\r':
		default:
			return
		}
		p.i++
	}
}

func (p *parser) value() (any, error) {
	if p.positions != nil {
		p.positions[PathKey(p.path...)] = p.pos(p.i)
	}
	if p.i >= len(p.s) {
		return nil, p.fail(p.i, "the text ends where a value should stand")
	}
	switch c := p.s[p.i]; {
	case c == '{':
		return p.object()
	case c == '[':
		return p.list()
	case c == '"':
		return p.text()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	return p.word()
}

func (p *parser) enter() error {
	p.depth++
	switch {
	case p.strict && p.depth > MaxDepth:
		return p.fail(p.i, "nested more than %d levels deep", MaxDepth)
	case p.depth > lenientDepth:
		return p.fail(p.i, "nested more than %d levels deep", lenientDepth)
	}
	return nil
}

func (p *parser) object() (any, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	base := len(p.members)
	p.i++
	p.skipSpace()
	if p.i < len(p.s) && p.s[p.i] == '}' {
		return p.endObject(base), nil
	}
	var seen map[string]int
	for {
		if p.i >= len(p.s) || p.s[p.i] != '"' {
			return nil, p.fail(p.i, "a key in double quotes should stand here, not %s", p.here(p.i))
		}
		keyAt := p.i
		keyPos := p.pos(keyAt)
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		old := p.find(base, key, &seen)
		if old >= 0 && p.strict {
			return nil, p.fail(keyAt, "the key %q stands here a second time", clip(key))
		}
		if p.strict && len(p.members)-base == MaxEntries {
			return nil, p.fail(keyAt, "more than %d keys in one object", MaxEntries)
		}
		if err := p.colon(); err != nil {
			return nil, err
		}
		v, err := p.child(key, keyPos)
		if err != nil {
			return nil, err
		}
		if old >= 0 {
			p.members[old].Value = v
		} else {
			p.members = append(p.members, Member{key, v})
		}
		p.skipSpace()
		switch {
		case p.i < len(p.s) && p.s[p.i] == ',':
			p.i++
			p.skipSpace()
		case p.i < len(p.s) && p.s[p.i] == '}':
			return p.endObject(base), nil
		default:
			return nil, p.fail(p.i, "a comma or } should stand here, not %s", p.here(p.i))
		}
	}
}

// child reads a member's value with the path kept.
func (p *parser) child(key string, at Pos) (any, error) {
	if p.positions == nil {
		return p.value()
	}
	p.path = append(p.path, key)
	p.positions[PathKey(p.path...)+"\x00key"] = at
	v, err := p.value()
	p.path = p.path[:len(p.path)-1]
	return v, err
}

func (p *parser) colon() error {
	p.skipSpace()
	if p.i >= len(p.s) || p.s[p.i] != ':' {
		return p.fail(p.i, "a colon should stand after the key, not %s", p.here(p.i))
	}
	p.i++
	p.skipSpace()
	return nil
}

// find gives the index in the stack of key among the open object's members,
// or -1. Up to 16 members a look at each is fastest; then a map takes over.
func (p *parser) find(base int, key string, seen *map[string]int) int {
	open := p.members[base:]
	if len(open) < 16 {
		for i := range open {
			if open[i].Key == key {
				return base + i
			}
		}
		return -1
	}
	if *seen == nil {
		*seen = make(map[string]int, 2*len(open))
		for i := range open {
			(*seen)[open[i].Key] = base + i
		}
	}
	if i, ok := (*seen)[key]; ok {
		return i
	}
	(*seen)[key] = len(p.members)
	return -1
}

func (p *parser) endObject(base int) *Object {
	p.i++
	p.depth--
	o := &Object{}
	if n := len(p.members) - base; n > 0 {
		o.Members = make([]Member, n)
		copy(o.Members, p.members[base:])
		p.members = p.members[:base]
	}
	return o
}

func (p *parser) list() (any, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	base := len(p.items)
	p.i++
	p.skipSpace()
	if p.i < len(p.s) && p.s[p.i] == ']' {
		return p.endList(base), nil
	}
	for {
		n := len(p.items) - base
		if p.strict && n == MaxEntries {
			return nil, p.fail(p.i, "more than %d entries in one list", MaxEntries)
		}
		v, err := p.item(n)
		if err != nil {
			return nil, err
		}
		p.items = append(p.items, v)
		p.skipSpace()
		switch {
		case p.i < len(p.s) && p.s[p.i] == ',':
			p.i++
			p.skipSpace()
		case p.i < len(p.s) && p.s[p.i] == ']':
			return p.endList(base), nil
		default:
			return nil, p.fail(p.i, "a comma or ] should stand here, not %s", p.here(p.i))
		}
	}
}

func (p *parser) item(n int) (any, error) {
	if p.positions == nil {
		return p.value()
	}
	p.path = append(p.path, strconv.Itoa(n))
	v, err := p.value()
	p.path = p.path[:len(p.path)-1]
	return v, err
}

func (p *parser) endList(base int) []any {
	p.i++
	p.depth--
	l := make([]any, len(p.items)-base)
	copy(l, p.items[base:])
	p.items = p.items[:base]
	return l
}

func (p *parser) word() (any, error) {
	for _, w := range [...]struct {
		text  string
		value any
	}{{"true", true}, {"false", false}, {"null", nil}} {
		if strings.HasPrefix(p.s[p.i:], w.text) {
			p.i += len(w.text)
			return w.value, nil
		}
	}
	for _, w := range [...]string{"NaN", "Infinity"} {
		if strings.HasPrefix(p.s[p.i:], w) {
			return nil, p.fail(p.i, "%s is not a JSON number", w)
		}
	}
	return nil, p.fail(p.i, "a value should stand here, not %s", p.here(p.i))
}

// kind names a tree value's JSON type for a person.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

// clip keeps a quoted name short enough for one line.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
