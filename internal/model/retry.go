package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// RetryPolicy says how often and how long. Its zero value is the house's:
// 4 attempts, 1 s doubling with jitter, Retry-After honoured up to 60 s.
type RetryPolicy struct {
	Attempts int           // 0: 4
	Base     time.Duration // 0: 1 s, the first delay before jitter
	Max      time.Duration // 0: 60 s, no wait is longer
	// Sleep waits, or returns ctx's error early; nil: a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Jitter gives a number in [0,1); nil: math/rand.
	Jitter func() float64
	// Notice is told before each wait; nil: nobody is. Attempt counts from 1.
	Notice func(attempt int, wait time.Duration, err *Error)
}

func (p RetryPolicy) filled() RetryPolicy {
	if p.Attempts <= 0 {
		p.Attempts = 4
	}
	if p.Base <= 0 {
		p.Base = time.Second
	}
	if p.Max <= 0 {
		p.Max = 60 * time.Second
	}
	if p.Sleep == nil {
		p.Sleep = sleep
	}
	if p.Jitter == nil {
		p.Jitter = rand.Float64
	}
	return p
}

// WithRetry asks m again when it failed in a way that may pass and nothing of
// the answer has been streamed yet: text that a person has read is never said
// twice.
func WithRetry(m Model, p RetryPolicy) Model { return &retrying{m: m, p: p.filled()} }

type retrying struct {
	m Model
	p RetryPolicy
}

func (r *retrying) Name() string { return r.m.Name() }

// Ask implements Model.
func (r *retrying) Ask(ctx context.Context, req Request, on func(Delta)) (*Answer, error) {
	for attempt := 1; ; attempt++ {
		streamed := false
		a, err := r.m.Ask(ctx, req, func(d Delta) {
			streamed = true
			if on != nil {
				on(d)
			}
		})
		if err == nil {
			return a, nil
		}
		var e *Error
		if !errors.As(err, &e) || !e.Retryable || streamed || e.Partial != "" || ctx.Err() != nil {
			return nil, err
		}
		left := r.p.Attempts - attempt
		// A service that asks for more than all waits together will say no
		// each time: asking it again only costs the person's time.
		if left <= 0 || e.RetryAfter > time.Duration(left)*r.p.Max {
			return nil, err
		}
		wait := r.p.wait(attempt, e.RetryAfter)
		if r.p.Notice != nil {
			r.p.Notice(attempt, wait, e)
		}
		if err := r.p.Sleep(ctx, wait); err != nil {
			return nil, &Error{Model: e.Model, Message: "interrupted while waiting to ask again: " + e.Message, Status: e.Status, Cause: err}
		}
	}
}

// wait is what the service asked for, else half of the doubled delay plus a
// random share of the other half, so that parallel runs spread out.
func (p RetryPolicy) wait(attempt int, after time.Duration) time.Duration {
	if after > 0 {
		return min(after, p.Max)
	}
	d := p.Base << min(attempt-1, 16)
	d = min(d, p.Max)
	return d/2 + time.Duration(p.Jitter()*float64(d/2))
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
