package cli

import (
	"context"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/event"
)

// What the engine says reaches the screen as messages.
type (
	// feedMsg is what has come since the last one.
	feedMsg struct {
		events []event.Event
		asks   []*asking
		state  dialog.State
	}
	replyMsg struct {
		line string
		dialog.Reply
		err error
	}
	candidatesMsg struct {
		line string
		list []dialog.Candidate
	}
	historyMsg []string
	overMsg    struct{ err error }
	tickMsg    time.Time
)

// asking is a question to the person: of permission, or where options is not
// nil of the model's own. It is answered once.
type asking struct {
	q        *event.Question
	text     string
	options  []string
	answered chan struct{}
	once     sync.Once
	answer   event.Answer
	said     string
	ok       bool
	over     <-chan struct{} // who asked does not wait any more
}

func (a *asking) reply(set func()) {
	a.once.Do(func() {
		if set != nil {
			set()
		}
		close(a.answered)
	})
}

// feed takes what the engine says, without ever making it wait, and hands it
// to the screen in batches: a model that streams fast costs no more drawings
// than one that does not.
type feed struct {
	mu     sync.Mutex
	events []event.Event
	asks   []*asking
	dirty  bool
	wake   chan struct{}
}

const feedTime = 30 * time.Millisecond // between batches, at least

func newFeed() *feed { return &feed{wake: make(chan struct{}, 1)} }

func (f *feed) nudge() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *feed) event(e event.Event) {
	f.mu.Lock()
	f.events = append(f.events, e)
	f.mu.Unlock()
	f.nudge()
}

func (f *feed) changed() {
	f.mu.Lock()
	f.dirty = true
	f.mu.Unlock()
	f.nudge()
}

// ask puts a question and waits for its answer.
func (f *feed) ask(ctx context.Context, a *asking) {
	a.answered, a.over = make(chan struct{}), ctx.Done()
	f.mu.Lock()
	f.asks = append(f.asks, a)
	f.mu.Unlock()
	f.nudge()
	select {
	case <-a.answered:
	case <-ctx.Done():
		a.reply(nil)
		f.changed() // the screen takes it away
	}
	<-a.answered
}

func (f *feed) question(ctx context.Context, q event.Question) event.Answer {
	a := &asking{q: &q}
	f.ask(ctx, a)
	return a.answer
}

func (f *feed) user(ctx context.Context, question string, options []string) (string, bool) {
	if options == nil {
		options = []string{}
	}
	a := &asking{text: question, options: options}
	f.ask(ctx, a)
	return a.said, a.ok
}

// pump sends batches until ctx ends; what is left then is sent too.
func (f *feed) pump(ctx context.Context, state func() dialog.State, send func(tea.Msg)) {
	for {
		ended := false
		select {
		case <-f.wake:
		case <-ctx.Done():
			ended = true
		}
		f.mu.Lock()
		m := feedMsg{events: f.events, asks: f.asks}
		f.events, f.asks, f.dirty = nil, nil, false
		f.mu.Unlock()
		m.state = state()
		send(m)
		if ended {
			return
		}
		select {
		case <-time.After(feedTime):
		case <-ctx.Done():
		}
	}
}
