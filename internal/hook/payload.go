package hook

import (
	"bytes"
	"encoding/json"

	"larva.dev/larva/internal/tool"
)

// Payload is what a hook reads: the event. Fields that an event does not have
// are left out.
type Payload struct {
	SessionID      string          `json:"session_id"`
	TranscriptPath string          `json:"transcript_path"`
	Cwd            string          `json:"cwd"`
	Event          string          `json:"hook_event_name"`
	PermissionMode string          `json:"permission_mode"`
	Source         *string         `json:"source,omitempty"`
	Prompt         *string         `json:"prompt,omitempty"`
	ToolName       string          `json:"tool_name,omitempty"` // our name
	ToolInput      json.RawMessage `json:"tool_input,omitempty"`
	ToolUseID      *string         `json:"tool_use_id,omitempty"`
	ToolResponse   *Response       `json:"tool_response,omitempty"`
	Error          *string         `json:"error,omitempty"`
	StopHookActive *bool           `json:"stop_hook_active,omitempty"`
	AgentID        string          `json:"agent_id,omitempty"`
	AgentType      string          `json:"agent_type,omitempty"`
	Trigger        *string         `json:"trigger,omitempty"`
	Message        *string         `json:"message,omitempty"`
	Reason         *string         `json:"reason,omitempty"`
}

// Response is a tool's result.
type Response struct {
	Output  string `json:"output"`
	IsError bool   `json:"is_error"`
}

// payload begins the event's payload with what all have.
func (r *Runner) payload(event string) Payload {
	p := Payload{SessionID: r.o.Session, TranscriptPath: r.o.Transcript, Cwd: r.o.Cwd, Event: event,
		AgentID: r.agent.ID, AgentType: r.agent.Type}
	if r.o.Mode != nil {
		p.PermissionMode = r.o.Mode()
	}
	return p
}

func (r *Runner) toolPayload(event string, c tool.Call) Payload {
	p := r.payload(event)
	p.ToolName, p.ToolInput, p.ToolUseID = c.Tool, c.Input, &c.ID
	if len(p.ToolInput) == 0 {
		p.ToolInput = json.RawMessage("{}")
	}
	return p
}

// JSON is the payload on one line, without HTML escapes: scripts look for
// characters as they are.
func (p Payload) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// subject is what a matcher meets.
func (p Payload) subject() string {
	switch p.Event {
	case SessionStart:
		return deref(p.Source)
	case PreCompact, PostCompact:
		return deref(p.Trigger)
	case SubagentStart, SubagentStop:
		return p.AgentType
	case SessionEnd:
		return deref(p.Reason)
	}
	return p.ToolName
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
