package markdown

import (
	"html"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maxDepth is how far blocks nest before their text is shown as it is: every
// level takes columns, and hostile text nests thousands deep.
const maxDepth = 8

// Lines draws a piece. A gap before it is an empty line.
func (p Piece) Lines(o Options) []string {
	var out []string
	if p.Gap {
		out = append(out, "")
	}
	if p.Code {
		return append(out, codeLine(p.Text, o))
	}
	if p.Text == "" {
		return out
	}
	if t := tableOf(p.Text); t != nil {
		return append(out, t.lines(o)...)
	}
	if nested(p.Text) > 4*maxDepth {
		return append(out, plain(p.Text, o)...)
	}
	return append(out, drawn(p.Text, o)...)
}

// drawn parses and draws. The parser reads what a model wrote and has its own
// mistakes: where it falls over, the text is shown as it is.
func drawn(s string, o Options) (out []string) {
	defer func() {
		if recover() != nil {
			out = plain(s, o)
		}
	}()
	d := &drawer{o: o, src: []byte(visible(s) + "\n")}
	return d.blocks(d.parse(), o.width(), 0)
}

func (d *drawer) parse() ast.Node { return theParser().Parse(text.NewReader(d.src)) }

// theParser is made at the first piece: it is the same for all and keeps
// nothing of what it read.
var theParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...))
})

// nested is the longest run of characters, spaces apart, that may each open a
// block or a link in a line: the parser's work grows with its square. A line
// that is one rule counts as nothing.
func nested(s string) int {
	most := 0
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line == "" || isRule(line) {
			continue
		}
		n := 0
		for i := range len(line) {
			switch line[i] {
			case '>', '-', '+', '*', '[', '_', '!', '`', '<':
				n++
				most = max(most, n)
			case ' ', '\t':
			default:
				n = 0
			}
		}
	}
	return most
}

func plain(s string, o Options) []string {
	return fill([]span{{text: visible(s)}}, o.width(), o)
}

func codeLine(line string, o Options) string {
	return "  " + o.paint(span{visible(line), code})
}

// drawer draws one parsed block.
type drawer struct {
	o   Options
	src []byte
}

func (d *drawer) blocks(n ast.Node, width, depth int) []string {
	var out []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.PreviousSibling() != nil && c.HasBlankPreviousLines() {
			out = append(out, "")
		}
		out = append(out, d.block(c, width, depth)...)
	}
	return out
}

func (d *drawer) block(n ast.Node, width, depth int) []string {
	if depth > maxDepth {
		return fill([]span{{text: d.raw(n)}}, width, d.o)
	}
	switch n := n.(type) {
	case *ast.Heading:
		return d.heading(n, width)
	case *ast.List:
		return d.list(n, width, depth)
	case *ast.Blockquote:
		return prefix(d.blocks(n, width-2, depth+1), d.o.paint(span{"│ ", dim}), d.o.paint(span{"│ ", dim}))
	case *ast.ThematicBreak:
		return []string{d.o.paint(span{strings.Repeat("─", min(width, 40)), dim})}
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return d.code(n)
	case *ast.HTMLBlock:
		return fill([]span{{d.raw(n), dim}}, width, d.o)
	case *ast.Paragraph, *ast.TextBlock:
		return fill(d.inline(n, 0, 0), width, d.o)
	}
	return d.blocks(n, width, depth+1)
}

func (d *drawer) heading(n *ast.Heading, width int) []string {
	l := bold | head
	if n.Level == 1 {
		l |= link // underlined
	}
	return fill(d.inline(n, l, 0), width, d.o)
}

func (d *drawer) list(n *ast.List, width, depth int) []string {
	var out []string
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.PreviousSibling() != nil && c.HasBlankPreviousLines() {
			out = append(out, "")
		}
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		lines := d.blocks(c, width-len([]rune(mark)), depth+1)
		if len(lines) == 0 {
			lines = []string{""}
		}
		if done, rest, ok := task(lines[0]); ok && !n.IsOrdered() {
			mark, lines[0] = done, rest
		}
		out = append(out, prefix(lines, mark, strings.Repeat(" ", len([]rune(mark))))...)
	}
	return out
}

