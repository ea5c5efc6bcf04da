//lint:file-ignore SA1019 servers that speak what clients of today know still ask for roots and sampling

package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a server may have of the run, each only where its configuration says so:
// the names of the directories (roots), and answers of the model (sampling).

// maxSample is how many tokens one answer to a server may have.
const maxSample = 4096

// maxAsked is how many bytes a server's question may have.
const maxAsked = 256 << 10

// Sample is a server's question to the model: texts only.
type Sample struct {
	System   string
	Messages []Said // first the user's
	Tokens   int    // of the answer, at most
}

// Said is one message of a Sample.
type Said struct {
	Assistant bool
	Text      string
}

// Sampled is the answer.
type Sampled struct {
	Text, Model string
	Cut         bool // by Sample.Tokens
}

// lend puts what the configuration lends into the options of a client, before
// it is made; roots are added to the client after.
func (s *server) lend(o *mcp.ClientOptions) {
	if len(s.c.Roots) > 0 {
		o.Capabilities.RootsV2 = &mcp.RootCapabilities{} // they stay as they are as long as the run lasts
	}
	if s.c.Sampling && s.m.o.Sample != nil {
		o.Capabilities.Sampling = &mcp.SamplingCapabilities{}
		o.CreateMessageHandler = s.sample
	}
}

func (s *server) lendRoots(client *mcp.Client) {
	for _, dir := range s.c.Roots {
		u := url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}
		if filepath.VolumeName(dir) != "" {
			u.Path = "/" + u.Path
		}
		client.AddRoots(&mcp.Root{URI: u.String(), Name: filepath.Base(dir)})
	}
}

// sample answers a server's question. What the server asks for beside the text
// (other servers' context, a model by name) is not given: the person chose.
func (s *server) sample(ctx context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	q := Sample{System: r.Params.SystemPrompt, Tokens: maxSample}
	if n := r.Params.MaxTokens; n > 0 && n < maxSample {
		q.Tokens = int(n)
	}
	size := len(q.System)
	for i, m := range r.Params.Messages {
		text, ok := m.Content.(*mcp.TextContent)
		if !ok {
			return nil, errors.New("larva answers questions of text only")
		}
		if want := m.Role == "assistant"; want && i == 0 || i > 0 && q.Messages[i-1].Assistant == want {
			return nil, errors.New("the messages must alternate, and begin with the user's")
		}
		if size += len(text.Text); size > maxAsked {
			return nil, fmt.Errorf("the question has more than %d KiB", maxAsked>>10)
		}
		q.Messages = append(q.Messages, Said{Assistant: m.Role == "assistant", Text: text.Text})
	}
	if len(q.Messages) == 0 {
		return nil, errors.New("the question has no message")
	}
	a, err := s.m.o.Sample(ctx, s.c.Name, q)
	if err != nil {
		return nil, err
	}
	why := "endTurn"
	if a.Cut {
		why = "maxTokens"
	}
	return &mcp.CreateMessageResult{Content: &mcp.TextContent{Text: a.Text}, Model: a.Model, Role: "assistant", StopReason: why}, nil
}
