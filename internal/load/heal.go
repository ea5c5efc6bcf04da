package load

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// Keys says which keys a frontmatter may have.
type Keys struct {
	// Known start a field where the frontmatter is read line by line.
	Known []string
	// Guarded are those of the known ones that restrict: a line that may have
	// been meant as one of them and was not read as one is told in Front.Lost.
	Guarded []string
}

// Front is a Markdown file with frontmatter, taken apart.
type Front struct {
	File string
	// Root holds the fields in their order, by their keys as written.
	Root *spec.Object
	// Body is all that stands below the closing ---, as it is; it starts on
	// BodyLine.
	Body     string
	BodyLine int
	// Repairs tell what strict YAML refused and how it was read, one a field
	// and sorted by line. None: it is YAML.
	Repairs []Repair
	// Raw names the keys whose value is no YAML by itself and was taken as text.
	Raw map[string]bool
	// Cut names the guarded keys below which lines were left out.
	Cut map[string]bool
	// Lost are lines that look like a guarded key and were not read as one.
	Lost []diag.Problem

	doc *doc
}

// Repair is one thing in a frontmatter that was read though it is no YAML.
type Repair struct {
	Class string // F1 to F5, by what the line looks like; "" for another mistake
	Key   string // of the field, "" for the whole
	diag.Problem
}

// At is the place of the value of a path, else of its nearest part that is there.
func (f *Front) At(path ...string) (line, col int) {
	_, line, col = f.doc.at(path...)
	return line, col
}

// KeyAt is the place of the key that path ends in.
func (f *Front) KeyAt(path ...string) (line, col int) {
	_, line, col = f.doc.keyAt(path...)
	return line, col
}

// Fenced says how a file begins: whether its first line is --- and, where it is
// not, whether one stands below blank lines only. Neither means that it is a
// text without frontmatter.
func Fenced(data []byte) (first, late bool) {
	for i, l := range strings.SplitN(string(data), "\n", 100) {
		switch {
		case isFence([]byte(l)):
			return i == 0, i > 0
		case strings.TrimSpace(l) != "":
			return false, false
		}
	}
	return false, false
}

// Frontmatter takes a Markdown file apart; shown is its name in messages. What
// strict YAML refuses is read again line by line: a line starts a field only if
// its key is a known one that was not seen before, all else goes on with the
// last field; each value is YAML by itself, else text. A file without closed
// frontmatter, or one in which not even that gives a field, is a problem.
func Frontmatter(data []byte, shown string, k Keys) (f *Front, p *diag.Problem) {
	defer func() {
		if r := recover(); r != nil {
			f, p = nil, &diag.Problem{File: shown, Message: parserBroke}
		}
	}()
	if p := text(data, shown); p != nil {
		return nil, p
	}
	front, body, line, p := fences(data, shown)
	if p != nil {
		return nil, p
	}
	f = &Front{File: shown, Body: string(body), BodyLine: line, Raw: map[string]bool{}}
	t := &tree{file: shown, pos: spec.Positions{}}
	v, err := t.yaml(front, 2)
	if err == nil {
		root, ok := v.(*spec.Object)
		if !ok {
			return nil, &diag.Problem{File: shown, Line: 2, Col: 1, Message: "the frontmatter must be fields with values, not " + kindOf(v)}
		}
		f.Root, f.doc = root, &doc{file: shown, root: root, pos: t.pos}
		return f, nil
	}
	strict := asProblem(shown, err)
	h := heal(front, shown, k)
	if len(h.root.Members) == 0 {
		return nil, strict
	}
	f.Root, f.doc = h.root, &doc{file: shown, root: h.root, pos: h.pos}
	f.Raw, f.Cut, f.Repairs, f.Lost = h.raw, h.cut, h.repairs, h.lost
	if len(f.Repairs) == 0 {
		f.Repairs = []Repair{{Class: "F4", Problem: diag.Problem{File: shown, Line: strict.Line, Col: strict.Col,
			Message: "the frontmatter is not YAML (" + strict.Message + "); it was read line by line"}}}
	}
	return f, nil
}

var frontKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+(.*))?$`) })

// likeKey finds what may have been meant as a key: indented, quoted, in a list
// or behind a comment mark, in whatever case.
var likeKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[^\pL\pN]*([\pL][\pL\pN_ -]*?)["'` + "`" + `*]*\s*[:=]`)
})

// healing is a frontmatter that is read line by line.
type healing struct {
	file    string
	keys    Keys
	root    *spec.Object
	pos     spec.Positions
	raw     map[string]bool
	cut     map[string]bool
	repairs []Repair
	lost    []diag.Problem
	// twice are known keys that stand there again.
	twice []string
	// stray is the first line of text before any field, 0 for none.
	stray int
}

// lineField is a field while its lines are gathered.
type lineField struct {
	key   string
	line  int
	lines []string
}

// heal reads a frontmatter that starts on line 2 by known keys.
func heal(front []byte, shown string, k Keys) *healing {
	h := &healing{file: shown, keys: k, root: &spec.Object{}, pos: spec.Positions{spec.PathKey(): {Line: 2, Col: 1}}, raw: map[string]bool{}, cut: map[string]bool{}}
	for _, f := range h.fields(front) {
		h.field(f)
	}
	return h
}

