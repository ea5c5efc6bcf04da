package cli

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/markdown"
)

// popup is what completes the word that is being typed.
type popup struct {
	line string // up to the cursor
	list []dialog.Candidate
	at   int
}

// key is true where the popup has taken the key.
func (p *popup) key(m *chatScreen, name string) bool {
	switch name {
	case "up":
		p.at = max(p.at-1, 0)
	case "down":
		p.at = min(p.at+1, len(p.list)-1)
	case "tab":
		m.takes(p.list[p.at].Text)
	case "enter":
		c := p.list[p.at].Text
		if p.line == c || strings.HasSuffix(p.line, " "+c) { // nothing to add: send it
			return false
		}
		m.takes(c)
	default:
		return false
	}
	return true
}

func (p *popup) draw(s style, width, rows int) []string {
	lines := make([]string, len(p.list))
	for i, c := range p.list {
		lines[i] = line2(s, escape(c.Text), escape(c.Detail), i == p.at, width)
	}
	return window(lines, p.at, rows)
}

// line2 is a list's line: what is chosen, and what it is.
func line2(s style, text, detail string, chosen bool, width int) string {
	mark := "  "
	if chosen {
		mark = "› "
	}
	text = markdown.Cut(mark+text, width)
	if room := width - markdown.Width(text) - 2; detail != "" && room > 8 {
		detail = "  " + markdown.Cut(strings.TrimSpace(detail), room)
	} else {
		detail = ""
	}
	if chosen {
		return s.bold(text) + s.dim(detail)
	}
	return text + s.dim(detail)
}

// window is the part of a list around the chosen line.
func window(lines []string, at, rows int) []string {
	if len(lines) <= rows {
		return lines
	}
	from := min(max(at-rows/2, 0), len(lines)-rows)
	return lines[from : from+rows]
}

// takes puts a completion in the place of the word before the cursor.
func (m *chatScreen) takes(text string) {
	before := m.before()
	from := strings.LastIndexAny(before, " \t\n") + 1
	value := m.text.Value()
	rest := value[len(before):]
	if !strings.HasPrefix(rest, " ") {
		text += " "
	}
	m.text.SetValue(before[:from] + text + rest)
	// SetValue leaves the cursor at the end; what stood behind it is rare.
	m.popup = nil
}

// before is the text up to the cursor.
func (m *chatScreen) before() string {
	lines := strings.Split(m.text.Value(), "\n")
	at := min(m.text.Line(), len(lines)-1)
	row := []rune(lines[at])
	col := min(m.text.Column(), len(row))
	return strings.Join(append(lines[:at:at], string(row[:col])), "\n")
}

// completing asks for completions where the word calls for them.
func (m *chatScreen) completing() tea.Cmd {
	before := m.before()
	word := before[strings.LastIndexAny(before, " \t\n")+1:]
	command := strings.HasPrefix(before, "/") && !strings.Contains(before, "\n")
	if !command && (!strings.HasPrefix(word, "@") || len(word) < 2) {
		m.popup = nil
		return nil
	}
	return m.complete()
}

func (m *chatScreen) complete() tea.Cmd {
	before := m.before()
	return func() tea.Msg { return candidatesMsg{before, m.engine.Complete(m.ctx, before)} }
}

func (m *chatScreen) completes(msg candidatesMsg) {
	if msg.line != m.before() {
		return // typed on meanwhile
	}
	m.popup = nil
	if len(msg.list) > 0 {
		m.popup = &popup{line: msg.line, list: msg.list}
	}
}

// picker is a list to choose from; letters narrow it down.
type picker struct {
	dialog.Pick
	typed string
	at    int
}

func (p *picker) items() []dialog.Item {
	var out []dialog.Item
	for _, i := range p.Items {
		if strings.Contains(strings.ToLower(i.Label+" "+i.Detail), strings.ToLower(p.typed)) {
			out = append(out, i)
		}
	}
	return out
}

func (m *chatScreen) picks(k tea.KeyPressMsg) tea.Cmd {
	p := m.pick
	items := p.items()
	switch name := k.String(); name {
	case "esc":
		m.pick = nil
	case "up":
		p.at = max(p.at-1, 0)
	case "down":
		p.at = max(min(p.at+1, len(items)-1), 0)
	case "enter":
		if len(items) == 0 {
			return nil
		}
		line := items[p.at].Line
		m.pick = nil
		m.view.add(m.style.dim("> " + firstLine(line)))
		return m.do(line)
	case "backspace":
		if r := []rune(p.typed); len(r) > 0 {
			p.typed, p.at = string(r[:len(r)-1]), 0
		}
	default:
		if k.Text != "" {
			p.typed, p.at = p.typed+k.Text, 0
		}
	}
	return nil
}

func (p *picker) draw(s style, width, rows int) []string {
	title := p.Title
	if p.typed != "" {
		title += ": " + p.typed
	}
	items := p.items()
	lines := make([]string, len(items))
	for i, it := range items {
		lines[i] = line2(s, escape(it.Label), escape(it.Detail), i == p.at, width)
	}
	if len(lines) == 0 {
		lines = []string{s.dim("  nothing of that name")}
	}
	shown := window(lines, p.at, max(rows-2, 1))
	out := append([]string{s.yellow(escape(title)) + s.dim(fmt.Sprintf("  %d of %d", min(p.at+1, len(items)), len(items)))}, shown...)
	return append(out, s.dim("Enter chooses, Esc leaves, letters narrow it down"))
}
