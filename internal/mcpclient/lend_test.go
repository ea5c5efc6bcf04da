//lint:file-ignore SA1019 servers that speak what clients of today know still ask for roots and sampling

package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lender is a server of the official kit whose tools ask the client back.
func lender(t *testing.T) string {
	t.Helper()
	s := mcp.NewServer(&mcp.Implementation{Name: "lender", Version: "1"}, nil)
	text := func(s string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
	}
	mcp.AddTool(s, &mcp.Tool{Name: "where"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		list, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		var uris []string
		for _, root := range list.Roots {
			uris = append(uris, root.URI+"="+root.Name)
		}
		return text(strings.Join(uris, " ")), nil, nil
	})
	type ask struct {
		Texts  []string `json:"texts"`
		Tokens int64    `json:"tokens"`
		Same   bool     `json:"same,omitempty"`  // every message is the user's
		Image  bool     `json:"image,omitempty"` // the last is a picture
	}
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, r *mcp.CallToolRequest, in ask) (*mcp.CallToolResult, any, error) {
		p := &mcp.CreateMessageParams{SystemPrompt: "be brief", MaxTokens: in.Tokens}
		for i, t := range in.Texts {
			m := &mcp.SamplingMessage{Role: "user", Content: &mcp.TextContent{Text: t}}
			if i%2 == 1 && !in.Same {
				m.Role = "assistant"
			}
			if in.Image && i == len(in.Texts)-1 {
				m.Content = &mcp.ImageContent{Data: []byte("x"), MIMEType: "image/png"}
			}
			p.Messages = append(p.Messages, m)
		}
		a, err := r.Session.CreateMessage(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		data, err := json.Marshal(a)
		return text(string(data)), nil, err
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(web.Close)
	return web.URL
}

// TestLend gives a server the directories and the model's answers exactly where
// its configuration says so.
func TestLend(t *testing.T) {
	t.Parallel()
	url := lender(t)
	var asked []Sample
	o := Options{Sample: func(_ context.Context, server string, q Sample) (Sampled, error) {
		if server != "lends" {
			return Sampled{}, errors.New("asked by " + server)
		}
		asked = append(asked, q)
		return Sampled{Text: "forty-two", Model: "m1", Cut: q.Tokens < 10}, nil
	}}
	m := start(t, o, Config{Name: "lends", Type: "http", URL: url, Roots: []string{"/a b/ü", "/c"}, Sampling: true}, Config{Name: "plain", Type: "http", URL: url})
	statusOf(t, m, Connected)
	for _, row := range []struct {
		name, server, tool, args, want string
		fails                          bool
	}{
		{"roots", "lends", "where", `{}`, "file:///a%20b/%C3%BC=ü file:///c=c", false},
		{"no roots", "plain", "where", `{}`, "", false},
		{"a question", "lends", "ask", `{"texts":["q1","a1","q2"],"tokens":100}`, `"text":"forty-two"`, false},
		{"a short answer", "lends", "ask", `{"texts":["q"],"tokens":5}`, `"stopReason":"maxTokens"`, false},
		{"a long answer", "lends", "ask", `{"texts":["q"],"tokens":1000000}`, `"stopReason":"endTurn"`, false},
		{"not by turns", "lends", "ask", `{"texts":["q","q"],"tokens":9,"same":true}`, "alternate", true},
		{"a picture", "lends", "ask", `{"texts":["q"],"tokens":9,"image":true}`, "text only", true},
		{"nothing", "lends", "ask", `{"texts":[],"tokens":9}`, "no message", true},
		{"a flood", "lends", "ask", `{"texts":["` + strings.Repeat("x", maxAsked+1) + `"],"tokens":9}`, "KiB", true},
		{"no question", "plain", "ask", `{"texts":["q"],"tokens":9}`, "sampling", true},
	} {
		r, err := m.Call(t.Context(), row.server, row.tool, json.RawMessage(row.args), false)
		if err != nil || len(r.Content) == 0 {
			t.Errorf("%s: got %+v, %v", row.name, r, err)
			continue
		}
		if got := r.Content[0].Text; !strings.Contains(got, row.want) || row.want == "" && got != "" || r.IsError != row.fails {
			t.Errorf("%s: got %q (error: %t), want %q (error: %t)", row.name, r.Content[0].Text, r.IsError, row.want, row.fails)
		}
	}
	if len(asked) != 3 {
		t.Fatalf("got %d questions, want 3: %+v", len(asked), asked)
	}
	if q := asked[0]; q.System != "be brief" || q.Tokens != 100 || len(q.Messages) != 3 || !q.Messages[1].Assistant || q.Messages[2] != (Said{Text: "q2"}) {
		t.Errorf("got %+v", q)
	}
	if got := asked[2].Tokens; got != maxSample {
		t.Errorf("got %d tokens, want %d at most", got, maxSample)
	}
}
