package mcpserve

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// subscriptions remember what each resource that somebody has subscribed to
// looked like, so that only a change of its content is told. It grows with
// the resources that were ever subscribed to, not with the clients.
type subscriptions struct {
	mu   sync.Mutex
	seen map[string]string // URI → content; "" where it cannot be read
}

// maxSubscriptions bounds the resources; ten thousand personas fit.
const maxSubscriptions = 20000

// subscribe also takes what is not there yet: its coming is a change. (A
// refusal would also cost a client of the newest protocol its word of lists:
// the SDK ends all that a session listens to with the first listen that fails.)
func (s *Server) subscribe(_ context.Context, req *mcp.SubscribeRequest) error {
	uri := req.Params.URI
	if _, _, ok := parseURI(uri); !ok {
		return mcp.ResourceNotFoundError(uri)
	}
	text, _ := s.text(uri)
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	if s.subs.seen == nil {
		s.subs.seen = map[string]string{}
	}
	if _, ok := s.subs.seen[uri]; !ok {
		if len(s.subs.seen) >= maxSubscriptions {
			return invalid("there are too many subscriptions")
		}
		s.subs.seen[uri] = text
	}
	return nil
}

// unsubscribe keeps what was seen: others may watch the same resource.
func (s *Server) unsubscribe(context.Context, *mcp.UnsubscribeRequest) error { return nil }

// changed tells every client that the lists are out of date, and those who
// subscribed to a resource whose content is another one now.
func (s *Server) changed(ctx context.Context, ids []string) {
	s.mcp.AddResourceTemplate(personaResource(), s.read)
	s.mcp.AddPrompt(anyPrompt(), s.prompt)
	for _, uri := range s.differing(ids) {
		_ = s.mcp.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: uri}) // never fails in this SDK
	}
}

// differing lists the subscribed resources of ids whose content has changed.
func (s *Server) differing(ids []string) (uris []string) {
	changed := map[string]bool{}
	for _, id := range ids {
		changed[id] = true
	}
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	for uri, before := range s.subs.seen {
		id, _, _ := parseURI(uri)
		if !changed[id] {
			continue
		}
		now, _ := s.text(uri)
		if now != before {
			s.subs.seen[uri] = now
			uris = append(uris, uri)
		}
	}
	return uris
}

// follow tells the clients of changes until ctx ends.
func (s *Server) follow(ctx context.Context) {
	if s.watch == nil {
		return
	}
	s.watch(ctx, func(ids []string) { s.changed(ctx, ids) })
}
