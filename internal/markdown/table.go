package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// table is a pipe table: the first row is its head.
type table struct {
	rows  [][]string
	right []bool // columns that align right
}

// tableOf reads a table, nil where the text is none.
func tableOf(s string) *table {
	lines := strings.Split(s, "\n")
	if len(lines) < 2 || !strings.Contains(lines[0], "|") || !strings.Contains(lines[1], "-") {
		return nil
	}
	t := &table{}
	for _, c := range cells(lines[1]) {
		if strings.Trim(c, "-:") != "" || !strings.Contains(c, "-") {
			return nil
		}
		t.right = append(t.right, strings.HasSuffix(c, ":") && !strings.HasPrefix(c, ":"))
	}
	if len(cells(lines[0])) != len(t.right) {
		return nil
	}
	for i, l := range lines {
		if i != 1 {
			t.rows = append(t.rows, fit(cells(l), len(t.right)))
		}
	}
	return t
}

// cells cuts a row at the pipes that no backslash takes away.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	var out []string
	cell := ""
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell += "|"
			i++
		case line[i] == '|':
			out = append(out, strings.TrimSpace(cell))
			cell = ""
		default:
			cell += line[i : i+1]
		}
	}
	if strings.TrimSpace(cell) != "" || len(out) == 0 {
		out = append(out, strings.TrimSpace(cell))
	}
	return out
}

func fit(row []string, n int) []string {
	for len(row) < n {
		row = append(row, "")
	}
	return row[:n]
}

// lines draws the table in columns, or one cell a line where it is too wide.
func (t *table) lines(o Options) []string {
	widths := make([]int, len(t.right))
	drawn := make([][][]span, len(t.rows))
	for i, r := range t.rows {
		for j, c := range r {
			spans := cellSpans(c, i == 0)
			drawn[i] = append(drawn[i], spans)
			widths[j] = max(widths[j], spansWidth(spans))
		}
	}
	total := 3 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	if total > o.width() {
		return t.stacked(drawn, o)
	}
	var out []string
	for i, r := range drawn {
		var parts []string
		for j, spans := range r {
			parts = append(parts, t.pad(spans, widths[j], t.right[j], o))
		}
		out = append(out, strings.TrimRight(strings.Join(parts, o.paint(span{" │ ", dim})), " "))
		if i == 0 {
			out = append(out, o.paint(span{ruler(widths), dim}))
		}
	}
	return out
}

func ruler(widths []int) string {
	parts := make([]string, len(widths))
	for i, w := range widths {
		parts[i] = strings.Repeat("─", w)
	}
	return strings.Join(parts, "─┼─")
}

func (t *table) pad(spans []span, width int, right bool, o Options) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(o.paint(s))
	}
	space := strings.Repeat(" ", max(0, width-spansWidth(spans)))
	if right {
		return space + b.String()
	}
	return b.String() + space
}

// stacked gives each row as lines "head: cell".
func (t *table) stacked(drawn [][][]span, o Options) []string {
	var out []string
	for i, r := range drawn[1:] {
		if i > 0 {
			out = append(out, "")
		}
		for j, spans := range r {
			line := append(append([]span{}, drawn[0][j]...), span{": ", bold})
			out = append(out, prefix(fill(append(line, spans...), o.width()-2, o), "", "  ")...)
		}
	}
	return out
}

func spansWidth(spans []span) int {
	n := 0
	for _, s := range spans {
		n += Width(s.text)
	}
	return n
}

// cellSpans draws a cell's inline Markdown.
func cellSpans(cell string, header bool) (out []span) {
	l := look(0)
	if header {
		l = bold
	}
	asIs := []span{{visible(cell), l}}
	if nested(cell) > 4*maxDepth {
		return asIs
	}
	defer func() { // as in drawn
		if recover() != nil {
			out = asIs
		}
	}()
	d := &drawer{src: []byte(visible(cell) + "\n")}
	n := d.parse()
	if c := n.FirstChild(); c != nil && c == n.LastChild() && c.FirstChild() != nil && c.FirstChild().Type() == ast.TypeInline {
		return d.inline(c, l, 0)
	}
	return asIs
}
