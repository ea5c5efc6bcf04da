package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/profile"
)

// bill is what a run has spent so far, side questions included. Requests are
// priced one by one, by the model that answered.
type bill struct {
	usage event.Usage
	usd   float64
	// unpriced names a model that answered and has no price; then usd is only
	// what is known of the cost.
	unpriced string
	context  int // tokens of the conversation as last measured
	answer   int // tokens of the last answer
}

// add puts one answer on the bill.
func (b *bill) add(name string, price *profile.Price, u event.Usage) {
	b.usage = b.usage.Add(u)
	switch {
	case price != nil:
		b.usd += price.USD(u.InputTokens, u.OutputTokens, u.CacheReadTokens, u.CacheWriteTokens)
	case tokens(u) > 0:
		b.unpriced = name
	}
}

// priceOf gives the price of provider/model, nil where it is unknown.
func (l *Loop) priceOf(name string) *profile.Price {
	if l.PriceOf != nil {
		return l.PriceOf(name)
	}
	if l.Model != nil && name == l.Model.Name() {
		return l.Price
	}
	return nil
}

// spend puts an answer on the bill and says the usage event. main says that
// the answer is the conversation's next, so that its size is the context's.
func (l *Loop) spend(m model.Model, a *model.Answer, main bool) {
	name := cmp.Or(a.Served, m.Name())
	price := l.priceOf(name)
	l.root().out.Lock()
	defer l.root().out.Unlock()
	for p := l; p != nil; p = p.Parent { // a child's spending is that of all above it
		p.bill.add(name, price, a.Usage)
	}
	b := &l.bill
	if main {
		b.context, b.answer = int(tokens(a.Usage)), a.Usage.OutputTokens
	}
	l.emitLocked(event.Spent{Model: name, Turn: a.Usage, Total: b.usage, CostUSD: l.costLocked(),
		ContextTokens: b.context, ContextWindow: l.window()})
}

// costLocked is the run's cost in USD, nil where a part of it is unknown.
// Before anything is spent the model's own price decides.
func (l *Loop) costLocked() *float64 {
	b := l.bill
	if b.unpriced != "" || tokens(b.usage) == 0 && l.priceOf(l.Model.Name()) == nil {
		return nil
	}
	return &b.usd
}

func tokens(u event.Usage) int64 {
	return int64(u.InputTokens) + int64(u.OutputTokens) + int64(u.CacheReadTokens) + int64(u.CacheWriteTokens)
}

// errBudget is what a side question gets once the budget is spent.
var errBudget = errors.New("the run's budget is spent")

// overBudget says in words which budget of this loop or of one above it is
// spent, "" where none is. What has no price counts nothing in USD.
func (l *Loop) overBudget() string {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	return l.overLocked()
}

func (l *Loop) overLocked() string {
	for p := l; p != nil; p = p.Parent {
		if why := p.overOwn(); why != "" {
			return why
		}
	}
	return ""
}

func (l *Loop) overOwn() string {
	b := l.bill
	if t := tokens(b.usage); l.BudgetTokens != nil && t >= *l.BudgetTokens {
		return fmt.Sprintf("%d tokens are used, the budget is %d", t, *l.BudgetTokens)
	}
	priced := b.usd > 0 || l.priceOf(l.Model.Name()) != nil
	if l.BudgetUSD != nil && priced && b.usd >= *l.BudgetUSD {
		return fmt.Sprintf("%.4f USD are spent, the budget is %.4f", b.usd, *l.BudgetUSD)
	}
	return ""
}

// Side asks m a question beside the conversation: a hook's, a judge's. What it
// costs stands on the run's bill, and once the budget is spent nothing is
// asked. Points may call it while they run, from any goroutine. Deadlines are
// the caller's.
func (l *Loop) Side(ctx context.Context, m model.Model, req model.Request) (*model.Answer, error) {
	over, why := l.reserve(ctx, m, func() int { return estimate(req.Messages) })
	if why != "" {
		return nil, fmt.Errorf("%s is not asked: %w", m.Name(), errBudget)
	}
	defer over()
	a, err := m.Ask(ctx, req, nil)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, fmt.Errorf("%s gave no answer", m.Name())
	}
	l.spend(m, a, false)
	return a, nil
}
