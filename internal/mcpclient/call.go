package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Content is a piece of what a server gives: a text, or bytes of a media type.
type Content struct {
	Text      string
	MediaType string
	Data      []byte
	// URI is where it is from, or of a link what to read; Link says that only
	// that was given.
	URI  string
	Link bool
}

// Result of a call.
type Result struct {
	Content    []Content
	Structured json.RawMessage // null where there is none
	IsError    bool
}

var errUnknown = errors.New("there is no such server")

// Call calls a tool by the server's own name. Where the connection was lost it
// is made again; the call is repeated, once, only if it changes nothing.
func (m *Manager) Call(ctx context.Context, server, tool string, args json.RawMessage, readOnly bool) (Result, error) {
	var out Result
	err := m.with(ctx, server, readOnly, func(ctx context.Context, session *mcp.ClientSession) error {
		p := &mcp.CallToolParams{Name: tool, Arguments: args}
		p.SetProgressToken(tool)
		r, err := session.CallTool(ctx, p)
		if err != nil {
			return err
		}
		out = Result{IsError: r.IsError, Content: contents(r.Content)}
		if r.StructuredContent != nil {
			out.Structured, _ = json.Marshal(r.StructuredContent)
		}
		return nil
	})
	return out, err
}

// Read gives a resource.
func (m *Manager) Read(ctx context.Context, server, uri string) ([]Content, error) {
	var out []Content
	err := m.with(ctx, server, true, func(ctx context.Context, session *mcp.ClientSession) error {
		r, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			return err
		}
		out = nil
		for _, c := range r.Contents {
			out = append(out, Content{Text: c.Text, MediaType: c.MIMEType, Data: c.Blob, URI: c.URI})
		}
		return nil
	})
	return out, err
}

// maxResources of one server are listed.
const maxResources = 500

// Resources lists a server's.
func (m *Manager) Resources(ctx context.Context, server string) ([]Resource, error) {
	var out []Resource
	err := m.with(ctx, server, true, func(ctx context.Context, session *mcp.ClientSession) error {
		out = nil
		for r, err := range session.Resources(ctx, nil) {
			if err != nil {
				return err
			}
			if len(out) == maxResources {
				return nil
			}
			out = append(out, Resource{r.URI, r.Name, r.Description, r.MIMEType})
		}
		for r, err := range session.ResourceTemplates(ctx, nil) {
			if err != nil || len(out) == maxResources {
				return nil // a server may have none
			}
			out = append(out, Resource{r.URITemplate, r.Name, r.Description, r.MIMEType})
		}
		return nil
	})
	return out, err
}

// Expand gives a prompt's text, its messages one after the other.
func (m *Manager) Expand(ctx context.Context, server, prompt string, args map[string]string) ([]Content, error) {
	var out []Content
	err := m.with(ctx, server, true, func(ctx context.Context, session *mcp.ClientSession) error {
		r, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: prompt, Arguments: args})
		if err != nil {
			return err
		}
		out = nil
		for _, msg := range r.Messages {
			out = append(out, contents([]mcp.Content{msg.Content})...)
		}
		return nil
	})
	return out, err
}

// with runs f on a live session, within the time of a call.
func (m *Manager) with(ctx context.Context, name string, again bool, f func(context.Context, *mcp.ClientSession) error) error {
	s := m.find(name)
	if s == nil {
		return errUnknown
	}
	ctx, cancel := context.WithTimeoutCause(ctx, m.o.Call, fmt.Errorf("it did not answer within %s", m.o.Call))
	defer cancel()
	for attempt := 0; ; attempt++ {
		session, err := s.live(ctx)
		if err != nil {
			return err
		}
		err = f(ctx, session)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !lost(err):
			return plain(said(err), s.c)
		}
		why := s.lost(session)
		s.drop(session)
		if !again || attempt > 0 {
			return why
		}
	}
}

// lost is why a connection is gone.
func (s *server) lost(session *mcp.ClientSession) error {
	s.mu.Lock()
	p := s.program
	s.mu.Unlock()
	if p != nil {
		if why := p.why(); why != nil {
			return fmt.Errorf("the connection was lost: %w", why)
		}
	}
	return errors.New("the connection was lost")
}

// lost says that an error is the connection's end and no answer.
func lost(err error) bool {
	var answered *jsonrpc.Error
	if errors.As(err, &answered) {
		return false
	}
	return errors.Is(err, mcp.ErrConnectionClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, io.ErrUnexpectedEOF) ||
		strings.Contains(err.Error(), "connection closed") || strings.Contains(err.Error(), "client is closing") || strings.Contains(err.Error(), "session not found") ||
		strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "connection reset")
}

// said is a server's own error without the SDK's words around it.
func said(err error) error {
	var answered *jsonrpc.Error
	if errors.As(err, &answered) {
		return errors.New(answered.Message)
	}
	return err
}

func contents(list []mcp.Content) []Content {
	var out []Content
	for _, c := range list {
		switch c := c.(type) {
		case *mcp.TextContent:
			out = append(out, Content{Text: c.Text})
		case *mcp.ImageContent:
			out = append(out, Content{MediaType: c.MIMEType, Data: c.Data})
		case *mcp.AudioContent:
			out = append(out, Content{MediaType: c.MIMEType, Data: c.Data})
		case *mcp.ResourceLink:
			out = append(out, Content{URI: c.URI, Text: c.Name, MediaType: c.MIMEType, Link: true})
		case *mcp.EmbeddedResource:
			if c.Resource != nil {
				out = append(out, Content{Text: c.Resource.Text, MediaType: c.Resource.MIMEType, Data: c.Resource.Blob, URI: c.Resource.URI})
			}
		}
	}
	return out
}
