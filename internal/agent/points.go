package agent

import (
	"context"
	"encoding/json"
	"strings"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/frame"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/tool"
)

// Points are the places of the loop at which plug-ins act. Every list runs in
// its order, one func at a time; nil is fine. A func gets the run's ctx, ends
// when that ends, and does not call the loop. Name in an answer says who
// spoke: it stands in tags, notices and decisions.
//
// Where a hook, say, also wants to be seen in the stream it tells so itself,
// through Loop.Tell.
type Points struct {
	// SessionStart runs once a run, after init and before Prompt; source is
	// startup, resume or fork. Context is put before the prompt, Halt ends the
	// run, Block is ignored.
	SessionStart []func(ctx context.Context, source string) Said
	// Prompt gets what the person typed. Context is put behind it; Block ends
	// the run before the prompt is sent (blocked), Halt too (hook_stopped).
	Prompt []func(ctx context.Context, prompt string) Said
	// BeforeTool gets a call whose input fits the tool's schema, as earlier
	// funcs of the list left it. It is called for every such call, before
	// permission, and never for a call that step 1 refuses.
	BeforeTool []func(context.Context, tool.Call) Before
	// PermissionAsked runs where a question is about to be put, also where
	// nobody is there to answer. nil says nothing; a denial counts always, an
	// allow for questions that an allow rule could answer and for the last
	// resort ("default").
	PermissionAsked []func(context.Context, tool.Call, event.Question) *Reply
	// BeforeRun gets a permitted call just before it runs: what undo needs is
	// kept here. An error refuses the call. done, where it is not nil, is called
	// once with the call's result.
	BeforeRun []func(context.Context, tool.Call, tool.Effects) (done func(context.Context, tool.Result), err error)
	// BeforeCompact runs before a summary is asked for; trigger is auto or
	// manual. Block keeps the conversation as it is, Context is added to what
	// the summary is told to keep.
	BeforeCompact []func(ctx context.Context, trigger string) Said
	// AfterCompact gets the summary that has taken the conversation's place.
	AfterCompact []func(ctx context.Context, trigger, summary string)
	// StopFailure runs where the model's service ended the run.
	StopFailure []func(ctx context.Context, message string)
	// Notify runs when a person is asked or told something that they may have
	// to come back for. It must not hold up the run.
	Notify []func(ctx context.Context, message string)
	// AfterTool gets a call that ran, with its result, failed ones too.
	AfterTool []func(context.Context, tool.Call, tool.Result) After
	// Stop runs when the model has ended its turn by itself. Block sends its
	// reason to the model and the loop goes on, five times at most; Halt ends
	// the run as hook_stopped; Context is ignored.
	Stop []func(context.Context, Stopping) Said
	// Idle runs when the model has ended its turn and no Stop func keeps it from
	// doing so. It may wait for what is still to come; a text goes to the model
	// and the loop goes on, "" lets the run end. It is not bounded: who gives
	// texts for ever ends at the limit of turns.
	Idle []func(ctx context.Context) string
	// Arrived gives what has come in meanwhile: asked before the prompt and
	// after each batch of calls, it does not wait. "" is nothing.
	Arrived []func() string
	// SessionEnd runs once, before the result event, also after a cancel: its
	// ctx is not the run's and ends after 30 seconds.
	SessionEnd []func(context.Context, event.Result)
}

// Said is the answer of a point outside tool calls. Zero: go on.
type Said struct {
	Name    string
	Context string // for the model, in a tagged block
	Block   string // the reason, "" does not block
	Halt    string // the reason, "" goes on
}

// Before is the answer of BeforeTool. Zero: go on.
type Before struct {
	Name string
	// Input replaces the call's input, nil keeps it. It is validated again
	// and it is what permission judges.
	Input json.RawMessage
	// Says is the verdict; over the list deny wins over ask over allow.
	Says permission.HookSays
	// Context is appended to the result in a tagged block.
	Context string
	// Halt ends the run after this batch; calls not yet run are not run.
	Halt string
}

// Reply is an answer given for the person.
type Reply struct {
	Name   string
	Allow  bool
	Reason string
}

// After is the answer of AfterTool. Feedback and Context are appended to the
// result, each in its tagged block.
type After struct {
	Name string
	// Output takes the place of the text that the model reads of the result,
	// for the funcs behind too. nil: it stays.
	Output   *string
	Feedback string
	Context  string
	Halt     string // ends the run after this batch
}

// Stopping is what Stop is told. Active is true from the first time that a
// Stop func has made the loop go on.
type Stopping struct {
	Text   string
	Active bool
}

// note is text of a plug-in on its way to the model.
type note struct{ tag, name, text string }

// append puts the notes behind s, each in a block that its own text cannot
// close.
func appendNotes(s string, notes []note) string {
	for _, n := range notes {
		if n.text == "" {
			continue
		}
		if s != "" {
			s = strings.TrimRight(s, "\n") + "\n\n"
		}
		s += n.block()
	}
	return s
}

func (n note) block() string { return frame.Block(n.tag, "source", n.name, n.text) }

const (
	tagContext  = "hook-context"
	tagFeedback = "hook-feedback"
)

// strongest gives the verdict of several hooks: deny, then ask, then allow;
// the first of the strongest names it.
func strongest(a, b permission.HookSays) permission.HookSays {
	if rank(b.Verdict) > rank(a.Verdict) {
		return b
	}
	return a
}

func rank(v event.Verdict) int {
	switch v {
	case event.Deny:
		return 3
	case event.Ask:
		return 2
	case event.Allow:
		return 1
	}
	return 0
}
