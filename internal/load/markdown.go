package load

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// claudeKeys are the frontmatter keys of Claude Code's agent definitions that
// a PersonaSpec does not have.
var claudeKeys = []string{"tools", "allowed-tools", "disallowedTools", "permissionMode", "mcpServers", "mcp-servers",
	"skills", "hooks", "memory", "maxTurns", "background", "isolation", "effort", "color", "initialPrompt"}

// parseMarkdown reads a persona from Markdown: the frontmatter is a
// PersonaSpec without prompt in YAML, where name may stand for id; the body,
// without its last newline, is the prompt.
func parseMarkdown(data []byte, shown string) (*doc, *diag.Problem) {
	front, body, line, p := fences(data, shown)
	if p != nil {
		return nil, p
	}
	d, p := frontmatter(front, shown)
	if p != nil {
		return nil, p
	}
	o, ok := d.root.(*spec.Object)
	if !ok {
		q := d.problem(nil, "the frontmatter must be fields with values, not "+kindOf(d.root), "")
		return nil, &q
	}
	for _, k := range claudeKeys {
		if o.Has(k) {
			q := d.keyProblem([]string{k}, "this is an agent definition of Claude Code's kind, which larva cannot read yet", "write what the agent may do as capabilities, without "+k)
			return nil, &q
		}
	}
	return d, d.persona(o, string(body), line)
}

// persona makes the frontmatter a whole PersonaSpec.
func (d *doc) persona(o *spec.Object, body string, line int) *diag.Problem {
	for i, m := range o.Members {
		path := []string{m.Key}
		switch {
		case m.Key == "prompt":
			p := d.keyProblem(path, "the text below the frontmatter is the prompt", "leave prompt out")
			return &p
		case m.Key == "name" && o.Has("id"):
			p := d.keyProblem(path, "stands for id, which is here too", "keep one of the two")
			return &p
		case m.Key == "name":
			o.Members[i].Key = "id"
			for _, mark := range []string{"", keyMark} {
				d.pos[spec.PathKey("id")+mark] = d.pos[spec.PathKey("name")+mark]
			}
		}
	}
	body = strings.TrimSuffix(body, "\n")
	body = strings.TrimSuffix(body, "\r")
	o.Members = append(o.Members, spec.Member{Key: "prompt", Value: body})
	d.pos[spec.PathKey("prompt")] = spec.Pos{Line: line, Col: 1}
	return nil
}

// fences splits a Markdown file at its two --- lines; line is where the body
// starts. Without a closed frontmatter there is no persona: what it may do
// would be a guess.
func fences(data []byte, shown string) (front, body []byte, line int, p *diag.Problem) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	if !isFence(first) {
		p = &diag.Problem{File: shown, Line: 1, Col: 1, Message: "there is no frontmatter", Hint: "the first line must be ---"}
		return nil, nil, 0, p
	}
	start := len(data) - len(rest)
	for at, n := start, 2; at < len(data); n++ {
		l, _, more := bytes.Cut(data[at:], []byte("\n"))
		end := at + len(l)
		if isFence(l) {
			if more {
				end++
			}
			return data[start:at], data[end:], n + 1, nil
		}
		if at = end + 1; !more {
			break
		}
	}
	return nil, nil, 0, &diag.Problem{File: shown, Line: 1, Col: 1, Message: "the frontmatter that starts here has no end", Hint: "close it with a line of ---"}
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t\r")) == "---" }

// frontmatter reads YAML that starts on line 2. What strict YAML refuses is
// read again by known keys (unquoted colons, pasted examples: one real file in thirteen), with
// a notice.
func frontmatter(front []byte, shown string) (*doc, *diag.Problem) {
	t := &tree{file: shown, pos: spec.Positions{}}
	v, err := t.yaml(front, 2)
	if err == nil {
		return &doc{file: shown, root: v, pos: t.pos}, nil
	}
	p := asProblem(shown, err)
	if f, ok := err.(*fault); !ok || !f.slip {
		return nil, p
	}
	root, pos, ok := healed(front, shown)
	if !ok {
		return nil, p
	}
	d := &doc{file: shown, root: root, pos: pos}
	d.notices = []diag.Problem{{File: shown, Line: p.Line, Col: p.Col, Path: p.Path,
		Message: "the frontmatter is not YAML (" + p.Message + "); it was read line by line",
		Hint:    "put values that hold a colon in quotes"}}
	return d, nil
}

var frontKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*):(?:[ \t]+(.*))?$`) })

// healed reads a frontmatter line by line: a line starts a field if its key is
// a known one that was not seen before, everything else goes on with the last
// field. A field that is YAML by itself is read as such, another one is raw
// text. ok is false where not even that gives fields, or a known key stands
// there twice: then nothing is loaded.
func healed(front []byte, shown string) (*spec.Object, spec.Positions, bool) {
	known := append(append(spec.Fields(), "name"), claudeKeys...)
	o, pos := &spec.Object{}, spec.Positions{spec.PathKey(): {Line: 2, Col: 1}}
	type field struct {
		key   string
		line  int
		lines []string
	}
	var fields []field
	for i, l := range strings.Split(strings.TrimSuffix(string(front), "\n"), "\n") {
		l = strings.TrimSuffix(l, "\r")
		m := frontKey().FindStringSubmatch(l)
		if m != nil && slices.Contains(known, m[1]) {
			if slices.ContainsFunc(fields, func(f field) bool { return f.key == m[1] }) {
				return nil, nil, false
			}
			fields = append(fields, field{m[1], i + 2, []string{l}})
			continue
		}
		if len(fields) == 0 {
			if s := strings.TrimSpace(l); s == "" || s[0] == '#' {
				continue
			}
			return nil, nil, false
		}
		fields[len(fields)-1].lines = append(fields[len(fields)-1].lines, l)
	}
	for _, f := range fields {
		t := &tree{file: shown, pos: spec.Positions{}}
		if v, err := t.yaml([]byte(strings.Join(f.lines, "\n")+"\n"), f.line); err == nil {
			if fo, ok := v.(*spec.Object); ok && len(fo.Members) == 1 && fo.Members[0].Key == f.key {
				o.Members = append(o.Members, fo.Members[0])
				for k, at := range t.pos {
					if k != spec.PathKey() {
						pos[k] = at
					}
				}
				continue
			}
		}
		raw := strings.TrimSpace(strings.TrimPrefix(strings.Join(f.lines, "\n"), f.key+":"))
		if f.key == "description" {
			raw = strings.ReplaceAll(raw, `\n`, "\n")
		}
		o.Members = append(o.Members, spec.Member{Key: f.key, Value: raw})
		pos[spec.PathKey(f.key)+keyMark] = spec.Pos{Line: f.line, Col: 1}
		pos[spec.PathKey(f.key)] = spec.Pos{Line: f.line, Col: len(f.key) + 3}
	}
	return o, pos, len(o.Members) > 0
}
