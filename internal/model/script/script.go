// Package script is a model that answers from a written scenario, offline. It
// can only say what a model could say: text and tool calls, which the loop
// judges like any other's.
package script

import (
	"context"
	"fmt"
	"regexp"
	"sync"
	"time"

	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/profile"
)

// New makes a model of a scenario; name is its provider/model. An expression
// or a template that does not read is an error that names the turn, from 1.
func New(name string, s profile.Scenario) (model.Model, error) {
	m := &script{name: name}
	for i, t := range s.Turns {
		c, err := compile(t)
		if err != nil {
			return nil, fmt.Errorf("%s: turn %d: %w", name, i+1, err)
		}
		m.turns = append(m.turns, c)
	}
	m.used = make([]bool, len(m.turns))
	return m, nil
}

type script struct {
	name  string
	turns []turn

	mu   sync.Mutex
	used []bool // guarded by mu; turns that repeat never become used
	asks int    // guarded by mu
}

type turn struct {
	user, tool, result *regexp.Regexp // nil holds always
	number             int
	text               template
	calls              []call
	failure            *profile.ScriptFailure
	repeat             bool
}

type call struct {
	tool  string
	input tree
}

func compile(t profile.Turn) (turn, error) {
	c := turn{number: t.When.Turn, failure: t.Error, repeat: t.Repeat}
	if t.When.Turn < 0 {
		return c, fmt.Errorf("when.turn: %d is no number of a request; they count from 1", t.When.Turn)
	}
	for _, x := range []struct {
		field, source string
		to            **regexp.Regexp
	}{{"user", t.When.User, &c.user}, {"tool", t.When.Tool, &c.tool}, {"result", t.When.Result, &c.result}} {
		if x.source == "" {
			continue
		}
		re, err := regexp.Compile(x.source)
		if err != nil {
			return c, fmt.Errorf("when.%s: %w", x.field, err)
		}
		*x.to = re
	}
	if t.Error != nil {
		if t.Text != "" || len(t.Calls) > 0 {
			return c, fmt.Errorf("error stands alone: a failed request has neither text nor calls")
		}
		if t.Error.Status < 400 || t.Error.Status > 599 {
			return c, fmt.Errorf("error.status: %d is no failure; use 400 to 599", t.Error.Status)
		}
		if t.Error.RetryAfter < 0 {
			return c, fmt.Errorf("error.retry_after: %d seconds are less than none", t.Error.RetryAfter)
		}
	}
	var err error
	if c.text, err = parse(t.Text); err != nil {
		return c, fmt.Errorf("text: %w", err)
	}
	for i, sc := range t.Calls {
		if sc.Tool == "" {
			return c, fmt.Errorf("calls.%d: no tool is named", i)
		}
		input, err := parseTree(sc.Input)
		if err != nil {
			return c, fmt.Errorf("calls.%d.input: %w", i, err)
		}
		c.calls = append(c.calls, call{sc.Tool, input})
	}
	return c, nil
}

// Name implements model.Model.
func (m *script) Name() string { return m.name }

// Ask implements model.Model: the first unused turn whose conditions hold
// answers. Usage is zero, since nothing was spent.
func (m *script) Ask(ctx context.Context, req model.Request, on func(model.Delta)) (*model.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, &model.Error{Model: m.name, Message: "interrupted: " + err.Error(), Cause: err}
	}
	if err := model.CheckParams(m.name, req.Params); err != nil {
		return nil, err
	}
	at := look(req)
	i, number, reasons := m.take(&at)
	if i < 0 {
		return nil, noMatch(m.name, at, reasons)
	}
	t := m.turns[i]
	if f := t.failure; f != nil {
		after := time.Duration(f.RetryAfter) * time.Second
		return nil, model.Refused(m.name, f.Status, "", fmt.Sprintf("turn %d of the script plays this failure", i+1), after)
	}
	a, err := t.answer(number, at)
	if err != nil {
		return nil, &model.Error{Model: m.name, Code: codeNoMatch, Message: fmt.Sprintf("request %d: turn %d: %s", number, i+1, err)}
	}
	a.Model = req.Model
	for _, b := range a.Message.Blocks {
		if said, err := stream(ctx, b.Text, on); err != nil {
			return nil, &model.Error{Model: m.name, Message: "interrupted: " + err.Error(), Partial: said, Cause: err}
		}
	}
	return a, nil
}

// take finds the turn for a request and uses it up; index -1 comes with what
// failed in each turn.
func (m *script) take(at *moment) (index, number int, reasons []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asks++
	if at.number == 0 {
		at.number = m.asks
	}
	for i, t := range m.turns {
		if m.used[i] {
			continue
		}
		why := t.fails(*at)
		if why == "" {
			m.used[i] = !t.repeat
			return i, at.number, nil
		}
		reasons = append(reasons, fmt.Sprintf("turn %d: %s", i+1, why))
	}
	return -1, at.number, reasons
}

func (t turn) answer(number int, at moment) (*model.Answer, error) {
	a := &model.Answer{Message: model.Message{Role: model.Assistant}, Stop: model.EndTurn}
	room := maxExpanded
	said, err := t.text.expand(at, &room)
	if err != nil {
		return nil, fmt.Errorf("text: %w", err)
	}
	if said != "" {
		a.Message.Blocks = append(a.Message.Blocks, model.Block{Text: said})
	}
	for i, c := range t.calls {
		input, err := expand(c.input, at, &room)
		if err != nil {
			return nil, fmt.Errorf("calls.%d.input: %w", i, err)
		}
		a.Message.Blocks = append(a.Message.Blocks, model.Block{Call: &model.Call{
			ID: fmt.Sprintf("call_%d_%d", number, i+1), Tool: c.tool, Input: input,
		}})
		a.Stop = model.ToolUse
	}
	return a, nil
}

// stream says a text in up to four pieces, cut between runes, so that what
// reads the stream sees one. It gives what was said when ctx ended.
func stream(ctx context.Context, text string, on func(model.Delta)) (said string, err error) {
	runes := []rune(text)
	size := (len(runes) + 3) / 4
	for len(runes) > 0 {
		if err := ctx.Err(); err != nil {
			return said, err
		}
		piece := string(runes[:min(size, len(runes))])
		if on != nil {
			on(model.Delta{Text: piece})
		}
		said += piece
		runes = runes[min(size, len(runes)):]
	}
	return said, nil
}
