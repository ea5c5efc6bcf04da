// Package anthropic asks a model over the Anthropic Messages protocol,
// streamed, through the official SDK. The SDK signs, sends and splits the
// stream into events; what the events mean is read here, since its own
// accumulator turns truncated arguments into an empty object.
package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/wire"
)

// BaseURL is Anthropic's own service.
const BaseURL = "https://api.anthropic.com"

// Options of a model. Nothing is read from the environment.
type Options struct {
	Name    string        // the provider's name, as in provider/model
	Model   string        // the provider's own model name
	BaseURL string        // "": BaseURL; a trailing /v1 is taken off, the SDK adds it
	Key     string        // "": none is sent
	HTTP    *http.Client  // nil: wire.Client
	Stall   time.Duration // 0: wire.StallFor; without effect where HTTP is given
}

// New gives a model; no connection is made before the first question.
func New(o Options) model.Model {
	if o.BaseURL == "" {
		o.BaseURL = BaseURL
	}
	o.BaseURL = strings.TrimSuffix(strings.TrimRight(o.BaseURL, "/"), "/v1")
	o.Key = strings.TrimSpace(o.Key) // a file read into a variable ends in a line end
	if o.HTTP == nil {
		o.HTTP = wire.Client(wire.Options{Stall: wire.StallFor(o.BaseURL, o.Stall)})
	}
	opts := []option.RequestOption{
		option.WithBaseURL(o.BaseURL),
		option.WithHTTPClient(o.HTTP),
		option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream"),
	}
	if o.Key != "" {
		// The SDK sends the key as a bearer token only; gateways that stand in
		// for the service look for x-api-key.
		opts = append(opts, option.WithAPIKey(o.Key), option.WithHeader("x-api-key", o.Key))
	}
	return &client{o: o, messages: sdk.NewMessageService(opts...)}
}

type client struct {
	o        Options
	messages sdk.MessageService
}

// Name implements model.Model.
func (c *client) Name() string { return c.o.Name + "/" + c.o.Model }

// Ask implements model.Model.
func (c *client) Ask(ctx context.Context, req model.Request, on func(model.Delta)) (*model.Answer, error) {
	if req.Model == "" {
		req.Model = c.o.Model
	}
	peer := wire.Peer{Model: c.Name(), Key: c.o.Key}
	body, err := encode(c.o.Name, c.Name(), req)
	if err != nil {
		return nil, peer.Fail(ctx, err, "")
	}
	var res *http.Response
	stream := c.messages.NewStreaming(ctx, param.Override[sdk.MessageNewParams](body), option.WithResponseBodyInto(&res))
	if err := stream.Err(); err != nil {
		return nil, peer.Fail(ctx, err, "")
	}
	events := ssestream.NewDecoder(res)
	if events == nil {
		return nil, peer.Fail(ctx, &model.Error{Message: "the answer has no body"}, "")
	}
	defer events.Close()

	a := &answer{provider: c.o.Name, on: on, number: req.Number}
	for !a.done && events.Next() {
		if err := a.event(bytes.TrimSpace(events.Event().Data)); err != nil {
			return nil, peer.Fail(ctx, err, a.said.String())
		}
	}
	if !a.done {
		err := events.Err()
		if err == nil {
			err = wire.Cut(res, a.began)
		}
		return nil, peer.Fail(ctx, err, a.said.String())
	}
	return a.result(req.Model), nil
}

// raw is JSON that is known to be an object.
type raw = map[string]json.RawMessage
