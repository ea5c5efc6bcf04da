package agent

import (
	"context"
	"strings"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
)

// A host is the loop of a conversation with several turns. It asks no model
// itself: it has what outlives a turn, and the agent that the person talks to
// is seated under it. Its Emit, Ask, Remember, budgets and Mode hold for all
// who are ever seated and for those who work for them, whoever is seated now.
// Its Policy stays nil.

// Seat makes next the agent that the person talks to. next has not run yet;
// what the one before it has begun in the background goes on. No turn may be
// on. next's own Emit, Ask, Remember and budgets are not looked at, and its
// mode is the host's where that is lower.
func (l *Loop) Seat(next *Loop) {
	l.out.Lock()
	defer l.out.Unlock()
	next.Parent = l
	next.Emit, next.Ask, next.Remember, next.BudgetUSD, next.BudgetTokens = nil, nil, nil, nil, nil
	l.Persona, l.Model, l.PriceOf, l.Price = next.Persona, next.Model, next.PriceOf, next.Price
	l.Points.Notify = next.Points.Notify
	next.queued, l.queued = append(l.queued, next.queued...), nil
}

// seated says that a loop is the one that the person talks to, or was.
func (l *Loop) seated() bool { return l.Parent != nil && l.Agent == "" }

// sessionStart are the SessionStart points that are due: of a conversation with
// several turns once, until Restart.
func (l *Loop) sessionStart() []func(context.Context, string) Said {
	if l.seated() {
		host := l.root()
		host.out.Lock()
		defer host.out.Unlock()
		if host.begun {
			return nil
		}
		host.begun = true
	}
	return l.Points.SessionStart
}

// Restart lets the next turn begin the conversation anew: SessionStart runs
// again, with source. History is the caller's to empty.
func (l *Loop) Restart(source string) {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	l.root().begun = false
	l.Source = source
}

// Wake is Run without a prompt: what has arrived meanwhile goes to the model.
// Where nothing has, nothing is done and ok is false.
func (l *Loop) Wake(ctx context.Context) (res event.Result, ok bool, err error) {
	r := l.newRun()
	text := strings.TrimSpace(strings.Join([]string{r.notes(), r.arrived()}, "\n\n"))
	if text == "" {
		return event.Result{}, false, nil
	}
	ctx, stop := l.timed(ctx)
	defer stop()
	l.sayOpening()
	e := r.shorten(ctx, text)
	if !e.over() {
		r.generated(text)
		e = r.work(ctx)
	}
	res, err = r.close(ctx, e)
	return res, true, err
}

// Compact has History summarised because a person wants it; instructions of
// theirs stand behind those of the persona. Conversation is the summary then.
func (l *Loop) Compact(ctx context.Context, instructions string) error {
	r := l.newRun()
	if len(r.messages) == 0 {
		return nil
	}
	old := l.Compaction.Prompt
	if instructions != "" {
		l.Compaction.Prompt = r.instruction() + "\n\n" + instructions
		defer func() { l.Compaction.Prompt = old }()
	}
	err := r.compact(ctx, triggerManual, false)
	r.keep()
	return err
}

// End runs the SessionEnd points of a conversation that is over.
func (l *Loop) End(ctx context.Context, last event.Result) {
	if len(l.Points.SessionEnd) == 0 {
		return
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	for _, f := range l.Points.SessionEnd {
		f(after, last)
	}
}

// newBill begins one once a turn's result has told of the old one.
func (l *Loop) newBill() {
	if !l.seated() {
		return
	}
	l.root().out.Lock()
	defer l.root().out.Unlock()
	l.bill = bill{context: l.bill.context, answer: l.bill.answer}
}

// Spent is what this loop and all below it have spent: of a host since the
// conversation began. usd is nil where a part of it is unknown.
func (l *Loop) Spent() (event.Usage, *float64) {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	usd := l.costLocked()
	if usd != nil {
		sum := *usd
		usd = &sum
	}
	return l.bill.usage, usd
}

// Fill is how many tokens the conversation takes, and of how many.
func (l *Loop) Fill() (tokens, window int) {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	return l.bill.context, l.window()
}

// TakeUp gives a seated loop another model from its next turn on.
func (l *Loop) TakeUp(m model.Model, set func(*Loop)) {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	l.Model = m
	set(l)
	if l.seated() {
		l.Parent.Model = m
	}
	l.opened = false // init tells of it
	l.Opening = nil
}

// ModelName is provider/model of the next request.
func (l *Loop) ModelName() string {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	return l.Model.Name()
}
