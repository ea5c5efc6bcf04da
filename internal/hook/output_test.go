package hook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/event"
)

// pre wraps fields into a right PreToolUse output.
func pre(fields string) string {
	return `{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + fields + `}}`
}

// What a hook may print before a tool call, and what it is worth.
func TestReadPreToolUse(t *testing.T) {
	t.Parallel()
	const none = event.Verdict("")
	for name, c := range map[string]struct {
		exit           int
		stdout, stderr string
		want           event.Verdict
		reason         string // contained in the reason
		loud           bool   // a fault is told
	}{
		"nothing":                 {want: none},
		"plain text":              {stdout: "all is well\n", want: none},
		"allow":                   {stdout: pre(`"permissionDecision":"allow"`), want: event.Allow},
		"deny":                    {stdout: pre(`"permissionDecision":"deny","permissionDecisionReason":"no pushing"`), want: event.Deny, reason: "no pushing"},
		"deny without reason":     {stdout: pre(`"permissionDecision":"deny"`), want: event.Deny, reason: "no reason"},
		"ask":                     {stdout: pre(`"permissionDecision":"ask","permissionDecisionReason":"sure?"`), want: event.Ask, reason: "sure?"},
		"defer is refused":        {stdout: pre(`"permissionDecision":"defer"`), want: event.Deny, reason: "deferred"},
		"byte order mark":         {stdout: "\ufeff " + pre(`"permissionDecision":"deny"`), want: event.Deny},
		"legacy block":            {stdout: `{"decision":"block","reason":"not now"}`, want: event.Deny, reason: "not now"},
		"legacy approve":          {stdout: `{"decision":"approve"}`, want: event.Allow},
		"legacy block, new allow": {stdout: `{"decision":"block","reason":"r","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, want: event.Deny, reason: "r"},
		"exit 2":                  {exit: 2, stderr: "bad idea\n", want: event.Deny, reason: "bad idea"},
		"exit 2 in silence":       {exit: 2, want: event.Deny, reason: "no reason"},
		"exit 2 beside an allow":  {exit: 2, stdout: pre(`"permissionDecision":"allow"`), stderr: "bad", want: event.Deny, reason: "bad"},
		"exit 1":                  {exit: 1, stderr: "oops", want: none, loud: true},
		"exit 1 beside an allow":  {exit: 1, stdout: pre(`"permissionDecision":"allow"`), want: none, loud: true},
		"exit 1 beside a deny":    {exit: 1, stdout: pre(`"permissionDecision":"deny","permissionDecisionReason":"x1"`), want: event.Deny, reason: "x1", loud: true},

		// a decision of another shape is a loud fault: a denial denies, an allow
		// does not allow
		"flat deny":            {stdout: `{"permissionDecision":"deny","permissionDecisionReason":"flat"}`, want: event.Deny, reason: "flat", loud: true},
		"flat allow":           {stdout: `{"permissionDecision":"allow"}`, want: none, loud: true},
		"flat ask":             {stdout: `{"permissionDecision":"ask"}`, want: none, loud: true},
		"flat rewrite":         {stdout: `{"updatedInput":{"command":"ls"}}`, want: none, loud: true},
		"flat beside allow":    {stdout: `{"permissionDecision":"allow","hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}`, want: none, loud: true},
		"no event name, deny":  {stdout: `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"n"}}`, want: event.Deny, reason: "n", loud: true},
		"no event name, allow": {stdout: `{"hookSpecificOutput":{"permissionDecision":"allow"}}`, want: none, loud: true},
		"other event, deny":    {stdout: `{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"deny"}}`, want: event.Deny, loud: true},
		"other event, allow":   {stdout: `{"hookSpecificOutput":{"hookEventName":"PostToolUse","permissionDecision":"allow"}}`, want: none, loud: true},
		"event name a number":  {stdout: `{"hookSpecificOutput":{"hookEventName":1,"permissionDecision":"allow"}}`, want: none, loud: true},
		"Deny":                 {stdout: pre(`"permissionDecision":"Deny"`), want: event.Deny, loud: true},
		"denied":               {stdout: pre(`"permissionDecision":"denied"`), want: event.Deny, loud: true},
		"ALLOW":                {stdout: pre(`"permissionDecision":"ALLOW"`), want: none, loud: true},
		"yes":                  {stdout: pre(`"permissionDecision":"yes"`), want: none, loud: true},
		"null":                 {stdout: pre(`"permissionDecision":null`), want: none, loud: true},
		"a list of deny":       {stdout: pre(`"permissionDecision":["deny"]`), want: event.Deny, loud: true},
		"true":                 {stdout: pre(`"permissionDecision":true`), want: none, loud: true},
		"other key, deny":      {stdout: pre(`"permission_decision":"deny"`), want: event.Deny, loud: true},
		"other case, deny":     {stdout: pre(`"PermissionDecision":"deny"`), want: event.Deny, loud: true},
		"other case, allow":    {stdout: pre(`"PermissionDecision":"allow"`), want: none, loud: true},
		"decision deny":        {stdout: `{"decision":"deny","reason":"d"}`, want: event.Deny, reason: "d", loud: true},
		"decision allow":       {stdout: `{"decision":"allow"}`, want: none, loud: true},
		"wrapper a string":     {stdout: `{"hookSpecificOutput":"deny"}`, want: none, loud: true},
		"half a deny":          {stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"`, want: event.Deny, loud: true},
		"cut in deny":          {stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"de`, want: event.Deny, loud: true},
		"half an allow":        {stdout: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"`, want: none, loud: true},
		"half a key":           {stdout: `{"hookSpecific`, want: none, loud: true},
		"two objects":          {stdout: pre(`"permissionDecision":"allow"`) + pre(`"permissionDecision":"allow"`), want: none, loud: true},
		"two, second denies":   {stdout: pre(`"permissionDecision":"allow"`) + "\n" + pre(`"permissionDecision":"deny"`), want: event.Deny, loud: true},
		"a key twice":          {stdout: pre(`"permissionDecision":"deny","permissionDecision":"allow"`), want: event.Deny, loud: true},
		"log line before":      {stdout: "checking…\n" + pre(`"permissionDecision":"deny","permissionDecisionReason":"late"`), want: event.Deny, reason: "late", loud: true},
		"log line, allow":      {stdout: "checking…\n" + pre(`"permissionDecision":"allow"`), want: none},
		"a Python dict":        {stdout: `{'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'permissionDecision': 'deny'}}`, want: event.Deny, loud: true},
		"no quotes":            {stdout: `{hookSpecificOutput: {permissionDecision: deny}}`, want: event.Deny, loud: true},
		"allow, unknown field": {stdout: pre(`"permissionDecision":"allow","updatedInputs":{}`), want: none, loud: true},
		"allow, input a text":  {stdout: pre(`"permissionDecision":"allow","updatedInput":"ls"`), want: none, loud: true},
		"reason a number":      {stdout: pre(`"permissionDecision":"deny","permissionDecisionReason":1`), want: event.Deny, loud: true},
		"the word in a reason": {stdout: pre(`"permissionDecision":"allow","permissionDecisionReason":"not \"permissionDecision\":\"deny\""`), want: event.Allow},
	} {
		got := ReadOutput(PreToolUse, c.exit, c.stdout, c.stderr)
		if got.Verdict != c.want || !strings.Contains(got.Reason, c.reason) || (len(got.Faults) > 0) != c.loud {
			t.Errorf("%s: got %q (%q), faults %q; want %q (%q), loud %v", name, got.Verdict, got.Reason, got.Faults, c.want, c.reason, c.loud)
		}
	}
}

// The message for a flat decision names the right shape.
func TestFlatDecisionNamesTheShape(t *testing.T) {
	t.Parallel()
	s := ReadOutput(PreToolUse, 0, `{"permissionDecision":"deny"}`, "")
	want := `permissionDecision stands at the top level, where it does not count; write {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":…}}`
	if len(s.Faults) != 1 || s.Faults[0] != want {
		t.Errorf("got %q, want %q", s.Faults, want)
	}
}

func TestReadOtherEvents(t *testing.T) {
	t.Parallel()
	out := "shorter"
	specific := func(ev, fields string) string {
		return `{"hookSpecificOutput":{"hookEventName":"` + ev + `",` + fields + `}}`
	}
	for _, c := range []struct {
		event          string
		exit           int
		stdout, stderr string
		want           Says
		loud           bool
	}{
		{UserPromptSubmit, 0, "today is monday\n", "", Says{Context: "today is monday"}, false},
		{UserPromptSubmit, 0, specific(UserPromptSubmit, `"additionalContext":"c"`), "", Says{Context: "c"}, false},
		{UserPromptSubmit, 0, `{"decision":"block","reason":"r"}`, "", Says{Block: "r"}, false},
		{UserPromptSubmit, 2, "", "no", Says{Block: "no"}, false},
		{UserPromptSubmit, 0, `{"half`, "", Says{}, true},
		{UserPromptSubmit, 0, `{"continue":false,"stopReason":"enough"}`, "", Says{Halt: "enough"}, false},
		{SessionStart, 0, "hello", "", Says{Context: "hello"}, false},
		{SessionStart, 2, "", "no", Says{}, true},
		{PostToolUse, 0, "plain", "", Says{}, false},
		{PostToolUse, 0, `{"decision":"block","reason":"fix it"}`, "", Says{Block: "fix it"}, false},
		{PostToolUse, 2, "", "lint", Says{Block: "lint"}, false},
		{PostToolUse, 0, specific(PostToolUse, `"updatedToolOutput":"shorter"`), "", Says{Output: &out}, false},
		{PostToolUse, 0, `{"decision":"deny","reason":"x"}`, "", Says{Block: "x"}, true},
		{Stop, 0, `{"decision":"block","reason":"test first"}`, "", Says{Block: "test first"}, false},
		{Stop, 0, `{"decision":"approve"}`, "", Says{}, false},
		{Stop, 0, `{"ok":false}`, "", Says{}, true},
		{SubagentStop, 2, "", "go on", Says{Block: "go on"}, false},
		{PreCompact, 0, specific(PreCompact, `"additionalContext":"keep ids"`), "", Says{Context: "keep ids"}, false},
		{PermissionRequest, 0, specific(PermissionRequest, `"decision":{"behavior":"allow"}`), "", Says{Verdict: event.Allow}, false},
		{PermissionRequest, 0, specific(PermissionRequest, `"decision":{"behavior":"deny","message":"m"}`), "", Says{Verdict: event.Deny, Reason: "m"}, false},
		{PermissionRequest, 0, specific(PermissionRequest, `"decision":{"behavior":"allow","updatedInput":{"command":"x"}}`), "", Says{}, true},
		{PermissionRequest, 0, specific(PermissionRequest, `"decision":"deny"`), "", Says{Verdict: event.Deny, Reason: "the hook's denial is malformed, and counts all the same"}, true},
		{PermissionRequest, 0, specific(PermissionRequest, `"decision":"allow"`), "", Says{}, true},
		{PermissionRequest, 0, `{"behavior":"deny","message":"flat"}`, "", Says{Verdict: event.Deny, Reason: "flat"}, true},
		{PermissionRequest, 0, `{"behavior":"allow"}`, "", Says{}, true},
		{PermissionRequest, 0, `{"decision":"approve"}`, "", Says{}, true},
		{PermissionRequest, 2, "", "no", Says{Verdict: event.Deny, Reason: "no"}, false},
		{Notification, 0, `{"systemMessage":"m"}`, "", Says{Message: "m"}, false},
		{Notification, 2, "", "no", Says{}, true},
		{SessionEnd, 0, `{"continue":false}`, "", Says{}, true},
	} {
		got := ReadOutput(c.event, c.exit, c.stdout, c.stderr)
		loud := len(got.Faults) > 0
		got.Faults = nil
		if diff := cmp.Diff(got, c.want); diff != "" || loud != c.loud {
			t.Errorf("%s, exit %d, %s: loud %v, want %v; got- want+\n%s", c.event, c.exit, c.stdout, loud, c.loud, diff)
		}
	}
}

// Whatever a hook prints: reading it ends, what is malformed never allows, a
// rewrite is an object, and exit 2 always refuses where refusing is possible.
func FuzzReadOutput(f *testing.F) {
	f.Add("PreToolUse", 0, pre(`"permissionDecision":"allow","updatedInput":{"a":1}`), "")
	f.Add("PermissionRequest", 0, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny"}}}`, "")
	f.Add("Stop", 2, `{`, "reason")
	f.Add("PostToolUse", 1, `{"decision":"block"}`, "\x1b[31m")
	f.Fuzz(func(t *testing.T, ev string, exit int, stdout, stderr string) {
		s := ReadOutput(ev, exit, stdout, stderr)
		if s.Verdict == event.Allow && (len(s.Faults) > 0 || exit != 0) {
			t.Errorf("allowed in spite of %q", s.Faults)
		}
		if s.Input != nil {
			var o map[string]any
			if json.Unmarshal(s.Input, &o) != nil {
				t.Errorf("rewrite is no object: %s", s.Input)
			}
		}
		if p := powers(ev); exit == 2 && p.decides() && s.Verdict != event.Deny && s.Block == "" {
			t.Errorf("exit 2 of %s does not refuse: %+v", ev, s)
		}
	})
}
