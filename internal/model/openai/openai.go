// Package openai asks a model over the OpenAI chat completions protocol,
// streamed, through the official SDK, at any base URL: OpenAI, OpenRouter,
// Ollama, LM Studio, vLLM, llama.cpp, Gemini's compatible endpoint. The SDK
// signs, sends and splits the stream into events; what they mean is read here,
// since its types know neither calls without an index nor the fields that the
// other services add.
package openai

import (
	"bytes"
	"context"
	"net/http"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/wire"
)

// BaseURL is OpenAI's own service.
const BaseURL = "https://api.openai.com/v1"

// Options of a model; of the base URL a trailing /chat/completions is taken off.
type Options = wire.Service

// New gives a model; no connection is made before the first question.
func New(o Options) model.Model {
	o = o.At(BaseURL, "/chat/completions")
	opts := []option.RequestOption{
		option.WithBaseURL(o.BaseURL),
		option.WithHTTPClient(o.HTTP),
		option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream"),
	}
	if o.Key != "" {
		opts = append(opts, option.WithAPIKey(o.Key))
	}
	return &client{o: o, chat: sdk.NewChatCompletionService(opts...), extras: &wire.Extras{Told: o.Told}}
}

type client struct {
	o      Options
	chat   sdk.ChatCompletionService
	extras *wire.Extras
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
	// What comes after finish_reason is usage and the end mark: an answer that
	// lacks only those is whole.
	if a.finish == "" {
		err := events.Err()
		if err == nil {
			err = wire.Cut(res, a.began)
		}
		return nil, peer.Fail(ctx, err, a.said.String())
	}
	return a.result(), nil
}

// open sends the request, again without what the service refuses to be told.
func (c *client) open(ctx context.Context, req model.Request) (ssestream.Decoder, *http.Response, error) {
	for {
		e, err := encode(c.o, c.extras, req)
		if err != nil {
			return nil, nil, err
		}
		var res *http.Response
		stream := c.chat.NewStreaming(ctx, param.Override[sdk.ChatCompletionNewParams](e.body), option.WithResponseBodyInto(&res))
		if err := stream.Err(); err != nil {
			if ctx.Err() == nil && c.extras.Learn(err, e.extra) {
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
