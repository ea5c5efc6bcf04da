package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// renew trades the refresh token of the record whose access token is old. If
// another process has been faster, its result is taken. A server that no longer
// knows the refresh token leaves nothing to renew with: the error then is the
// *oauth2.RetrieveError with invalid_grant that the SDK knows. mu is held.
func (h *Handler) renew(ctx context.Context, old string) error {
	unlock, err := h.store.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	rec, err := h.store.load(ctx)
	if err != nil {
		return err
	}
	h.adopt(rec)
	if h.cur == nil || h.cur.Access != old && h.cur.valid(h.o.Now()) || h.cur.Refresh == "" {
		return nil
	}
	next, err := h.trade(ctx, *h.cur)
	if re := (*oauth2.RetrieveError)(nil); errors.As(err, &re) && re.ErrorCode == "invalid_grant" {
		lost := *h.cur
		lost.Access, lost.Refresh = "", ""
		h.cur = &lost
		return errors.Join(err, h.store.save(ctx, lost))
	}
	if err != nil {
		return fmt.Errorf("renewing the sign-in of %s: %w", h.o.Server, err)
	}
	h.cur = &next
	return h.store.save(ctx, next)
}

// answer is what a token endpoint says.
type answer struct {
	Access  string      `json:"access_token"`
	Refresh string      `json:"refresh_token"`
	Type    string      `json:"token_type"`
	Seconds json.Number `json:"expires_in"`
	Scope   string      `json:"scope"`
	Error   string      `json:"error"`
	Detail  string      `json:"error_description"`
}

// trade sends the refresh token. Resource goes with it (RFC 8707), which the
// oauth2 package has no place for.
func (h *Handler) trade(ctx context.Context, r record) (record, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {r.Refresh}}
	if r.Resource != "" {
		form.Set("resource", r.Resource)
	}
	resp, err := h.post(ctx, r, r.TokenURL, form)
	if err != nil {
		return r, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return r, err
	}
	var a answer
	err = json.Unmarshal(body, &a)
	if resp.StatusCode != http.StatusOK || a.Error != "" {
		// Without the body: it may repeat what was sent.
		return r, &oauth2.RetrieveError{Response: resp, ErrorCode: a.Error, ErrorDescription: a.Detail}
	}
	if err != nil || a.Access == "" || a.Type != "" && !strings.EqualFold(a.Type, "bearer") {
		return r, errors.New("the answer holds no bearer token")
	}
	r.Access, r.Expiry = a.Access, time.Time{}
	if a.Refresh != "" {
		r.Refresh = a.Refresh // rotated; the old one is spent
	}
	if n, err := a.Seconds.Int64(); err == nil && n > 0 {
		r.Expiry = h.o.Now().Add(time.Duration(min(n, 1<<31)) * time.Second)
	}
	if a.Scope != "" {
		r.Scopes = strings.Fields(a.Scope)
	}
	return r, nil
}

// post sends a form as the client of r, authenticated as its registration says.
func (h *Handler) post(ctx context.Context, r record, to string, form url.Values) (*http.Response, error) {
	secret := r.ClientSecret
	if h.o.Client.ID != "" && r.ClientID == h.o.Client.ID {
		secret = h.o.Client.Secret
	}
	inHeader := oauth2.AuthStyle(r.AuthStyle) == oauth2.AuthStyleInHeader ||
		oauth2.AuthStyle(r.AuthStyle) == oauth2.AuthStyleAutoDetect && secret != ""
	if !inHeader {
		form.Set("client_id", r.ClientID)
		if secret != "" {
			form.Set("client_secret", secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if inHeader {
		req.SetBasicAuth(url.QueryEscape(r.ClientID), url.QueryEscape(secret))
	}
	return h.client.Do(req)
}
