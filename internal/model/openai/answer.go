package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/model/wire"
)

// answer collects one streamed completion. It belongs to the goroutine that
// reads the stream.
type answer struct {
	provider string
	asked    string // the model's name
	number   int    //  of the request, for ids that the service leaves out
	on       func(model.Delta)

	said    strings.Builder // text and refusal, as streamed
	thought map[string]*strings.Builder
	details []json.RawMessage // reasoning_details, in order
	calls   calls
	size    int // bytes kept

	usage   event.Usage
	model   string
	finish  string
	refused bool
	began   bool
	done    bool
}

type chunk struct {
	Object  string          `json:"object"`
	Model   string          `json:"model"`
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Choices []struct {
		Index  int    `json:"index"`
		Delta  delta  `json:"delta"`
		Finish string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

type delta struct {
	Content   json.RawMessage   `json:"content"` // a string, or a list of parts
	Refusal   json.RawMessage   `json:"refusal"`
	Reasoning json.RawMessage   `json:"reasoning"`
	Thinking  json.RawMessage   `json:"reasoning_content"`
	Details   []json.RawMessage `json:"reasoning_details"`
	Extra     struct {
		Google struct {
			Thought bool `json:"thought"`
		} `json:"google"`
	} `json:"extra_content"`
	Calls []callDelta `json:"tool_calls"`
}

// event takes in the data of one event.
func (a *answer) event(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		a.done = true
		return nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return &model.Error{Message: "the stream holds an event that is no JSON of the protocol: " + err.Error()}
	}
	// Some services send "error": null in every event.
	if c.Object == "error" || len(c.Error) > 0 && string(c.Error) != "null" {
		return wire.Reported(data)
	}
	a.began = true
	if c.Model != "" {
		a.model = c.Model
	}
	if u := c.Usage; u != nil {
		cached := min(u.Details.Cached, u.Prompt)
		a.usage = event.Usage{InputTokens: u.Prompt - cached, OutputTokens: u.Completion, CacheReadTokens: cached}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue // model_params asked for several; one is what a loop can use
		}
		if choice.Finish != "" {
			a.finish = choice.Finish
		}
		if err := a.grow(choice.Delta); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) grow(d delta) error {
	// Where a service sends its reasoning under both names it is the same text.
	if s := text(d.Thinking); s != "" {
		a.think("reasoning_content", s)
	} else if s := text(d.Reasoning); s != "" {
		a.think("reasoning", s)
	}
	for _, part := range d.Details {
		a.details = append(a.details, part)
		a.size += len(part)
	}
	said, err := content(d.Content)
	if err != nil {
		return err
	}
	if d.Extra.Google.Thought { // Gemini's summary of its thoughts: shown, never replayed
		a.show(said)
		said = ""
	}
	a.say(said)
	if s := text(d.Refusal); s != "" {
		a.refused = true
		a.say(s)
	}
	for _, c := range d.Calls {
		n, err := a.calls.add(c)
		if err != nil {
			return err
		}
		a.size += n
	}
	if a.size > wire.MaxContent {
		return wire.ErrTooLarge
	}
	return nil
}

// content is the text of a delta: a string, or text parts in a list.
func content(v json.RawMessage) (string, error) {
	if len(v) == 0 || string(v) == "null" {
		return "", nil
	}
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(v, &parts); err != nil {
		return "", &model.Error{Message: "the stream holds content that is neither text nor a list of parts"}
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Type == "text" || p.Type == "" {
			b.WriteString(p.Text)
		}
	}
	return b.String(), nil
}

func (a *answer) say(s string) {
	if s == "" {
		return
	}
	a.size += len(s)
	a.said.WriteString(s)
	if a.on != nil {
		a.on(model.Delta{Text: s})
	}
}

func (a *answer) think(field, s string) {
	if a.thought == nil {
		a.thought = map[string]*strings.Builder{}
	}
	if a.thought[field] == nil {
		a.thought[field] = &strings.Builder{}
	}
	a.size += len(s)
	a.thought[field].WriteString(s)
	a.show(s)
}

func (a *answer) show(thought string) {
	if thought != "" && a.on != nil {
		a.on(model.Delta{Text: thought, Thinking: true})
	}
}

// result is the whole answer.
func (a *answer) result() *model.Answer {
	out := &model.Answer{Message: model.Message{Role: model.Assistant}, Usage: a.usage, Model: a.model}
	if out.Model == "" {
		out.Model = a.asked
	}
	if r := a.reasoning(); r != nil {
		out.Message.Blocks = append(out.Message.Blocks, model.Block{Raw: r})
	}
	if a.said.Len() > 0 {
		out.Message.Blocks = append(out.Message.Blocks, model.Block{Text: a.said.String()})
	}
	calls := a.calls.finished(a.provider, a.asked, a.number)
	for i := range calls {
		out.Message.Blocks = append(out.Message.Blocks, model.Block{Call: &calls[i]})
	}
	out.Stop = stop(a.finish, a.refused, len(calls) > 0)
	return out
}

// reasoning is what the service may want to see again, under its own names.
func (a *answer) reasoning() *model.Raw {
	fields := map[string]any{}
	for k, b := range a.thought {
		fields[k] = b.String()
	}
	if len(a.details) > 0 {
		fields["reasoning_details"] = a.details
	}
	if len(fields) == 0 {
		return nil
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return nil
	}
	return &model.Raw{Provider: a.provider, Model: a.asked, JSON: data}
}

// stop maps the finish reason. Several services say "stop" beside calls, and
// Gemini its own names in capitals.
func stop(finish string, refused, calls bool) model.Stop {
	finish = strings.ToLower(finish)
	switch finish {
	case "content_filter", "safety", "prohibited_content", "blocklist", "recitation", "refusal":
		refused = true
	}
	switch {
	case refused:
		return model.Refusal
	case finish == "length" || finish == "max_tokens":
		return model.MaxTokens
	case calls:
		return model.ToolUse
	}
	switch finish {
	case "stop", "tool_calls", "function_call", "end_turn", "eos":
		return model.EndTurn
	}
	return model.Other
}
