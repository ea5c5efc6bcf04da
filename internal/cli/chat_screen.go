package cli

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/markdown"
)

// chat runs the engine and the screen until both have ended. Whatever ends the
// screen ends the engine, and it is waited for.
func (s *session) chat(ctx context.Context, in app.RunInput, stdin, stdout *os.File) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := newFeed()
	in.Emit, in.Question, in.AskUser = f.event, f.question, f.user
	engine := s.app.Chat(in, f.changed)
	m := newScreen(ctx, engine, lookup(s.process.Environ, "NO_COLOR") == "")
	m.cancel = func() { cancel(interrupted(os.Interrupt)) }
	keys := &formInput{File: stdin, gone: func() { cancel(interrupted(syscall.SIGHUP)) }}
	p := tea.NewProgram(m, tea.WithInput(keys), tea.WithOutput(stdout), tea.WithEnvironment(s.process.Environ), tea.WithoutSignalHandler())

	var ended error
	over := make(chan struct{})
	pumping, stopPump := context.WithCancel(context.Background())
	pumped := make(chan struct{})
	go func() { defer close(pumped); f.pump(pumping, engine.State, p.Send) }()
	go func() {
		defer close(over)
		ended = engine.Run(ctx)
		stopPump()
		<-pumped
		p.Send(overMsg{ended})
	}()
	_, err := p.Run()
	keys.over.Store(true)
	if err != nil {
		cancel(err) // the screen broke, or its terminal did
	} else {
		cancel(nil)
	}
	p.Wait()
	<-over
	switch {
	case ended != nil:
		return s.asDiag(ctx, ended)
	case err != nil && !errors.Is(err, tea.ErrProgramKilled):
		return diag.New(diag.Internal, "the terminal cannot be drawn on: %v", err)
	}
	var why *diag.Error
	if errors.As(context.Cause(ctx), &why) && m.left == nil {
		return why
	}
	if m.session != "" {
		s.say("session %s; larva chat --resume %s goes on with it", m.session, m.session)
	}
	return nil
}

// chatScreen is the model of bubbletea: what stands below the scrollback.
type chatScreen struct {
	ctx    context.Context
	engine dialog.Engine
	cancel func() // ends everything at once

	width, height int
	sized         bool // before that nothing is drawn
	style         style
	view          *liveView
	state         dialog.State
	session       string // the last one
	text          textarea.Model
	typed         time.Time // the last key

	history []string
	at      int    // in history; len(history) is the draft
	draft   string // what was being typed before history was walked

	popup   *popup
	pick    *picker
	asks    []*asking
	dialog  *chatQuestion // of asks[0]
	armed   time.Time     // the first Ctrl-C
	hint    string        // a line above the composer
	leaving bool
	left    error // why the engine has ended
	over    bool
	ticking bool

	above, offset int // rows above the composer's text
}

const (
	quitTime   = 2 * time.Second // between two Ctrl-C that quit
	composerUp = 8               // rows that the composer grows to
)

func newScreen(ctx context.Context, e dialog.Engine, color bool) *chatScreen {
	m := &chatScreen{ctx: ctx, engine: e, width: 80, height: 24, style: style{on: color}, text: newComposer()}
	m.view = chatView(func() (int, int) { return m.width, m.height }, color)
	m.state = e.State()
	return m
}

func newComposer() textarea.Model {
	t := textarea.New()
	t.ShowLineNumbers, t.Prompt, t.Placeholder = false, "", ""
	t.CharLimit, t.MaxHeight = 0, 0
	t.SetStyles(textarea.Styles{})
	t.SetVirtualCursor(false)
	t.KeyMap.InsertNewline.SetKeys("alt+enter", "ctrl+j", "shift+enter")
	t.SetHeight(1)
	t.Focus()
	return t
}

// Init asks for what was typed before.
func (m *chatScreen) Init() tea.Cmd {
	return func() tea.Msg { return historyMsg(m.engine.History(m.ctx)) }
}

