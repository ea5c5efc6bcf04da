package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// ErrNoLogin says that a server asks for no sign-in.
var ErrNoLogin = errors.New("the server asks for no sign-in")

// Login knocks at the server, signs in where it refuses, and knocks once more:
// nil means that the token was taken. sse says that the address is that of an
// event stream.
func (h *Handler) Login(ctx context.Context, sse bool) error {
	before, err := h.token(ctx)
	if err != nil {
		return err
	}
	status, err := h.knock(ctx, sse)
	switch {
	case err != nil:
		return err
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("the server refuses its own new token with status %d", status)
	case status >= http.StatusInternalServerError || status == http.StatusNotFound:
		return fmt.Errorf("the server answers with status %d", status)
	}
	after, err := h.token(ctx)
	if err == nil && before == nil && after == nil {
		return ErrNoLogin
	}
	return err
}

// knock sends the cheapest request that a guarded server refuses.
func (h *Handler) knock(ctx context.Context, sse bool) (int, error) {
	method, body := http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if sse {
		method, body = http.MethodGet, ""
	}
	ctx, cancel := context.WithTimeout(ctx, patience+time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, h.o.URL, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if !sse {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := h.Transport(nil).RoundTrip(req)
	if err != nil {
		return 0, err
	}
	resp.Body.Close() // an event stream goes on for ever
	return resp.StatusCode, nil
}

// Logout tells the authorization server, where it wants to be told, and removes
// what is kept, also where the server cannot be reached. had says that there was
// something, revoked that the server has taken it back.
func (h *Handler) Logout(ctx context.Context) (had, revoked bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	unlock, err := h.store.lock(ctx)
	if err != nil {
		return false, false, err
	}
	defer unlock()
	had = h.store.exists() // also where it is damaged, or its keyring is not here
	if rec, err := h.store.load(ctx); err == nil && rec != nil {
		revoked = h.revoke(ctx, *rec)
	}
	h.cur = nil
	return had, revoked, h.store.remove(ctx)
}

// revoke takes the refresh token back first: with it the access token goes at
// most servers (RFC 7009).
func (h *Handler) revoke(ctx context.Context, r record) bool {
	if r.Revocation == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	done := false
	for _, t := range []struct{ token, kind string }{{r.Refresh, "refresh_token"}, {r.Access, "access_token"}} {
		if t.token == "" {
			continue
		}
		resp, err := h.post(ctx, r, r.Revocation, url.Values{"token": {t.token}, "token_type_hint": {t.kind}})
		if err != nil {
			return false
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return false
		}
		done = true
	}
	return done
}
