package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"larva.dev/larva/internal/markdown"
)

// View draws the region.
func (m *chatScreen) View() tea.View {
	if m.over || !m.sized {
		return tea.NewView("")
	}
	lines := m.region()
	v := tea.NewView(strings.Join(lines, "\n"))
	if m.dialog != nil && m.dialog.cursor != nil {
		v.Cursor = m.dialog.cursor
	} else if c := m.text.Cursor(); c != nil && m.dialog == nil && m.pick == nil {
		c.X += 2
		c.Y += m.above
		v.Cursor = c
	}
	return v
}

// region is what is not finished, then the question or the composer, then the
// status line. It never has more rows than the terminal.
func (m *chatScreen) region() []string {
	width := max(m.width-1, 1)
	bottom := []string{m.style.dim(m.statusLine(width))}
	var middle []string
	switch {
	case m.dialog != nil:
		middle = m.dialog.draw(m.style, width, max(m.height-3, 1))
	case m.pick != nil:
		middle = m.pick.draw(m.style, width, max(min(m.height-3, 12), 1))
	default:
		middle = m.composer(width)
	}
	top := m.view.open(width, max(m.height-len(middle)-len(bottom)-1, 0))
	if m.hint != "" {
		top = append(top, m.style.yellow(markdown.Cut(m.hint, width)))
	}
	lines := append(append(top, middle...), bottom...)
	drop := max(0, len(lines)-max(m.height-1, 1))
	m.above = len(top) - drop + m.offset
	if m.dialog != nil && m.dialog.cursor != nil {
		m.dialog.cursor.Y = len(top) - drop + m.dialog.row
	}
	lines = lines[drop:]
	for i, l := range lines {
		lines[i] = markdown.Cut(l, width)
	}
	return lines
}

// composer is the prompt that is being typed, with what completes it below.
func (m *chatScreen) composer(width int) []string {
	rule := m.style.dim(strings.Repeat("─", width))
	var out []string
	m.offset = 0
	if m.height > 6 {
		out, m.offset = append(out, rule), 1
	}
	for i, l := range strings.Split(m.text.View(), "\n") {
		mark := "  "
		if i == 0 {
			mark = m.style.bold("> ")
		}
		out = append(out, mark+strings.TrimRight(strings.Map(visible, l), " "))
	}
	if m.popup != nil {
		out = append(out, m.popup.draw(m.style, width, max(min(m.height-len(out)-2, 6), 0))...)
	}
	if m.height > 6 {
		out = append(out, rule)
	}
	return out
}

// visible puts a mark in the place of what would play with the terminal: it is
// sent as it was typed.
func visible(r rune) rune {
	if unsafeRune(r) {
		return utf8.RuneError
	}
	return r
}

// statusLine says who is talked to; what does not fit goes, the least needed
// first.
func (m *chatScreen) statusLine(width int) string {
	st := m.state
	who := escape(st.Persona)
	if st.Variant != "" && st.Variant != "default" {
		who += "/" + escape(st.Variant)
	}
	mode, tasks, context, cost, waiting := "", "", "", "", ""
	if st.Mode != "" {
		mode = "mode " + escape(st.Mode)
	}
	if st.Tasks > 0 {
		tasks = plural(st.Tasks, "task")
	}
	if st.Waiting > 0 {
		waiting = fmt.Sprintf("%d waiting", st.Waiting)
	}
	if st.Context > 0 && st.Window > 0 {
		context = fmt.Sprintf("context %d%%", 100*st.Context/st.Window)
	}
	if st.USD != nil && *st.USD > 0 {
		cost = fmt.Sprintf("$%.4f", *st.USD)
	}
	keys := "/help"
	switch {
	case m.leaving:
		keys = "ending what runs; Ctrl-C ends at once"
	case st.Session == "":
		keys = "beginning"
	case m.dialog != nil || m.pick != nil:
		keys = ""
	case st.Busy:
		keys = "Esc interrupts"
	}
	parts := []string{who, escape(st.Model), mode, tasks, waiting, context, cost, keys}
	line := joined(parts)
	for _, i := range []int{1, 5, 6, 7, 4, 2} {
		if markdown.Width(line) <= width {
			break
		}
		parts[i] = ""
		line = joined(parts)
	}
	return markdown.Cut(line, width)
}
