package shell

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/proc"
	"larva.dev/larva/internal/tool"
)

const (
	// maxJobs is how many background runs there may be at a time: servers and
	// watchers of one piece of work, and no crowd.
	maxJobs = 8
	// maxEnded is how many ended ones stay readable.
	maxEnded = 32
	// patience is how long bash_output waits for the first news of a run that
	// has none: a model that asks in a loop pays for each question.
	patience = 2 * time.Second
)

const idSchema = `{"type":"object","properties":{"id":{"type":"string","minLength":1,"description":"As bash gave it"}},"required":["id"]}`

//go:embed bash_output.md
var outputDescription string

//go:embed bash_kill.md
var killDescription string

// job is one background run. Its goroutine owns result, err and putBack until
// ended is closed.
type job struct {
	id, command string
	timeout     time.Duration
	out         *pending
	stop        context.CancelFunc
	ended       chan struct{}
	result      proc.Result
	err         error
	putBack     []string // by the wall
}

func (j *job) over() bool {
	select {
	case <-j.ended:
		return true
	default:
		return false
	}
}

// background starts a run that goes on after the call, and the turn. It ends by
// itself, by bash_kill, or with the shell. done is called when it has ended.
func (s *Shell) background(ctx context.Context, in input, c proc.Command, done func() []string) tool.Result {
	j := &job{command: in.Command, timeout: c.Timeout, out: newPending(), ended: make(chan struct{})}
	alive, stop := context.WithCancel(s.alive)
	j.stop = stop
	if err := s.enlist(j); err != nil {
		stop()
		done()
		return tool.Fail("%v", err)
	}
	started := make(chan struct{})
	c.Stdout, c.Started = j.out, func() { close(started) }
	go func() {
		defer s.running.Done()
		defer stop()
		j.result, j.err = proc.Run(alive, c)
		j.putBack = done()
		done()
		close(j.ended)
	}()
	select {
	case <-started:
	case <-j.ended:
		if j.err != nil {
			s.forget(j)
			return tool.Fail("the command could not be started: %v", j.err)
		}
	case <-ctx.Done():
		stop()
		<-j.ended
		s.forget(j)
		return tool.Fail("the command was not run: %v", ctx.Err())
	}
	return tool.Result{Output: j.id + "\nruns in the background until it ends, bash_kill ends it, or the run is over; bash_output gives what it says\n"}
}

// enlist names a job and counts it as running.
func (s *Shell) enlist(j *job) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errOver
	}
	var alive []string
	ended := 0
	for _, other := range s.jobs {
		if other.over() {
			ended++
		} else {
			alive = append(alive, other.id)
		}
	}
	if len(alive) >= maxJobs {
		return fmt.Errorf("%d background runs are the limit; end one first: %s", maxJobs, strings.Join(alive, ", "))
	}
	for i := 0; ended > maxEnded && i < len(s.jobs); i++ {
		if s.jobs[i].over() {
			s.jobs = append(s.jobs[:i:i], s.jobs[i+1:]...)
			ended, i = ended-1, i-1
		}
	}
	s.named++
	j.id = fmt.Sprintf("bash-%d", s.named)
	s.jobs = append(s.jobs, j)
	s.running.Add(1)
	return nil
}

func (s *Shell) forget(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.jobs {
		if s.jobs[i] == j {
			s.jobs = append(s.jobs[:i:i], s.jobs[i+1:]...)
			return
		}
	}
}

// find gives the job of a call's id, or what to tell the model.
func (s *Shell) find(c tool.Call) (*job, *tool.Result) {
	var in struct {
		ID string `json:"id"`
	}
	fail := func(r tool.Result) (*job, *tool.Result) { return nil, &r }
	if err := json.Unmarshal(c.Input, &in); err != nil {
		return fail(tool.Fail("%s: arguments: %v", c.Tool, err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var known []string
	for _, j := range s.jobs {
		if j.id == strings.TrimSpace(in.ID) {
			return j, nil
		}
		known = append(known, j.id)
	}
	if len(known) == 0 {
		return fail(tool.Fail("there is no background run %q, nor any other", in.ID))
	}
	return fail(tool.Fail("there is no background run %q; there are %s", in.ID, strings.Join(known, ", ")))
}

// status says in a line how a job stands.
func (j *job) status() string {
	if !j.over() {
		return j.id + " is running"
	}
	r := j.result
	switch {
	case j.err != nil:
		return fmt.Sprintf("%s could not be started: %v", j.id, j.err)
	case r.TimedOut:
		return j.id + " timed out after " + seconds(j.timeout) + " and was ended"
	case r.Cancelled:
		return j.id + " was ended"
	case r.Signal != "":
		return fmt.Sprintf("%s ended with exit code %d (by %s)", j.id, r.Exit, r.Signal)
	}
	return fmt.Sprintf("%s ended with exit code %d", j.id, r.Exit)
}

// outputTool is bash_output.
type outputTool struct{ s *Shell }

func (t outputTool) Spec() tool.Spec {
	return tool.Spec{Name: "bash_output", Description: outputDescription, Schema: json.RawMessage(idSchema), Parallel: true}
}

// Effects are none: it reads what the run already holds.
func (t outputTool) Effects(tool.Call) tool.Effects { return tool.Effects{ReadOnly: true} }

func (t outputTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	j, fault := t.s.find(c)
	if fault != nil {
		return *fault, nil
	}
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-j.out.news:
	case <-j.ended:
	case <-wait.C:
	case <-ctx.Done():
		return tool.Fail("%v", ctx.Err()), nil
	}
	over := j.over() // before the output is taken: nothing may come in between
	head, tail, lost := j.out.take(!over)
	status := j.status()
	if !over {
		status = j.id + " is running"
	}
	if head == "" && tail == "" {
		status = "no new output; " + status
	}
	notes := []string{status}
	if over && len(j.putBack) > 0 {
		notes = append(notes, "the sandbox has put back what must not be changed: "+strings.Join(j.putBack, ", "))
	}
	return shown(head, tail, lost, notes), nil
}

// killTool is bash_kill.
type killTool struct{ s *Shell }

func (t killTool) Spec() tool.Spec {
	return tool.Spec{Name: "bash_kill", Description: killDescription, Schema: json.RawMessage(idSchema)}
}

// Effects: it ends what this run was allowed to start, and no other process.
func (t killTool) Effects(tool.Call) tool.Effects {
	return tool.Effects{Touches: true, ReadOnly: true, Needs: []capability.Need{{Family: "shell", Posture: capability.ReadOnly}}}
}

func (t killTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	j, fault := t.s.find(c)
	if fault != nil {
		return *fault, nil
	}
	if j.over() {
		return tool.Result{Output: "nothing to end: " + j.status() + "\n"}, nil
	}
	j.stop()
	select {
	case <-j.ended: // proc kills what does not end politely
	case <-ctx.Done():
		return tool.Fail("%s is being ended", j.id), nil
	}
	return tool.Result{Output: j.status() + "\n"}, nil
}
