package load

import (
	"encoding/json"
	"fmt"

	"larva.dev/larva/internal/profile"
)

// serverOf reads one entry of mcpServers as it is written for larva, for Claude
// Code or for OpenCode (type local or remote, the command as a list). What has
// the wrong type is the error; a server that is half read is none.
func serverOf(raw []byte) (profile.Server, error) {
	var head struct {
		Type    string `json:"type"`
		Enabled *bool  `json:"enabled"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return profile.Server{}, fmt.Errorf("it is no object of a server: %w", err)
	}
	off := head.Enabled != nil && !*head.Enabled
	switch head.Type {
	case "local":
		var in struct {
			Command     []string          `json:"command"`
			Environment map[string]string `json:"environment"`
		}
		if err := json.Unmarshal(raw, &in); err != nil {
			return profile.Server{}, err
		}
		if len(in.Command) == 0 {
			return profile.Server{}, fmt.Errorf("a local server needs a command")
		}
		return profile.Server{Type: "stdio", Command: in.Command[0], Args: in.Command[1:], Env: in.Environment, Disabled: off}, nil
	case "remote":
		var in struct {
			URL     string            `json:"url"`
			Headers map[string]string `json:"headers"`
		}
		if err := json.Unmarshal(raw, &in); err != nil {
			return profile.Server{}, err
		}
		s := profile.Server{Type: "http", URL: in.URL, Headers: in.Headers, Disabled: off}
		return signed(s, raw)
	}
	var in struct {
		profile.Server
		OAuth json.RawMessage `json:"oauth"` // in more shapes than ours
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in.Server, err
	}
	s := in.Server
	if s.Type == "streamable-http" || s.Type == "streamableHttp" {
		s.Type = "http"
	}
	s.Disabled = s.Disabled || off
	s.Roots, s.Sampling = false, false // a profile's to give
	return signed(s, raw)
}

// signed is s with how to sign in at it.
func signed(s profile.Server, raw []byte) (profile.Server, error) {
	var err error
	if s.OAuth, err = signInOf(raw); err != nil {
		return s, err
	}
	return s, checkServer(s)
}

// checkServer says what keeps a server from being one.
func checkServer(s profile.Server) error {
	switch s.Type {
	case "", "stdio":
		if s.Command == "" && s.URL == "" {
			return fmt.Errorf("it has neither a command nor a url")
		}
	case "http", "sse":
		if s.URL == "" {
			return fmt.Errorf("a server of type %s needs a url", s.Type)
		}
	default:
		return fmt.Errorf("the type %q is not known (stdio, http, sse)", s.Type)
	}
	return nil
}
