package app

import (
	"path/filepath"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/mcpclient/oauth"
	"larva.dev/larva/internal/profile"
)

// signIn says how to sign in at a server; a connection in the background opens
// no browser.
func (a *App) signIn(at where, name, url string, w *profile.ServerOAuth) (oauth.Options, error) {
	o := oauth.Options{Server: name, URL: url, Dir: filepath.Join(at.config, "mcp-auth"), Keyring: oauth.SecretTool(a.environ)}
	if w == nil {
		return o, nil
	}
	o.Client = oauth.Client{ID: w.ClientID, Issuer: w.Issuer, Doc: w.MetadataURL, Scopes: w.Scopes, Port: w.RedirectPort}
	if w.ClientSecretEnv != "" {
		if o.Client.Secret = strings.TrimSpace(a.Getenv(w.ClientSecretEnv)); o.Client.Secret == "" {
			return o, diag.New(diag.KeyMissing, "%s is not set, the secret of its client", w.ClientSecretEnv)
		}
	}
	return o, nil
}