// task knows an item with a box in front.
func task(line string) (mark, rest string, ok bool) {
	for box, mark := range map[string]string{"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "} {
		if rest, ok := strings.CutPrefix(line, box); ok {
			return mark, rest, true
		}
	}
	return "", "", false
}

func prefix(lines []string, first, others string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		p := others
		if i == 0 {
			p = first
		}
		out[i] = strings.TrimRight(p+l, " ")
	}
	return out
}

func (d *drawer) code(n ast.Node) []string {
	var out []string
	for _, l := range strings.Split(strings.TrimRight(d.rawBytes(n), "\n"), "\n") {
		out = append(out, codeLine(l, d.o))
	}
	return out
}

func (d *drawer) raw(n ast.Node) string { return visible(strings.TrimRight(d.rawBytes(n), "\n")) }

// rawBytes is a block's text as it was written, that of its children too.
func (d *drawer) rawBytes(n ast.Node) string {
	if n.Type() == ast.TypeInline {
		return ""
	}
	var b strings.Builder
	for i := range n.Lines().Len() {
		l := n.Lines().At(i)
		b.Write(l.Value(d.src))
	}
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		b.Write(h.ClosureLine.Value(d.src))
	}
	if b.Len() == 0 {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			b.WriteString(d.rawBytes(c))
		}
	}
	return b.String()
}

// inline gives a block's spans.
func (d *drawer) inline(n ast.Node, l look, depth int) []span {
	var out []span
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		out = append(out, d.one(c, l, depth)...)
	}
	return out
}

func (d *drawer) one(n ast.Node, l look, depth int) []span {
	if depth > 4*maxDepth {
		return nil
	}
	switch n := n.(type) {
	case *ast.Text:
		s := span{unescape(string(n.Segment.Value(d.src)), n.IsRaw()), l}
		switch {
		case n.HardLineBreak():
			s.text += "\n"
		case n.SoftLineBreak():
			s.text += " "
		}
		return []span{s}
	case *ast.String:
		return []span{{visible(string(n.Value)), l}}
	case *ast.CodeSpan:
		return d.inline(n, l|code, depth+1)
	case *ast.Emphasis:
		if n.Level > 1 {
			return d.inline(n, l|bold, depth+1)
		}
		return d.inline(n, l|italic, depth+1)
	case *ast.Link:
		return target(d.inline(n, l|link, depth+1), string(n.Destination), l)
	case *ast.Image:
		return target(append([]span{{"image: ", l | dim}}, d.inline(n, l, depth+1)...), string(n.Destination), l)
	case *ast.AutoLink:
		return []span{{visible(string(n.URL(d.src))), l | link}}
	case *ast.RawHTML:
		var b strings.Builder
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			b.Write(s.Value(d.src))
		}
		return []span{{visible(b.String()), l | dim}}
	}
	return d.inline(n, l, depth+1)
}

// target shows where a link leads, unless its text says so: what is shown and
// where it goes must not differ unseen.
func target(shown []span, url string, l look) []span {
	said := ""
	for _, s := range shown {
		said += s.text
	}
	url = visible(strings.ReplaceAll(url, "\n", " "))
	if said == url {
		return shown
	}
	return append(shown, span{" (" + url + ")", l | dim})
}

// unescape resolves character references and backslashes; what comes out of
// them is cleaned like all else.
func unescape(s string, raw bool) string {
	if raw || !strings.ContainsAny(s, `\&`) {
		return visible(s)
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			break
		}
		b.WriteString(html.UnescapeString(s[:i]))
		if punctuation(s[i+1]) {
			b.WriteByte(s[i+1])
			s = s[i+2:]
			continue
		}
		b.WriteByte('\\')
		s = s[i+1:]
	}
	b.WriteString(html.UnescapeString(s))
	return strings.ReplaceAll(visible(b.String()), "\n", `\n`)
}

func punctuation(c byte) bool {
	return c > ' ' && c < '0' || c > '9' && c < 'A' || c > 'Z' && c < 'a' || c > 'z' && c < 0x7f
}
