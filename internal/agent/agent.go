// Package agent is the loop and the second seam: the points at which plug-ins
// run. Loop.Judge is steps 1 to 3 of a tool call, Loop.Call the only way to a
// tool.
//
// Who owns what: Run's goroutine owns the transcript, judges, asks, calls the
// points and says every event of a batch. Tools run on goroutines of their own
// only where several parallel ones stand side by side; the batch that starts
// them waits for all of them. A tool may call Loop.Call while it runs.
package agent

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/model"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/tool"
)

// The limits where a Loop does not say.
const (
	DefaultMaxTurns    = 200
	DefaultMaxParallel = 8
)

// Loop runs a persona. Its fields are set before the first call and left
// alone after. Model, Tools and Policy are needed for Run and Call; Judge
// needs Tools and Policy only.
type Loop struct {
	Persona event.PersonaRef
	// System is the whole system prompt, see System.
	System string
	Model  model.Model
	Params []model.Param
	Tools  *tool.Registry
	Policy *permission.Policy
	Points Points

	// Parent is the loop that this one works for; nil: it is the root of its
	// tree. A child has no Ask and no Remember of its own: see tree.go for what
	// it shares with those above it.
	Parent *Loop

	// Ask puts a question to a person and returns their answer, or the zero
	// Answer once ctx ends. nil: nobody can be asked, so a question is a
	// denial. It is called by one goroutine at a time.
	Ask func(context.Context, event.Question) event.Answer
	// Remember stores an allow rule that a person gave and says where. nil:
	// the rule holds for this run.
	Remember func(rule string) (where string, err error)
	// Emit takes every event in order, one at a time, and must not call back.
	// nil: events are dropped. A child's Emit is for its own record: numbered by
	// itself and without its label; the root's Emit has its events too.
	Emit func(event.Event)
	// Known gives the effects of tools that have no implementation here.
	// `permission explain` sets it; in a run such a tool is unknown.
	Known Known

	MaxTurns    int // requests to the model, 0: DefaultMaxTurns
	MaxParallel int // tools at once, 0: DefaultMaxParallel
	// TimeLimit ends the run, 0: none.
	TimeLimit time.Duration
	// BudgetUSD and BudgetTokens are checked before each request, nil: none.
	// Tokens count everything sent and received, cached too.
	BudgetUSD    *float64
	BudgetTokens *int64
	// PriceOf gives a model's price by provider/model, nil where it is unknown;
	// then cost is null. nil: Price is that of Model, others have none.
	PriceOf func(model string) *profile.Price
	Price   *profile.Price
	// ContextWindow of the model in tokens, 0: unknown, then 128,000 is reckoned
	// with.
	ContextWindow int
	// Compaction says how a conversation that fills the window is shortened.
	Compaction Compaction
	// FailOnDenied ends the run after the first batch with a refused call.
	FailOnDenied bool

	// AnswerSchema is the JSON Schema that the final answer must satisfy, one
	// that CheckSchema takes; nil: any text will do.
	AnswerSchema json.RawMessage
	// KeepRaw keeps the whole output of a call of which the model reads only a
	// part; the raw_output tool reads it back. nil: it is lost.
	KeepRaw func(callID string, data []byte) error
	// Auto answers for the person in mode auto where Policy.AutoMay lets a model
	// do so; false leaves the question. prompts are what the person typed last,
	// oldest first. nil: nobody judges.
	Auto func(ctx context.Context, c tool.Call, d event.Decision, prompts []string) (allow bool, reason string)
	// NoSalvage leaves text that looks like a tool call as text: for services
	// whose models never write one.
	NoSalvage bool

	Session string // session id
	Agent   string // label of this agent in events, "" for the main one
	Mode    string // default, accept-edits, plan, auto, yolo; in a run see SetMode
	Cwd     string
	Sandbox string   // what init says of the sandbox, "" is printed as "none"
	Servers []string // MCP servers, for init
	Skills  []string // for init

	// History is the conversation so far, of a resumed session: the run goes on
	// behind it. Source is then resume or fork, "" means startup.
	History []model.Message
	Source  string

	// Expand gives the text that a typed prompt stands for: that of a skill, of a
	// command, of a server's prompt; any other prompt as it is. It may use Call.
	// Its error ends the run before a request is sent. nil: prompts stand for
	// themselves.
	Expand func(ctx context.Context, typed string) (string, error)

	// Attach gives what a typed prompt mentions: text that is put behind it, and
	// images. It may use Call. nil: nothing.
	Attach func(ctx context.Context, typed string) (string, []tool.Image)

	// Opening is told right after init: what a person should know before the
	// run does anything.
	Opening []string

	// Now is the clock, nil: time.Now. Tools that run side by side read it
	// from their own goroutines.
	Now func() time.Time

	one     sync.Mutex // one call is judged and asked about at a time; guards schemas and Policy's growth
	checks  map[string]*check
	prompts []string // what the person typed last, for Auto
	known   int      // how many of the root's grown rules are in Policy

	// The root's out guards what follows in all loops of its tree, and Mode in
	// a run.
	out     sync.Mutex
	seq     int
	denials []event.Denial
	notices []string
	halted  *halt
	bill    bill
	queued  []string // notes for the model, see Note
	rawLost bool     // KeepRaw has failed and that was told
	over    []model.Message
	held    reserved
	freed   chan struct{}  // of the root: closed once a request is over
	person  chan struct{}  // of the root: held by who speaks to the person
	begun   bool           // of a host: SessionStart has run
	opened  bool           // of a seated loop: init has been said
	grown   []profile.Rule // of the root: what the person has said "always" to
}

func (l *Loop) now() time.Time {
	if l.Now != nil {
		return l.Now()
	}
	return time.Now()
}

func (l *Loop) maxTurns() int {
	if l.MaxTurns > 0 {
		return l.MaxTurns
	}
	return DefaultMaxTurns
}

func (l *Loop) maxParallel() int {
	if l.MaxParallel > 0 {
		return l.MaxParallel
	}
	return DefaultMaxParallel
}

// emit says one event. The lock keeps seq and the order of calls the same.
func (l *Loop) emit(b event.Body) {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	l.emitLocked(b)
}

func (l *Loop) emitLocked(b event.Body) {
	l.seq++
	e := event.Event{Seq: l.seq, Time: l.now(), Body: b}
	if l.Parent == nil {
		e.Agent = l.Agent
	}
	if l.Emit != nil {
		l.Emit(e)
	}
	if l.Parent != nil {
		l.emitAbove(e)
	}
}

// Tell says an event on behalf of a plug-in.
func (l *Loop) Tell(b event.Body) { l.emit(b) }

// Notice tells the person something, a retry of the model say; it stands in
// the result too. Code is a word for programs, "" where there is none.
func (l *Loop) Notice(code, text string) {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	l.notices = append(l.notices, text)
	for p := l.Parent; p != nil && !l.seated(); p = p.Parent {
		p.notices = append(p.notices, l.Agent+": "+text)
	}
	l.emitLocked(event.Notice{Text: text, Code: code})
}

// deny keeps a refused call for the result.
func (l *Loop) deny(d event.Decision) {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	for p := l; p != nil; p = p.Parent {
		p.denials = append(p.denials, event.Denial{Decision: d, Agent: l.Agent})
	}
}

// halt ends the run because a point said so.
type halt struct{ name, reason string }

func (l *Loop) halt(name, reason string) {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	if l.halted == nil {
		l.halted = &halt{name, reason}
	}
}

func (l *Loop) isHalted() *halt {
	l.root().out.Lock()
	defer l.root().out.Unlock()
	return l.halted
}
