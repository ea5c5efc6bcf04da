package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// MaxBackground is how many tasks run in the background at once: as many
	// as a person can still follow.
	MaxBackground = 8
	// stopTime is what a task has to end in once it is told to.
	stopTime = 10 * time.Second
)

// stopped is the cause of a ctx that was ended on purpose.
type stopped string

func (s stopped) Error() string { return string(s) }

// Why is what the subagent's loop says of its end.
func (s stopped) Why() string { return string(s) }

const (
	byParent = stopped("its parent stopped the task")
	byEnd    = stopped("the run that began the task is over")
	byPerson = stopped("the user stopped the task")
)

// Hub counts the tasks of a whole run, whichever agent began them. Who makes
// one calls StopAll before letting go of it. The zero value is ready.
type Hub struct {
	// Ended is called, not blocking, when a background task has ended. It is set
	// before the first one begins; nil: nobody needs to know.
	Ended func()

	mu          sync.Mutex
	front, back int // the last ids
	running     []*task
	labels      map[string]int
}

// Status is a background task as a person is told of it. Status is running,
// done, failed or stopped.
type Status struct {
	ID, Agent, Description, Status string
}

// task is one task. The hub's lock guards what changes.
type task struct {
	id, agent, description string
	background             bool
	cancel                 context.CancelCauseFunc
	done                   chan struct{} // closed once result stands

	result    result
	over      bool
	busy      bool // somebody runs it
	delivered bool
}

// StopAll ends every task and waits for them, at most so long. It gives the
// ids of those that have not ended by then.
func (h *Hub) StopAll(wait time.Duration) []string {
	h.mu.Lock()
	left := slices.Clone(h.running)
	h.mu.Unlock()
	return end(left, wait)
}

func end(tasks []*task, wait time.Duration) (left []string) {
	for _, t := range tasks {
		t.cancel(byEnd)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	late := false
	for _, t := range tasks {
		if !late {
			select {
			case <-t.done:
				continue
			case <-timer.C:
				late = true
			}
		}
		select {
		case <-t.done:
		default:
			left = append(left, t.id)
		}
	}
	return left
}

// Running are the background tasks that are at work.
func (h *Hub) Running() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, t := range h.running {
		out = append(out, t.id)
	}
	return out
}

// Stop ends a background task because the person wants it, and waits for that.
// known is false where none of this id is at work; ended is false where it has
// not ended in time.
func (h *Hub) Stop(id string) (known, ended bool) {
	h.mu.Lock()
	i := slices.IndexFunc(h.running, func(t *task) bool { return t.id == id })
	if i < 0 {
		h.mu.Unlock()
		return false, false
	}
	t := h.running[i]
	h.mu.Unlock()
	t.cancel(byPerson)
	timer := time.NewTimer(stopTime)
	defer timer.Stop()
	select {
	case <-t.done:
		return true, true
	case <-timer.C:
		return true, false
	}
}

// Label gives an agent's label its place among those of the run: no two are the
// same.
func (h *Hub) Label(label string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.labels == nil {
		h.labels = map[string]int{}
	}
	if h.labels[label]++; h.labels[label] > 1 {
		return fmt.Sprintf("%s (%d)", label, h.labels[label])
	}
	return label
}

// Desk is one agent's side of the hub: the tasks that it began. Its own agent
// alone calls it, from several goroutines.
type Desk struct {
	hub   *Hub
	o     Options
	tasks []*task           // guarded by the hub's lock, like all of them
	came  chan struct{}     // closed and made anew when a background task ends
	ended []*task           // in order of completion
	ids   map[string]string // of calls that are about to run
}

// Options of a desk.
type Options struct {
	Spawn Spawn
	// Agents are those that work may be handed to, in the order in which they
	// are listed.
	Agents []Agent
	// Models says where tasks may run and what that costs, a line each; empty:
	// the model is not for the parent to choose.
	Models []string
	// Worktrees says that a task can have a checkout of its own.
	Worktrees bool
}

// Desk gives an agent's desk.
func (h *Hub) Desk(o Options) *Desk { return &Desk{hub: h, o: o, came: make(chan struct{})} }

// number gives a task its id.
func (h *Hub) number(background bool) string {
	if background {
		h.back++
		return fmt.Sprintf("bg-%d", h.back)
	}
	h.front++
	return fmt.Sprintf("task-%d", h.front)
}

