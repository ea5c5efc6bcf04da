package loopback

import (
	"net"
	"net/http"
	"strings"

	"larva.dev/larva/internal/diag"
)

// Guard decides which requests a handler gets to see. Token, Addr and Refuse
// are required.
type Guard struct {
	Token string
	// Addr is where the listener stands. Host must name it: by a loopback name
	// or address and its port.
	Addr net.Addr
	// AllowRemote takes any Host, for a listener that other machines reach. The
	// token is then what keeps them out, so NoToken must be nil.
	AllowRemote bool
	// NoToken says which requests need no token; nil is none. A server that has
	// it turns other users' programs away, as far as the system tells of them.
	NoToken func(*http.Request) bool
	// Entry says which pages may be reached by a link on a page of another
	// site; nil is none. Nothing but a navigation by GET ever is.
	Entry func(*http.Request) bool
	// Refuse writes the answer of a request that is turned away.
	Refuse func(w http.ResponseWriter, r *http.Request, status int, e *diag.Error)
}

// Wrap puts the guard before next.
func (g Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if e := g.stranger(r); e != nil {
			g.Refuse(w, r, http.StatusForbidden, e)
			return
		}
		if g.NoToken != nil && !g.AllowRemote && otherUser(r) {
			g.Refuse(w, r, http.StatusForbidden, diag.New(diag.RequestRefused, "the request comes from another user's program"))
			return
		}
		if open := g.NoToken != nil && !g.AllowRemote && g.NoToken(r); !open && !HasToken(r, g.Token) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="larva"`)
			g.Refuse(w, r, http.StatusUnauthorized, diag.New(diag.RequestRefused, "the token is missing or wrong").
				With("header", "Authorization").WithHint("send Authorization: Bearer TOKEN; the server printed it, or took it from %s", TokenVariable))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// stranger says what makes r a request of somebody else's page; nil where
// nothing does. Programs other than browsers send none of these headers but
// Host.
func (g Guard) stranger(r *http.Request) *diag.Error {
	if !g.AllowRemote && !g.ourHost(r.Host) {
		return refused("Host", "the request is for another host")
	}
	for _, origin := range r.Header.Values("Origin") {
		if !strings.EqualFold(origin, "http://"+r.Host) && !(g.AllowRemote && strings.EqualFold(origin, "https://"+r.Host)) {
			return refused("Origin", "the request comes from a page of another site")
		}
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "same-origin" && site != "none" && !g.entry(r) {
			return refused("Sec-Fetch-Site", "the request comes from a page of another site")
		}
	}
	return nil
}

func (g Guard) entry(r *http.Request) bool {
	return g.Entry != nil && r.Method == http.MethodGet &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document" && g.Entry(r)
}

func refused(header, what string) *diag.Error {
	return diag.New(diag.RequestRefused, "%s", what).With("header", header)
}

// ourHost says whether a Host header names this server: localhost or a
// loopback address, with our port (80 may be left out).
func (g Guard) ourHost(host string) bool {
	_, ours, err := net.SplitHostPort(g.Addr.String())
	if err != nil {
		return false
	}
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name, port = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), "80"
	}
	return port == ours && (strings.EqualFold(name, "localhost") || isLoopback(name))
}
