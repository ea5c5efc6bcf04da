package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/mcpclient/oauthtest"
)

// browser follows redirects to the end, as the person's would.
func browser(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the browser shows %d %s", resp.StatusCode, body)
	}
	return err
}

func handler(t *testing.T, a *oauthtest.Authority, dir string, edit func(*Options)) *Handler {
	t.Helper()
	o := Options{Server: "web", URL: a.URL + "/mcp", Dir: dir, Open: browser}
	if edit != nil {
		edit(&o)
	}
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func background(o *Options) { o.Open = nil }

// get asks the server through the handler and gives status and body.
func get(h *Handler) (string, error) {
	resp, err := (&http.Client{Transport: h.Transport(nil)}).Get(h.o.URL)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, body), err
}

// must fails where get does or says something else.
func must(t *testing.T, h *Handler, want string) {
	t.Helper()
	if got, err := get(h); err != nil || got != want {
		t.Fatalf("got %q, %v, want %q", got, err, want)
	}
}

func trace(t *testing.T, a *oauthtest.Authority, want string) {
	t.Helper()
	if got := a.Asked(); got != want {
		t.Fatalf("the server was asked %q, want %q", got, want)
	}
}

func TestSignInIsKeptAndTakenUpInTheBackground(t *testing.T) {
	t.Parallel()
	a, dir := oauthtest.New(t, nil), filepath.Join(t.TempDir(), "mcp-auth")
	if got, err := get(handler(t, a, dir, background)); !errors.Is(err, ErrNeedsLogin) {
		t.Fatalf("in the background: got %q, %v, want ErrNeedsLogin", got, err)
	}
	trace(t, a, "")
	if err := handler(t, a, dir, nil).Login(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	trace(t, a, "register authorize code")
	must(t, handler(t, a, dir, background), "200 hello offline_access")
	trace(t, a, "")
	files, _ := filepath.Glob(filepath.Join(dir, "web-*.json"))
	if len(files) != 1 {
		t.Fatalf("got files %v, want one", files)
	}
	for path, want := range map[string]os.FileMode{files[0]: 0o600, dir: 0o700} {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s: got mode %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

// A connection that waits for a sign-in takes up one that another process makes.
func TestWaitingConnectionSeesASignInElsewhere(t *testing.T) {
	t.Parallel()
	a, dir := oauthtest.New(t, nil), t.TempDir()
	waiting := handler(t, a, dir, background)
	if _, err := get(waiting); !errors.Is(err, ErrNeedsLogin) {
		t.Fatalf("got %v, want ErrNeedsLogin", err)
	}
	must(t, handler(t, a, dir, nil), "200 hello offline_access")
	must(t, waiting, "200 hello offline_access")
}

func TestRenewal(t *testing.T) {
	t.Parallel()
	a, dir := oauthtest.New(t, nil), t.TempDir()
	now := time.Now()
	var ahead atomic.Int64
	clock := func(o *Options) {
		o.Open = nil
		o.Now = func() time.Time { return now.Add(time.Duration(ahead.Load())) }
	}
	must(t, handler(t, a, dir, nil), "200 hello offline_access")
	a.Asked()
	ahead.Store(int64(2 * time.Hour)) // run out
	must(t, handler(t, a, dir, clock), "200 hello offline_access")
	trace(t, a, "refresh")
	must(t, handler(t, a, dir, clock), "200 hello offline_access")
	trace(t, a, "") // the renewed one was written down

	a.Set(func() { clear(a.Access) }) // taken back before its time
	must(t, handler(t, a, dir, clock), "200 hello offline_access")
	trace(t, a, "refresh")

	a.Set(func() { clear(a.Access); clear(a.Refresh) })
	h := handler(t, a, dir, clock)
	if _, err := get(h); !errors.Is(err, ErrNeedsLogin) {
		t.Fatalf("got %v, want ErrNeedsLogin", err)
	}
	trace(t, a, "refresh")
	if _, err := get(h); !errors.Is(err, ErrNeedsLogin) {
		t.Fatalf("got %v, want ErrNeedsLogin", err)
	}
	trace(t, a, "") // what is lost is not tried again
}

// Ten connections that find the token run out renew it once: a refresh token
// that is used twice would end all of them.
func TestOneRenewalForMany(t *testing.T) {
	t.Parallel()
	a, dir := oauthtest.New(t, nil), t.TempDir()
	must(t, handler(t, a, dir, nil), "200 hello offline_access")
	a.Asked()
	a.Set(func() { clear(a.Access) })
	var wg sync.WaitGroup
	errs := make([]error, 10)
	for i := range errs {
		h := handler(t, a, dir, background)
		wg.Go(func() { _, errs[i] = get(h) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	trace(t, a, "refresh")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*oauthtest.Authority)
		want   string
		denied bool
	}{
		"the person says no": {func(a *oauthtest.Authority) { a.Deny = true }, `sign-in was refused: the authorization server says "access_denied"`, true},
		"another issuer":     {func(a *oauthtest.Authority) { a.BadIss = true }, "does not match expected issuer", false},
		"nowhere registered": {func(a *oauthtest.Authority) { a.NoDCR = true }, "no configured client registration methods are supported", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, dir := oauthtest.New(t, nil), t.TempDir()
			c.change(a)
			got, err := get(handler(t, a, dir, nil))
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrDenied) != c.denied {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
			if files, _ := filepath.Glob(filepath.Join(dir, "*.json")); len(files) > 0 {
				t.Errorf("got files %v, want none", files)
			}
		})
	}
}

func TestClients(t *testing.T) {
	t.Parallel()
	a, dir := oauthtest.New(t, nil), t.TempDir()
	a.NoDCR = true
	byhand := func(o *Options) { o.Client = Client{ID: "byhand", Secret: "s3cret", Scopes: []string{"more"}} }
	must(t, handler(t, a, dir, byhand), "200 hello more offline_access")
	trace(t, a, "authorize code")
	a.Set(func() { clear(a.Access) })
	must(t, handler(t, a, dir, func(o *Options) { byhand(o); o.Open = nil }), "200 hello more offline_access")
	trace(t, a, "refresh")
	data, err := os.ReadFile(handler(t, a, dir, nil).store.path())
	if err != nil || strings.Contains(string(data), "s3cret") {
		t.Errorf("got %s, %v, want no client secret", data, err)
	}
	other := func(o *Options) { o.Client = Client{ID: "other"}; o.Open = nil }
	if got, err := get(handler(t, a, dir, other)); !errors.Is(err, ErrNeedsLogin) {
		t.Errorf("as another client: got %q, %v, want ErrNeedsLogin", got, err)
	}

	a.Set(func() { a.Doc = true; a.Clients["https://larva.test/client.json"] = "" })
	doc := func(o *Options) { o.Client = Client{Doc: "https://larva.test/client.json"} }
	must(t, handler(t, a, t.TempDir(), doc), "200 hello offline_access")
	trace(t, a, "authorize code")
}

func TestStepUp(t *testing.T) {
	t.Parallel()
	a, dir := oauthtest.New(t, nil), t.TempDir()
	must(t, handler(t, a, dir, nil), "200 hello offline_access")
	a.Set(func() { a.Needs = "write" })
	if _, err := get(handler(t, a, dir, background)); !errors.Is(err, ErrNeedsLogin) {
		t.Fatalf("in the background: got %v, want ErrNeedsLogin", err)
	}
	h := handler(t, a, dir, nil)
	must(t, h, "200 hello offline_access write")
	a.Asked()
	a.Set(func() { // a server that never has enough
		for k := range a.Access {
			a.Access[k] = "offline_access"
		}
	})
	if got, err := get(h); err == nil || !strings.Contains(err.Error(), "granted already: write") {
		t.Errorf("got %q, %v, want a refusal to ask again", got, err)
	}
	a.Set(func() { a.Needs = "nothing helps" })
	must(t, h, "403 ")
	trace(t, a, "")
}

func TestLogout(t *testing.T) {
	t.Parallel()
	a, dir := oauthtest.New(t, nil), t.TempDir()
	must(t, handler(t, a, dir, nil), "200 hello offline_access")
	a.Asked()
	had, revoked, err := handler(t, a, dir, nil).Logout(t.Context())
	if !had || !revoked || err != nil {
		t.Errorf("got %v, %v, %v, want true, true, no error", had, revoked, err)
	}
	trace(t, a, "revoke-refresh_token revoke-access_token")
	if _, err := get(handler(t, a, dir, background)); !errors.Is(err, ErrNeedsLogin) {
		t.Errorf("got %v, want ErrNeedsLogin", err)
	}
	if had, revoked, err = handler(t, a, dir, nil).Logout(t.Context()); had || revoked || err != nil {
		t.Errorf("again: got %v, %v, %v, want false, false, no error", had, revoked, err)
	}

	secret := func(o *Options) { o.URL += "?key=hush" }
	h := handler(t, a, dir, secret)
	must(t, h, "200 hello offline_access")
	if data, err := os.ReadFile(h.store.path()); err != nil || strings.Contains(string(data), "hush") {
		t.Errorf("got %s, %v, want an address without its query", data, err)
	}

	must(t, handler(t, a, dir, nil), "200 hello offline_access")
	a.Close() // gone: what is kept goes all the same
	if had, revoked, err = handler(t, a, dir, nil).Logout(t.Context()); !had || revoked || err != nil {
		t.Errorf("without the server: got %v, %v, %v, want true, false, no error", had, revoked, err)
	}
	path := handler(t, a, dir, nil).store.path()
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := get(handler(t, a, dir, background)); err == nil || !strings.Contains(err.Error(), "is damaged") {
		t.Errorf("damaged: got %v, want that it is damaged", err)
	}
	if had, _, err = handler(t, a, dir, nil).Logout(t.Context()); !had || err != nil {
		t.Errorf("damaged: got %v, %v, want true, no error", had, err)
	}
}

// Login asks anew for what is kept, and says so of a server that asks nothing.
func TestLogin(t *testing.T) {
	t.Parallel()
	a, dir := oauthtest.New(t, nil), t.TempDir()
	fresh := func(o *Options) { o.Fresh = true }
	for range 2 {
		if err := handler(t, a, dir, fresh).Login(t.Context(), false); err != nil {
			t.Fatal(err)
		}
		trace(t, a, "register authorize code")
	}
	open := func(o *Options) { fresh(o); o.URL = a.URL + "/.well-known/oauth-authorization-server" }
	if err := handler(t, a, dir, open).Login(t.Context(), true); !errors.Is(err, ErrNoLogin) {
		t.Errorf("got %v, want ErrNoLogin", err)
	}
}

// ring is a keyring in memory.
type ring struct {
	kept   map[string]string
	broken bool
}

func (r *ring) Get(_ context.Context, k string) (string, error) {
	if v, ok := r.kept[k]; ok && !r.broken {
		return v, nil
	}
	return "", errors.New("not there")
}
func (r *ring) Set(_ context.Context, k, v string) error {
	if r.broken {
		return errors.New("locked")
	}
	r.kept[k] = v
	return nil
}
func (r *ring) Delete(_ context.Context, k string) error { delete(r.kept, k); return nil }

func TestKeyring(t *testing.T) {
	t.Parallel()
	a, dir, k := oauthtest.New(t, nil), t.TempDir(), &ring{kept: map[string]string{}}
	with := func(o *Options) { o.Keyring = k }
	h := handler(t, a, dir, with)
	must(t, h, "200 hello offline_access")
	data, err := os.ReadFile(h.store.path())
	if err != nil || strings.Contains(string(data), "access_token") || !strings.Contains(string(data), `"in_keyring": true`) || len(k.kept) != 1 {
		t.Errorf("got %s, %v, %d kept, want the tokens in the keyring", data, err, len(k.kept))
	}
	a.Set(func() { clear(a.Access) })
	must(t, handler(t, a, dir, func(o *Options) { with(o); o.Open = nil }), "200 hello offline_access")
	if _, err := get(handler(t, a, dir, background)); !errors.Is(err, ErrNeedsLogin) {
		t.Errorf("without the keyring: got %v, want ErrNeedsLogin", err)
	}
	if had, revoked, err := handler(t, a, dir, with).Logout(t.Context()); !had || !revoked || err != nil || len(k.kept) != 0 {
		t.Errorf("got %v, %v, %v, %d kept, want true, true, no error, 0", had, revoked, err, len(k.kept))
	}
	k.broken = true
	must(t, handler(t, a, dir, with), "200 hello offline_access")
	must(t, handler(t, a, dir, background), "200 hello offline_access") // fell back to the file
}

// What a server elsewhere says does not lead the sign-in to this machine, to
// plain HTTP, or off the host with what was sent.
func TestWhereASignInMayGo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		local bool
		to    string
		want  string
	}{
		{true, "http://127.0.0.1:1/x", ""}, {true, "http://localhost:1/x", ""}, {true, "http://[::1]/x", ""},
		{true, "https://as.test/x", ""}, {false, "https://as.test/x", ""},
		{true, "http://as.test/x", "not safe"}, {false, "http://as.test/x", "not safe"}, {true, "file:///etc/passwd", "not safe"},
		{false, "https://127.0.0.1/x", "an address of this machine"}, {false, "http://localhost./x", "an address of this machine"},
		{false, "https://[::ffff:127.0.0.1]/", "an address of this machine"}, {false, "https://0.0.0.0/", "an address of this machine"},
		{true, "javascript:alert(1)", "not safe"},
	} {
		u, err := url.Parse(c.to)
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint((&watcher{local: c.local}).allowed(u))
		if c.want == "" && got != "<nil>" || !strings.Contains(got, c.want) {
			t.Errorf("local %v, %s: got %s, want %q", c.local, c.to, got, c.want)
		}
	}
}

// A document counts only from the origin that it names, and tokens are taken
// back only where they come from.
func TestWatcherBelievesAServerOfItselfAlone(t *testing.T) {
	t.Parallel()
	evil, good := &url.URL{Scheme: "https", Host: "evil.test"}, &url.URL{Scheme: "https", Host: "as.test"}
	w := &watcher{}
	told := func(from *url.URL, revoke string) {
		data, _ := json.Marshal(meta{Issuer: "https://as.test", TokenURL: "https://as.test/token", Revocation: revoke})
		w.note(from, data)
	}
	told(evil, "https://evil.test/revoke")
	if got := w.of("https://as.test/token"); !cmp.Equal(got, meta{}) {
		t.Errorf("got %+v, want nothing", got)
	}
	told(good, "https://evil.test/revoke")
	if got := w.of("https://as.test/token"); got.Issuer == "" || got.Revocation != "" {
		t.Errorf("got %+v, want the issuer and no revocation", got)
	}
}

// The redirect takes one answer, and only the one with the state.
func TestRedirect(t *testing.T) {
	t.Parallel()
	r, err := listen(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	r.expect("right")
	status := func(method, tail string) int {
		req, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(r.address, "/callback")+tail, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for _, c := range []struct {
		method, tail string
		want         int
	}{
		{"GET", "/", 404}, {"POST", "/callback?state=right&code=c", 404}, {"GET", "/callback?code=c", 400},
		{"GET", "/callback?state=wrong&code=c", 400}, {"GET", "/callback?state=wrong&error=access_denied", 400},
		{"GET", "/callback?state=right&code=c&iss=i", 200}, {"GET", "/callback?state=right&code=d", 400}, {"GET", "/callback?state=&code=d", 400},
	} {
		if got := status(c.method, c.tail); got != c.want {
			t.Errorf("%s %s: got %d, want %d", c.method, c.tail, got, c.want)
		}
	}
	got, err := r.wait(t.Context())
	if err != nil || got.Code != "c" || got.Iss != "i" || got.State != "right" {
		t.Errorf("got %+v, %v, want code c of iss i", got, err)
	}
}
