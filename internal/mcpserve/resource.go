package mcpserve

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// A persona's resource is persona://ID, a variant's persona://ID/VARIANT.
const (
	scheme          = "persona://"
	personaTemplate = scheme + "{id}"
	variantTemplate = scheme + "{id}/{variant}"
	jsonType        = "application/json"
)

func (s *Server) addTemplates() {
	s.mcp.AddResourceTemplate(personaResource(), s.read)
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "variant", Title: "A variant of a persona", URITemplate: variantTemplate, MIMEType: jsonType,
		Description: "One variant as a whole PersonaSpec in canonical JSON, active or not.",
	}, s.read)
	s.mcp.AddPrompt(anyPrompt(), s.prompt)
}

func personaResource() *mcp.ResourceTemplate {
	return &mcp.ResourceTemplate{
		Name: "persona", Title: "A persona", URITemplate: personaTemplate, MIMEType: jsonType,
		Description: "The active variant as a whole PersonaSpec in canonical JSON.",
	}
}

// parseURI takes a resource's name apart; variant is "" for the active one.
func parseURI(uri string) (id, variant string, ok bool) {
	rest, ok := strings.CutPrefix(uri, scheme)
	if !ok {
		return "", "", false
	}
	id, variant, named := strings.Cut(rest, "/")
	if !spec.ValidID(id) || named && !spec.ValidVariant(variant) {
		return "", "", false
	}
	return id, variant, true
}

// read gives a persona's canonical JSON.
func (s *Server) read(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	text, err := s.text(req.Params.URI)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{
		Contents:  []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: jsonType, Text: text}},
		Cacheable: private(),
	}, nil
}

// text is a resource's content; the error is one of the protocol's.
func (s *Server) text(uri string) (string, error) {
	id, variant, ok := parseURI(uri)
	if !ok {
		return "", mcp.ResourceNotFoundError(uri)
	}
	o, err := s.registry.Resolve(id, variant, nil)
	if err != nil {
		return "", protocolError(uri, diag.As(err))
	}
	return string(spec.AppendCanonical(nil, o)), nil
}
