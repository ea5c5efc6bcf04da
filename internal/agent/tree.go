package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
)

// A tree of loops is one run. What a child spends stands on the bills of all
// above it, and their budgets bind it. Its events go through the root's Emit
// with its label, its refusals and notices into the results above, its
// questions to the root's Ask, one at a time. An "always" that a person gives
// to any of them holds for all. Its mode is never above its parent's, also
// where that one's changes. The root's lock guards all of it, so that what is
// said comes in one order.

// root is the loop that the person has begun.
func (l *Loop) root() *Loop {
	for l.Parent != nil {
		l = l.Parent
	}
	return l
}

// emitAbove says a child's event in the run's stream. Where a child begins and
// ends is its task's events, not a second init or result.
func (l *Loop) emitAbove(e event.Event) {
	switch e.Body.(type) {
	case event.Init, event.Result:
		if !l.seated() {
			return
		}
	}
	root := l.root()
	root.seq++
	e.Seq, e.Agent = root.seq, l.Agent
	if root.Emit != nil {
		root.Emit(e)
	}
}

// Floor runs f while no other agent of the run speaks to the person. False:
// ctx ended before it was this one's turn.
func (l *Loop) Floor(ctx context.Context, f func()) bool {
	root := l.root()
	root.out.Lock()
	if root.person == nil {
		root.person = make(chan struct{}, 1)
	}
	floor := root.person
	root.out.Unlock()
	select {
	case floor <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	defer func() { <-floor }()
	if ctx.Err() != nil {
		return false
	}
	f()
	return true
}

func (l *Loop) modeLocked() string {
	own := cmp.Or(l.Mode, permission.Default)
	if l.Parent == nil {
		return own
	}
	if above := l.Parent.modeLocked(); l.Mode == "" || profile.ModeRank(above) < profile.ModeRank(own) {
		return above
	}
	return own
}

// refresh brings Policy up to what holds now: the rules that the person has
// said "always" to, whichever agent asked, and a child's mode. It runs under
// l.one; the policy that the caller handed over stays as it is.
func (l *Loop) refresh() (last error) {
	root := l.root()
	root.out.Lock()
	mode, rules := l.modeLocked(), slices.Clone(root.grown[min(l.known, len(root.grown)):])
	root.out.Unlock()
	if len(rules) == 0 && (l.Parent == nil || l.Policy.Mode == mode) {
		return nil
	}
	p := *l.Policy
	if l.Parent != nil {
		p.Mode = mode
	}
	for _, r := range rules {
		grown, err := p.Rules.With(r, p.Places)
		if err != nil {
			last = err
			continue
		}
		p.Rules = grown
	}
	l.known += len(rules)
	l.Policy = &p
	return last
}

// grow lets an allow rule of the person's hold for the whole run. It runs
// under l.one.
func (l *Loop) grow(rule, where string) error {
	root := l.root()
	root.out.Lock()
	root.grown = append(root.grown, profile.Rule{Text: rule, Origin: where, User: true})
	root.out.Unlock()
	return l.refresh()
}

// reserved is what requests that are on their way may cost at least.
type reserved struct {
	requests int
	tokens   int64
	usd      float64
}

// reserve waits until the budgets of this loop and of all above it have room
// for one more request beside those that are on their way, and reserves it:
// so the sum goes over a budget by one request each at most, however many
// agents work at once. why is not "" where a budget is spent; nothing is
// reserved then. size estimates the request in tokens; it is asked only where
// there is a budget. over gives the reservation back, after what the request
// cost is on the bill.
func (l *Loop) reserve(ctx context.Context, m model.Model, size func() int) (over func(), why string) {
	if !l.bounded() {
		return func() {}, ""
	}
	want := reserved{requests: 1, tokens: int64(size())}
	price := l.priceOf(m.Name())
	root := l.root()
	for {
		root.out.Lock()
		if why := l.overLocked(); why != "" {
			root.out.Unlock()
			return nil, why
		}
		if l.hasRoom() || ctx.Err() != nil {
			answer := l.bill.answer // the next is taken to be as long as the last
			if price != nil {
				want.usd = price.USD(int(want.tokens), answer, 0, 0)
			}
			want.tokens += int64(answer)
			l.hold(want, 1)
			root.out.Unlock()
			return func() {
				root.out.Lock()
				defer root.out.Unlock()
				l.hold(want, -1)
				if root.freed != nil {
					close(root.freed)
					root.freed = nil
				}
			}, ""
		}
		if root.freed == nil {
			root.freed = make(chan struct{})
		}
		freed := root.freed
		root.out.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
		}
	}
}

// bounded says that a budget binds this loop.
func (l *Loop) bounded() bool {
	for p := l; p != nil; p = p.Parent {
		if p.BudgetUSD != nil || p.BudgetTokens != nil {
			return true
		}
	}
	return false
}

// hasRoom says that no budget is used up by what is spent and on its way; a
// request that would be alone always has room.
func (l *Loop) hasRoom() bool {
	for p := l; p != nil; p = p.Parent {
		switch {
		case p.held.requests == 0:
		case p.BudgetTokens != nil && tokens(p.bill.usage)+p.held.tokens >= *p.BudgetTokens,
			p.BudgetUSD != nil && p.bill.usd+p.held.usd >= *p.BudgetUSD:
			return false
		}
	}
	return true
}

func (l *Loop) hold(r reserved, sign int) {
	for p := l; p != nil; p = p.Parent {
		p.held.requests += sign * r.requests
		p.held.tokens += int64(sign) * r.tokens
		p.held.usd += float64(sign) * r.usd
	}
}

// Conversation is how the last Run left the conversation, fit to go on behind
// as History. It is nil before the first one ends.
func (l *Loop) Conversation() []model.Message {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	return l.over
}

// Answer is the last text of that conversation which the model has said, ""
// where there is none.
func (l *Loop) Answer() string {
	messages := l.Conversation()
	for i := len(messages) - 1; i >= 0; i-- {
		if t := messages[i].Text(); messages[i].Role == model.Assistant && t != "" {
			return t
		}
	}
	return ""
}

func (r *run) keep() {
	r.root().out.Lock()
	defer r.root().out.Unlock()
	r.over = model.Repair(slices.Clone(r.messages))
}

// arrived is what has come in meanwhile, "" where nothing has.
func (r *run) arrived() string {
	var texts []string
	for _, f := range r.Points.Arrived {
		if t := f(); t != "" {
			texts = append(texts, t)
		}
	}
	return strings.Join(texts, "\n\n")
}

// rest ends the run, unless something is still to come.
func (r *run) rest(ctx context.Context) end {
	if r.idle(ctx) {
		return end{}
	}
	if len(r.Points.Idle) > 0 && ctx.Err() != nil { // it ended while we waited
		return r.cancelled(ctx)
	}
	return end{reason: event.StopEndTurn}
}

// idle waits for what is still to come and puts it before the model. False:
// nothing is.
func (r *run) idle(ctx context.Context) bool {
	var texts []string
	for _, f := range r.Points.Idle {
		if t := f(ctx); t != "" {
			texts = append(texts, t)
		}
	}
	if len(texts) == 0 {
		return false
	}
	r.generated(strings.Join(texts, "\n\n"))
	return true
}
