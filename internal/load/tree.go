package load

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// maxNodes bounds the values of one YAML or TOML document, aliases counted
// each time they are used: no file that a person writes comes near it, an
// alias bomb passes it at once.
const maxNodes = 200_000

// tree builds the tree of a YAML or TOML document under the limits that
// spec.ParsePositions keeps for JSON.
type tree struct {
	file  string
	pos   spec.Positions
	path  []string
	nodes int
	shift int // what is added to YAML's lines
}

// fault is a reading error with its place. slip marks what a person who knows
// no YAML writes in a frontmatter: broken syntax or a repeated key.
type fault struct {
	diag.Problem
	slip bool
}

func (f *fault) Error() string { return f.String() }

func (t *tree) fail(p spec.Pos, hint, format string, args ...any) error {
	return &fault{Problem: diag.Problem{File: t.file, Line: p.Line, Col: p.Col, Path: dotted(t.path), Message: fmt.Sprintf(format, args...), Hint: hint}}
}

// enter notes a value's place and counts it.
func (t *tree) enter(p spec.Pos) error {
	t.pos[spec.PathKey(t.path...)] = p
	if t.nodes++; t.nodes > maxNodes {
		t.path = nil
		return t.fail(p, "", "more than %d values in one document", maxNodes)
	}
	if len(t.path) > spec.MaxDepth {
		t.path = nil
		return t.fail(p, "", "nested more than %d levels deep", spec.MaxDepth)
	}
	return nil
}

// down reads a child with the path kept.
func (t *tree) down(part string, read func() (any, error)) (any, error) {
	t.path = append(t.path, part)
	v, err := read()
	if err == nil {
		t.path = t.path[:len(t.path)-1]
	}
	return v, err
}

func (t *tree) key(part string, p spec.Pos) {
	t.pos[spec.PathKey(sub(t.path, part)...)+keyMark] = p
}

// number checks a number in JSON's form against the limits.
func (t *tree) number(p spec.Pos, s string) (any, error) {
	digits := strings.TrimPrefix(s, "-")
	if !strings.ContainsAny(digits, ".eE") {
		if len(digits) > spec.MaxIntDigits {
			return nil, t.fail(p, "", "an integer of %d digits; %d are allowed", len(digits), spec.MaxIntDigits)
		}
		return spec.Number(s), nil
	}
	if f, _ := strconv.ParseFloat(s, 64); math.IsInf(f, 0) {
		return nil, t.fail(p, "", "the number %s is too large", clip(s))
	}
	return spec.Number(s), nil
}

// maxMarks bounds the lines and entries of a document before a parser that
// makes a node of each sees them. Prose has few.
const maxMarks = 1 << 20

func (t *tree) marks(data []byte) error {
	n := 0
	for _, c := range []byte("\n,[{") {
		n += bytes.Count(data, []byte{c})
	}
	if n > maxMarks {
		return t.fail(spec.Pos{}, "", "more than %d lines and entries", maxMarks)
	}
	return nil
}

// asProblem is the problem that a reading error carries.
func asProblem(file string, err error) *diag.Problem {
	if f, ok := err.(*fault); ok {
		return &f.Problem
	}
	return &diag.Problem{File: file, Message: err.Error()}
}
