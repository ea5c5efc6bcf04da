// Package responses asks a model over the OpenAI Responses protocol, streamed,
// through the official SDK. Nothing is stored at the service: reasoning comes
// encrypted, is kept as opaque blocks and goes back with the transcript. The
// SDK signs, sends and splits the stream into events; what they mean is read
// here, so that items of a later version are kept whole too.
package responses

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	sdk "github.com/openai/openai-go/v3/responses"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/wire"
)

// BaseURL is OpenAI's own service.
const BaseURL = "https://api.openai.com/v1"

// Options of a model; of the base URL a trailing /responses is taken off.
type Options = wire.Service

// New gives a model; no connection is made before the first question.
func New(o Options) model.Model {
	o = o.At(BaseURL, "/responses")
	opts := []option.RequestOption{
		option.WithBaseURL(o.BaseURL),
		option.WithHTTPClient(o.HTTP),
		option.WithMaxRetries(0),
		option.WithHeader("Accept", "text/event-stream"),
	}
	if o.Key != "" {
		opts = append(opts, option.WithAPIKey(o.Key))
	}
	return &client{o: o, service: sdk.NewResponseService(opts...), extras: &wire.Extras{Told: o.Told}}
}

type client struct {
	o       Options
	service sdk.ResponseService
	extras  *wire.Extras
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

// open sends the request, again without what the service refuses to be told.
func (c *client) open(ctx context.Context, req model.Request) (ssestream.Decoder, *http.Response, error) {
	for {
		body, sent, err := encode(c.o, c.extras, req, c.forget.In(len(req.Messages)))
		if err != nil {
			return nil, nil, err
		}
		var res *http.Response
		stream := c.service.NewStreaming(ctx, param.Override[sdk.ResponseNewParams](body), option.WithResponseBodyInto(&res))
		if err := stream.Err(); err != nil {
			if ctx.Err() == nil && (c.learn(err, len(req.Messages)) || c.extras.Learn(err, sent)) {
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

// learn reads a refusal of reasoning that was sent back: another account's, say,
// in a session that is gone on with.
func (c *client) learn(err error, messages int) bool {
	var s *wire.StatusError
	if !errors.As(err, &s) || s.Status != 400 {
		return false
	}
	body := strings.ToLower(string(s.Body))
	if !strings.Contains(body, "invalid_encrypted_content") && !(strings.Contains(body, "encrypted content") && strings.Contains(body, "could not be")) {
		return false
	}
	if !c.forget.Forget(messages) {
		return false
	}
	if c.o.Told != nil {
		c.o.Told("does not take its earlier reasoning back: it is left out")
	}
	return true
}
