package load

import (
	"sort"
	"strconv"
	"strings"
	"unicode"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// doc is one document as a tree with the place of each of its values.
type doc struct {
	file string
	root any
	pos  spec.Positions
	// files names the file of a path where that is not file: the parts of one
	// CUE value may stand in several.
	files   map[string]string
	notices []diag.Problem
	// faults and open are what CUE says of the document; nil for data formats.
	faults []cueFault
	open   map[string]bool
}

// keyMark is the suffix of a key's own place in spec.Positions.
const keyMark = "\x00key"

// at gives the place of the value of a path, or of its nearest ancestor.
func (d *doc) at(path ...string) (string, int, int) {
	for n := len(path); n >= 0; n-- {
		if f, p, ok := d.exact(spec.PathKey(path[:n]...)); ok {
			return f, p.Line, p.Col
		}
	}
	return d.file, 0, 0
}

// keyAt gives the place of the key that a path ends in, else that of its value.
func (d *doc) keyAt(path ...string) (string, int, int) {
	if f, p, ok := d.exact(spec.PathKey(path...) + keyMark); ok {
		return f, p.Line, p.Col
	}
	return d.at(path...)
}

func (d *doc) exact(key string) (string, spec.Pos, bool) {
	p, ok := d.pos[key]
	if !ok || p.Line == 0 {
		return "", spec.Pos{}, false
	}
	if f, ok := d.files[key]; ok {
		return f, p, true
	}
	return d.file, p, true
}

// problem is a mistake at the value of path.
func (d *doc) problem(path []string, message, hint string) diag.Problem {
	f, line, col := d.at(path...)
	return diag.Problem{File: f, Line: line, Col: col, Path: dotted(path), Message: message, Hint: hint}
}

// keyProblem is a mistake at the key that path ends in.
func (d *doc) keyProblem(path []string, message, hint string) diag.Problem {
	p := d.problem(path, message, hint)
	p.File, p.Line, p.Col = d.keyAt(path...)
	return p
}

// get follows a path through objects and lists.
func (d *doc) get(path ...string) (any, bool) { return follow(d.root, path) }

func follow(v any, path []string) (any, bool) {
	for _, p := range path {
		switch x := v.(type) {
		case *spec.Object:
			m, ok := x.Get(p)
			if !ok {
				return nil, false
			}
			v = m
		case []any:
			n, err := strconv.Atoi(p)
			if err != nil || n < 0 || n >= len(x) {
				return nil, false
			}
			v = x[n]
		default:
			return nil, false
		}
	}
	return v, true
}

// dotted is a path for people. A part that holds a dot, a space or a control
// character is quoted, so that the line stays one line.
func dotted(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = p
		if p == "" || strings.ContainsFunc(p, func(r rune) bool { return r <= ' ' || r == '.' || r == '"' || r == 0x7f }) {
			parts[i] = strconv.Quote(clip(p))
		} else if len(p) > maxShown {
			parts[i] = clip(p)
		}
	}
	return strings.Join(parts, ".")
}

// sub is a copy of path with more parts.
func sub(path []string, more ...string) []string {
	return append(append(make([]string, 0, len(path)+len(more)), path...), more...)
}

// tidy sorts problems by place and drops repeated ones.
func tidy(ps []diag.Problem) []diag.Problem {
	sort.SliceStable(ps, func(i, j int) bool {
		a, b := ps[i], ps[j]
		switch {
		case a.File != b.File:
			return a.File < b.File
		case a.Line != b.Line:
			return a.Line < b.Line
		}
		return a.Col < b.Col
	})
	seen := map[diag.Problem]bool{}
	out := ps[:0]
	for _, p := range ps {
		p.Path, p.Message, p.Hint = visible(p.Path), visible(p.Message), visible(p.Hint)
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	return out
}

// visible escapes control characters, which a message of a library may quote
// from the file: a problem is one harmless line.
func visible(s string) string {
	if !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
