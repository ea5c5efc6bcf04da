package model

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// step is what a fake model does at one question.
type step struct {
	says string
	err  *Error
}

// fake plays its steps, the last one again and again.
type fake struct {
	name  string
	steps []step
	asked []string // the model of each request
}

func (f *fake) Name() string { return f.name }

func (f *fake) Ask(ctx context.Context, req Request, on func(Delta)) (*Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, &Error{Model: f.name, Message: "interrupted", Cause: err}
	}
	s := f.steps[min(len(f.asked), len(f.steps)-1)]
	f.asked = append(f.asked, req.Model)
	if s.says != "" && on != nil {
		on(Delta{Text: s.says})
	}
	if s.err != nil {
		return nil, s.err
	}
	return &Answer{Message: Message{Role: Assistant, Blocks: []Block{{Text: s.says}}}}, nil
}

func status(n int) *Error { return Refused("x/m", n, "", "no", 0) }

func TestFallbacks(t *testing.T) {
	t.Parallel()
	network := &Error{Message: "connection refused", Retryable: true}
	quota := Refused("x/m", 429, "insufficient_quota", "pay", 0)
	for _, c := range []struct {
		name   string
		first  step
		served string // "" means that the first one's error comes back
		rest   time.Duration
	}{
		{"an answer", step{says: "hi"}, "a/one", 0},
		{"401", step{err: status(401)}, "b/two/x", coolLong},
		{"402", step{err: status(402)}, "b/two/x", coolLong},
		{"403", step{err: status(403)}, "b/two/x", coolLong},
		{"404", step{err: status(404)}, "b/two/x", coolLong},
		{"408", step{err: status(408)}, "b/two/x", coolShort},
		{"429", step{err: status(429)}, "b/two/x", coolShort},
		{"429 that asks for five minutes", step{err: Refused("x/m", 429, "", "no", 5*time.Minute)}, "b/two/x", 5 * time.Minute},
		{"429 that asks for a day", step{err: Refused("x/m", 429, "", "no", 24*time.Hour)}, "b/two/x", coolLong},
		{"429 without quota", step{err: quota}, "b/two/x", coolLong},
		{"500", step{err: status(500)}, "b/two/x", coolShort},
		{"529", step{err: status(529)}, "b/two/x", coolShort},
		{"no connection", step{err: network}, "b/two/x", coolShort},
		{"400 is the request's fault", step{err: status(400)}, "", 0},
		{"413 would be too long elsewhere too", step{err: status(413)}, "", 0},
		{"a script without an answer", step{err: &Error{Code: "SCRIPT_NO_MATCH", Retryable: true}}, "", 0},
		{"a bad certificate", step{err: &Error{Message: "x509"}}, "", 0},
		{"503 after a word was said", step{says: "half", err: status(503)}, "", coolShort},
		{"503 with a partial answer that nobody heard", step{err: &Error{Status: 503, Retryable: true, Partial: "half"}}, "", coolShort},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			now := time.Unix(1000, 0)
			cool := &Cooldown{Now: func() time.Time { return now }}
			one := &fake{name: "a/one", steps: []step{c.first, {says: "back"}}}
			two := &fake{name: "b/two/x", steps: []step{{says: "second"}}}
			var told []string
			m := WithFallbacks([]Model{one, two}, FallbackPolicy{Cooldown: cool, Notice: func(from, to string, _ *Error) { told = append(told, from+">"+to) }})
			a, err := m.Ask(t.Context(), Request{Model: "one"}, nil)
			switch {
			case c.served == "":
				var e *Error
				if !errors.As(err, &e) || e != c.first.err {
					t.Fatalf("answer %+v, error %v; want the first one's error", a, err)
				}
			case err != nil || a.Served != c.served:
				t.Fatalf("answer %+v, error %v; want one of %s", a, err, c.served)
			}
			if got := Rest(orNone(c.first.err)); got != c.rest {
				t.Errorf("rests for %s, want %s", got, c.rest)
			}
			if want := map[bool][]string{true: {"a/one>b/two/x"}}[c.served == two.name]; !slices.Equal(told, want) {
				t.Errorf("told %v, want %v", told, want)
			}
			if c.served == two.name && two.asked[0] != "two/x" {
				t.Errorf("the second one was asked for model %q, want its own name", two.asked[0])
			}
			if c.rest == 0 {
				return
			}
			// While the first one rests it is not asked; after that it is, and that is said.
			now = now.Add(c.rest - time.Second)
			if a, err := m.Ask(t.Context(), Request{}, nil); err != nil || a.Served != "b/two/x" || len(one.asked) != 1 {
				t.Errorf("during the rest: %+v, %v, asked %d times; want the second", a, err, len(one.asked))
			}
			now = now.Add(time.Second)
			if a, err := m.Ask(t.Context(), Request{}, nil); err != nil || a.Served != "a/one" {
				t.Errorf("after the rest: %+v, %v; want the first", a, err)
			}
			if want := []string{"a/one>b/two/x", "b/two/x>a/one"}; !slices.Equal(told, want) {
				t.Errorf("told %v, want %v", told, want)
			}
		})
	}
}

