package cli

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/markdown"
)

// Keys that are typed while a question comes up are no answer to it: it takes
// keys once it has stood there for settleTime and nobody has typed meanwhile.
const settleTime = 400 * time.Millisecond

// chatQuestion is the dialog of one asking.
type chatQuestion struct {
	a       *asking
	title   string
	choices []string
	values  []string // of choices: answerOnce …; of the model's question the option
	at      int
	since   time.Time
	ready   bool

	typing bool // a line is typed in place of a choice
	typed  []rune
	cursor *tea.Cursor
	row    int // of the cursor in what draw gives
}

// nextQuestion shows the first question that nobody has answered.
func (m *chatScreen) nextQuestion() {
	open := m.asks[:0]
	for _, a := range m.asks {
		select {
		case <-a.answered:
		case <-a.over:
		default:
			open = append(open, a)
		}
	}
	m.asks = open
	switch {
	case len(open) == 0:
		m.dialog = nil
	case m.dialog == nil || m.dialog.a != open[0]:
		m.dialog = newQuestion(open[0])
		m.view.add(m.questionLines(open[0])...)
	}
}

// questionLines are what the person decides on, for the scrollback: it may be
// longer than the screen.
func (m *chatScreen) questionLines(a *asking) []string {
	if a.q == nil {
		return strings.Split(strings.TrimRight(userQuestion(a.text), "\n"), "\n")
	}
	text := strings.TrimRight(questionText(*a.q, m.style), "\n")
	if a.q.Agent != "" {
		text = "\n" + m.style.dim("["+escape(a.q.Agent)+"]") + text
	}
	return strings.Split(text, "\n") // the terminal breaks what is longer than it is wide: all of it is seen
}

func newQuestion(a *asking) *chatQuestion {
	d := &chatQuestion{a: a, since: time.Now(), title: "Your answer"}
	if a.q == nil {
		for _, o := range a.options {
			d.choices, d.values = append(d.choices, shorten(escape(o), 2*maxCallText)), append(d.values, o)
		}
		if len(a.options) == 0 {
			d.typing = true
		} else {
			d.choices, d.values = append(d.choices, "Something else…"), append(d.values, "")
		}
		return d
	}
	d.title = "Allow this call?"
	if a.q.Agent != "" {
		d.title = "[" + escape(a.q.Agent) + "] Allow this call?"
	}
	d.choices, d.values = []string{"Allow this once"}, []string{answerOnce}
	switch rules := kept(*a.q); len(rules) {
	case 0:
	case 1:
		d.choices, d.values = append(d.choices, "Always allow "+shorten(escape(rules[0]), maxCallText)+" in this project"), append(d.values, answerAlways)
	default:
		d.choices, d.values = append(d.choices, fmt.Sprintf("Always allow these %d rules in this project", len(rules))), append(d.values, answerAlways)
	}
	d.choices, d.values = append(d.choices, "No"), append(d.values, answerNo)
	d.at = len(d.choices) - 1 // no, where Enter was meant for something else
	return d
}

// settle says whether keys are answers by now; typed is when the last key came.
func (d *chatQuestion) settle(typed time.Time) bool {
	if !d.ready {
		d.ready = time.Since(d.since) >= settleTime && time.Since(typed) >= settleTime
	}
	return d.ready
}

// key is true once there is an answer.
func (d *chatQuestion) key(k tea.KeyPressMsg) bool {
	name := k.String()
	if d.typing {
		return d.line(name, k.Text)
	}
	switch {
	case name == "esc":
		d.a.reply(nil)
		return true
	case name == "up" || name == "shift+tab":
		d.at = (d.at + len(d.choices) - 1) % len(d.choices)
	case name == "down" || name == "tab":
		d.at = (d.at + 1) % len(d.choices)
	case len(name) == 1 && name[0] >= '1' && int(name[0]-'1') < len(d.choices):
		d.at = int(name[0] - '1')
	case name == "enter":
		return d.choose()
	}
	return false
}

func (d *chatQuestion) choose() bool {
	switch v := d.values[d.at]; {
	case d.a.q == nil && d.at == len(d.a.options), v == answerNo && d.a.q != nil:
		d.typing = true
		return false
	case d.a.q == nil:
		d.a.reply(func() { d.a.said, d.a.ok = v, true })
	default:
		d.a.reply(func() { d.a.answer = event.Answer{Allow: true, Always: v == answerAlways} })
	}
	return true
}

// line takes a key of the line that is typed.
func (d *chatQuestion) line(name, text string) bool {
	switch {
	case name == "esc":
		if d.a.q == nil && len(d.a.options) > 0 {
			d.typing, d.typed = false, nil
			return false
		}
		d.a.reply(nil)
		return true
	case name == "enter":
		said := strings.TrimSpace(string(d.typed))
		if d.a.q == nil {
			if said == "" {
				return false
			}
			d.a.reply(func() { d.a.said, d.a.ok = said, true })
			return true
		}
		d.a.reply(func() { d.a.answer = event.Answer{Feedback: said} })
		return true
	case name == "backspace":
		d.typed = d.typed[:max(len(d.typed)-1, 0)]
	case text != "" && len(d.typed) < maxAnswer:
		d.typed = append(d.typed, []rune(text)...)
	}
	return false
}

func (d *chatQuestion) draw(s style, width, rows int) []string {
	d.cursor = nil
	if d.typing {
		title := d.title
		if d.a.q != nil {
			title = "What should it do instead? (may stay empty)"
		}
		lines := markdown.Wrap(clean(string(d.typed))+" ", max(width-2, 1))
		last := lines[len(lines)-1]
		d.row = len(lines)
		d.cursor = tea.NewCursor(2+markdown.Width(strings.TrimRight(last, " ")), 0)
		if strings.HasSuffix(string(d.typed), " ") {
			d.cursor.X++
		}
		out := []string{s.yellow(title)}
		for _, l := range lines {
			out = append(out, "> "+l)
		}
		return append(out, s.dim("Enter sends, Esc leaves"))
	}
	var lines []string
	for i, c := range d.choices {
		lines = append(lines, line2(s, fmt.Sprintf("%d %s", i+1, c), "", i == d.at && d.ready, width))
	}
	help := "Enter chooses, Esc says no"
	if !d.ready {
		help = "…"
	}
	out := append([]string{s.yellow(d.title)}, window(lines, d.at, max(rows-2, 1))...)
	return append(out, s.dim(help))
}

// answered takes the question away and says what was answered.
func (m *chatScreen) answered() {
	a := m.dialog.a
	said := "said no"
	switch {
	case a.q == nil && a.ok:
		said = "answered: " + firstLine(a.said)
	case a.q == nil:
		said = "not answered"
	case a.answer.Always:
		said = "allowed, always"
	case a.answer.Allow:
		said = "allowed, once"
	case a.answer.Feedback != "":
		said = "said no: " + firstLine(a.answer.Feedback)
	}
	m.view.add(m.style.dim("  " + said))
	m.dialog = nil
	m.nextQuestion()
}
