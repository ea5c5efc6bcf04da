package modeltest

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/model"
)

// keyless fails where an error shows the key in any form.
func keyless(t testing.TB, e *model.Error) {
	t.Helper()
	texts := []string{e.Error(), e.Message}
	for err := error(e); err != nil; err = errors.Unwrap(err) {
		texts = append(texts, err.Error())
	}
	for _, s := range texts {
		for _, form := range []string{Key, url.QueryEscape(Key), url.PathEscape(Key)} {
			if strings.Contains(s, form) {
				t.Errorf("the key is in an error: %s", s)
			}
		}
	}
}

func faults(t *testing.T, p Protocol) {
	whole := p.Text("end", "one ", "two ", "three")
	json := map[string]string{"Content-Type": "application/json"}
	html := map[string]string{"Content-Type": "text/html; charset=utf-8"}
	for _, c := range []struct {
		name      string
		reply     Reply
		status    int
		retryable bool
		partial   string
		says      string
	}{
		{"401 that repeats the key", Reply{Status: 401, Header: json, Body: `{"error":{"type":"authentication_error","message":"bad key ` + Key + `"}}`}, 401, false, "", "bad key [key]"},
		{"400", Reply{Status: 400, Header: json, Body: `{"error":{"message":"temperature: too hot","type":"invalid_request_error"}}`}, 400, false, "", "temperature: too hot"},
		{"404 with a bare error text", Reply{Status: 404, Header: json, Body: `{"error":"model 'm-1' not found"}`}, 404, false, "", "model 'm-1' not found"},
		{"an error in a list", Reply{Status: 400, Header: json, Body: `[{"error":{"code":400,"message":"bad schema","status":"INVALID_ARGUMENT"}}]`}, 400, false, "", "bad schema"},
		{"detail", Reply{Status: 422, Header: json, Body: `{"detail":[{"msg":"field required"}]}`}, 422, false, "", "field required"},
		{"429", Reply{Status: 429, Header: json, Body: `{"error":{"type":"rate_limit_error","message":"slow down"}}`}, 429, true, "", "slow down"},
		{"429 without quota", Reply{Status: 429, Header: json, Body: `{"error":{"code":"insufficient_quota","message":"pay"}}`}, 429, false, "", "pay"},
		{"529", Reply{Status: 529, Header: json, Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, 529, true, "", "Overloaded"},
		{"500 with plain text", Reply{Status: 500, Header: map[string]string{"Content-Type": "text/plain"}, Body: "upstream\n  connect error"}, 500, true, "", "upstream connect error"},
		{"502 with a page", Reply{Status: 502, Header: html, Body: "<!DOCTYPE html><html><script>x</script></html>"}, 502, true, "", "web page"},
		{"503 without a body", Reply{Status: 503}, 503, true, "", "service unavailable"},
		{"500 that says no", Reply{Status: 500, Header: map[string]string{"x-should-retry": "false"}, Body: `{}`}, 500, false, "", ""},
		{"an error body that is cut", Reply{Status: 500, Body: "half a rea", Then: "cut"}, 500, true, "", "half a rea"},
		{"an error body without end", Reply{Status: 400, Body: strings.Repeat("long ", 1<<20)}, 400, false, "", "long long"},
		{"a redirect", Reply{Status: 307, Header: map[string]string{"Location": "http://evil.test/x?" + url.QueryEscape(Key)}}, 307, false, "", "redirects to http://evil.test"},
		{"a page instead of a stream", Reply{Header: html, Body: "<html>hello</html>"}, 0, false, "", "text/html"},
		{"an empty body", Reply{}, 0, true, "", "cut off"},
		{"a clean end mid-stream", Reply{Body: Cut(whole, p.Ending)}, 0, true, "one two three", "cut off"},
		{"a cut connection mid-stream", Reply{Body: Cut(whole, p.Ending+1), Then: "cut"}, 0, true, "one two ", "cut"},
		{"an event that is no JSON", Reply{Body: Cut(whole, p.Ending) + "event: x\ndata: {\"type\":\n\n"}, 0, false, "one two three", "no JSON"},
		{"overloaded mid-stream", Reply{Body: p.Failure("one ")}, 529, true, "one ", "Overloaded"},
		{"an answer that is too large", Reply{Body: p.Text("end", "x", strings.Repeat("y", 33<<20))}, 0, false, "x", "larger"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := Serve(t, c.reply)
			got := ask(t, p.at(s), prompt("hi"))
			if got.err == nil {
				t.Fatalf("an answer %+v, want an error", got.answer)
			}
			keyless(t, got.err)
			e := got.err
			if e.Status != c.status || e.Retryable != c.retryable || e.Partial != c.partial || !strings.Contains(e.Message, c.says) {
				t.Errorf("status %d retryable %v partial %q message %q\nwant   %d           %v         %q message with %q",
					e.Status, e.Retryable, e.Partial, e.Message, c.status, c.retryable, c.partial, c.says)
			}
			if got.text != c.partial {
				t.Errorf("streamed %q, want %q", got.text, c.partial)
			}
			if e.Model != "peer/m-1" || e.Overflow || len(e.Message) > 2100 {
				t.Errorf("model %q overflow %v, %d bytes of message; want peer/m-1, no overflow, a short one", e.Model, e.Overflow, len(e.Message))
			}
			if n := s.Count(); n != 1 {
				t.Errorf("%d requests, want 1: the SDK's own retries are off", n)
			}
		})
	}
	t.Run("overflow", func(t *testing.T) {
		t.Parallel()
		got := ask(t, p.at(Serve(t, Reply{Status: 400, Header: json, Body: p.Overflow})), prompt("hi"))
		if got.err == nil || !got.err.Overflow || got.err.Retryable {
			t.Errorf("error %+v, want an overflow", got.err)
		}
	})
	t.Run("silence", func(t *testing.T) {
		t.Parallel()
		for _, c := range []struct{ body, partial string }{{"", ""}, {Cut(whole, p.Ending+1), "one two "}} {
			s := Serve(t, Reply{Body: c.body, Then: "hang"})
			got := ask(t, p.open(Options{BaseURL: s.URL + p.Base, Key: Key, Stall: 500 * time.Millisecond}), prompt("hi"))
			if got.err == nil || !got.err.Retryable || got.err.Partial != c.partial || !strings.Contains(got.err.Message, "nothing for 500ms") {
				t.Errorf("error %+v, want a retryable stall with partial %q", got.err, c.partial)
			}
		}
	})
	t.Run("cancel mid-stream", func(t *testing.T) {
		t.Parallel()
		s := Serve(t, Reply{Body: Cut(whole, p.Ending+1), Then: "hang"})
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		pieces := 0
		got := askIn(t, ctx, p.at(s), prompt("hi"), func() {
			if pieces++; pieces == 2 {
				cancel()
			}
		})
		if got.err == nil || !errors.Is(got.err, context.Canceled) || got.err.Retryable || got.err.Partial != "one two " {
			t.Errorf("error %+v, want a cancel with what was said", got.err)
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		dead := p.open(Options{BaseURL: "http://127.0.0.1:1" + p.Base, Key: Key})
		got := ask(t, dead, prompt("hi"))
		if got.err == nil || !got.err.Retryable || got.err.Status != 0 || !strings.Contains(got.err.Message, "refused") {
			t.Errorf("error %+v, want a refused connection", got.err)
		}
		keyless(t, got.err)
	})
	t.Run("a base URL that is none", func(t *testing.T) {
		t.Parallel()
		for _, base := range []string{"ftp://" + url.PathEscape(Key) + "@127.0.0.1", "127.0.0.1:1", "http://[::1", "http://"} {
			got := ask(t, p.open(Options{BaseURL: base, Key: Key}), prompt("hi"))
			if got.err == nil || got.err.Retryable {
				t.Errorf("%s: error %+v, want one that no retry mends", base, got.err)
				continue
			}
			keyless(t, got.err)
		}
	})
}

func retries(t *testing.T, p Protocol) {
	ok := Reply{Body: p.Text("end", "ok")}
	wait := func(waits *[]time.Duration) model.RetryPolicy {
		return model.RetryPolicy{Jitter: func() float64 { return 0.5 }, Sleep: func(_ context.Context, d time.Duration) error {
			*waits = append(*waits, d)
			return nil
		}}
	}
	for _, c := range []struct {
		name     string
		replies  []Reply
		requests int
		waits    []time.Duration
		fails    bool
	}{
		{"429 with Retry-After, then success", []Reply{{Status: 429, Header: map[string]string{"Retry-After": "7"}}, ok}, 2, []time.Duration{7 * time.Second}, false},
		{"529 twice, then success", []Reply{{Status: 529}, {Status: 529}, ok}, 3, []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond}, false},
		{"a cut before anything was said", []Reply{{Then: "cut"}, ok}, 2, []time.Duration{750 * time.Millisecond}, false},
		{"an overload event before anything was said", []Reply{{Body: p.Failure("")}, ok}, 2, []time.Duration{750 * time.Millisecond}, false},
		{"503 for ever", []Reply{{Status: 503}}, 4, []time.Duration{750 * time.Millisecond, 1500 * time.Millisecond, 3 * time.Second}, true},
		{"a cut after a word was said", []Reply{{Body: Cut(p.Text("end", "a", "b"), p.Ending), Then: "cut"}, ok}, 1, nil, true},
		{"a cut after a thought was shown", []Reply{{Body: Cut(p.Think("hm", ""), p.Ending), Then: "cut"}, ok}, 1, nil, true},
		{"401", []Reply{{Status: 401}, ok}, 1, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := Serve(t, c.replies...)
			var waits []time.Duration
			got := ask(t, model.WithRetry(p.at(s), wait(&waits)), prompt("hi"))
			if (got.err != nil) != c.fails {
				t.Errorf("error %v, want one: %v", got.err, c.fails)
			}
			if s.Count() != c.requests {
				t.Errorf("%d requests, want %d", s.Count(), c.requests)
			}
			if len(waits) != len(c.waits) {
				t.Fatalf("waits %v, want %v", waits, c.waits)
			}
			for i := range waits {
				if waits[i] != c.waits[i] {
					t.Errorf("waits %v, want %v", waits, c.waits)
				}
			}
		})
	}
}
