package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"larva.dev/larva/internal/model"
)

// trip is a transport made of a function.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// piped answers 200 with a body that feed writes, as a connection would: a
// cancel of the request ends the reads.
func piped(feed func(w io.Writer)) trip {
	return func(r *http.Request) (*http.Response, error) {
		pr, pw := io.Pipe()
		context.AfterFunc(r.Context(), func() { pr.CloseWithError(r.Context().Err()) })
		go func() {
			feed(pw)
			_ = pw.Close()
		}()
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: pr, Request: r}, nil
	}
}

func get(t *testing.T, o Options) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://peer.test/", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := Client(o).Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return string(data), err
}

func TestBytesKeepAConnectionAlive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		got, err := get(t, Options{Transport: piped(func(w io.Writer) {
			for range 10 {
				time.Sleep(299 * time.Second)
				_, _ = io.WriteString(w, ":\n")
			}
		})})
		if err != nil || len(got) != 20 || time.Since(begin) != 2990*time.Second {
			t.Errorf("%d bytes, error %v after %s; want 20 after 2990s", len(got), err, time.Since(begin))
		}
	})
}

func TestSilenceEndsAConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		stop := make(chan struct{})
		defer close(stop)
		got, err := get(t, Options{Transport: piped(func(w io.Writer) {
			_, _ = io.WriteString(w, "x")
			<-stop
		})})
		var s *StallError
		if !errors.As(err, &s) || s.After != Stall || got != "x" || time.Since(begin) != Stall {
			t.Errorf("%q, error %v after %s; want x and a stall after %s", got, err, time.Since(begin), Stall)
		}
	})
}

func TestSilenceBeforeTheHeader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, err := get(t, Options{Stall: time.Minute, Transport: trip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		var s *StallError
		if !errors.As(err, &s) || s.After != time.Minute {
			t.Errorf("error %v, want a stall after a minute", err)
		}
	})
}

// A person who holds the output (Ctrl-S) does not stall the service.
func TestASlowReaderIsNoStall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://peer.test/", nil)
		res, err := Client(Options{Transport: piped(func(w io.Writer) { _, _ = io.WriteString(w, "ab") })}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var got []byte
		one := make([]byte, 1)
		for {
			time.Sleep(time.Hour)
			n, err := res.Body.Read(one)
			got = append(got, one[:n]...)
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if string(got) != "ab" {
			t.Errorf("got %q, want ab", got)
		}
	})
}

func TestAnswersEnd(t *testing.T) {
	t.Parallel()
	got, err := get(t, Options{MaxAnswer: 1000, Transport: piped(func(w io.Writer) {
		for {
			if _, err := io.WriteString(w, "0123456789"); err != nil {
				return
			}
		}
	})})
	if !errors.Is(err, ErrTooLarge) || len(got) != 1000 {
		t.Errorf("%d bytes, error %v; want 1000 and too large", len(got), err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	followed := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	_, err := Client(Options{}).Get(s.URL)
	var e *StatusError
	if !errors.As(err, &e) || e.Status != 307 || e.Location != other.URL || followed {
		t.Errorf("error %v, followed %v; want the 307 itself", err, followed)
	}
}

func TestStallFor(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]time.Duration{
		"https://api.test/v1": Stall, "http://127.0.0.1:11434/v1": StallLocal, "http://[::1]:1": StallLocal,
		"http://localhost:8000": StallLocal, "http://localhost.test": Stall, "http://[::": Stall, "": Stall,
	} {
		if got := StallFor(base, 0); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
		if got := StallFor(base, time.Second); got != time.Second {
			t.Errorf("%s: %s, want what was asked for", base, got)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header map[string]string
		want   time.Duration
	}{
		{nil, 0},
		{map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{map[string]string{"Retry-After": " 1.5 "}, 1500 * time.Millisecond},
		{map[string]string{"Retry-After": "-3"}, 0},
		{map[string]string{"Retry-After": "soon"}, 0},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{"Retry-After": "1e300"}, 24 * time.Hour},
		{map[string]string{"Retry-After": "Mon, 30 Nov 2026 12:00:30 GMT"}, 30 * time.Second},
		{map[string]string{"Retry-After": "Mon, 30 Nov 2026 11:00:00 GMT"}, 0},
		{map[string]string{"Retry-After-Ms": "250", "Retry-After": "9"}, 250 * time.Millisecond},
	} {
		h := http.Header{}
		for k, v := range c.header {
			h.Set(k, v)
		}
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%v: %s, want %s", c.header, got, c.want)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, code, message string }{
		{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "overloaded_error", "Overloaded"},
		{`{"error":{"message":"m","type":"t","code":"c"}}`, "c", "m"},
		{`{"error":{"message":"m","type":"t","code":null}}`, "t", "m"},
		{`{"error":{"message":"m","code":429}}`, "429", "m"},
		{`{"error":"text"}`, "", "text"},
		{`{"error":null,"message":"m"}`, "", "m"},
		{`{"error":{"reason":"r"}}`, "", `{"reason":"r"}`},
		{`{"message":"m","type":"t","code":5}`, "5", "m"},
		{`{"detail":"d"}`, "", "d"},
		{`[{"error":{"code":400,"message":"m"}}]`, "400", "m"},
		{`{}`, "", ""}, {``, "", ""}, {`null`, "", ""}, {`[]`, "", "[]"},
		{"plain\n text ", "", "plain text"},
		{"\n<!DOCTYPE HTML><p>x", "", "the answer is a web page, not one of the API: is base_url right?"},
	} {
		code, message := Explain([]byte(c.in))
		if code != c.code || message != c.message {
			t.Errorf("%s: %q %q, want %q %q", c.in, code, message, c.code, c.message)
		}
	}
}

func FuzzExplain(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"m"}}`))
	f.Add([]byte(`[[[{"error":`))
	f.Fuzz(func(_ *testing.T, data []byte) { Explain(data) })
}

func TestFailHidesTheKey(t *testing.T) {
	t.Parallel()
	const key = "sk-a/b+c \"d\""
	p := Peer{Model: "p/m", Key: key}
	for _, err := range []error{
		errors.New("header Authorization: Bearer " + key),
		&url.Error{Op: "Post", URL: "http://h/?key=" + url.QueryEscape(key), Err: errors.New("x " + url.QueryEscape(key))},
		fmt.Errorf("body %q", key),
		&StatusError{Status: 400, Body: []byte(`{"error":"key ` + strings.ReplaceAll(key, `"`, `\"`) + `"}`)},
		&StatusError{Status: 302, Location: "http://x/" + url.PathEscape(key)},
		&model.Error{Message: key},
		bufio.ErrTooLong, io.ErrUnexpectedEOF, &StallError{time.Second},
	} {
		e := p.Fail(context.Background(), err, "partial")
		for at := error(e); at != nil; at = errors.Unwrap(at) {
			if s := at.Error(); strings.Contains(s, "sk-a") || strings.Contains(s, `b+c`) {
				t.Errorf("%T shows the key: %s", err, s)
			}
		}
		if e.Model != "p/m" || e.Partial != "partial" {
			t.Errorf("%T: model %q partial %q", err, e.Model, e.Partial)
		}
	}
	if got := (Peer{Key: "x"}).Redact("text"); got != "text" {
		t.Errorf("a placeholder key was taken out: %q", got)
	}
}

func TestFailPrefersTheCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e := Peer{}.Fail(ctx, &StatusError{Status: 529}, "")
	if !errors.Is(e, context.Canceled) || e.Retryable || e.Status != 0 {
		t.Errorf("error %+v, want the cancel", e)
	}
}
