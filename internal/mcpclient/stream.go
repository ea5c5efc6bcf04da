package mcpclient

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// stream is the transport of event streams. The SDK's ends the stream with the
// context that it was opened under; ours may have a deadline for opening alone.
// The stream lives until its connection is closed.
type stream struct{ mcp.SSEClientTransport }

func (t *stream) Connect(ctx context.Context) (mcp.Connection, error) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	opened := context.AfterFunc(ctx, end)
	c, err := t.SSEClientTransport.Connect(life)
	if !opened() && err == nil {
		c.Close()
		err = context.Cause(ctx)
	}
	if err != nil {
		end()
		return nil, err
	}
	return streaming{c, end}, nil
}

type streaming struct {
	mcp.Connection
	end context.CancelFunc
}

func (s streaming) Close() error {
	defer s.end()
	return s.Connection.Close()
}
