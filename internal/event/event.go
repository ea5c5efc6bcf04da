// Package event holds what a run says and asks: events, decisions, questions
// and answers. Shapes are those of the event stream, schema version 1; a
// consumer skips types that it does not know.
package event

import (
	"encoding/json"
	"time"
)

// Verdict of a permission decision.
type Verdict string

// The three verdicts.
const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

// Stage names what decided a call, in the order in which stages are asked.
type Stage string

// Refusals, questions, permissions, and what is left.
const (
	StageProtected Stage = "protected"
	StageSecret    Stage = "secret"
	StageCeiling   Stage = "ceiling"
	StageDenyRule  Stage = "deny-rule"
	StageHook      Stage = "hook"
	StagePlan      Stage = "plan"

	StagePlanExit   Stage = "plan-exit"
	StageUndeclared Stage = "undeclared"
	StageOutside    Stage = "outside"
	StageSources    Stage = "sources"
	StageAskRule    Stage = "ask-rule"
	StageNetwork    Stage = "network"

	StageYolo        Stage = "yolo"
	StageReadOnly    Stage = "read-only"
	StageAllowRule   Stage = "allow-rule"
	StageSandbox     Stage = "sandbox"
	StageSafeList    Stage = "safe-list"
	StageAcceptEdits Stage = "accept-edits"
	StageAuto        Stage = "auto"

	StageDefault Stage = "default"
)

// Segment is one part of a shell line and what was decided for it alone.
type Segment struct {
	Text    string  `json:"text"`
	Verdict Verdict `json:"verdict"`
	Stage   Stage   `json:"stage"`
	Rule    string  `json:"rule"`
}

// Decision says what was decided for a call and why.
type Decision struct {
	Tool     string          `json:"tool"`
	Input    json.RawMessage `json:"input"`
	Verdict  Verdict         `json:"verdict"`
	Stage    Stage           `json:"stage"`
	Rule     string          `json:"rule"`   // the rule's text, "" where none decided
	Origin   string          `json:"origin"` // file:line of the rule, "--allow" for a flag, "" where none decided
	Reason   string          `json:"reason"` // one sentence for a person and the model
	Segments []Segment       `json:"segments"`
	// Unanswered marks a question that nobody could be asked.
	Unanswered bool `json:"unanswered,omitempty"`
	// Reasons keeps every reason of the winning step, the named one first.
	Reasons []string `json:"reasons,omitempty"`
	// Judgeable marks a question that a model may answer in mode auto. It is
	// not printed: what is read back from a file is never judgeable.
	Judgeable bool `json:"-"`
}

// Denial is a refused call in a run's result. Agent is "" for the main one.
type Denial struct {
	Decision
	Agent string `json:"agent"`
}

// Question is put to a person. Suggested is the narrowest sensible rule that
// an "always" stores.
type Question struct {
	ID string
	// Agent is the label of the agent that asks, "" for the main one.
	Agent     string
	Decision  Decision
	Suggested string
	// Rules are all that an "always" stores: one for each part of a shell line
	// that asked. The first is Suggested; nil where there is none.
	Rules []string
	// KeptIn is the file that "always" stores them in, "" where it is unknown.
	KeptIn string
	// NoAlways hides "always": an allow rule could not answer this question.
	NoAlways bool
}

// Answer is what the person said. Feedback goes to the model with a denial.
type Answer struct {
	Allow    bool   `json:"allow"`
	Always   bool   `json:"always,omitempty"`
	Feedback string `json:"feedback,omitempty"`
	// Mode is what a yes to exit_plan_mode goes on with: default (also "") or
	// accept-edits. It means nothing elsewhere.
	Mode string `json:"mode,omitempty"`
}

// Event is one line of the stream. Body is one of the structs below; its
// fields are printed beside v, seq, time, type and agent.
type Event struct {
	Seq   int
	Time  time.Time
	Agent string // "" for the main agent
	Body  Body
}

// Body is the part of an event that depends on its type.
type Body interface{ Type() string }

// Version of the event schema and of run's result.
const Version = 1

// PersonaRef names the persona of a run.
type PersonaRef struct {
	ID      string `json:"id"`
	Variant string `json:"variant"`
	Digest  string `json:"digest"`
}

