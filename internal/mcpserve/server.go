// Package mcpserve serves the registry to agents over the Model Context
// Protocol: the operations as tools, the personas as resources and prompts.
// It decides nothing about personas; ops does. What is here is the protocol:
// schemas, results, notifications, and the two ways in, stdio and HTTP.
//
// The official SDK speaks the protocol. Two of its parts are ours: the frames
// on stdio, where a broken line must not end the connection and an end of
// input must not lose answers (stdio.go), and the lists of resources and
// prompts, which are read from the disk when somebody asks instead of being
// kept (list.go).
package mcpserve

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/registry"
)

// Options say what is served.
type Options struct {
	Version  string // of larva
	Registry *registry.Registry
	// Writable is asked before an operation changes anything; nil allows all.
	Writable func(operation string) error
	// Watch runs until ctx ends and calls changed after somebody has changed
	// the registry, with the ids of the personas. nil: nobody is told of changes.
	Watch func(ctx context.Context, changed func(ids []string))
}

// Server is the registry as an MCP server, for any number of clients. It is
// safe for use by many goroutines.
type Server struct {
	registry *registry.Registry
	ops      *ops.Service
	watch    func(ctx context.Context, changed func(ids []string))
	mcp      *mcp.Server
	subs     subscriptions
	// addTools gives the SDK the tools. It reads their schemas three times
	// over, which is left until a call goes through it.
	addTools func()
	visits   visits // of HTTP clients

	life context.Context // ends when the server is told to stop
	end  context.CancelFunc
}

// instructions tell a client's model what this server is for.
const instructions = "larva keeps personas: reusable agents with a prompt, a model and the capabilities they may use. " +
	"Use larva_list to see which there are and larva_resolve to get one whole. " +
	"Before you write one, check it with larva_validate; larva_register stores it, larva_update changes fields of it. " +
	"A persona may have several variants (prompt and model); one of them is active. " +
	"A failed call carries code, message and details: read them before you try again."

// New builds a server. Nothing is read before a client asks.
func New(o Options) *Server {
	life, end := context.WithCancel(context.Background())
	s := &Server{
		life: life, end: end,
		registry: o.Registry,
		ops:      &ops.Service{Registry: o.Registry, Writable: o.Writable},
		watch:    o.Watch,
		visits:   visits{quiet: quietTime},
	}
	s.mcp = mcp.NewServer(
		&mcp.Implementation{Name: "larva", Title: "larva: personas as code", Version: o.Version},
		&mcp.ServerOptions{
			Instructions: instructions,
			Capabilities: &mcp.ServerCapabilities{
				Tools:       &mcp.ToolCapabilities{},
				Resources:   &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true},
				Prompts:     &mcp.PromptCapabilities{ListChanged: true},
				Completions: &mcp.CompletionCapabilities{},
			},
			CompletionHandler:  s.complete,
			SubscribeHandler:   s.subscribe,
			UnsubscribeHandler: s.unsubscribe,
		})
	s.addTools = sync.OnceFunc(func() {
		for _, o := range ops.Operations() {
			s.mcp.AddTool(tool(o), s.call(o))
		}
	})
	s.addTemplates()
	s.addFast()
	s.mcp.AddReceivingMiddleware(s.lists)
	return s
}
