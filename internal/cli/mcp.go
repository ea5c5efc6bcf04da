package cli

import (
	"context"
	"io"
)

type mcpCmd struct{}

func (mcpCmd) doc() doc {
	return doc{
		Long:     "Speaks the Model Context Protocol: thirteen tools for the registry's operations, the personas as resources and as prompts, and word of every change. A client starts it and talks to it on stdin and stdout; it ends with its input.",
		Examples: []string{"larva mcp", "larva mcp --http 127.0.0.1:7450"},
		Exits:    plainExits(),
	}
}

// Run serves until the client is done.
func (c mcpCmd) Run(ctx context.Context, s *session) error {
	defer keepOnBrokenPipe()()
	in, ok := s.process.Stdin.(io.ReadCloser)
	if !ok {
		in = io.NopCloser(s.process.Stdin)
	}
	return s.app.MCP(ctx, Version, in, s.process.Stdout)
}
