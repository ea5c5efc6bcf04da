package oauth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"golang.org/x/oauth2"
)

// maxBody bounds the message that is kept for a second try.
const maxBody = 16 << 20

// Transport signs each request to the server's own origin, for connections that
// have no place for a handler (SSE): the stream's and each message's. A refusal
// is answered as Authorize answers it and the request sent once more, no more
// often. base nil is a transport of its own.
func (h *Handler) Transport(base http.RoundTripper) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport.(*http.Transport).Clone()
	}
	return signed{h, base}
}

type signed struct {
	h    *Handler
	base http.RoundTripper
}

func (s signed) RoundTrip(req *http.Request) (*http.Response, error) {
	if !sameOrigin(req.URL, s.h.origin) {
		return s.base.RoundTrip(req)
	}
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(io.LimitReader(req.Body, maxBody+1))
		req.Body.Close()
		if err != nil {
			return nil, err
		}
		if len(body) > maxBody {
			return nil, fmt.Errorf("a message of more than %d bytes", maxBody)
		}
	}
	first, resp, err := s.send(req, body)
	if err != nil || resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return resp, err
	}
	if err := s.h.Authorize(req.Context(), first, resp); err != nil {
		return nil, err
	}
	_, resp, err = s.send(req, body)
	return resp, err
}

func (s signed) send(req *http.Request, body []byte) (*http.Request, *http.Response, error) {
	r := req.Clone(req.Context())
	if body != nil {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	t, err := s.h.token(req.Context())
	if re := (*oauth2.RetrieveError)(nil); errors.As(err, &re) && re.ErrorCode == "invalid_grant" {
		t, err = nil, nil // the refusal that comes asks for a sign-in
	}
	if err != nil {
		return nil, nil, err
	}
	if t != nil {
		r.Header.Set("Authorization", "Bearer "+t.AccessToken)
	}
	resp, err := s.base.RoundTrip(r)
	return r, resp, err
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }
