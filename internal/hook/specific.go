package hook

import (
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/spec"
)

// idle are fields of Claude Code's format that have no effect here.
var idle = map[string]bool{"sessionTitle": true, "suppressOriginalPrompt": true, "initialUserMessage": true, "watchPaths": true,
	"reloadSkills": true, "retry": true, "worktreePath": true}

// readSpecific reads hookSpecificOutput. Without the right hookEventName it is
// void as a whole: nobody knows what it was meant for.
func (s *Says) readSpecific(p power, ev string, o *spec.Object) {
	f := fields{s, o, "hookSpecificOutput."}
	switch name := f.text("hookEventName"); {
	case f.wrong("hookEventName"):
		return
	case name == "":
		s.fault(`hookSpecificOutput needs "hookEventName":%q, without it nothing in it counts`, ev)
		return
	case name != ev:
		s.fault("hookSpecificOutput speaks of %q, this is %s: nothing in it counts", clip(name, 60), ev)
		return
	}
	known := []string{"hookEventName"}
	if p.verdict {
		known = append(known, "permissionDecision", "permissionDecisionReason", "updatedInput")
		s.readVerdict(f)
		s.readInput(f)
	}
	if p.behavior {
		known = append(known, "decision")
		s.readBehavior(o)
	}
	if p.context {
		known = append(known, "additionalContext")
		s.Context = f.text("additionalContext")
	}
	if ev == PostToolUse || ev == PostToolUseFailure {
		known = append(known, "updatedToolOutput", "updatedMCPToolOutput")
		s.readResult(f)
	}
	for _, m := range o.Members {
		switch {
		case contains(known, m.Key):
		case idle[m.Key], m.Key == "additionalContext":
			s.Told = append(s.Told, "hookSpecificOutput."+m.Key+" has no effect here")
		default:
			s.unknown(m.Key, known)
		}
	}
}

func (s *Says) readVerdict(f fields) {
	v, ok := f.o.Get("permissionDecision")
	if !ok {
		return
	}
	d, reason := f.text("permissionDecision"), f.text("permissionDecisionReason")
	if s.Verdict == event.Deny {
		return // "block" beside it: deny wins
	}
	switch d {
	case "allow", "ask", "deny":
		s.Verdict, s.Reason = event.Verdict(d), reason
	case "defer":
		// There is nobody who could take the call up later: it is refused and
		// the run ends, which is what defer does to the run.
		s.Verdict, s.Reason = event.Deny, oneOf(reason, "the hook deferred the call")
		s.Halt = oneOf(s.Halt, s.Reason)
	default:
		if _, isText := v.(string); isText || v == nil {
			s.fault("permissionDecision is allow, deny or ask, got %q", clip(d, 60))
		}
	}
	if s.Verdict == event.Deny && s.Reason == "" {
		s.Reason = stock
	}
}

func (s *Says) readInput(f fields) {
	v, ok := f.o.Get("updatedInput")
	if !ok || v == nil {
		return
	}
	if _, isObject := v.(*spec.Object); !isObject {
		s.fault("updatedInput must be an object")
		return
	}
	s.Input = raw(v)
}

// readBehavior reads PermissionRequest's decision: {behavior, message, …}.
func (s *Says) readBehavior(o *spec.Object) {
	v, ok := o.Get("decision")
	if !ok {
		return
	}
	d, isObject := v.(*spec.Object)
	if !isObject {
		s.fault(`decision must be an object: {"behavior":"allow"} or {"behavior":"deny","message":…}`)
		return
	}
	f := fields{s, d, "decision."}
	message := f.text("message")
	switch b := f.text("behavior"); {
	case b == "deny":
		s.Verdict, s.Reason = event.Deny, oneOf(message, stock)
	case b == "allow" && s.Verdict != event.Deny:
		s.Verdict, s.Reason = event.Allow, message
	case b != "allow" && !f.wrong("behavior"):
		s.fault("behavior is allow or deny, got %q", clip(b, 60))
	}
	for _, m := range d.Members {
		switch m.Key {
		case "behavior", "message":
		case "updatedInput":
			// The question was put for the input as it is; to allow another one
			// is not an answer to it.
			if m.Value != nil {
				s.fault("updatedInput is for PreToolUse: a question that was put cannot be changed")
			}
		case "updatedPermissions", "interrupt":
			s.Told = append(s.Told, "decision."+m.Key+" has no effect here")
		default:
			s.unknown(m.Key, []string{"behavior", "message"})
		}
	}
}

// readResult reads what takes the place of a tool's result: text, or any JSON
// as its text.
func (s *Says) readResult(f fields) {
	for _, key := range []string{"updatedMCPToolOutput", "updatedToolOutput"} {
		v, ok := f.o.Get(key)
		if !ok || v == nil {
			continue
		}
		text, isText := v.(string)
		if !isText {
			text = string(raw(v))
		}
		s.Output = &text
	}
}
