package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
)

// How long a model that failed is passed over. What only a person can mend (a
// key, a bill, a name) takes longer than a service that is busy.
const (
	coolShort = time.Minute
	coolLong  = 10 * time.Minute
)

// Cooldown remembers which models failed of late, for all runs of a process.
// Its zero value is ready; it may be used by several goroutines.
type Cooldown struct {
	// Now is the clock; nil: time.Now.
	Now func() time.Time

	mu    sync.Mutex
	until map[string]time.Time
}

func (c *Cooldown) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

// rest passes name over for d from now on.
func (c *Cooldown) rest(name string, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil {
		c.until = map[string]time.Time{}
	}
	if t := c.now().Add(d); t.After(c.until[name]) {
		c.until[name] = t
	}
}

// rests says whether name is passed over, and lets it go when its time is up.
func (c *Cooldown) rests(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.until[name]
	if ok && !c.now().Before(t) {
		delete(c.until, name)
		return false
	}
	return ok
}

// FallbackPolicy says who is told and what is remembered.
type FallbackPolicy struct {
	// Cooldown is shared by everybody who asks the same services; nil: one that
	// lives as long as this model.
	Cooldown *Cooldown
	// Notice is told when another model than the last one is asked; why is nil
	// where the first still rests from an earlier failure. nil: nobody is told.
	Notice func(from, to string, why *Error)
}

// WithFallbacks asks models in order until one answers: the next one only
// where a service failed or refused us (401, 402, 403, 404, 408, 429, 5xx, no
// connection) and nothing of its answer has been streamed. One that failed is
// passed over for one or ten minutes; the last one is always asked. The name
// is the first one's, Answer.Served the one that answered. models is not
// empty; its entries do their own retries.
func WithFallbacks(models []Model, p FallbackPolicy) Model {
	if p.Cooldown == nil {
		p.Cooldown = &Cooldown{}
	}
	return &falling{models: models, p: p, told: models[0].Name()}
}

type falling struct {
	models []Model
	p      FallbackPolicy

	mu   sync.Mutex
	told string // the model that a person believes to be asked
}

func (f *falling) Name() string { return f.models[0].Name() }

// Ask implements Model.
func (f *falling) Ask(ctx context.Context, req Request, on func(Delta)) (*Answer, error) {
	var why *Error
	for i, m := range f.models {
		last := i == len(f.models)-1
		if !last && f.p.Cooldown.rests(m.Name()) {
			continue
		}
		f.tell(m.Name(), why)
		streamed := false
		_, req.Model, _ = strings.Cut(m.Name(), "/")
		a, err := m.Ask(ctx, req, func(d Delta) {
			streamed = true
			if on != nil {
				on(d)
			}
		})
		if err == nil {
			if a.Served == "" {
				a.Served = m.Name()
			}
			return a, nil
		}
		var e *Error
		if !errors.As(err, &e) || ctx.Err() != nil {
			return nil, err
		}
		rest := Rest(e)
		if rest > 0 {
			f.p.Cooldown.rest(m.Name(), rest)
		}
		if rest == 0 || last || streamed || e.Partial != "" {
			return nil, err
		}
		why = e
	}
	panic("model: WithFallbacks without a model") // the last one is always asked
}

// tell says that another model is asked than a person was told last.
func (f *falling) tell(name string, why *Error) {
	f.mu.Lock()
	from := f.told
	f.told = name
	f.mu.Unlock()
	if from != name && f.p.Notice != nil {
		f.p.Notice(from, name, why)
	}
}

// Rest is how long a model is passed over after e; 0 where another model would
// fare no better or the fault is the request's.
func Rest(e *Error) time.Duration {
	switch {
	case e.Overflow || e.Code != "":
		return 0
	case e.Status == 401, e.Status == 402, e.Status == 403, e.Status == 404, e.Status == 429 && !e.Retryable:
		return coolLong
	case e.Status == 408, e.Status == 429, e.Status >= 500, e.Status == 0 && e.Retryable:
		return min(max(coolShort, e.RetryAfter), coolLong)
	}
	return 0
}

// Switched is the sentence for a person about a change of models.
func Switched(from, to string, why *Error) string {
	if why == nil {
		return fmt.Sprintf("%s is asked instead of %s, which failed a short while ago", to, from)
	}
	return fmt.Sprintf("%s is asked instead of %s: %v", to, from, why)
}
