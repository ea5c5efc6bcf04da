package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// maxAnswer bounds what is read of any answer during a sign-in.
const maxAnswer = 1 << 20

// watcher carries the requests of a sign-in: it refuses those that a server
// must not send us on, bounds the answers, and keeps what authorization servers
// say of themselves, of which the SDK hands on only a part.
type watcher struct {
	base  http.RoundTripper
	local bool // the MCP server is on this machine

	mu    sync.Mutex
	known []meta
	// told is called with each authorization server's metadata, where not nil.
	told func(meta)
}

// meta is the part of an authorization server's metadata that is used here.
type meta struct {
	Issuer     string   `json:"issuer"`
	TokenURL   string   `json:"token_endpoint"`
	Revocation string   `json:"revocation_endpoint"`
	Methods    []string `json:"token_endpoint_auth_methods_supported"`
}

func (w *watcher) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := w.allowed(r.URL); err != nil {
		return nil, err
	}
	resp, err := w.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	if len(data) > maxAnswer {
		return nil, fmt.Errorf("%s answers with more than %d bytes", r.URL.Host, maxAnswer)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	if r.Method == http.MethodGet && resp.StatusCode == http.StatusOK {
		w.note(r.URL, data)
	}
	return resp, nil
}

// note takes only what a server says of itself, from its own origin, and a
// place to take tokens back only beside the place that gives them: anybody may
// serve a document that names another's.
func (w *watcher) note(from *url.URL, data []byte) {
	var m meta
	if json.Unmarshal(data, &m) != nil || m.Issuer == "" || m.TokenURL == "" || !originIs(m.Issuer, from) {
		return
	}
	if t, err := url.Parse(m.TokenURL); err != nil || !originIs(m.Revocation, t) {
		m.Revocation = ""
	}
	w.mu.Lock()
	w.known = append(w.known, m)
	told := w.told
	w.mu.Unlock()
	if told != nil {
		told(m)
	}
}

func originIs(address string, want *url.URL) bool {
	u, err := url.Parse(address)
	return err == nil && sameOrigin(u, want)
}

// of gives what is known of the authorization server with that token endpoint.
func (w *watcher) of(tokenURL string) meta {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range slices.Backward(w.known) {
		if m.TokenURL == tokenURL {
			return m
		}
	}
	return meta{}
}

// last is the authorization server that was met last.
func (w *watcher) last() meta {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.known) == 0 {
		return meta{}
	}
	return w.known[len(w.known)-1]
}

func (w *watcher) allowed(u *url.URL) error {
	switch local := isLocal(u); {
	case u.Scheme != "https" && !(u.Scheme == "http" && local):
		return fmt.Errorf("sign-in over %s:// at %s is not safe", u.Scheme, u.Host)
	case local && !w.local:
		return fmt.Errorf("a server elsewhere sends the sign-in to %s, an address of this machine", u.Host)
	}
	return nil
}

// isLocal says whether u leads to this machine by what is written, with no
// resolver asked.
func isLocal(u *url.URL) bool {
	host := strings.TrimSuffix(u.Hostname(), ".")
	if strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && (a.Unmap().IsLoopback() || a.IsUnspecified())
}

// sameHost follows redirects that stay with the host, so that a code or secret
// never travels further than it was sent.
func sameHost(r *http.Request, via []*http.Request) error {
	if len(via) > 3 {
		return errors.New("more than 3 redirects")
	}
	if first := via[0].URL; r.URL.Host != first.Host || r.URL.Scheme != first.Scheme {
		return fmt.Errorf("%s redirects the sign-in to %s", first.Host, r.URL.Host)
	}
	return nil
}