func orNone(e *Error) *Error {
	if e == nil {
		return &Error{}
	}
	return e
}

func TestFallbacksInOrder(t *testing.T) {
	t.Parallel()
	fails := func(name string) *fake { return &fake{name: name, steps: []step{{err: status(503)}}} }
	one, two, three := fails("a/1"), fails("a/2"), fails("a/3")
	var told []string
	m := WithFallbacks([]Model{one, two, three}, FallbackPolicy{Notice: func(from, to string, why *Error) { told = append(told, Switched(from, to, why)) }})
	for range 3 {
		if _, err := m.Ask(t.Context(), Request{}, nil); err == nil {
			t.Fatal("an answer, want the last one's error")
		}
	}
	// The last one is asked although it rests, the others are left in peace.
	if got, want := []int{len(one.asked), len(two.asked), len(three.asked)}, []int{1, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("asked %v times, want %v", got, want)
	}
	want := []string{"a/2 is asked instead of a/1: x/m: HTTP 503: no", "a/3 is asked instead of a/2: x/m: HTTP 503: no"}
	if d := cmp.Diff(told, want); d != "" {
		t.Errorf("told (got -, want +):\n%s", d)
	}
	if m.Name() != "a/1" {
		t.Errorf("name %s, want the first one's", m.Name())
	}
	// Another model with the same memory begins with the last one at once.
	cool := &Cooldown{}
	cool.rest("a/1", time.Hour)
	var sentence string
	n := WithFallbacks([]Model{one, &fake{name: "a/9", steps: []step{{says: "x"}}}},
		FallbackPolicy{Cooldown: cool, Notice: func(from, to string, why *Error) { sentence = Switched(from, to, why) }})
	if a, err := n.Ask(t.Context(), Request{}, nil); err != nil || a.Served != "a/9" || !strings.Contains(sentence, "a short while ago") {
		t.Errorf("answer %+v, error %v, told %q; want a/9 and that a/1 failed before", a, err, sentence)
	}
}

func TestFallbacksEndWithTheRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	two := &fake{name: "a/2", steps: []step{{says: "x"}}}
	m := WithFallbacks([]Model{&fake{name: "a/1", steps: []step{{err: status(503)}}}, two}, FallbackPolicy{})
	if _, err := m.Ask(ctx, Request{}, nil); !errors.Is(err, context.Canceled) || len(two.asked) != 0 {
		t.Errorf("error %v, second asked %d times; want the cancel and no further question", err, len(two.asked))
	}
}

func TestCooldownIsShared(t *testing.T) {
	t.Parallel()
	cool := &Cooldown{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			cool.rest("a", time.Hour)
			if !cool.rests("a") || cool.rests("b") {
				t.Error("a does not rest, or b does")
			}
		})
	}
	wg.Wait()
}
