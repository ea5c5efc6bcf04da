package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Authorize answers a refusal: with the token that somebody else has got in the
// meantime, with a renewed one, or with a sign-in where a person can be asked.
// nil means that the request is worth sending once more. It closes resp's body.
func (h *Handler) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	scopes, stepUp := challenged(resp)
	if resp.StatusCode == http.StatusForbidden && !stepUp {
		resp.Body.Close()
		return nil // no question of signing in; the second answer is the caller's
	}
	h.signing.Lock()
	defer h.signing.Unlock()
	used := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	done, err := h.settled(ctx, used, scopes, stepUp)
	if done || err != nil {
		resp.Body.Close()
		return err
	}
	if h.o.Open == nil {
		resp.Body.Close()
		return fmt.Errorf("%s: %w", h.o.Server, ErrNeedsLogin)
	}
	return h.signIn(ctx, req, resp)
}

// settled says whether what is kept, or can be renewed, is better than the
// token that was used.
func (h *Handler) settled(ctx context.Context, used string, scopes []string, stepUp bool) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.read(ctx); err != nil || h.cur == nil {
		return false, err
	}
	if h.cur.Access != used && h.cur.valid(h.o.Now()) {
		return true, nil
	}
	if stepUp {
		if len(scopes) > 0 && !slices.ContainsFunc(scopes, func(s string) bool { return !slices.Contains(h.cur.Scopes, s) }) {
			return false, fmt.Errorf("%s asks for permissions that it has granted already: %s", h.o.Server, strings.Join(scopes, " "))
		}
		return false, nil
	}
	if h.cur.Refresh == "" || used != "" && used == h.renewed {
		return false, nil // it was new and is refused all the same
	}
	err := h.renew(ctx, used)
	if re := (*oauth2.RetrieveError)(nil); errors.As(err, &re) {
		return false, nil // refused: sign in anew
	}
	if err != nil || h.cur == nil || h.cur.Access == "" || h.cur.Access == used {
		return false, err
	}
	h.renewed = h.cur.Access
	return true, nil
}

// challenged reads what a refusal asks for: scopes, and whether they are more
// than the token has.
func challenged(resp *http.Response) (scopes []string, stepUp bool) {
	list, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil, false
	}
	for _, c := range list {
		if c.Scheme == "bearer" {
			return strings.Fields(c.Params["scope"]), c.Params["error"] == "insufficient_scope"
		}
	}
	return nil, false
}

// signIn asks the person. signing is held.
func (h *Handler) signIn(ctx context.Context, req *http.Request, resp *http.Response) error {
	back, err := listen(ctx, h.o.Client.Port)
	if err != nil {
		resp.Body.Close()
		return err
	}
	defer back.close()
	var resource string
	conf := h.config(back.address)
	conf.AuthorizationCodeFetcher = func(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		u, err := url.Parse(a.URL)
		if err != nil {
			return nil, err
		}
		if err := h.seen.allowed(u); err != nil {
			return nil, err
		}
		resource = u.Query().Get("resource")
		back.expect(u.Query().Get("state"))
		if err := h.o.Open(ctx, u.String()); err != nil {
			return nil, err
		}
		return back.wait(ctx)
	}
	conf.NewTokenSource = func(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
		return source{h, ctx}, h.keep(ctx, c, t, resource)
	}
	sdk, err := auth.NewAuthorizationCodeHandler(conf)
	if err != nil {
		resp.Body.Close()
		return err
	}
	// The resource is named without a query: servers describe themselves so, and
	// what stands in it may be a secret that is no authorization server's business.
	named := req.Clone(ctx)
	named.URL.RawQuery, named.URL.Fragment, named.URL.User = "", "", nil
	if err := sdk.Authorize(ctx, named, resp); err != nil {
		return redacted(err)
	}
	return nil
}

// config is how we come before an authorization server: by our document, as the
// client that was registered by hand, or as one that registers now.
func (h *Handler) config(redirect string) *auth.AuthorizationCodeHandlerConfig {
	c := &auth.AuthorizationCodeHandlerConfig{RedirectURL: redirect, Client: h.client,
		RequestRefreshToken: true, ScopeFilter: h.wanted}
	if h.o.Client.Doc != "" {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: h.o.Client.Doc}
	}
	if h.o.Client.ID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: h.o.Client.ID, Issuer: h.o.Client.Issuer}
		if h.o.Client.Secret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: h.o.Client.Secret}
		}
	}
	us := &oauthex.ClientRegistrationMetadata{ClientName: "larva", RedirectURIs: []string{redirect},
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}}
	h.seen.mu.Lock()
	h.seen.told = func(m meta) { // before the registration; a program on a person's machine keeps no secret if it need not
		us.TokenEndpointAuthMethod = ""
		if slices.Contains(m.Methods, "none") {
			us.TokenEndpointAuthMethod = "none"
		}
	}
	h.seen.mu.Unlock()
	c.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: us}
	return c
}

// wanted adds what the configuration asks for and what the same authorization
// server has granted before: a step up must not lose the steps below.
func (h *Handler) wanted(named []string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := slices.Clone(named)
	more := h.o.Client.Scopes
	if h.cur != nil && h.cur.Issuer == h.seen.last().Issuer {
		more = slices.Concat(more, h.cur.Scopes)
	}
	for _, s := range more {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// keep writes a new sign-in down.
func (h *Handler) keep(ctx context.Context, c *oauth2.Config, t *oauth2.Token, resource string) error {
	if !strings.EqualFold(t.Type(), "bearer") {
		return fmt.Errorf("a token of type %q cannot be used", t.Type())
	}
	m := h.seen.of(c.Endpoint.TokenURL)
	r := record{Issuer: m.Issuer, Resource: resource, TokenURL: c.Endpoint.TokenURL, Revocation: m.Revocation,
		ClientID: c.ClientID, AuthStyle: int(c.Endpoint.AuthStyle), Scopes: c.Scopes, Expiry: t.Expiry}
	r.Access, r.Refresh = t.AccessToken, t.RefreshToken
	if c.ClientID != h.o.Client.ID {
		r.ClientSecret = c.ClientSecret
	}
	if s, ok := t.Extra("scope").(string); ok && s != "" {
		r.Scopes = strings.Fields(s)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	unlock, err := h.store.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := h.store.save(ctx, r); err != nil {
		return fmt.Errorf("the sign-in cannot be kept: %w", err)
	}
	h.cur, h.fresh = &r, false
	return nil
}

// redacted drops the body that an error of the token endpoint quotes.
func redacted(err error) error {
	re := (*oauth2.RetrieveError)(nil)
	if !errors.As(err, &re) {
		return err
	}
	if re.ErrorCode == "" {
		return errors.New("the authorization server gives no token")
	}
	return fmt.Errorf("%w: the authorization server says %q", ErrDenied, re.ErrorCode)
}
