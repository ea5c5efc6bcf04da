// Package anthropic asks a model over the Anthropic Messages protocol,
// streamed, through the official SDK. The SDK signs, sends and splits the
// stream into events; what the events mean is read here, since its own
// accumulator turns truncated arguments into an empty object.
package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/wire"
)

// BaseURL is Anthropic's own service.
const BaseURL = "https://api.anthropic.com"

// Options of a model; of the base URL a trailing /v1 is taken off, the SDK adds it.
type Options = wire.Service

// New gives a model; no connection is made before the first question.
func New(o Options) model.Model {
	o = o.At(BaseURL, "/v1")
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
	return &client{o: o, service: sdk.NewMessageService(opts...), extras: &wire.Extras{Told: o.Told}}
}

type client struct {
	o       Options
	service sdk.MessageService
	extras  *wire.Extras
	clash   sync.Once
	forget  wire.Forgetting
}

// Name implements model.Model.
func (c *client) Name() string { return c.o.Name + "/" + c.o.Model }

// Ask implements model.Model.
func (c *client) Ask(ctx context.Context, req model.Request, on func(model.Delta)) (*model.Answer, error) {
	if req.Model == "" {
		req.Model = c.o.Model
	}
	peer := wire.Peer{Model: c.Name(), Key: c.o.Key}
	events, res, err := c.open(ctx, req)
	if err != nil {
		return nil, peer.Fail(ctx, err, "")
	}
	defer events.Close()

	a := &answer{provider: c.o.Name, asked: req.Model, on: on, number: req.Number}
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
	return a.result(), nil
}

// raw is JSON that is known to be an object.
type raw = map[string]json.RawMessage

// interleavedBeta lets models of the fourth generation think between calls.
const interleavedBeta = "interleaved-thinking-2025-05-14"

// open sends the request, again without what the service refuses to be told.
func (c *client) open(ctx context.Context, req model.Request) (ssestream.Decoder, *http.Response, error) {
	for {
		e, err := encode(c.o, c.extras, req, c.forget.In(len(req.Messages)))
		if err != nil {
			return nil, nil, err
		}
		if e.clash != "" && c.o.Told != nil {
			c.clash.Do(func() { c.o.Told("is not told the effort: " + e.clash + " of model_params rules thinking out") })
		}
		var res *http.Response
		opts := []option.RequestOption{option.WithResponseBodyInto(&res)}
		if e.interleaved && c.o.BaseURL == BaseURL {
			opts = append(opts, option.WithHeaderAdd("anthropic-beta", interleavedBeta))
		}
		stream := c.service.NewStreaming(ctx, param.Override[sdk.MessageNewParams](e.body), opts...)
		if err := stream.Err(); err != nil {
			if ctx.Err() == nil && (c.learn(err, e.own, len(req.Messages)) || c.extras.Learn(err, e.extra)) {
				continue
			}
			return nil, nil, err
		}
		if events := ssestream.NewDecoder(res); events != nil {
			return events, res, nil
		}
		return nil, nil, &model.Error{Message: "the answer has no body"}
	}
}

// learn reads a refusal of thoughts that were sent back: they are bound to the
// conversation in which they were had, and that may have been shortened since.
func (c *client) learn(err error, own, messages int) bool {
	var s *wire.StatusError
	if own == 0 || !errors.As(err, &s) || s.Status != 400 {
		return false
	}
	body := strings.ToLower(string(s.Body))
	if !strings.Contains(body, "thinking") || !strings.Contains(body, "signature") && !strings.Contains(body, "messages.") {
		return false
	}
	if !c.forget.Forget(messages) {
		return false
	}
	if c.o.Told != nil {
		c.o.Told("does not take its earlier thoughts back: they are left out")
	}
	return true
}
