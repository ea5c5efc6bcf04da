package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/spec"
)

// Says is what one hook said, read from its exit code and its output.
type Says struct {
	// Verdict of PreToolUse and PermissionRequest; "" says nothing.
	Verdict event.Verdict
	// Reason of the verdict.
	Reason string
	// Block is the reason why the other events are blocked, "" where not.
	Block string
	// Halt is the reason why the run ends, "" where not.
	Halt    string
	Input   json.RawMessage // replaces the call's input, nil keeps it
	Output  *string         // replaces the result's text, nil keeps it
	Context string          // for the model
	Message string          // for the person
	// Faults are what is wrong with the output: always told, and they take an
	// allow away.
	Faults []string
	// Told are parts of the output that have no effect here.
	Told []string
}

func (s *Says) fault(format string, args ...any) {
	s.Faults = append(s.Faults, fmt.Sprintf(format, args...))
}

// power is what an event lets a hook do.
type power struct {
	verdict  bool // allow, ask, deny a call: permissionDecision
	behavior bool // answer for the person: decision.behavior
	block    bool // decision "block", or exit 2
	halt     bool // continue: false
	context  bool // additionalContext
	plain    bool // plain stdout is context
}

func powers(ev string) power {
	switch ev {
	case PreToolUse:
		return power{verdict: true, block: true, halt: true, context: true}
	case PermissionRequest:
		return power{behavior: true, block: true}
	case PostToolUse, PostToolUseFailure:
		return power{block: true, halt: true, context: true}
	case UserPromptSubmit:
		return power{block: true, halt: true, context: true, plain: true}
	case SessionStart:
		return power{halt: true, context: true, plain: true}
	case Stop, SubagentStop:
		return power{block: true, halt: true}
	case SubagentStart, PreCompact:
		return power{block: true, halt: true, context: true}
	}
	return power{}
}

func (p power) decides() bool { return p.verdict || p.behavior || p.block }

// stock is the reason of one who gave none.
const stock = "the hook gave no reason"

// ReadOutput reads what a hook of an event printed. exit is its exit code; a
// hook that did not end by itself has a fault of its caller's.
func ReadOutput(ev string, exit int, stdout, stderr string) Says {
	var s Says
	p := powers(ev)
	switch {
	case exit == 2:
		s.refuse(p, ev, oneOf(strings.TrimSpace(stderr), stock))
	case exit != 0:
		s.fault("it ended with exit code %d%s", exit, tail(stderr))
		s.suspect(p, ev, stdout)
	default:
		s.readStdout(p, ev, stdout)
	}
	return s
}

// refuse is deny or block, whatever the event calls it.
func (s *Says) refuse(p power, ev, reason string) {
	reason = oneOf(reason, stock)
	switch {
	case p.verdict || p.behavior:
		s.Verdict, s.Reason = event.Deny, reason
	case p.block:
		s.Block = reason
	default:
		s.fault("it wants to block, and %s cannot be blocked: %s", ev, reason)
	}
}

// tail is the last line of what a program said, for a message.
func tail(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if last == "" {
		return ""
	}
	return ": " + clip(last, 300)
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

func (s *Says) readStdout(p power, ev, stdout string) {
	text := strings.TrimSpace(strings.TrimPrefix(stdout, "\ufeff"))
	if !strings.HasPrefix(text, "{") {
		s.readPlain(p, ev, text)
		return
	}
	// The strict reader refuses what would be read in two ways: a key twice,
	// text behind the object.
	v, err := spec.ParseObject([]byte(text))
	if err != nil {
		s.fault("its output begins like JSON and is none: %v", err)
		s.suspect(p, ev, text)
		return
	}
	s.readTop(p, ev, v)
	if len(s.Faults) == 0 {
		return
	}
	if s.Verdict == event.Allow {
		s.Verdict, s.Reason = "", ""
	}
	s.suspect(p, ev, text)
}

func (s *Says) readPlain(p power, ev, text string) {
	if p.decides() && denial().MatchString(text) {
		s.fault("its output is no JSON object, and reads like a denial")
		s.suspect(p, ev, text)
		return
	}
	if p.plain {
		s.Context = text
	}
}

// denial is what a denial looks like that is not well formed, cut off in the
// middle of its word too.
var denial = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)["']?\b(?:permission_?decision|decision|behaviou?r)["']?\s*[:=]\s*\[?\s*["']?(?:deny|denied|block|blocked|reject|rejected|refuse|refused|d(?:en?)?\z|b(?:l(?:oc?)?)?\z)`)
})

var denialReason = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)"(?:permissionDecisionReason|reason|message)"\s*:\s*("(?:[^"\\]|\\.)*")`)
})

