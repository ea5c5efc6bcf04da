package cli

import (
	"context"
	"io"

	"larva.dev/larva/internal/diag"
)

type mcpCmd struct {
	HTTP        *string `name:"http" placeholder:"ADDR" help:"Serve over HTTP at HOST:PORT/mcp instead; port 0 takes a free one."`
	AllowRemote bool    `help:"With --http: let other machines in, with the token."`
}

func (mcpCmd) doc() doc {
	return doc{
		Long: "Speaks the Model Context Protocol: thirteen tools for the registry's operations, the personas as resources and as prompts, and word of every change. A client starts it and talks to it on stdin and stdout; it ends with its input.\n\n" +
			"Over HTTP every request needs the token: Authorization: Bearer TOKEN. It is what LARVA_TOKEN says, else a new one is printed on stderr.",
		Examples: []string{"larva mcp", "larva mcp --http 127.0.0.1:0"},
		Exits:    slowExits(),
	}
}

// Run serves until the client is done, or a signal comes: the exit code tells
// which, and no more is said.
func (c mcpCmd) Run(ctx context.Context, s *session) error {
	switch {
	case c.AllowRemote && c.HTTP == nil:
		return diag.Usage("--allow-remote is for --http")
	case c.HTTP != nil && *c.HTTP == "":
		return diag.Usage("--http is empty").WithHint("larva mcp --http 127.0.0.1:7450, or larva mcp for stdin and stdout")
	}
	defer keepOnBrokenPipe()()
	err := c.serve(ctx, s)
	if err == nil && ctx.Err() != nil {
		s.code = s.asDiag(ctx, ctx.Err()).ExitCode()
	}
	return err
}

func (c mcpCmd) serve(ctx context.Context, s *session) error {
	if c.HTTP != nil {
		return s.app.MCPHTTP(ctx, Version, *c.HTTP, c.AllowRemote, s.listening)
	}
	in, ok := s.process.Stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(s.process.Stdin)
	}
	return s.app.MCP(ctx, Version, in, s.process.Stdout)
}

// listening says where a server stands, and its token once.
func (s *session) listening(url, freshToken string) {
	s.say("listening on %s", url)
	if freshToken != "" {
		s.say("token: %s", freshToken)
	}
}
