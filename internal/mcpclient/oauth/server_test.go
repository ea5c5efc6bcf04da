package oauth

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

// authority is an MCP server and its authorization server in one process. Its
// person is always there: asked to sign in, it redirects at once.
type authority struct {
	*httptest.Server

	mu       sync.Mutex
	deny     bool              // the person says no
	badIss   bool              // the redirect names another issuer
	noDCR    bool              // knows only the client "byhand" with the secret "s3cret"
	doc      bool              // takes client id metadata documents
	plainRev bool              // no revocation endpoint
	needs    string            // scope of /mcp, "" for any
	seconds  int               // life of an access token
	clients  map[string]string // id → secret
	codes    map[string]url.Values
	access   map[string]string // token → scope
	refresh  map[string]string // token → scope; each works once
	spent    []string          // refresh tokens used before
	log      []string          // what was asked, one word each
}

func newAuthority(t *testing.T) *authority {
	a := &authority{seconds: 3600, clients: map[string]string{"byhand": "s3cret"}, codes: map[string]url.Values{},
		access: map[string]string{}, refresh: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", a.resource)
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, r *http.Request) {
		reply(w, 200, map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL}})
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

func (a *authority) note(word string) { a.log = append(a.log, word) }

// asked takes what was asked since the last time.
func (a *authority) asked() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.log = nil }()
	return strings.Join(a.log, " ")
}

// set changes the server's mind.
func (a *authority) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

func (a *authority) resource(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	scope, ok := a.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	challenge := fmt.Sprintf(`Bearer resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, a.URL)
	switch {
	case !ok:
		w.Header().Set("WWW-Authenticate", challenge)
		w.WriteHeader(401)
	case a.needs == "nothing helps":
		w.WriteHeader(403)
	case a.needs != "" && !slices.Contains(strings.Fields(scope), a.needs):
		w.Header().Set("WWW-Authenticate", challenge+fmt.Sprintf(`, error="insufficient_scope", scope="%s"`, a.needs))
		w.WriteHeader(403)
	default:
		fmt.Fprintf(w, "hello %s", scope)
	}
}

func (a *authority) describe(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := map[string]any{"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token",
		"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"},
		"authorization_response_iss_parameter_supported": true, "client_id_metadata_document_supported": a.doc,
		"scopes_supported": []string{"offline_access"}}
	if !a.plainRev {
		m["revocation_endpoint"] = a.URL + "/revoke"
	}
	if !a.noDCR {
		m["registration_endpoint"], m["token_endpoint_auth_methods_supported"] = a.URL+"/register", []string{"none", "client_secret_post"}
	}
	reply(w, 200, m)
}

func (a *authority) register(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note("register")
	var in map[string]any
	json.NewDecoder(r.Body).Decode(&in)
	id := rand.Text()
	a.clients[id] = ""
	in["client_id"] = id
	reply(w, 201, in)
}

func (a *authority) authorize(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note("authorize")
	q := r.URL.Query()
	back := url.Values{"state": {q.Get("state")}, "iss": {a.URL}}
	if a.badIss {
		back.Set("iss", "https://elsewhere.test")
	}
	_, known := a.clients[q.Get("client_id")]
	if known = known || a.doc && strings.HasPrefix(q.Get("client_id"), "https://"); !known || q.Get("code_challenge_method") != "S256" || q.Get("resource") != a.URL+"/mcp" {
		http.Error(w, "bad request", 400)
		return
	}
	if a.deny {
		back.Set("error", "access_denied")
	} else {
		code := rand.Text()
		a.codes[code] = q
		back.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.ParseForm()
	id, secret, inHeader := r.BasicAuth()
	if !inHeader {
		id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	}
	if want := a.clients[id]; want != secret {
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
		scope = q.Get("scope")
	case "refresh_token":
		a.note("refresh")
		t := r.PostForm.Get("refresh_token")
		scope, ok = a.refresh[t]
		if slices.Contains(a.spent, t) { // stolen, or used by two: all of it ends
			a.note("reuse")
			clear(a.refresh)
			clear(a.access)
		}
		delete(a.refresh, t)
		a.spent = append(a.spent, t)
	}
	if !ok || r.PostForm.Get("resource") != a.URL+"/mcp" {
		reply(w, 400, map[string]string{"error": "invalid_grant"})
		return
	}
	access, refresh := rand.Text(), rand.Text()
	a.access[access], a.refresh[refresh] = scope, scope
	reply(w, 200, map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "bearer", "expires_in": a.seconds, "scope": scope})
}

func (a *authority) revoke(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r.ParseForm()
	a.note("revoke-" + r.PostForm.Get("token_type_hint"))
	delete(a.access, r.PostForm.Get("token"))
	delete(a.refresh, r.PostForm.Get("token"))
}
