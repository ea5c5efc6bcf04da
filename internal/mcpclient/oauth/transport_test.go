package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"larva.dev/larva/internal/mcpclient/oauthtest"
)

// A message that is refused is sent once more as it was, and no more often.
func TestTransportSendsOnceMore(t *testing.T) {
	t.Parallel()
	var got []string
	stubborn := 0
	a := oauthtest.New(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, string(body))
		if stubborn--; stubborn >= 0 {
			w.WriteHeader(401)
		}
	}))
	h := handler(t, a, t.TempDir(), nil)
	c := &http.Client{Transport: h.Transport(nil)}
	post := func(to, body string) string {
		t.Helper()
		resp, err := c.Post(to, "application/json", io.NopCloser(strings.NewReader(body))) // a body that cannot be read twice
		if err != nil {
			return err.Error()
		}
		resp.Body.Close()
		return fmt.Sprintf("%d %q", resp.StatusCode, got)
	}
	if got, want := post(h.o.URL, "one"), `200 ["one"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	trace(t, a, "register authorize code")
	got, stubborn = nil, 2
	if got, want := post(h.o.URL, "two"), `401 ["two" "two"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	trace(t, a, "refresh")
	got, stubborn = nil, 0
	a.Set(func() { clear(a.Access) })
	if got, want := post(h.o.URL, "three"), `200 ["three"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := post(h.o.URL, strings.Repeat("x", maxBody+1)); !strings.Contains(got, "a message of more than") {
		t.Errorf("got %s, want that it is too long", got)
	}
}

// The token goes to the server's own origin, whatever a server redirects to.
func TestTransportKeepsTheTokenAtHome(t *testing.T) {
	t.Parallel()
	var stolen []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Header.Get("Authorization"))
	}))
	t.Cleanup(thief.Close)
	a := oauthtest.New(t, http.RedirectHandler(thief.URL, http.StatusTemporaryRedirect))
	h := handler(t, a, t.TempDir(), nil)
	if got, err := get(h); err != nil || got != "200 " {
		t.Fatalf("got %q, %v, want 200", got, err)
	}
	if len(stolen) != 1 || stolen[0] != "" {
		t.Errorf("got %q, want one request without a token", stolen)
	}
}

// Where the address cannot be shown, that is the error, and no code is asked for.
func TestAPersonWhoCannotBeShownTheAddress(t *testing.T) {
	t.Parallel()
	a, no := oauthtest.New(t, nil), errors.New("no screen")
	h := handler(t, a, t.TempDir(), func(o *Options) { o.Open = func(context.Context, string) error { return no } })
	if _, err := get(h); !errors.Is(err, no) {
		t.Errorf("got %v, want %v", err, no)
	}
	trace(t, a, "register")
}
