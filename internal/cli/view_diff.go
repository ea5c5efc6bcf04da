package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// change is what an edit does to a file, as a diff.
type change struct {
	lines       []changeLine
	plus, minus int
}

type changeLine struct {
	op   byte // ' ', '+', '-', '@' between places, '#' a file's name
	text string
}

const (
	// maxCompared is how much text is compared line by line; more is shown as
	// all old, then all new.
	maxCompared = 256 << 10
	around      = 2 // unchanged lines about a change
)

// edited is the part of the file tools' inputs that diffs are made of.
type edited struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
	Old     *string `json:"old_string"`
	New     *string `json:"new_string"`
	Edits   []struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
	} `json:"edits"`
	Files []struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	} `json:"files"`
}

// changeOf gives the change that a call makes, nil where it is no edit.
func changeOf(tool string, input json.RawMessage) *change {
	switch tool {
	case "edit", "multi_edit", "write", "write_files":
	default:
		return nil
	}
	var in edited
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	c := &change{}
	switch {
	case in.Old != nil && in.New != nil:
		c.compare(*in.Old, *in.New)
	case in.Content != nil:
		c.compare("", *in.Content)
	}
	for i, e := range in.Edits {
		if i > 0 {
			c.add('@', "")
		}
		c.compare(e.Old, e.New)
	}
	for _, f := range in.Files {
		c.add('#', f.Path)
		c.compare("", f.Content)
	}
	if len(c.lines) == 0 {
		return nil
	}
	return c
}

func (c *change) compare(old, new string) {
	if len(old)+len(new) > maxCompared || old == "" || new == "" {
		c.all('-', old)
		c.all('+', new)
		return
	}
	d, err := udiff.ToUnifiedDiff("", "", old, udiff.Lines(old, new), around)
	if err != nil {
		c.all('-', old)
		c.all('+', new)
		return
	}
	for i, h := range d.Hunks {
		if i > 0 {
			c.add('@', "")
		}
		for _, l := range h.Lines {
			op := byte(' ')
			switch l.Kind {
			case udiff.Delete:
				op = '-'
			case udiff.Insert:
				op = '+'
			}
			c.add(op, strings.TrimSuffix(l.Content, "\n"))
		}
	}
}

func (c *change) all(op byte, text string) {
	if text == "" {
		return
	}
	for l := range strings.Lines(text) {
		c.add(op, strings.TrimSuffix(l, "\n"))
	}
}

func (c *change) add(op byte, text string) {
	switch op {
	case '+':
		c.plus++
	case '-':
		c.minus++
	}
	c.lines = append(c.lines, changeLine{op, text})
}

// stat is the change in a word: +3 -1.
func (c *change) stat() string {
	var parts []string
	if c.plus > 0 {
		parts = append(parts, fmt.Sprintf("+%d", c.plus))
	}
	if c.minus > 0 {
		parts = append(parts, fmt.Sprintf("-%d", c.minus))
	}
	return strings.Join(parts, " ")
}

// draw gives the first lines of the change, cleaned, and what is left out.
// Removed spaces at a line's end would not be seen, so the sign leads.
func (c *change) draw(s style, most int) []string {
	var out []string
	for i, l := range c.lines {
		if i == most && len(c.lines) > most+1 {
			return append(out, s.dim(fmt.Sprintf("… %d more lines", len(c.lines)-most)))
		}
		out = append(out, l.draw(s))
	}
	return out
}

func (l changeLine) draw(s style) string {
	text := strings.ReplaceAll(clean(l.text), "\t", "    ")
	switch l.op {
	case '+':
		return s.green("+ " + text)
	case '-':
		return s.red("- " + text)
	case '@':
		return s.dim("⋯")
	case '#':
		return s.dim(escape(l.text))
	}
	return s.dim("  " + text)
}