// Usage in tokens.
type Usage struct {
	InputTokens      int `json:"input_tokens"`
	OutputTokens     int `json:"output_tokens"`
	CacheReadTokens  int `json:"cache_read_tokens"`
	CacheWriteTokens int `json:"cache_write_tokens"`
}

// Add gives the sum.
func (u Usage) Add(o Usage) Usage {
	return Usage{u.InputTokens + o.InputTokens, u.OutputTokens + o.OutputTokens,
		u.CacheReadTokens + o.CacheReadTokens, u.CacheWriteTokens + o.CacheWriteTokens}
}

// The bodies. Lists are never null in the output.
type (
	// Init is the first event of a run.
	Init struct {
		SessionID string     `json:"session_id"`
		Persona   PersonaRef `json:"persona"`
		Model     string     `json:"model"`
		Mode      string     `json:"mode"`
		Tools     []string   `json:"tools"`
		Servers   []string   `json:"servers"`
		Skills    []string   `json:"skills"`
		Sandbox   string     `json:"sandbox"`
		Cwd       string     `json:"cwd"`
	}
	// User is the prompt as sent; Typed is what the person typed, where that was
	// another text: it named a command, files, or notes were added. Generated marks text that no person typed: a
	// hook's feedback, a summary, a repair turn.
	User struct {
		Text      string `json:"text"`
		Typed     string `json:"typed,omitempty"`
		Generated bool   `json:"generated,omitempty"`
	}
	// TextDelta and ThinkingDelta are streamed only.
	TextDelta struct {
		Text string `json:"text"`
	}
	// ThinkingDelta is a piece of the model's reasoning.
	ThinkingDelta struct {
		Text string `json:"text"`
	}
	// Assistant is one whole answer of the model.
	Assistant struct {
		Text  string `json:"text"`
		Calls []Call `json:"calls"`
		// Parts gives the answer block by block where text and calls alone could
		// not be replayed: a provider's own blocks, or several texts.
		Parts []Part `json:"parts,omitempty"`
	}
	// Part is one block of an answer; exactly one of Text, Call (a call's id)
	// and Raw is set.
	Part struct {
		Text     string          `json:"text,omitempty"`
		Call     string          `json:"call,omitempty"`
		Provider string          `json:"provider,omitempty"` // of Raw
		Model    string          `json:"model,omitempty"`    // of Raw: the provider's model that it goes back to
		Raw      json.RawMessage `json:"raw,omitempty"`
	}
	// Call is a tool call as the model wrote it; Input is null when it was no
	// JSON, Broken is then what it wrote. Extra is replayed to its provider.
	Call struct {
		ID     string          `json:"id"`
		Tool   string          `json:"tool"`
		Input  json.RawMessage `json:"input"`
		Broken string          `json:"broken,omitempty"`
		Extra  json.RawMessage `json:"extra,omitempty"`
	}
	// Permission is a question and its answer, or a refusal.
	Permission struct {
		ID       string   `json:"id"`
		Decision Decision `json:"decision"`
		Answer   *Answer  `json:"answer,omitempty"`
	}
	// ToolStart is said when a permitted call begins.
	ToolStart struct {
		ID    string          `json:"id"`
		Tool  string          `json:"tool"`
		Input json.RawMessage `json:"input"`
	}
	// ToolEnd is said for every call, refused and broken ones too.
	ToolEnd struct {
		ID       string    `json:"id"`
		Tool     string    `json:"tool"`
		Output   string    `json:"output"`
		IsError  bool      `json:"is_error"`
		Decision *Decision `json:"decision"` // null when the call never reached permission
		MS       int64     `json:"ms"`
		Bytes    int       `json:"bytes"`
		Fault    string    `json:"fault,omitempty"` // unknown_tool, invalid_json, invalid_arguments
		Images   []Image   `json:"images,omitempty"`
	}
	// Image is what a result showed the model; its bytes are not in the stream.
	Image struct {
		MediaType string `json:"media_type"`
		Bytes     int    `json:"bytes"`
	}
	// Hook is said when a hook has run. Effect is allow, deny, ask, block, halt,
	// rewrite, context, error or none; Exit is -1 where there is no exit code.
	Hook struct {
		Event  string `json:"event"`
		Name   string `json:"name"`
		Exit   int    `json:"exit"`
		Effect string `json:"effect"`
		MS     int64  `json:"ms"`
	}
	// Compacted is said when a summary has taken the place of the conversation;
	// Before and After are tokens, estimated.
	Compacted struct {
		Before  int    `json:"before"`
		After   int    `json:"after"`
		Summary string `json:"summary,omitempty"`
	}
	// Aged is said when old results have given way to a line each, to make room.
	Aged struct {
		Results []AgedResult `json:"results"`
	}
	// AgedResult is what stands for a call's result from then on.
	AgedResult struct {
		ID     string `json:"id"`
		Output string `json:"output"`
	}
	// Spent is the "usage" event, one a request.
	Spent struct {
		Model         string   `json:"model"`
		Turn          Usage    `json:"turn"`
		Total         Usage    `json:"total"`
		CostUSD       *float64 `json:"cost_usd"` // null without a price
		ContextTokens int      `json:"context_tokens"`
		ContextWindow int      `json:"context_window"`
	}
	// TaskStart is said when a subagent begins; the event's agent is its label.
	TaskStart struct {
		ID      string `json:"id"`      // task-N, or bg-N in the background
		Persona string `json:"persona"` // its id
		Model   string `json:"model"`   // provider/model
		Status  string `json:"status"`  // running
		Branch  string `json:"branch,omitempty"`
	}
	// TaskEnd is said when it has ended. Status is done, failed or stopped;
	// Branch holds its work where it had a checkout of its own.
	TaskEnd struct {
		ID      string `json:"id"`
		Persona string `json:"persona"`
		Model   string `json:"model"`
		Status  string `json:"status"`
		Branch  string `json:"branch,omitempty"`
	}
	// Notice is something a person should know.
	Notice struct {
		Text string `json:"text"`
		Code string `json:"code,omitempty"`
	}
	// Fault is the "error" event.
	Fault struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	// Result is the last event and the data of run -o json.
	Result struct {
		Schema     int             `json:"schema"`
		Result     string          `json:"result"`
		Structured json.RawMessage `json:"structured,omitempty"`
		StopReason StopReason      `json:"stop_reason"`
		ExitCode   int             `json:"exit_code"`
		SessionID  string          `json:"session_id"`
		Persona    PersonaRef      `json:"persona"`
		Model      string          `json:"model"`
		Turns      int             `json:"turns"`
		Usage      Usage           `json:"usage"`
		CostUSD    *float64        `json:"cost_usd"`
		Denials    []Denial        `json:"denials"`
		Notices    []string        `json:"notices"`
		DurationMS int64           `json:"duration_ms"`
	}
)

