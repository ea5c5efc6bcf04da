// Package model is one question to a model, streamed: the request, the
// answer and the ways it fails. Providers live in rooms below this one.
package model

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/tool"
)

// Role of a message.
type Role string

// The two roles. Tool results travel in a user message.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one turn of the transcript.
type Message struct {
	Role   Role
	Blocks []Block
}

// Text is what the message says, without its calls, results and pictures.
func (m Message) Text() string {
	var b strings.Builder
	for _, block := range m.Blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}

// Block is one part of a message: exactly one field is set.
type Block struct {
	Text   string
	Call   *Call
	Result *Result
	Image  *tool.Image // in a user message, what a mention attached
	// Raw is a provider's own block (thinking, redacted, unknown fields),
	// replayed unchanged to the provider that sent it and to no other.
	Raw *Raw
}

// Call is a tool call in an assistant message. Input is nil when the model
// wrote no valid JSON object; Broken then holds what it wrote.
type Call struct {
	ID     string
	Tool   string
	Input  json.RawMessage
	Broken string
	// Extra holds unknown fields of the provider's tool call, replayed.
	Extra json.RawMessage
}

// Result answers one call.
type Result struct {
	ID      string
	Tool    string
	Output  string
	IsError bool
	Images  []tool.Image
}

// Raw is an opaque block of one provider. Reasoning is bound to the model that
// reasoned, so it goes back to that one only; "" stands for every model of the
// provider.
type Raw struct {
	Provider string
	Model    string
	JSON     json.RawMessage
}

// Of says whether the block may be sent to this model of this provider.
func (r *Raw) Of(provider, model string) bool {
	return r.Provider == provider && (r.Model == "" || r.Model == model)
}

// Param is one entry of model_params: a literal top-level key of the request
// body and its JSON value.
type Param struct {
	Key   string
	Value json.RawMessage
}

// Request is one question.
type Request struct {
	Model    string // the provider's own model name
	System   string
	Messages []Message // first a user message; roles alternate
	Tools    []tool.Spec
	Params   []Param
	// MaxTokens of the answer, beside what a thinking budget takes; 0: what
	// Params or the provider say. Params that name it too are left out by the
	// asker.
	MaxTokens int
	// CacheKey groups the requests of one conversation for a service that
	// places its prompt cache by a key; the session id. "" names none.
	CacheKey string
	// Number of this request within the run, from 1.
	Number int
}

// Stop is why the model stopped.
type Stop string

// The stop reasons of a provider.
const (
	EndTurn   Stop = "end_turn"
	ToolUse   Stop = "tool_use"
	MaxTokens Stop = "max_tokens"
	Refusal   Stop = "refusal"
	Other     Stop = "other"
)

// Answer is the whole of what the model said.
type Answer struct {
	Message Message
	Stop    Stop
	Usage   event.Usage
	Model   string // as the service names it, else the request's
	// Served is provider/model of the one that answered where it is not the one
	// that was asked; "" means the Model's own Name. Prices go by it.
	Served string
}

// Delta is a streamed piece: of the text, or of the reasoning.
type Delta struct {
	Text     string
	Thinking bool
}

// Model asks one question and streams the answer. Ask calls on (may be nil)
// in order from one goroutine and returns after the last call. A cut or
// half-read answer is an *Error, with the text so far in Partial.
type Model interface {
	Ask(ctx context.Context, req Request, on func(Delta)) (*Answer, error)
	// Name is provider/model.
	Name() string
}

// BareName is the provider's own name of a model: m.Name without its provider.
func BareName(m Model) string {
	if _, name, ok := strings.Cut(m.Name(), "/"); ok {
		return name
	}
	return m.Name()
}

// Error is a failed question.
type Error struct {
	Model      string
	Code       string // SCRIPT_NO_MATCH, KEY_MISSING, or "" for MODEL_FAILED
	Status     int    // HTTP status, 0 without one
	Message    string // redacted: no key, no header
	Retryable  bool
	RetryAfter time.Duration // 0 when the service said nothing
	Overflow   bool          // the context window was exceeded
	Partial    string        // text streamed before the cut
	Cause      error
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("%s: HTTP %d: %s", e.Model, e.Status, e.Message)
	}
	return e.Model + ": " + e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }
