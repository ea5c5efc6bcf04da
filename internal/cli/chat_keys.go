package cli

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// key takes a key press: a question has it first, then a list, then the
// composer.
func (m *chatScreen) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name == "ctrl+c" {
		return m.interrupt()
	}
	m.armed, m.hint = time.Time{}, ""
	if m.dialog != nil && m.dialog.settle(m.typed) {
		if m.dialog.key(k) {
			m.answered()
		}
		return nil
	}
	m.typed = time.Now()
	switch {
	case m.dialog != nil: // it has come while the person was typing: that is no answer
		m.dialog.since = m.typed
	case m.pick != nil:
		return m.picks(k)
	case m.popup != nil && m.popup.key(m, name):
		return nil
	}
	switch name {
	case "esc":
		if m.popup != nil {
			m.popup = nil
		} else if m.engine.Interrupt() {
			m.hint = ""
		}
		return nil
	case "ctrl+d":
		if m.text.Value() == "" {
			return m.quit()
		}
	case "enter":
		return m.enter()
	case "up", "down":
		if m.walk(name) {
			return nil
		}
	case "tab":
		return m.complete()
	}
	var cmd tea.Cmd
	m.text, cmd = m.text.Update(k)
	m.fit()
	return tea.Batch(cmd, m.completing())
}

func (m *chatScreen) paste(p tea.PasteMsg) tea.Cmd {
	m.typed = time.Now()
	if m.dialog != nil || m.pick != nil {
		return nil
	}
	m.text.InsertString(strings.ReplaceAll(p.Content, "\r", "\n"))
	return m.completing()
}

// interrupt is Ctrl-C: it ends the turn, or empties the composer, and twice it
// quits.
func (m *chatScreen) interrupt() tea.Cmd {
	switch {
	case m.leaving:
		m.cancel()
		return nil
	case !m.armed.IsZero() && time.Since(m.armed) <= quitTime:
		return m.quit()
	}
	m.armed = time.Now()
	for _, a := range m.asks { // whoever asks is told no
		a.reply(nil)
	}
	m.nextQuestion()
	m.pick, m.popup = nil, nil
	switch {
	case m.engine.Interrupt():
		m.hint = "interrupted; Ctrl-C again quits"
		if m.state.Tasks > 0 {
			m.hint = "interrupted; what is in the background goes on; Ctrl-C again quits"
		}
	case m.text.Value() != "":
		m.text.Reset()
		m.hint = "Ctrl-C again quits"
	default:
		m.hint = "Ctrl-C again quits"
	}
	return nil
}

func (m *chatScreen) quit() tea.Cmd {
	m.leaving, m.hint = true, ""
	for _, a := range m.asks {
		a.reply(nil)
	}
	return m.do("/quit")
}

// do carries out a command without making the screen wait for it.
func (m *chatScreen) do(line string) tea.Cmd {
	return func() tea.Msg {
		r, err := m.engine.Do(m.ctx, line)
		return replyMsg{line: line, Reply: r, err: err}
	}
}

// enter sends what stands in the composer. A line that ends with a backslash
// goes on.
func (m *chatScreen) enter() tea.Cmd {
	text := m.text.Value()
	if strings.HasSuffix(text, `\`) && !strings.HasSuffix(text, `\\`) {
		m.text.SetValue(strings.TrimSuffix(text, `\`) + "\n")
		m.text.MoveToEnd()
		return nil
	}
	if strings.TrimSpace(text) == "" || m.state.Session == "" || m.leaving {
		return nil
	}
	m.popup = nil
	m.text.Reset()
	if n := len(m.history); n == 0 || m.history[n-1] != text {
		m.history = append(m.history, text)
	}
	m.at, m.draft = len(m.history), ""
	if strings.HasPrefix(text, "/") {
		m.view.add(m.style.dim("> " + firstLine(text)))
		return m.do(text)
	}
	m.engine.Say(strings.TrimRight(text, " \n"))
	return nil
}

// walk goes through what was typed before, where the cursor stands at the edge
// of the composer. False: the key is the composer's.
func (m *chatScreen) walk(name string) bool {
	up := name == "up"
	switch {
	case up && (m.text.Line() > 0 || m.at == 0), !up && (m.text.Line() < m.text.LineCount()-1 || m.at >= len(m.history)):
		return false
	}
	if m.at == len(m.history) {
		m.draft = m.text.Value()
	}
	if m.at++; up {
		m.at -= 2
	}
	text := m.draft
	if m.at < len(m.history) {
		text = m.history[m.at]
	}
	m.text.SetValue(text)
	m.text.MoveToEnd()
	m.popup = nil
	return true
}
