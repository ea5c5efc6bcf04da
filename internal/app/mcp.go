package app

import (
	"context"
	"io"
	"runtime/debug"
	"slices"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/loopback"
	"larva.dev/larva/internal/mcpserve"
	"larva.dev/larva/internal/watch"
)

// MCP serves the registry to one client over in and out until in ends or ctx
// does. Inside a larva run the operations that change anything are refused.
func (a *App) MCP(ctx context.Context, version string, in io.ReadCloser, out io.Writer) error {
	s, err := a.mcpServer(version)
	if err != nil {
		return err
	}
	return s.Serve(ctx, in, out)
}

func (a *App) mcpServer(version string) (*mcpserve.Server, error) {
	r, err := a.registry()
	if err != nil {
		return nil, err
	}
	a.spendMemory()
	return mcpserve.New(mcpserve.Options{
		Version:  version,
		Registry: r,
		Watch: func(ctx context.Context, changed func(ids []string)) {
			watch.Watch(ctx, r.Root(), watch.Options{Changed: func(c watch.Change) {
				changed(slices.Concat(c.Added, c.Removed, c.Changed))
			}})
		},
		Writable: a.writableOperation,
	}), nil
}

// heapEnough is where a server's heap is collected more often again: far more
// than it ever holds but for some huge answers at once, which would otherwise
// leave five times their size behind.
const heapEnough = 256 << 20

// spendMemory lets the heap grow before it is collected: a server that holds
// three megabytes would otherwise collect every few milliseconds and lose
// half its rate to it. Whoever sets GOGC knows better.
func (a *App) spendMemory() {
	if a.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
		if a.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(heapEnough)
		}
	}
}

// MCPHTTP serves the registry over HTTP at addr until ctx ends. ready is told
// where, and the token where this start has drawn one: LARVA_TOKEN sets it.
func (a *App) MCPHTTP(ctx context.Context, version, addr string, allowRemote bool, ready func(url, freshToken string)) error {
	s, err := a.mcpServer(version)
	if err != nil {
		return err
	}
	token, fresh, err := loopback.Token(a.Getenv(loopback.TokenVariable))
	if err != nil {
		return err
	}
	l, err := loopback.Listen(ctx, addr, allowRemote)
	if err != nil {
		e := diag.As(err)
		if e.ExitCode() == diag.ExitUsage && e.Hint == "" {
			e.WithHint("larva mcp --http 127.0.0.1:7450; other machines reach it only with --allow-remote")
		}
		return e
	}
	shown := ""
	if fresh {
		shown = token
	}
	ready("http://"+l.Addr().String()+mcpserve.Path, shown)
	return s.ServeHTTP(ctx, l, token, allowRemote)
}