func (h *healing) fields(front []byte) (fields []lineField) {
	for i, l := range strings.Split(strings.TrimSuffix(string(front), "\n"), "\n") {
		l = strings.TrimSuffix(l, "\r")
		line := i + 2
		if m := frontKey().FindStringSubmatch(l); m != nil && slices.Contains(h.keys.Known, m[1]) {
			if !slices.ContainsFunc(fields, func(f lineField) bool { return f.key == m[1] }) {
				fields = append(fields, lineField{m[1], line, []string{l}})
				continue
			}
			h.twice = append(h.twice, m[1])
		}
		h.look(l, line)
		if len(fields) > 0 {
			last := &fields[len(fields)-1]
			last.lines = append(last.lines, l)
		} else if s := strings.TrimSpace(l); s != "" && s[0] != '#' && h.stray == 0 {
			h.stray = line
		}
	}
	return fields
}

// look tells of a line that does not start a field and looks as if it should
// restrict.
func (h *healing) look(l string, line int) {
	m := likeKey().FindStringSubmatch(l)
	if m == nil {
		return
	}
	if g := Guards(m[1], h.keys.Guarded); g != "" {
		h.lost = append(h.lost, diag.Problem{File: h.file, Line: line, Col: 1, Path: g,
			Message: "this line looks like " + g + ", but the frontmatter is no YAML and it could not be read as that"})
	}
}

// Guards gives the guarded key that a word is, whatever its case and
// punctuation; "" for none.
func Guards(word string, guarded []string) string {
	for _, g := range guarded {
		if squash(word) == squash(g) {
			return g
		}
	}
	return ""
}

func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// field reads the lines of one field: as YAML by itself, else as text. A
// guarded one is never longer than what YAML would give it: lines at the left
// edge are left out of it, and Cut says so.
func (h *healing) field(f lineField) {
	err := h.yaml(f)
	if err == nil {
		return
	}
	at := spec.Pos{Line: f.line, Col: len(f.key) + 3}
	repair := func(class, message, hint string) {
		h.repairs = append(h.repairs, Repair{Class: class, Key: f.key, Problem: diag.Problem{File: h.file, Line: at.Line, Col: at.Col, Path: f.key,
			Message: message, Hint: hint}})
	}
	if n := inner(f.lines); slices.Contains(h.keys.Guarded, f.key) && n < len(f.lines) && h.yaml(lineField{f.key, f.line, f.lines[:n]}) == nil {
		h.cut[f.key] = true
		repair("F4", "the lines below it look like fields, are none, and were left out", "indent what belongs to a text above it")
		return
	}
	text := strings.TrimSpace(strings.TrimPrefix(strings.Join(f.lines, "\n"), f.key+":"))
	class := classOf(f, text)
	if f.key == "description" {
		text = strings.ReplaceAll(text, `\n`, "\n")
	}
	h.raw[f.key] = true
	h.root.Members = append(h.root.Members, spec.Member{Key: f.key, Value: text})
	h.pos[spec.PathKey(f.key)+keyMark], h.pos[spec.PathKey(f.key)] = spec.Pos{Line: f.line, Col: 1}, at
	message, hint := repaired[class], repairHint[class]
	if class == "" {
		message, hint = "is no value here ("+asProblem(h.file, err).Message+") and was taken as text", "put the value in quotes"
	}
	repair(class, message, hint)
}

// inner counts a field's own lines: the first, and those that are indented,
// blank, comments or entries of a list.
func inner(lines []string) int {
	n := 1
	for n < len(lines) && (lines[n] == "" || strings.ContainsRune(" \t-#", rune(lines[n][0]))) {
		n++
	}
	return n
}

// yaml takes a field whose lines are YAML by themselves; the error says why they
// are not.
func (h *healing) yaml(f lineField) error {
	t := &tree{file: h.file, pos: spec.Positions{}}
	v, err := t.yaml([]byte(strings.Join(f.lines, "\n")+"\n"), f.line)
	fo, ok := v.(*spec.Object)
	if err != nil {
		return err
	}
	if !ok || len(fo.Members) != 1 || fo.Members[0].Key != f.key {
		return t.fail(spec.Pos{Line: f.line}, "", "more than one field")
	}
	h.root.Members = append(h.root.Members, fo.Members[0])
	for k, at := range t.pos {
		if k != spec.PathKey() {
			h.pos[k] = at
		}
	}
	return nil
}

// repaired says how a field of each class was read.
var repaired = map[string]string{
	"F1": "is no YAML (brackets with text behind them) and was taken as it stands",
	"F2": "is no YAML (a colon outside quotes) and was taken as it stands",
	"F3": `is no YAML and was taken as it stands, each \n read as a new line`,
	"F4": "is no YAML (the lines below it look like fields) and was taken as text up to the next known key",
	"F5": "is no YAML (* outside quotes names an alias) and was taken as it stands",
}

var repairHint = map[string]string{
	"F1": "put the value in quotes",
	"F2": "put the value in quotes",
	"F3": "write the text under KEY: | and indent it",
	"F4": "write the text under KEY: | and indent it",
	"F5": `write "*"`,
}

// classOf names what was wrong with a field that is no YAML.
func classOf(f lineField, text string) string {
	more := slices.ContainsFunc(f.lines[1:], func(l string) bool { return strings.TrimSpace(l) != "" })
	switch {
	case more:
		return "F4"
	case strings.HasPrefix(text, "*"):
		return "F5"
	case strings.HasPrefix(text, "["):
		return "F1"
	case f.key == "description" && strings.Contains(text, `\n`):
		return "F3"
	}
	if strings.Contains(text, ": ") || strings.HasSuffix(text, ":") {
		return "F2"
	}
	return ""
}
