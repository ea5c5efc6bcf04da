package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"larva.dev/larva/internal/mcpclient"
	"larva.dev/larva/internal/mcpclient/oauth"
)

// conformanceVerb starts this test program as the client that MCP's own runner
// judges: larva's connections and sign-in, with a person who says yes to all.
const conformanceVerb = "conformance-client"

// asOther runs this program as what a test needs besides larva, where its first
// argument says so, and gives its exit code.
func asOther(args []string) (code int, ok bool) {
	if len(args) < 3 {
		return 0, false
	}
	var err error
	switch last := args[len(args)-1]; args[1] {
	case conformanceVerb:
		err = conformanceClient(last)
	case "follow-redirects":
		err = followRedirects(context.Background(), last)
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

// conformanceClient does what the runner's scenarios ask of a client, at the
// address that it is given last: connect, list, call each tool that a scenario
// has for that.
func conformanceClient(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "larva-conformance")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := mcpclient.Config{Name: "conformance", Type: "http", URL: url}
	if strings.HasPrefix(os.Getenv("MCP_CONFORMANCE_SCENARIO"), "auth/") {
		if c.OAuth, err = conformanceSignIn(url, dir); err != nil {
			return err
		}
	}
	m := mcpclient.New([]mcpclient.Config{c}, mcpclient.Options{Version: "test", Connect: time.Minute, Call: time.Minute,
		Elicit: func(context.Context, string, string, json.RawMessage) (map[string]any, bool) {
			return map[string]any{}, true // the defaults are the client's to fill in
		}})
	m.Start(ctx)
	defer m.Close()
	st := m.Wait(ctx, time.Minute)[0]
	if st.State != mcpclient.Connected {
		return fmt.Errorf("%s: %w", st.State, st.Err)
	}
	for _, t := range st.Tools {
		args := json.RawMessage(`{}`)
		if t.Name == "add_numbers" {
			args = json.RawMessage(`{"a":5,"b":3}`)
		}
		if _, err := m.Call(ctx, "conformance", t.Name, args, false); err != nil {
			return err
		}
	}
	return nil
}

func conformanceSignIn(url, dir string) (*oauth.Handler, error) {
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return nil, err
		}
	}
	return oauth.New(oauth.Options{Server: "conformance", URL: url, Dir: dir, Open: followRedirects,
		Client: oauth.Client{ID: given.ID, Secret: given.Secret, Doc: "https://conformance-test.local/client-metadata.json"}})
}

// followRedirects is a browser whose person says yes.
func followRedirects(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New("the browser shows " + resp.Status)
	}
	return nil
}