// announce numbers the task of a call that is about to run: calls that run
// side by side have their ids in the order of the calls.
func (d *Desk) announce(call string, background bool) {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	if d.ids == nil {
		d.ids = map[string]string{}
	}
	d.ids[call] = d.hub.number(background)
}

// idLocked is the id that a call was given.
func (d *Desk) idLocked(call string, background bool) string {
	if id, ok := d.ids[call]; ok {
		delete(d.ids, call)
		return id
	}
	return d.hub.number(background)
}

// open puts a new task on the desk.
func (d *Desk) open(t *task, call string) {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	t.id, t.busy, t.done = d.idLocked(call, false), true, make(chan struct{})
	d.tasks = append(d.tasks, t)
}

var errFull = errors.New("full")

// start runs a task behind the agent's back, on a ctx that outlives the call.
// Who started it: the hub; who waits for it: StopAll, Close or a tool.
func (d *Desk) start(ctx context.Context, t *task, r Request, call string) error {
	h := d.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	id := d.idLocked(call, true)
	if len(h.running) >= MaxBackground {
		return errFull
	}
	t.id, t.background, t.busy, t.done = id, true, true, make(chan struct{})
	r.ID, r.Background = t.id, true
	ctx, t.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	d.tasks = append(d.tasks, t)
	h.running = append(h.running, t)
	go func() {
		res := d.spawn(ctx, r)
		t.cancel(nil)
		d.finish(t, res)
	}()
	return nil
}

// spawn never panics: what breaks below is the task's failure.
func (d *Desk) spawn(ctx context.Context, r Request) (res result) {
	defer func() {
		if p := recover(); p != nil {
			res = read(ctx, Report{Failed: fmt.Sprintf("it broke: %v", p)}, nil)
		}
	}()
	rep, err := d.o.Spawn(ctx, r)
	return read(ctx, rep, err)
}

func (d *Desk) finish(t *task, res result) {
	h := d.hub
	if t.background && h.Ended != nil {
		defer h.Ended()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	t.result, t.over, t.busy = res, true, false
	if t.background {
		h.running = slices.DeleteFunc(h.running, func(o *task) bool { return o == t })
		d.ended = append(d.ended, t)
		close(d.came)
		d.came = make(chan struct{})
	}
	close(t.done)
}

// take gives the results that have come in and were not given yet, in order of
// completion, and with them whether more is to come.
func (d *Desk) take() (text string, pending bool, came <-chan struct{}) {
	h := d.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, t := range d.ended {
		if !t.delivered {
			t.delivered = true
			out = append(out, t.block(t.result.status, t.result.text))
		}
	}
	d.ended = nil
	for _, t := range d.tasks {
		pending = pending || t.background && !t.over
	}
	return strings.Join(out, "\n\n"), pending, d.came
}

// Arrived gives the results that have come in, each once, without waiting: for
// agent.Points.Arrived.
func (d *Desk) Arrived() string {
	text, _, _ := d.take()
	return text
}

// Background are the agent's tasks in the background, in the order in which
// they were begun; ready says that one has ended whose result nobody has taken.
func (d *Desk) Background() (list []Status, ready bool) {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	for _, t := range d.tasks {
		if !t.background {
			continue
		}
		s := Status{ID: t.id, Agent: t.agent, Description: t.description, Status: "running"}
		if t.over {
			s.Status = t.result.status
		}
		list = append(list, s)
	}
	ready = slices.ContainsFunc(d.ended, func(t *task) bool { return !t.delivered })
	return list, ready
}

// Idle waits for the next result and gives it, "" where none is to come or ctx
// has ended: for agent.Points.Idle.
func (d *Desk) Idle(ctx context.Context) string {
	for {
		text, pending, came := d.take()
		if text != "" || !pending {
			return text
		}
		select {
		case <-came:
		case <-ctx.Done():
			return ""
		}
	}
}

// Close ends the agent's background tasks and waits for them: an agent that is
// over leaves none behind.
func (d *Desk) Close() {
	d.hub.mu.Lock()
	var left []*task
	for _, t := range d.tasks {
		if t.background && !t.over {
			left = append(left, t)
		}
	}
	d.hub.mu.Unlock()
	end(left, stopTime)
}

// find gives a task of this agent, and the ids of all of them.
func (d *Desk) find(id string) (*task, []string) {
	var known []string
	for _, t := range d.tasks {
		if t.id == id {
			return t, nil
		}
		known = append(known, t.id+" ("+t.label()+")")
	}
	return nil, known
}
