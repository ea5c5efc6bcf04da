package app

import (
	"context"
	"fmt"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
)

// compactRole is the role whose model summarises.
const compactRole = "compact"

// bound gives a loop what ends and shortens its run: limits, prices, the
// window, the summary's model and the schema of the answer.
func (a *App) bound(ctx context.Context, s *stand, in RunInput, l *agent.Loop, transcript string) error {
	limits := s.eff.Profile.Limits
	l.MaxTurns, l.BudgetUSD, l.BudgetTokens = s.maxTurns(in.MaxTurns), limits.USD, limits.Tokens
	if limits.MaxParallel != nil {
		l.MaxParallel = *limits.MaxParallel
	}
	if limits.Time != "" {
		var err error
		if l.TimeLimit, err = time.ParseDuration(limits.Time); err != nil {
			return diag.New(diag.ProfileInvalid, "limits.time: %v", err).With("origin", s.eff.Origins["limits.time"])
		}
		l.TimeLimit = max(l.TimeLimit, 1) // 0s is no time at all, not no limit
	}
	l.PriceOf = s.eff.PriceOf
	if p := s.eff.PriceOf(s.route.Name()); p != nil {
		l.ContextWindow = p.Window
	}
	// Services that have calls of their own never write them as text.
	l.NoSalvage = s.route.Provider.API == "anthropic" || s.route.Provider.API == "responses"
	l.AnswerSchema = in.JSONSchema
	return a.compaction(ctx, s, l, transcript)
}

// compaction wires the summary: the persona's instruction, the role compact's
// model. One that cannot be asked is no reason to refuse a run that may never
// need it.
func (a *App) compaction(ctx context.Context, s *stand, l *agent.Loop, transcript string) error {
	c := agent.Compaction{Transcript: transcript, Forget: s.forget, Carry: s.shelf.Carry}
	if p := s.persona.CompactionPrompt; p != nil {
		c.Prompt = *p
	}
	route, err := s.sideRoute(compactRole)
	if err == nil && route.Name() != s.route.Name() {
		c.Model, err = a.modelAt(ctx, s, route)
	}
	if err != nil {
		l.Opening = append(l.Opening, fmt.Sprintf("the role %s has no model that can be asked (%v): a long conversation is summarised by %s", compactRole, diag.As(err).Message, s.route.Name()))
	}
	l.Compaction = c
	return nil
}

// checkSchema refuses a schema that no answer could be held to, before
// anything is sent.
func (in RunInput) checkSchema() error {
	if in.JSONSchema == nil {
		return nil
	}
	if err := agent.CheckSchema(in.JSONSchema); err != nil {
		return diag.Usage("--json-schema%s: %v", in.schemaFile(), err).WithHint("a JSON Schema is one object, say {\"type\":\"object\",\"required\":[\"ok\"]}")
	}
	return nil
}

// schemaFile is the schema's file for a message, "" where it came as text.
func (in RunInput) schemaFile() string {
	if in.JSONSchemaFile == "" {
		return ""
	}
	return " " + in.JSONSchemaFile
}
