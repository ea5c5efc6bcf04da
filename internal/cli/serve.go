package cli

import (
	"context"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
)

type serveCmd struct {
	Port   int  `default:"7400" placeholder:"PORT" help:"The port on 127.0.0.1; 0 takes a free one."`
	NoOpen bool `name:"no-open" help:"Do not open the browser."`
}

func (serveCmd) doc() doc {
	return doc{
		Long: "Serves the registry as a page and as REST (docs/reference/rest.md) to this machine alone, and prints the address. Ctrl-C stops it.\n\n" +
			"Requests that change anything need the token: Authorization: Bearer TOKEN. It is what LARVA_TOKEN says, else a new one is printed on stderr; the page has it.",
		Examples: []string{"larva serve --port 0", "larva serve --port 0 --no-open --json"},
		Exits:    slowExits(),
	}
}

// Run serves until a signal comes, which is how it is meant to end: the exit
// code tells, and no more is said.
func (c serveCmd) Run(ctx context.Context, s *session) error {
	if c.Port < 0 || c.Port > 65535 {
		return diag.Usage("--port must be a number from 0 to 65535")
	}
	defer keepOnBrokenPipe()()
	err := s.app.Serve(ctx, app.ServeInput{Port: c.Port, Open: !c.NoOpen, Ready: s.serving, Say: func(line string) { s.say("%s", line) }})
	if err == nil && ctx.Err() != nil {
		s.code = s.asDiag(ctx, ctx.Err()).ExitCode()
	}
	return err
}

// serving prints the address at once: who started the server waits for it.
func (s *session) serving(url, freshToken string) error {
	if s.json() {
		if err := s.data(map[string]any{"url": url}); err != nil {
			return err
		}
	} else {
		s.line("%s", url)
	}
	if freshToken != "" {
		s.say("token: %s", freshToken)
	}
	return s.out.Flush()
}
