// Package oauthtest is an MCP server with an authorization server for tests:
// registration, PKCE, rotation of refresh tokens, revocation and denial.
package oauthtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Authority is an MCP server and its authorization server in one process. Its
// person is always there: asked to sign in, it redirects at once. Set changes
// the fields once it serves.
type Authority struct {
	*httptest.Server

	behind  http.Handler
	mu      sync.Mutex
	Deny    bool              // the person says no
	BadIss  bool              // the redirect names another issuer
	NoDCR   bool              // knows only the client "byhand" with the secret "s3cret"
	Doc     bool              // takes client id metadata documents
	Needs   string            // scope of /mcp, "" for any
	Clients map[string]string // id → secret
	codes   map[string]url.Values
	Access  map[string]string // token → scope
	Refresh map[string]string // token → scope; each works once
	spent   []string          // refresh tokens used before
	log     []string          // what was asked, one word each
}

// New serves until the test ends. What is asked for with a token goes to behind;
// nil answers with the token's scope.
func New(t testing.TB, behind http.Handler) *Authority {
	a := &Authority{behind: behind, Clients: map[string]string{"byhand": "s3cret"}, codes: map[string]url.Values{},
		Access: map[string]string{}, Refresh: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/", a.resource)
	mux.HandleFunc("/.well-known/oauth-protected-resource/", func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/.well-known/oauth-protected-resource")
		reply(w, 200, map[string]any{"resource": a.URL + path, "authorization_servers": []string{a.URL}})
	})
	mux.HandleFunc("/.well-known/oauth-authorization-server", a.describe)
	mux.HandleFunc("/register", a.register)
	mux.HandleFunc("/authorize", a.authorize)
	mux.HandleFunc("/token", a.token)
	mux.HandleFunc("/revoke", a.revoke)
	a.Server = httptest.NewServer(mux)
	t.Cleanup(a.Close)
	return a
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

func (a *Authority) note(word string) { a.log = append(a.log, word) }

// Asked takes what was asked since the last time.
func (a *Authority) Asked() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.log = nil }()
	return strings.Join(a.log, " ")
}

// Set changes the server's mind.
func (a *Authority) Set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

func (a *Authority) resource(w http.ResponseWriter, r *http.Request) {
	if a.refuses(w, r) {
		return
	}
	a.behind.ServeHTTP(w, r)
}

// refuses says whether r has been answered, with a refusal or for want of
// something behind.
func (a *Authority) refuses(w http.ResponseWriter, r *http.Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	scope, ok := a.Access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	challenge := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource%s"`, a.URL, r.URL.Path)
	switch {
	case !ok:
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(401)
	case a.Needs == "nothing helps":
		w.WriteHeader(403)
	case a.Needs != "" && !slices.Contains(strings.Fields(scope), a.Needs):
		w.Header().Set("WWW-Authenticate", challenge+fmt.Sprintf(`, error="insufficient_scope", scope="%s"`, a.Needs))
		w.WriteHeader(403)
	case a.behind == nil:
		fmt.Fprintf(w, "hello %s", scope)
	default:
		return false
	}
	return true
}

func (a *Authority) describe(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := map[string]any{"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"authorization_response_iss_parameter_supported": true, "client_id_metadata_document_supported": a.Doc,
		"scopes_supported": []string{"offline_access"}, "revocation_endpoint": a.URL + "/revoke"}
	if !a.NoDCR {
		m["registration_endpoint"], m["token_endpoint_auth_methods_supported"] = a.URL+"/register", []string{"none", "client_secret_post"}
	}
	reply(w, 200, m)
}

func (a *Authority) register(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note("register")
	var in map[string]any
	json.NewDecoder(r.Body).Decode(&in)
	id := rand.Text()
	a.Clients[id] = ""
	in["client_id"] = id
	reply(w, 201, in)
}

func (a *Authority) authorize(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note("authorize")
	q := r.URL.Query()
	back := url.Values{"state": {q.Get("state")}, "iss": {a.URL}}
	if a.BadIss {
		back.Set("iss", "https://elsewhere.test")
	}
	_, known := a.Clients[q.Get("client_id")]
	if known = known || a.Doc && strings.HasPrefix(q.Get("client_id"), "https://"); !known || q.Get("code_challenge_method") != "S256" || !strings.HasPrefix(q.Get("resource"), a.URL+"/") {
		http.Error(w, "bad request", 400)
		return
	}
	if a.Deny {
		back.Set("error", "access_denied")
	} else {
		code := rand.Text()
		a.codes[code] = q
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (a *Authority) token(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.ParseForm()
	id, secret, inHeader := r.BasicAuth()
	if !inHeader {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	if want := a.Clients[id]; want != secret {
		a.note("wrong-client")
		reply(w, 401, map[string]string{"error": "invalid_client"})
		return
	}
	var scope string
	var ok bool
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		a.note("code")
		q, found := a.codes[r.PostForm.Get("code")]
		delete(a.codes, r.PostForm.Get("code"))
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		ok = found && base64.RawURLEncoding.EncodeToString(sum[:]) == q.Get("code_challenge") && q.Get("redirect_uri") == r.PostForm.Get("redirect_uri")
		scope = strings.Join(slices.Sorted(slices.Values(strings.Fields(q.Get("scope")))), " ") // in no order else
	case "refresh_token":
		a.note("refresh")
		t := r.PostForm.Get("refresh_token")
		scope, ok = a.Refresh[t]
		if slices.Contains(a.spent, t) { // stolen, or used by two: all of it ends
			a.note("reuse")
			clear(a.Refresh)
			clear(a.Access)
		}
		delete(a.Refresh, t)
		a.spent = append(a.spent, t)
	}
	if !ok || !strings.HasPrefix(r.PostForm.Get("resource"), a.URL+"/") {
		reply(w, 400, map[string]string{"error": "invalid_grant"})
		return
	}
	access, refresh := rand.Text(), rand.Text()
	a.Access[access], a.Refresh[refresh] = scope, scope
	reply(w, 200, map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "bearer", "expires_in": 3600, "scope": scope})
}

func (a *Authority) revoke(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.ParseForm()
	a.note("revoke-" + r.PostForm.Get("token_type_hint"))
	delete(a.Access, r.PostForm.Get("token"))
	delete(a.Refresh, r.PostForm.Get("token"))
}
