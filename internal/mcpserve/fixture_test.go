package mcpserve

//lint:file-ignore SA1019 the conformance suite asks for logging and sampling as long as a protocol has them

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fixtureServer has the tools, prompts and resources that the conformance
// runner asks for by name, behind our own way in.
func fixtureServer() *Server {
	m := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		},
	})
	fixtureTools(m)
	fixtureResources(m)
	fixturePrompts(m)
	s := &Server{mcp: m, addTools: func() {}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

func words(format string, args ...any) mcp.Content {
	return &mcp.TextContent{Text: fmt.Sprintf(format, args...)}
}

func image() mcp.Content {
	return &mcp.ImageContent{Data: []byte("\x89PNG\r\n"), MIMEType: "image/png"}
}

func embedded(uri string) mcp.Content {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "embedded"}}
}

func gives(content ...mcp.Content) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}

func fixtureTools(m *mcp.Server) {
	for name, h := range map[string]mcp.ToolHandler{
		"test_simple_text":            gives(words("plain")),
		"test_image_content":          gives(image()),
		"test_audio_content":          gives(&mcp.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"}),
		"test_embedded_resource":      gives(embedded("test://embedded-resource")),
		"test_multiple_content_types": gives(words("several"), image(), embedded("test://mixed-content-resource")),
		"test_tool_with_logging":      logs,
		"test_tool_with_progress":     progresses,
		"test_sampling":               samples,
		"test_elicitation":            elicits(`{"username":{"type":"string"},"email":{"type":"string"}}`),
		"test_elicitation_sep1034_defaults": elicits(`{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},
			"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
			"verified":{"type":"boolean","default":true}}`),
		"test_elicitation_sep1330_enums": elicits(`{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
			"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"One"},{"const":"value2","title":"Two"},{"const":"value3","title":"Three"}]},
			"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["One","Two","Three"]},
			"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
			"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"One"},{"const":"value2","title":"Two"},{"const":"value3","title":"Three"}]}}}`),
		"test_error_handling": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			r := &mcp.CallToolResult{}
			r.SetError(errors.New("it fails, as it is meant to"))
			return r, nil
		},
	} {
		m.AddTool(&mcp.Tool{Name: name, Description: "A fixture.", InputSchema: json.RawMessage(`{"type":"object"}`)}, h)
	}
}

func logs(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, line := range []string{"begun", "under way", "done"} {
		if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: line}); err != nil {
			return nil, err
		}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{words("logged")}}, nil
}

func progresses(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if token := req.Params.GetProgressToken(); token != nil {
		for _, n := range []float64{0, 50, 100} {
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Total: 100}); err != nil {
				return nil, err
			}
		}
	}
	return &mcp.CallToolResult{Content: []mcp.Content{words("progressed")}}, nil
}

func samples(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	r, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
		MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: words("Say it.")}}})
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{r.Content}}, nil
}

func elicits(properties string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		r, err := req.Session.Elicit(ctx, &mcp.ElicitParams{
			Message: "Which?", RequestedSchema: json.RawMessage(`{"type":"object","properties":` + properties + `}`)})
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{words("%s %v", r.Action, r.Content)}}, nil
	}
}

func fixtureResources(m *mcp.Server) {
	m.AddResource(&mcp.Resource{Name: "text", URI: "test://static-text", MIMEType: "text/plain"}, resource(mcp.ResourceContents{Text: "static"}))
	m.AddResource(&mcp.Resource{Name: "binary", URI: "test://static-binary", MIMEType: "image/png"}, resource(mcp.ResourceContents{Blob: []byte("\x89PNG")}))
	m.AddResource(&mcp.Resource{Name: "watched", URI: "test://watched-resource", MIMEType: "text/plain"}, resource(mcp.ResourceContents{Text: "watched"}))
	m.AddResourceTemplate(&mcp.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.Split(req.Params.URI, "/")[3]
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: `{"id":"` + id + `"}`}}}, nil
		})
}

func resource(c mcp.ResourceContents) mcp.ResourceHandler {
	return func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		c := c
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
	}
}

func fixturePrompts(m *mcp.Server) {
	for name, p := range map[string]struct {
		arguments []string
		messages  func(map[string]string) []mcp.Content
	}{
		"test_simple_prompt": {nil, func(map[string]string) []mcp.Content { return []mcp.Content{words("simple")} }},
		"test_prompt_with_arguments": {[]string{"arg1", "arg2"}, func(a map[string]string) []mcp.Content {
			return []mcp.Content{words("%s and %s", a["arg1"], a["arg2"])}
		}},
		"test_prompt_with_embedded_resource": {[]string{"resourceUri"}, func(a map[string]string) []mcp.Content {
			return []mcp.Content{embedded(a["resourceUri"]), words("What is it?")}
		}},
		"test_prompt_with_image": {nil, func(map[string]string) []mcp.Content { return []mcp.Content{image(), words("What is it?")} }},
	} {
		prompt := &mcp.Prompt{Name: name, Description: "A fixture."}
		for _, a := range p.arguments {
			prompt.Arguments = append(prompt.Arguments, &mcp.PromptArgument{Name: a, Required: true})
		}
		m.AddPrompt(prompt, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			r := &mcp.GetPromptResult{}
			for _, c := range p.messages(req.Params.Arguments) {
				r.Messages = append(r.Messages, &mcp.PromptMessage{Role: "user", Content: c})
			}
			return r, nil
		})
	}
}
