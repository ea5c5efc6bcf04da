package cli

import (
	"context"

	"larva.dev/larva/internal/app"
)

type serverLoginCmd struct {
	Name      string `arg:"" help:"A server, as server list names it." complete:"server"`
	Profile   string `placeholder:"NAME" help:"A profile, by name or path." complete:"profile"`
	NoBrowser bool   `name:"no-browser" help:"Print the address and open nothing."`
}

func (serverLoginCmd) doc() doc {
	return doc{
		Long: "The address to sign in at goes to stderr and opens in your browser, which comes back to a port of this machine; five minutes are allowed for it. " +
			"Tokens are kept in mcp-auth/ of the config directory for you alone, or in the desktop's keyring where there is one, and renewed when they run out. " +
			"A run never opens a browser: it goes on without a server that wants you to sign in, and says so.",
		Examples: []string{"larva server login tracker", "larva server login tracker --no-browser --json"},
		Exits:    plainExits(),
	}
}

// Run signs in.
func (c serverLoginCmd) Run(ctx context.Context, s *session) error {
	in := app.ServerLoginInput{Profile: c.Profile, Name: c.Name, NoBrowser: c.NoBrowser, Say: func(text string) { s.say("%s", text) }}
	out, err := s.app.ServerLogin(ctx, in)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(out)
	}
	s.say("signed in at %s", out.Name)
	return nil
}

type serverLogoutCmd struct {
	Name    string `arg:"" help:"A server, as server list names it." complete:"server"`
	Profile string `placeholder:"NAME" help:"A profile, by name or path." complete:"profile"`
}

func (serverLogoutCmd) doc() doc {
	return doc{
		Long:     "Tells the server to take the tokens back, where it can be told, and removes them here in any case.",
		Examples: []string{"larva server logout tracker", "larva server logout tracker --json"},
		Exits:    plainExits(),
	}
}

// Run signs out.
func (c serverLogoutCmd) Run(ctx context.Context, s *session) error {
	out, err := s.app.ServerLogout(ctx, c.Profile, c.Name)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(out)
	}
	switch {
	case !out.Removed:
		s.say("nobody was signed in at %s", out.Name)
	case !out.Revoked:
		s.say("signed out of %s here; its tokens were not taken back, they end with their time", out.Name)
	default:
		s.say("signed out of %s", out.Name)
	}
	return nil
}
