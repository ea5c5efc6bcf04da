package app

import (
	"context"
	"errors"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/mcpclient/oauth"
	"larva.dev/larva/internal/nearest"
)

// ServerLoginInput says where to sign in.
type ServerLoginInput struct {
	Profile, Name string
	NoBrowser     bool // the address is shown and nothing is opened
	// Say takes what the person reads meanwhile: the address above all.
	Say func(string)
}

// ServerSignedIn is the answer of `server login`.
type ServerSignedIn struct {
	Name     string `json:"name"`
	URL      string `json:"url"` // secrets hidden
	SignedIn bool   `json:"signed_in"`
}

// ServerSignedOut is the answer of `server logout`.
type ServerSignedOut struct {
	Name string `json:"name"`
	// Removed says that there was a sign-in, Revoked that the server has taken
	// its tokens back.
	Removed bool `json:"removed"`
	Revoked bool `json:"revoked"`
}

// ServerLogin signs in at a server with the person's browser, anew also where a
// sign-in is kept.
func (a *App) ServerLogin(ctx context.Context, in ServerLoginInput) (ServerSignedIn, error) {
	out := ServerSignedIn{Name: in.Name}
	if err := a.refuseNested("server login"); err != nil {
		return out, err
	}
	s, entries, err := a.standsServers(ctx, in.Profile)
	if err != nil {
		return out, err
	}
	defer s.rest()
	e, err := entryNamed(entries, in.Name)
	if err != nil {
		return out, err
	}
	o, sse, err := a.signInAt(s, e)
	if err != nil {
		return out, err
	}
	out.URL, o.Fresh, o.Open = veilURL(o.URL), true, a.showSignIn(in)
	h, err := oauth.New(o)
	if err != nil {
		return out, diag.Usage("%v", err)
	}
	switch err := h.Login(ctx, sse); {
	case errors.Is(err, oauth.ErrNoLogin):
		return out, diag.Usage("the server %s asks for no sign-in", e.Name)
	case ctx.Err() != nil:
		return out, ctx.Err()
	case err != nil:
		failed := diag.New(diag.SignInFailed, "the sign-in at %s failed: %v", e.Name, err).With("server", e.Name)
		failed.Cause = err
		return out, failed
	}
	out.SignedIn = true
	return out, nil
}

// showSignIn tells the address and opens it.
func (a *App) showSignIn(in ServerLoginInput) func(context.Context, string) error {
	return func(ctx context.Context, address string) error {
		in.Say("sign in at " + in.Name + " in your browser: " + address)
		if !in.NoBrowser {
			a.openBrowser(ctx, address, in.Say)
		}
		return nil
	}
}

// ServerLogout removes what is kept of a sign-in, also of a server that is
// switched off or that nobody trusts any more.
func (a *App) ServerLogout(ctx context.Context, profileName, name string) (ServerSignedOut, error) {
	out := ServerSignedOut{Name: name}
	if err := a.refuseNested("server logout"); err != nil {
		return out, err
	}
	s, entries, err := a.standsServers(ctx, profileName)
	if err != nil {
		return out, err
	}
	defer s.rest()
	var known []string
	for _, e := range entries {
		known = append(known, e.Name)
		if e.Name != name {
			continue
		}
		o, _, err := a.signInAt(s, e)
		if err != nil {
			return out, err
		}
		h, err := oauth.New(o)
		if err != nil {
			return out, diag.Usage("%v", err)
		}
		out.Removed, out.Revoked, err = h.Logout(ctx)
		return out, err
	}
	missing := diag.Usage("there is no server %q", name).WithHint("larva server list")
	if near := nearest.Name(name, known); near != "" {
		missing.WithHint("did you mean %s?", near)
	}
	return out, missing
}

// signInAt is how to sign in at an entry; sse says that it is an event stream.
func (a *App) signInAt(s *stand, e serverEntry) (o oauth.Options, sse bool, err error) {
	c := a.serverConfig(s, e)
	switch {
	case c.Fault != nil:
		return o, false, diag.New(diag.ProfileInvalid, "the server %s: %v", e.Name, c.Fault)
	case c.Type == "stdio":
		return o, false, diag.Usage("the server %s is a program, there is nothing to sign in at", e.Name)
	case c.OAuth == nil && c.HTTP == nil:
		return o, false, diag.Usage("the server %s is signed in at by the Authorization of its headers, at %s", e.Name, e.Source)
	}
	o, err = a.signIn(s.at, e.Name, c.URL, e.Server.OAuth)
	return o, c.Type == "sse", err
}