// suspect lets a malformed denial deny.
func (s *Says) suspect(p power, ev, text string) {
	if s.Verdict == event.Deny || s.Block != "" || !p.decides() || !denial().MatchString(text) {
		return
	}
	reason := ""
	if m := denialReason().FindStringSubmatch(text); m != nil {
		_ = json.Unmarshal([]byte(m[1]), &reason) // what cannot be read has no reason
	}
	s.refuse(p, ev, oneOf(reason, "the hook's denial is malformed, and counts all the same"))
}

// misplaced are fields that count only inside hookSpecificOutput.
var misplaced = map[string]bool{"permissionDecision": true, "permissionDecisionReason": true, "updatedInput": true, "additionalContext": true,
	"updatedToolOutput": true, "updatedMCPToolOutput": true, "behavior": true, "message": true, "hookEventName": true}

var topKeys = []string{"continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"}

func (s *Says) readTop(p power, ev string, o *spec.Object) {
	f := fields{says: s, o: o}
	stop, has := f.boolean("continue")
	stopReason, reason := f.text("stopReason"), f.text("reason")
	s.Message = f.text("systemMessage")
	f.boolean("suppressOutput") // what a hook prints is never shown anyway
	if has && !stop || f.wrong("continue") {
		s.halts(p, ev, oneOf(stopReason, "the hook said to stop"))
	}
	s.readDecision(p, ev, f, reason)
	if v, ok := o.Get("hookSpecificOutput"); ok {
		inner, isObject := v.(*spec.Object)
		if !isObject {
			s.fault("hookSpecificOutput must be an object")
		} else {
			s.readSpecific(p, ev, inner)
		}
	}
	for _, m := range o.Members {
		switch {
		case contains(topKeys, m.Key):
		case misplaced[m.Key]:
			s.fault(`%s stands at the top level, where it does not count; write {"hookSpecificOutput":{"hookEventName":%q,%s}}`, m.Key, ev, shape(m.Key))
		case m.Key == "async":
			s.Told = append(s.Told, "async in the output has no effect: say it where the hook is configured")
		default:
			s.unknown(m.Key, topKeys)
		}
	}
}

// shape is how a misplaced field is written inside hookSpecificOutput.
func shape(key string) string {
	if key == "behavior" || key == "message" {
		return `"decision":{"behavior":…,"message":…}`
	}
	return fmt.Sprintf("%q:…", key)
}

func (s *Says) unknown(key string, known []string) {
	hint := ""
	if n := nearest.Name(key, known); n != "" {
		hint = fmt.Sprintf(", did you mean %q?", n)
	}
	s.fault("its output has the unknown field %q%s", clip(key, 60), hint)
}

func (s *Says) halts(p power, ev, reason string) {
	switch {
	case p.halt:
		s.Halt = reason
	case p.behavior:
		s.refuse(p, ev, reason)
	default:
		s.fault("it says continue: false, and %s cannot end the run: %s", ev, reason)
	}
}

// readDecision reads the top level's decision: block, or approve of a call.
func (s *Says) readDecision(p power, ev string, f fields, reason string) {
	if _, ok := f.o.Get("decision"); !ok {
		return
	}
	switch d := f.text("decision"); {
	case d == "block":
		s.refuse(p, ev, reason)
	case d == "approve" && p.verdict:
		s.Verdict, s.Reason = event.Allow, reason
	case d == "approve" && p.block && !p.behavior:
	case !f.wrong("decision"):
		s.fault(`decision is "block" or nothing, got %q`, clip(d, 60))
	}
}

// fields reads members of an object by type; what has another one is a fault.
type fields struct {
	says *Says
	o    *spec.Object
	in   string // "hookSpecificOutput." or ""
}

func (f fields) text(key string) string {
	v, ok := f.o.Get(key)
	if !ok || v == nil {
		return ""
	}
	s, isText := v.(string)
	if !isText {
		f.says.fault("%s%s must be a string", f.in, key)
	}
	return s
}

func (f fields) boolean(key string) (value, ok bool) {
	v, has := f.o.Get(key)
	if !has || v == nil {
		return false, false
	}
	b, isBool := v.(bool)
	if !isBool {
		f.says.fault("%s%s must be true or false", f.in, key)
		return false, false
	}
	return b, true
}

// wrong says that a member is there with a value of no right type.
func (f fields) wrong(key string) bool {
	v, ok := f.o.Get(key)
	if !ok || v == nil {
		return false
	}
	if key == "continue" {
		_, ok = v.(bool)
	} else {
		_, ok = v.(string)
	}
	return !ok
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func oneOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func raw(v any) json.RawMessage { return bytes.TrimSpace(spec.AppendCanonical(nil, v)) }
