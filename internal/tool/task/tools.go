package task

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/tool"
)

// Tools are task, task_wait, task_stop and task_send; none where there is
// nobody to hand work to.
func (d *Desk) Tools() []tool.Tool {
	if len(d.o.Agents) == 0 {
		return nil
	}
	return []tool.Tool{taskTool{d}, waitTool{d}, stopTool{d}, sendTool{d}}
}

// idle are the effects of all but task: the calls that a subagent makes are
// judged one by one.
var idle = tool.Effects{ReadOnly: true}

type taskTool struct{ d *Desk }

type taskInput struct {
	Description  string          `json:"description"`
	Prompt       string          `json:"prompt"`
	SubagentType string          `json:"subagent_type"`
	Model        string          `json:"model"`
	Isolation    string          `json:"isolation"`
	Background   bool            `json:"run_in_background"`
	OutputSchema json.RawMessage `json:"output_schema"`
}

func (t taskTool) Spec() tool.Spec {
	o := t.d.o
	s := spec("task", taskSchema(len(o.Models) > 0, o.Worktrees))
	s.Parallel = true
	var b strings.Builder
	b.WriteString(s.Description)
	for _, a := range o.Agents {
		about := a.ID + ": " + a.Description
		if a.Background {
			about += " (always in the background)"
		}
		b.WriteString("- " + line(about) + "\n")
	}
	if len(o.Models) > 0 {
		b.WriteString("\nmodel is one of these roles, or a provider/model; left out, the subagent's own choice:\n")
		for _, m := range o.Models {
			b.WriteString("- " + line(m) + "\n")
		}
	}
	s.Description = b.String()
	return s
}

func taskSchema(models, worktrees bool) string {
	more := ""
	if models {
		more += `"model":{"type":"string","minLength":1,"description":"A role or provider/model"},`
	}
	if worktrees {
		more += `"isolation":{"type":"string","enum":["none","worktree"],"description":"worktree: a checkout of its own, on a branch of its own"},`
	}
	return `{"type":"object","properties":{
"description":{"type":"string","minLength":1,"maxLength":200,"description":"What it is about, in three to six words"},
"prompt":{"type":"string","minLength":1,"description":"The whole task: the subagent knows nothing else"},
"subagent_type":{"type":"string","minLength":1},` + more + `
"run_in_background":{"type":"boolean"},
"output_schema":{"type":"object","description":"A JSON Schema that the report has to satisfy"}},
"required":["description","prompt","subagent_type"],"additionalProperties":false}`
}

func (taskTool) Effects(c tool.Call) tool.Effects {
	var in taskInput
	_ = json.Unmarshal(c.Input, &in) // validated before; an empty subject is nobody
	return tool.Effects{ReadOnly: true, Subject: in.SubagentType}
}

// Starts gives the task of a call its number.
func (t taskTool) Starts(c tool.Call) {
	var in taskInput
	_ = json.Unmarshal(c.Input, &in)
	t.d.announce(c.ID, in.Background || t.d.always(in.SubagentType))
}

func (t taskTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in taskInput
	if fault := decode(c, &in); fault != nil {
		return *fault, nil
	}
	one := &task{agent: in.SubagentType, description: line(in.Description)}
	r := Request{Description: one.description, Prompt: in.Prompt, Agent: in.SubagentType, Model: in.Model, Isolation: in.Isolation, Schema: in.OutputSchema}
	if in.Background || t.d.always(in.SubagentType) {
		if err := t.d.start(ctx, one, r, c.ID); errors.Is(err, errFull) {
			return tool.Fail("%d tasks run in the background already, which is the most: wait for one with task_wait, or run this one in the foreground", MaxBackground), nil
		}
		return tool.Result{Output: fmt.Sprintf("Started background task %s (%s). Its result comes by itself; task_wait waits for it, task_stop ends it.", one.id, one.label())}, nil
	}
	t.d.open(one, c.ID)
	r.ID = one.id
	return t.d.front(ctx, one, r), nil
}

// always says that an agent works in the background, whatever a call says.
func (d *Desk) always(agent string) bool {
	return slices.ContainsFunc(d.o.Agents, func(a Agent) bool { return a.ID == agent && a.Background })
}

// front runs a task while its parent waits.
func (d *Desk) front(ctx context.Context, t *task, r Request) tool.Result {
	res := d.spawn(ctx, r)
	d.finish(t, res)
	return tool.Result{Output: res.text, IsError: res.status != "done"}
}

type waitTool struct{ d *Desk }

func (waitTool) Spec() tool.Spec {
	s := spec("task_wait", `{"type":"object","properties":{
"ids":{"type":"array","items":{"type":"string","minLength":1},"description":"bg-1, …; all if left out"},
"timeout_seconds":{"type":"number","minimum":0,"description":"No limit if left out"}},"additionalProperties":false}`)
	s.MaxOutput = MaxBackground * (maxReport + 1000) // results are given once: none may be cut away
	return s
}
func (waitTool) Effects(tool.Call) tool.Effects { return idle }