// Update takes a message.
func (m *chatScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmds []tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height, m.sized = max(msg.Width, 1), max(msg.Height, 1), true
	case tea.KeyPressMsg:
		cmds = append(cmds, m.key(msg))
	case tea.PasteMsg:
		cmds = append(cmds, m.paste(msg))
	case feedMsg:
		m.fed(msg)
	case replyMsg:
		m.replied(msg)
	case candidatesMsg:
		m.completes(msg)
	case historyMsg:
		m.history = append(msg, m.history...)
		m.at = len(m.history)
	case tickMsg:
		m.ticking = false
		m.passed()
	case overMsg:
		m.over, m.left = true, msg.err
		cmds = append(cmds, m.print(), tea.Quit)
		return m, tea.Sequence(cmds...)
	}
	m.fit()
	cmds = append(cmds, m.print(), m.tick())
	return m, tea.Sequence(cmds...)
}

// tick turns the spinner while something is at work, and lets what was said
// for a while go.
func (m *chatScreen) tick() tea.Cmd {
	if m.ticking || !m.state.Busy && m.state.Tasks == 0 && m.armed.IsZero() && (m.dialog == nil || m.dialog.ready) {
		return nil
	}
	m.ticking = true
	return tea.Tick(spinTime, func(t time.Time) tea.Msg { return tickMsg(t) })
}

// passed looks at what ends with time.
func (m *chatScreen) passed() {
	if !m.armed.IsZero() && time.Since(m.armed) > quitTime {
		m.armed, m.hint = time.Time{}, ""
	}
	if m.dialog != nil {
		m.dialog.settle(m.typed)
	}
}

// fed takes what the engine has said.
func (m *chatScreen) fed(msg feedMsg) {
	if id := msg.state.Session; id != "" && id != m.session {
		m.session = id
		m.view.greet(msg.state)
	}
	for _, e := range msg.events {
		m.view.Event(e)
	}
	m.state = msg.state
	m.asks = append(m.asks, msg.asks...)
	m.nextQuestion()
}

// replied shows what a command has to say.
func (m *chatScreen) replied(msg replyMsg) {
	if msg.err != nil {
		e := diag.As(msg.err)
		m.view.add(m.styled(e)...)
		return
	}
	if msg.Clear {
		m.view.add("", m.style.dim(strings.Repeat("─", max(min(m.width-1, 60), 1))))
	}
	if msg.Text != "" {
		m.view.add(markdown.Render(msg.Text, m.options())...)
	}
	if msg.Prompt != "" {
		m.text.SetValue(msg.Prompt)
		m.text.MoveToEnd()
	}
	if msg.Pick != nil {
		m.pick = &picker{Pick: *msg.Pick}
	}
	m.leaving = m.leaving || msg.Quit
}

// styled is an error for the transcript.
func (m *chatScreen) styled(e *diag.Error) []string {
	lines := []string{}
	for i, l := range markdown.Wrap("error: "+clean(e.Message), max(m.width-1, 1)) {
		if i == 0 {
			l = m.style.red("error:") + strings.TrimPrefix(l, "error:")
		}
		lines = append(lines, l)
	}
	if e.Hint != "" {
		for _, l := range markdown.Wrap("hint: "+clean(e.Hint), max(m.width-1, 1)) {
			lines = append(lines, m.style.dim(l))
		}
	}
	return lines
}

func (m *chatScreen) options() markdown.Options {
	return markdown.Options{Width: max(m.width-1, 1), Color: m.style.on}
}

// print gives finished lines to the scrollback, in pieces that the terminal has
// room for above the region.
func (m *chatScreen) print() tea.Cmd {
	if !m.sized {
		return nil
	}
	lines := m.view.take()
	if len(lines) == 0 {
		return nil
	}
	room := max(m.height-len(m.region())-1, 1)
	var cmds []tea.Cmd
	for len(lines) > 0 {
		n, rows := 0, 0
		for ; n < len(lines) && (n == 0 || rows < room); n++ {
			rows += 1 + markdown.Width(lines[n])/m.width
		}
		if rows > room && n > 1 {
			n--
		}
		cmds = append(cmds, tea.Println(strings.Join(lines[:n], "\n")))
		lines = lines[n:]
	}
	return tea.Sequence(cmds...)
}

// fit gives the composer its rows.
func (m *chatScreen) fit() {
	m.text.SetWidth(max(m.width-3, 1))
	m.text.SetHeight(min(max(m.text.LineCount(), 1), composerUp, max(m.height-3, 1)))
}
