package load

import (
	"encoding/json"
	"errors"
	"strings"

	"larva.dev/larva/internal/profile"
)

// signInOf reads how to sign in at a server: as larva writes it, or with Claude
// Code's clientId and callbackPort, or OpenCode's clientId and scope. nil is
// nothing said; false, OpenCode's word for no sign-in, is the same: a server that
// asks for none gets none.
func signInOf(raw []byte) (*profile.ServerOAuth, error) {
	var head struct {
		OAuth json.RawMessage `json:"oauth"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return nil, err
	}
	switch string(head.OAuth) {
	case "", "null", "false":
		return nil, nil
	}
	var in struct {
		profile.ServerOAuth
		ID     string `json:"clientId"`
		Secret string `json:"clientSecret"`
		Port   int    `json:"callbackPort"`
		Scope  string `json:"scope"`
	}
	if err := json.Unmarshal(head.OAuth, &in); err != nil {
		return nil, err
	}
	if in.Secret != "" {
		return nil, errors.New("oauth: a client's secret belongs into the environment: name its variable as client_secret_env")
	}
	out := in.ServerOAuth
	if in.ID != "" {
		out.ClientID = in.ID
	}
	if in.Port != 0 {
		out.RedirectPort = in.Port
	}
	out.Scopes = append(out.Scopes, strings.Fields(in.Scope)...)
	if out.RedirectPort < 0 || out.RedirectPort > 65535 {
		return nil, errors.New("oauth: a port is a number from 1 to 65535")
	}
	return &out, nil
}
