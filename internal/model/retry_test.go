package model

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// list answers with one error after the other, then with success.
type list struct {
	errs  []*Error
	says  string // before it fails
	asked int
}

func (l *list) Name() string { return "p/m" }

func (l *list) Ask(_ context.Context, _ Request, on func(Delta)) (*Answer, error) {
	l.asked++
	if l.says != "" && on != nil {
		on(Delta{Text: l.says})
	}
	if l.asked <= len(l.errs) {
		return nil, l.errs[l.asked-1]
	}
	return &Answer{Stop: EndTurn}, nil
}

func times(n int, e Error) []*Error {
	var out []*Error
	for range n {
		c := e
		out = append(out, &c)
	}
	return out
}

func TestWithRetry(t *testing.T) {
	t.Parallel()
	after := func(d time.Duration) Error { return Error{Status: 429, Retryable: true, RetryAfter: d} }
	for _, c := range []struct {
		name  string
		model list
		waits []time.Duration // in real time, jitter at 0
		ok    bool
	}{
		{"success", list{}, nil, true},
		{"doubling", list{errs: times(3, Error{Retryable: true})}, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}, true},
		{"four attempts", list{errs: times(9, Error{Retryable: true})}, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second}, false},
		{"asked for 30 s", list{errs: times(1, after(30*time.Second))}, []time.Duration{30 * time.Second}, true},
		{"asked for 100 s: 60 is the most", list{errs: times(2, after(100*time.Second))}, []time.Duration{60 * time.Second, 60 * time.Second}, true},
		{"asked for an hour: no wait helps", list{errs: times(1, after(time.Hour))}, nil, false},
		{"not retryable", list{errs: times(1, Error{Status: 400})}, nil, false},
		{"text was streamed", list{errs: times(1, Error{Retryable: true}), says: "x"}, nil, false},
		{"text was received", list{errs: times(1, Error{Retryable: true, Partial: "x"})}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var waits []time.Duration
				begin := time.Now()
				m := WithRetry(&c.model, RetryPolicy{
					Jitter: func() float64 { return 0 },
					Notice: func(n int, d time.Duration, e *Error) {
						if waits = append(waits, d); n != len(waits) || e == nil {
							t.Errorf("notice %d of %v, want number %d", n, e, len(waits))
						}
					},
				})
				_, err := m.Ask(t.Context(), Request{}, func(Delta) {})
				if (err == nil) != c.ok {
					t.Errorf("error %v, want success: %v", err, c.ok)
				}
				if d := cmp.Diff(waits, c.waits); d != "" {
					t.Errorf("waits (got -, want +):\n%s", d)
				}
				var sum time.Duration
				for _, w := range c.waits {
					sum += w
				}
				if got := time.Since(begin); got != sum {
					t.Errorf("took %s, want %s", got, sum)
				}
				if m.Name() != "p/m" {
					t.Errorf("name %q, want the model's", m.Name())
				}
			})
		})
	}
}

func TestRetryIsCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begin := time.Now()
		_, err := WithRetry(&list{errs: times(9, Error{Model: "p/m", Status: 429, Retryable: true, RetryAfter: time.Minute})}, RetryPolicy{}).Ask(ctx, Request{}, nil)
		var e *Error
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &e) || e.Retryable || time.Since(begin) != 3*time.Second {
			t.Errorf("error %v after %s, want the deadline after 3s", err, time.Since(begin))
		}
	})
}

func TestJitterStaysInBounds(t *testing.T) {
	t.Parallel()
	for _, j := range []float64{0, 0.5, 0.999999} {
		p := RetryPolicy{Jitter: func() float64 { return j }}.filled()
		for attempt := 1; attempt < 40; attempt++ {
			whole := min(p.Base<<min(attempt-1, 16), p.Max)
			if got := p.wait(attempt, 0); got < whole/2 || got > whole {
				t.Errorf("attempt %d jitter %v: %s, want %s to %s", attempt, j, got, whole/2, whole)
			}
		}
	}
}

func TestRetryableStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{
		0: false, 400: false, 401: false, 403: false, 404: false, 408: true, 409: true, 413: false, 422: false,
		425: true, 429: true, 500: true, 501: false, 502: true, 503: true, 504: true, 505: false, 529: true,
	} {
		if got := RetryableStatus(status); got != want {
			t.Errorf("%d: %v, want %v", status, got, want)
		}
	}
}

func TestOverflowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status        int
		code, message string
		want          bool
	}{
		{400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum", true},
		{400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 3", true},
		{400, "context_length_exceeded", "", true},
		{400, "", "This model's maximum context length is 8192 tokens", true},
		{400, "INVALID_ARGUMENT", "The input token count (9) exceeds the maximum number of tokens allowed (8).", true},
		{500, "exceed_context_size_error", "the request exceeds the available context size", true},
		{413, "", "", true},
		{429, "rate_limit_error", "too many tokens per minute for your context window", false},
		{400, "", "temperature: too hot", false},
		{401, "", "context length", false},
	} {
		if got := Overflowed(c.status, c.code, c.message); got != c.want {
			t.Errorf("%d %s %q: %v, want %v", c.status, c.code, c.message, got, c.want)
		}
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, input, broken string }{
		{"", "{}", ""}, {" \n", "{}", ""}, {"{}", "{}", ""}, {" {\"a\": 1.0}\n", "{\"a\": 1.0}", ""},
		{"{", "", "{"}, {"null", "", "null"}, {"[]", "", "[]"}, {`"{}"`, "", `"{}"`}, {"{} {}", "", "{} {}"}, {"{\"a\":\"\xff", "", "{\"a\":\"\xff"},
	} {
		input, broken := Input(c.in)
		if string(input) != c.input || broken != c.broken {
			t.Errorf("%q: input %q broken %q, want %q and %q", c.in, input, broken, c.input, c.broken)
		}
	}
}

func TestBody(t *testing.T) {
	t.Parallel()
	got, err := Body("p/m", map[string]any{"model": "m", "max_tokens": 1}, []Param{
		{"max_tokens", json.RawMessage("2")}, {"x.y", json.RawMessage(`{"z": 1.50}`)}, {"html", json.RawMessage(`"<&>"`)},
	})
	if want := `{"html":"<&>","max_tokens":2,"model":"m","x.y":{"z":1.50}}`; err != nil || string(got) != want {
		t.Errorf("got  %s, error %v\nwant %s", got, err, want)
	}
	for _, p := range []Param{{"tools", json.RawMessage("[]")}, {"", json.RawMessage("1")}, {"a", json.RawMessage("{")}, {"a", nil}} {
		if _, err := Body("p/m", nil, []Param{p}); err == nil {
			t.Errorf("%q: %s was taken, want an error", p.Key, p.Value)
		}
	}
}
