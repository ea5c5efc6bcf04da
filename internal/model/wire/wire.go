// Package wire is the HTTP side that both model protocols share: a client
// whose answers cannot stall or grow without end, failures that keep their
// status and Retry-After, and error texts without the key.
//
// It sits under the SDKs: their stream readers swallow pings and their error
// decoders lose the status of an unexpected body, so both are seen here first.
package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Stall is how long a silent connection is waited for, keep-alives counting
// as bytes. A model on this machine may read a long prompt for longer without
// a word.
const (
	Stall      = 300 * time.Second
	StallLocal = 900 * time.Second
)

// StallFor is asked where it is not 0, else the one for a service at base.
func StallFor(base string, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked
	}
	u, err := url.Parse(base)
	if err != nil {
		return Stall
	}
	if ip := net.ParseIP(u.Hostname()); ip.IsLoopback() || u.Hostname() == "localhost" {
		return StallLocal
	}
	return Stall
}

const (
	maxAnswer = 256 << 20 // bytes of one answer on the wire: 128k tokens in 1 KiB events, twice
	maxFault  = 64 << 10  // bytes kept of an error body

	connectTimeout = 30 * time.Second
	tlsTimeout     = 15 * time.Second
)

// MaxContent bounds what is kept of one answer: texts and arguments together,
// in bytes.
const MaxContent = 32 << 20

// Options of a client. The zero value is the house's.
type Options struct {
	Stall     time.Duration     // 0: Stall
	MaxAnswer int64             // bytes; 0: 256 MiB
	Transport http.RoundTripper // nil: own connections; HTTP(S)_PROXY are honoured
}

// Client never follows a redirect: it would carry the key to a host that
// nobody named. Cancel a request through its context.
func Client(o Options) *http.Client {
	if o.Stall <= 0 {
		o.Stall = Stall
	}
	if o.MaxAnswer <= 0 {
		o.MaxAnswer = maxAnswer
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: tlsTimeout,
			ForceAttemptHTTP2:   true,
			DisableCompression:  true, // a compressed stream arrives late, and may hide its size
			MaxIdleConnsPerHost: 8,
			IdleConnTimeout:     90 * time.Second,
		}
	}
	return &http.Client{
		Transport:     &transport{o},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// StatusError is an answer that is no success. Body is at most 64 KiB.
type StatusError struct {
	Status      int
	RetryAfter  time.Duration // 0 when the service said nothing
	ShouldRetry string        // x-should-retry: "true", "false" or ""
	Location    string        // of a redirect
	Body        []byte
}

func (e *StatusError) Error() string { return fmt.Sprintf("HTTP %d", e.Status) }

// StallError is a connection that went silent.
type StallError struct{ After time.Duration }

func (e *StallError) Error() string { return fmt.Sprintf("no data for %s", e.After) }

// ErrTooLarge is an answer beyond what one may be.
var ErrTooLarge = errors.New("the answer is larger than one may be")

type transport struct{ o Options }

// RoundTrip implements http.RoundTripper. It owns the derived context: it is
// ended here on failure, and by closing the body otherwise.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	stalled := &StallError{After: t.o.Stall}
	timer := time.AfterFunc(t.o.Stall, func() { cancel(stalled) })
	res, err := t.o.Transport.RoundTrip(req.WithContext(ctx))
	timer.Stop()
	if err != nil {
		err = cause(ctx, err)
		cancel(nil)
		return nil, err
	}
	b := &body{rc: res.Body, ctx: ctx, cancel: cancel, timer: timer, stall: t.o.Stall, left: t.o.MaxAnswer}
	if res.StatusCode/100 == 2 {
		res.Body = b
		return res, nil
	}
	defer b.Close()
	b.left = maxFault
	// A body that is cut or too long still has its beginning and its status.
	text, _ := io.ReadAll(b)
	return nil, &StatusError{
		Status: res.StatusCode, Body: text, RetryAfter: retryAfter(res.Header, time.Now()),
		ShouldRetry: res.Header.Get("x-should-retry"), Location: res.Header.Get("Location"),
	}
}

// cause turns the cancel of our own stall timer back into what it means.
func cause(ctx context.Context, err error) error {
	var s *StallError
	if errors.As(context.Cause(ctx), &s) {
		return s
	}
	return err
}

// body is read by one goroutine. The timer runs only while a read waits, so a
// slow reader is no stalled service.
type body struct {
	rc     io.ReadCloser
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
	left   int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, ErrTooLarge
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	b.timer.Reset(b.stall)
	n, err := b.rc.Read(p)
	b.timer.Stop()
	b.left -= int64(n)
	if err != nil && err != io.EOF {
		err = cause(b.ctx, err)
	}
	return n, err
}

func (b *body) Close() error {
	b.timer.Stop()
	err := b.rc.Close()
	b.cancel(nil)
	return err
}