// StopReason says why a run ended.
type StopReason string

// The stop reasons.
const (
	StopEndTurn     StopReason = "end_turn"
	StopMaxTokens   StopReason = "max_tokens"
	StopRefusal     StopReason = "refusal"
	StopBlocked     StopReason = "blocked"
	StopHookStopped StopReason = "hook_stopped"
	StopDenied      StopReason = "denied"
	StopBudget      StopReason = "budget"
	StopMaxTurns    StopReason = "max_turns"
	StopLoop        StopReason = "loop"
	StopSchema      StopReason = "schema"
	StopTimeLimit   StopReason = "time_limit"
	StopInterrupted StopReason = "interrupted"
)

// Type names of the bodies.
func (Init) Type() string          { return "init" }
func (User) Type() string          { return "user" }
func (TextDelta) Type() string     { return "text_delta" }
func (ThinkingDelta) Type() string { return "thinking_delta" }
func (Assistant) Type() string     { return "assistant" }
func (Permission) Type() string    { return "permission" }
func (ToolStart) Type() string     { return "tool_start" }
func (ToolEnd) Type() string       { return "tool_end" }
func (Hook) Type() string          { return "hook" }
func (Compacted) Type() string     { return "compacted" }
func (Aged) Type() string          { return "aged" }
func (Spent) Type() string         { return "usage" }
func (TaskStart) Type() string     { return "task_start" }
func (TaskEnd) Type() string       { return "task_end" }
func (Notice) Type() string        { return "notice" }
func (Fault) Type() string         { return "error" }
func (Result) Type() string        { return "result" }

// Said is what the person typed.
func (u User) Said() string {
	if u.Typed != "" {
		return u.Typed
	}
	return u.Text
}
