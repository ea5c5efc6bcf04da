package app

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
)

// Say queues a prompt.
func (c *Chat) Say(text string) {
	if strings.TrimSpace(text) == "" || !utf8.ValidString(text) {
		return
	}
	c.enqueue(chatJob{prompt: text})
}

func (c *Chat) enqueue(j chatJob) {
	c.set(func() { c.queue = append(c.queue, j) })
	c.nudge()
}

// nudge lets Run's goroutine look for work. It does not block.
func (c *Chat) nudge() {
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

// Interrupt ends the turn that is on.
func (c *Chat) Interrupt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop == nil {
		return false
	}
	c.stop()
	return true
}

// loop does what comes, one after the other.
func (c *Chat) loop(ctx context.Context, t *chatTalk) *RunInput {
	for {
		c.mu.Lock()
		var job *chatJob
		quit, next := c.quit, c.next
		if len(c.queue) > 0 && !quit && next == nil {
			job = &c.queue[0]
			c.queue = slices.Delete(slices.Clone(c.queue), 0, 1)
		}
		c.mu.Unlock()
		switch {
		case ctx.Err() != nil || quit:
			return nil
		case next != nil:
			return next
		case job != nil:
			t.job(ctx, *job)
		case t.ready():
			t.turn(ctx, func(ctx context.Context) (event.Result, error) {
				res, _, err := t.l.Wake(ctx)
				return res, err
			})
		default:
			select {
			case <-c.poke:
			case <-ctx.Done():
			}
		}
	}
}

func (t *chatTalk) job(ctx context.Context, j chatJob) {
	if j.do == nil {
		t.turn(ctx, func(ctx context.Context) (event.Result, error) { return t.l.Run(ctx, j.prompt) })
		return
	}
	t.busy(ctx, func(ctx context.Context) { j.do(ctx, t) })
	if j.over != nil {
		j.over()
	}
}

// ready says that the result of a background task waits to be told.
func (t *chatTalk) ready() bool {
	for _, d := range t.desks {
		if _, ready := d.Background(); ready {
			return true
		}
	}
	return false
}

// busy runs f with a ctx that Interrupt ends.
func (t *chatTalk) busy(ctx context.Context, f func(context.Context)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.chat.set(func() { t.chat.stop = cancel })
	defer t.chat.set(func() { t.chat.stop = nil })
	f(ctx)
}

// turn is one turn of the conversation. What went wrong with it has been told
// as an event; what helps is told here.
func (t *chatTalk) turn(ctx context.Context, run func(context.Context) (event.Result, error)) {
	t.busy(ctx, func(ctx context.Context) {
		if t.sit.checks != nil {
			t.sit.checks.NextTurn()
		}
		res, err := run(ctx)
		t.l.History = t.l.Conversation()
		t.last = res
		if err != nil {
			if e := diag.As(notThere(err, t.s.route)); e.Hint != "" {
				t.host.Notice("hint", e.Hint)
			}
		}
	})
}
