package app

import (
	"context"
	"errors"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/mcpclient"
	"larva.dev/larva/internal/model"
)

// sampleTime is what an answer to a server's question may take.
const sampleTime = 2 * time.Minute

// sampler answers a server's question by a model.
type sampler func(ctx context.Context, q mcpclient.Sample) (mcpclient.Sampled, error)

// sample puts a server's question to the run's sampler and says so.
func (c *crew) sample(ctx context.Context, server string, q mcpclient.Sample) (mcpclient.Sampled, error) {
	c.mu.Lock()
	answer, tell := c.sampler, c.tell
	c.mu.Unlock()
	if answer == nil {
		return mcpclient.Sampled{}, errors.New("there is no run whose model could be asked")
	}
	if tell != nil {
		tell(event.Notice{Code: "mcp_sampling", Text: server + " asks the model: " + short(q.Messages[len(q.Messages)-1].Text)})
	}
	ctx, cancel := context.WithTimeout(ctx, sampleTime)
	defer cancel()
	return answer(ctx, q)
}

// sampling gives what answers the servers' questions in a run: a model that
// sees the server's words alone, without tools and without the conversation.
func (a *App) sampling(s *stand, l *agent.Loop) sampler {
	return func(ctx context.Context, q mcpclient.Sample) (mcpclient.Sampled, error) {
		m, err := a.sideModel(ctx, s, "sampling")
		if err != nil {
			return mcpclient.Sampled{}, err
		}
		req := model.Request{Model: model.BareName(m), Number: 1, System: q.System, MaxTokens: q.Tokens}
		for _, said := range q.Messages {
			role := model.User
			if said.Assistant {
				role = model.Assistant
			}
			req.Messages = append(req.Messages, model.Message{Role: role, Blocks: []model.Block{{Text: said.Text}}})
		}
		answer, err := l.Side(ctx, m, req)
		if err != nil {
			return mcpclient.Sampled{}, err
		}
		return mcpclient.Sampled{Text: answer.Message.Text(), Model: answer.Model, Cut: answer.Stop == model.MaxTokens}, nil
	}
}
