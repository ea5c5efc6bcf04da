package spec

import (
	"slices"
	"unicode/utf8"
)

// AppendPretty appends v as people read it on a terminal: canonical JSON with
// two spaces of indent, and a newline at the end.
func AppendPretty(dst []byte, v any) []byte {
	tree, err := deepTree(v)
	if err != nil {
		tree = nil
	}
	w := indenter{sorted: true, str: appendASCII, num: appendNumber}
	return append(w.value(dst, tree, 0), '\n')
}

// AppendStored appends o as a stored file: the keys of order first and in
// that order, then the rest sorted; nested keys and numbers as they were
// written, UTF-8 unescaped, two spaces of indent, a newline at the end.
func AppendStored(dst []byte, o *Object, order []string) []byte {
	top := &Object{Members: make([]Member, 0, len(o.Members))}
	for _, key := range order {
		if v, ok := o.Get(key); ok {
			top.Members = append(top.Members, Member{key, v})
		}
	}
	var few [manyKeys]int
	for _, i := range sortedIndex(o.Members, few[:0]) {
		if m := o.Members[i]; !slices.Contains(order, m.Key) {
			top.Members = append(top.Members, m)
		}
	}
	w := indenter{str: appendUTF8, num: func(dst []byte, n string) []byte { return append(dst, n...) }}
	return append(w.value(dst, top, 0), '\n')
}

// indenter writes a tree with two spaces a level.
type indenter struct {
	sorted bool
	str    func([]byte, string) []byte
	num    func([]byte, string) []byte
}

func (w *indenter) value(dst []byte, v any, level int) []byte {
	switch v := v.(type) {
	case string:
		return w.str(dst, v)
	case Number:
		return w.num(dst, string(v))
	case *Object:
		if v != nil {
			return w.object(dst, v, level)
		}
	case []any:
		return w.list(dst, v, level)
	}
	return AppendCanonical(dst, v)
}

func (w *indenter) object(dst []byte, o *Object, level int) []byte {
	if len(o.Members) == 0 {
		return append(dst, "{}"...)
	}
	var few [manyKeys]int
	index := few[:0]
	if w.sorted {
		index = sortedIndex(o.Members, index)
	} else {
		for i := range o.Members {
			index = append(index, i)
		}
	}
	dst = append(dst, '{')
	for i, at := range index {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = newline(dst, level+1)
		dst = w.str(dst, o.Members[at].Key)
		dst = append(dst, ": "...)
		dst = w.value(dst, o.Members[at].Value, level+1)
	}
	return append(newline(dst, level), '}')
}

func (w *indenter) list(dst []byte, list []any, level int) []byte {
	if len(list) == 0 {
		return append(dst, "[]"...)
	}
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = newline(dst, level+1)
		dst = w.value(dst, v, level+1)
	}
	return append(newline(dst, level), ']')
}

func newline(dst []byte, level int) []byte {
	dst = append(dst, '\n')
	for range level {
		dst = append(dst, "  "...)
	}
	return dst
}

// appendUTF8 writes s as a JSON string, escaping only what JSON demands and
// the control characters that a terminal would obey (0x7f to 0x9f).
func appendUTF8(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case r < 0x20 || r == '"' || r == '\\':
			dst = appendEscape(append(dst, s[from:i]...), byte(r))
			from = i + n
		case r >= 0x7f && r < 0xa0 || r == utf8.RuneError && n == 1:
			dst = appendUnit(append(dst, s[from:i]...), uint16(r))
			from = i + n
		}
		i += n
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
