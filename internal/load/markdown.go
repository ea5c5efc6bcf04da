package load

import (
	"bytes"
	"strings"

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
			q := d.keyProblem([]string{k}, "this is an agent definition of Claude Code's kind, and no persona", "run it as it is (see: larva agent list), or write what the agent may do as capabilities, without "+k)
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

// healed reads a frontmatter line by line for a persona; what is text in it is
// text. ok is false where not even that gives fields, or a known key stands
// there twice: then nothing is loaded.
func healed(front []byte, shown string) (*spec.Object, spec.Positions, bool) {
	h := heal(front, shown, Keys{Known: append(append(spec.Fields(), "name"), claudeKeys...)})
	return h.root, h.pos, len(h.root.Members) > 0 && len(h.twice) == 0 && h.stray == 0
}
