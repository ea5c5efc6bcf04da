// Package oauth signs in at MCP servers that are reached over HTTP: the
// authorization code flow with PKCE for a client that registers itself, has been
// registered by hand, or is described by a document of its own.
//
// The SDK does the protocol: discovery, registration, the code. This room adds
// what a client on somebody's machine needs: a browser that opens only where a
// person asked for it, a redirect to this machine alone, tokens that are kept
// and renewed by several processes at once, and signing out.
//
// What a server says is not believed further than it must be: plain HTTP is for
// this machine alone, a server elsewhere cannot send us to addresses of this
// machine, answers are bounded, and a token goes to the server's own origin.
package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"golang.org/x/oauth2"
)

// ErrNeedsLogin says that a person has to sign in and that nobody could be
// asked: the state needs-auth.
var ErrNeedsLogin = errors.New("sign-in is needed")

// ErrDenied says that the person, or the server, has refused the sign-in.
var ErrDenied = errors.New("sign-in was refused")

// Client is what a configuration says of us as a client; the zero value
// registers anew with each sign-in.
type Client struct {
	ID     string   // registered by hand
	Secret string   // of that registration; never written to disk
	Issuer string   // the only authorization server that ID is for; "" is any
	Doc    string   // https address of a client id metadata document
	Scopes []string // asked for besides what the server names
	Port   int      // of the redirect; 0 takes one that is free
}

// Options make a Handler. Server, URL and Dir are required.
type Options struct {
	Server string // its name in the configuration
	URL    string // its address, variables filled in
	Dir    string // where tokens are kept
	Client Client
	// Open shows a person the address to sign in at and returns at once. nil is
	// a connection in the background: ErrNeedsLogin stands in its place.
	Open func(ctx context.Context, address string) error
	// Fresh forgets what is kept: a person has asked to sign in anew.
	Fresh bool
	// Keyring holds the secret parts, where there is one.
	Keyring Keyring
	// Base sends the requests of the sign-in; nil is a transport of our own.
	Base http.RoundTripper
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Handler signs in at one server. Any number of goroutines may use it; one
// signs in or renews at a time, the others then have what it got.
type Handler struct {
	o      Options
	origin *url.URL
	client *http.Client
	seen   *watcher
	store  store

	signing sync.Mutex // held while a person signs in

	mu      sync.Mutex // guards what follows, held while renewing
	cur     *record    // nil: not read yet, or nothing kept
	fresh   bool       // cur is not to be read from disk
	renewed string     // the access token that a refused one was renewed to
}

var _ auth.OAuthHandler = (*Handler)(nil)

// New makes a handler. It reads and sends nothing.
func New(o Options) (*Handler, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("sign-in at %s: its url is not an http address", o.Server)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	seen := &watcher{base: o.Base, local: isLocal(u)}
	if seen.base == nil {
		seen.base = http.DefaultTransport.(*http.Transport).Clone()
	}
	return &Handler{o: o, origin: u, seen: seen, fresh: o.Fresh,
		client: &http.Client{Transport: seen, Timeout: 30 * time.Second, CheckRedirect: sameHost},
		store:  store{dir: o.Dir, name: o.Server, url: o.URL, ring: o.Keyring}}, nil
}

// TokenSource gives the source of the token that is kept. Its token is nil as
// long as there is none.
func (h *Handler) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	return source{h, context.WithoutCancel(ctx)}, nil
}

type source struct {
	h   *Handler
	ctx context.Context
}

// Token gives a token that has not run out, renewed if need be.
func (s source) Token() (*oauth2.Token, error) { return s.h.token(s.ctx) }

func (h *Handler) token(ctx context.Context) (*oauth2.Token, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.read(ctx); err != nil || h.cur == nil {
		return nil, err
	}
	if !h.cur.valid(h.o.Now()) && h.cur.Refresh != "" {
		if err := h.renew(ctx, h.cur.Access); err != nil {
			return nil, err
		}
	}
	if h.cur == nil || h.cur.Access == "" {
		return nil, nil
	}
	return h.cur.token(), nil
}

// read fills cur from disk as long as there is nothing: somebody may sign in
// elsewhere while a connection waits for it. mu is held.
func (h *Handler) read(ctx context.Context) error {
	if h.fresh || h.cur != nil && h.cur.Access != "" {
		return nil
	}
	rec, err := h.store.load(ctx)
	if err != nil {
		return err
	}
	h.adopt(rec)
	return nil
}

// adopt takes a kept record, unless it belongs to another client than the one
// that the configuration names now. mu is held.
func (h *Handler) adopt(rec *record) {
	if rec != nil && h.o.Client.ID != "" && rec.ClientID != h.o.Client.ID && rec.ClientID != h.o.Client.Doc {
		rec = nil
	}
	h.cur = rec
}