func (w waitTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct {
		IDs     []string `json:"ids"`
		Timeout *float64 `json:"timeout_seconds"`
	}
	if fault := decode(c, &in); fault != nil {
		return *fault, nil
	}
	tasks, fault := w.d.meant(in.IDs)
	if fault != nil {
		return *fault, nil
	}
	if len(tasks) == 0 {
		return tool.Result{Output: "No background task has a result that is still to come."}, nil
	}
	var late <-chan time.Time
	if in.Timeout != nil {
		timer := time.NewTimer(time.Duration(min(*in.Timeout, 1e6) * float64(time.Second)))
		defer timer.Stop()
		late = timer.C
	}
wait:
	for _, t := range tasks {
		select { // what is over already is given, also at a timeout of 0
		case <-t.done:
			continue
		default:
		}
		select {
		case <-t.done:
		case <-late:
			break wait
		case <-ctx.Done():
			return tool.Fail("The waiting ended; the tasks' results are still to come."), nil
		}
	}
	return tool.Result{Output: w.d.deliver(tasks)}, nil
}

// meant are the background tasks with these ids, or all whose result was not
// given yet.
func (d *Desk) meant(ids []string) ([]*task, *tool.Result) {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	var out []*task
	if len(ids) == 0 {
		for _, t := range d.tasks {
			if t.background && !t.delivered {
				out = append(out, t)
			}
		}
		return out, nil
	}
	for _, id := range ids {
		t, fault := d.backgroundLocked(id)
		if fault != nil {
			return nil, fault
		}
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out, nil
}

func (d *Desk) backgroundLocked(id string) (*task, *tool.Result) {
	t, known := d.find(id)
	if t == nil || !t.background {
		known = slices.DeleteFunc(known, func(k string) bool { return !strings.HasPrefix(k, "bg-") })
		r := tool.Fail("there is no background task %q; yours are: %s", id, cmp.Or(strings.Join(known, ", "), "none"))
		return nil, &r
	}
	return t, nil
}

// deliver gives what became of tasks; each result once.
func (d *Desk) deliver(tasks []*task) string {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	var out []string
	for _, t := range tasks {
		switch {
		case !t.over:
			out = append(out, t.block("running", "It is still at work."))
		case t.delivered:
			out = append(out, t.block(t.result.status, "Its result was given before."))
		default:
			t.delivered = true
			out = append(out, t.block(t.result.status, t.result.text))
		}
	}
	return strings.Join(out, "\n\n")
}

type stopTool struct{ d *Desk }

func (stopTool) Spec() tool.Spec {
	s := spec("task_stop", `{"type":"object","properties":{"id":{"type":"string","minLength":1}},"required":["id"],"additionalProperties":false}`)
	s.MaxOutput = maxReport + 1000
	return s
}
func (stopTool) Effects(tool.Call) tool.Effects { return idle }

func (s stopTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct{ ID string }
	if fault := decode(c, &in); fault != nil {
		return *fault, nil
	}
	s.d.hub.mu.Lock()
	t, fault := s.d.backgroundLocked(in.ID)
	s.d.hub.mu.Unlock()
	if fault != nil {
		return *fault, nil
	}
	t.cancel(byParent)
	late := time.NewTimer(stopTime)
	defer late.Stop()
	select {
	case <-t.done:
	case <-ctx.Done():
	case <-late.C:
		return tool.Fail("%s was told to stop and has not ended yet; its result is still to come", t.id), nil
	}
	return tool.Result{Output: s.d.deliver([]*task{t})}, nil
}

type sendTool struct{ d *Desk }

func (sendTool) Spec() tool.Spec {
	s := spec("task_send", `{"type":"object","properties":{"id":{"type":"string","minLength":1},"prompt":{"type":"string","minLength":1}},"required":["id","prompt"],"additionalProperties":false}`)
	s.Parallel = true
	return s
}
func (sendTool) Effects(tool.Call) tool.Effects { return idle }

func (s sendTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct{ ID, Prompt string }
	if fault := decode(c, &in); fault != nil {
		return *fault, nil
	}
	h := s.d.hub
	h.mu.Lock()
	t, known := s.d.find(in.ID)
	busy := t != nil && t.busy
	if t != nil && !busy {
		t.busy = true
	}
	h.mu.Unlock()
	switch {
	case t == nil:
		return tool.Fail("there is no task %q; yours are: %s", in.ID, cmp.Or(strings.Join(known, ", "), "none")), nil
	case busy:
		return tool.Fail("%s is still at work; its conversation goes on once it has ended", t.id), nil
	}
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		t.busy = false
	}()
	res := s.d.spawn(ctx, Request{ID: t.id, Agent: t.agent, Description: t.description, Prompt: in.Prompt, Again: true})
	return tool.Result{Output: res.text, IsError: res.status != "done"}, nil
}

// line keeps a text on one line of a list, and short.
func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:299]) + "…"
	}
	return s
}
