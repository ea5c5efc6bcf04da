package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"larva.dev/larva/internal/model"
)

// Peer is who is asked, for error texts.
type Peer struct {
	Model string // provider/model
	Key   string // never in a text that leaves here
	URL   string
}

const maxMessage = 2000 // bytes; some services send a whole page

// Redact takes the key out of a text, also where it is escaped for a URL or
// JSON. Keys under 4 bytes are placeholders for services without one.
func (p Peer) Redact(s string) string {
	if len(p.Key) < 4 {
		return s
	}
	for _, form := range []string{p.Key, url.QueryEscape(p.Key), url.PathEscape(p.Key), jsonInner(p.Key)} {
		s = strings.ReplaceAll(s, form, "[key]")
	}
	return s
}

func jsonInner(s string) string {
	b, _ := json.Marshal(s)
	return string(b[1 : len(b)-1])
}

// Fail gives any failure of a question as what the house knows: status, code,
// whether to try again, a text without the key. partial is the text streamed
// so far; ctx is the question's own.
func (p Peer) Fail(ctx context.Context, err error, partial string) *model.Error {
	e := p.fail(ctx, err)
	e.Model, e.Partial = p.Model, partial
	e.Message = p.clip(e.Message)
	return e
}

func (p Peer) fail(ctx context.Context, err error) *model.Error {
	var known *model.Error
	var status *StatusError
	var stall *StallError
	switch {
	case ctx.Err() != nil:
		return &model.Error{Message: "interrupted: " + ctx.Err().Error(), Cause: ctx.Err()}
	case errors.As(err, &known):
		c := *known
		return &c
	case errors.As(err, &status):
		return p.refused(status)
	case errors.As(err, &stall):
		return &model.Error{Message: fmt.Sprintf("the service sent nothing for %s", stall.After), Retryable: true, Cause: stall}
	case errors.Is(err, ErrTooLarge), errors.Is(err, bufio.ErrTooLong):
		return &model.Error{Message: ErrTooLarge.Error(), Cause: ErrTooLarge}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
		return &model.Error{Message: "the connection was cut", Retryable: true}
	}
	text := p.Redact(innermost(err).Error())
	return &model.Error{Message: text, Retryable: passing(err), Cause: errors.New(text)}
}

// innermost takes off the layers that repeat the URL, whose query may hold a
// secret.
func innermost(err error) error {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	return err
}

// passing says whether a failure without a status may be gone next time: one
// of the network, but not one of trust.
func passing(err error) bool {
	var cert *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	if errors.As(err, &cert) || errors.As(err, &authority) || errors.As(err, &host) {
		return false
	}
	var n net.Error
	if inner := innermost(err); errors.As(inner, &n) || strings.Contains(inner.Error(), "stream error") {
		return true
	}
	var u *url.Error
	if !errors.As(err, &u) || u.Op == "parse" {
		return false
	}
	text := u.Err.Error()
	return !strings.Contains(text, "unsupported protocol scheme") && !strings.Contains(text, "no Host in request URL")
}

func (p Peer) refused(s *StatusError) *model.Error {
	code, text := Explain(s.Body)
	switch {
	case s.Status/100 == 3:
		text = fmt.Sprintf("the service redirects to %s, which is not followed: base_url should name it", origin(s.Location))
	case text == "":
		text = strings.ToLower(http.StatusText(s.Status))
	}
	e := model.Refused(p.Model, s.Status, code, p.Redact(text), s.RetryAfter)
	switch s.ShouldRetry {
	case "false":
		e.Retryable = false
	case "true":
		e.Retryable = true
	}
	return e
}

func origin(location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" {
		return "another path"
	}
	return u.Scheme + "://" + u.Host
}

// Explain reads the code and the message out of an error body, in the forms
// that services use: {"error":{"message","type","code"}}, {"error":"text"},
// {"message":…}, {"detail":…}, a list around one of these, or plain text.
func Explain(data []byte) (code, message string) {
	data = bytes.TrimSpace(data)
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	var top struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	if json.Unmarshal(data, &top) != nil {
		if looksHTML(data) {
			return "", "the answer is a web page, not one of the API: is base_url right?"
		}
		return "", strings.Join(strings.Fields(string(data)), " ")
	}
	var inner struct {
		Message json.RawMessage `json:"message"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
	}
	if bytes.HasPrefix(top.Error, []byte("{")) && json.Unmarshal(top.Error, &inner) == nil {
		return first(inner.Code, inner.Type), first(inner.Message, top.Error)
	}
	return first(top.Code, top.Type), first(top.Error, top.Message, top.Detail)
}

// first is the first value that says something: a string as it is, anything
// else as its JSON.
func first(values ...json.RawMessage) string {
	for _, v := range values {
		var s string
		if json.Unmarshal(v, &s) == nil && s != "" {
			return s
		}
		if t := string(v); t != "" && t != "null" && t != `""` && t != "{}" {
			return t
		}
	}
	return ""
}

func looksHTML(data []byte) bool {
	head := bytes.ToLower(data[:min(len(data), 200)])
	return bytes.HasPrefix(head, []byte("<!doctype")) || bytes.HasPrefix(head, []byte("<html"))
}

// clip redacts and shortens a text, never inside a rune.
func (p Peer) clip(s string) string {
	s = strings.ToValidUTF8(p.Redact(s), "\uFFFD")
	if len(s) <= maxMessage {
		return s
	}
	cut := maxMessage
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// retryAfter reads retry-after-ms, then Retry-After as seconds or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("retry-after-ms"), 64); err == nil && ms > 0 {
		return bounded(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 {
		return bounded(s)
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}

// bounded keeps a wild number of seconds from overflowing; a day is for ever.
func bounded(seconds float64) time.Duration {
	return time.Duration(min(seconds, 24*3600) * float64(time.Second))
}
