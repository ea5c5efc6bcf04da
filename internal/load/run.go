package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/metrics"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/proc"
)

// limits bound one evaluation. CUE has no way to be interrupted, so the
// watching goes on beside it and the process ends.
type limits struct {
	wall   time.Duration // for each unit
	memory uint64        // of the Go heap and its overhead
	output int           // bytes of what all units of one process give
}

// standard limits: the largest honest tree measured (500 persona files) takes
// a quarter of a second and 60 MiB.
var standard = limits{wall: 10 * time.Second, memory: 1 << 30, output: 64 << 20}

func (o Options) limits() limits {
	if o.bounds == (limits{}) {
		return standard
	}
	return o.bounds
}

// hardMemory is the kernel's limit on the child's data, above the watched one:
// one allocation may be larger than the watch sees coming.
const hardMemory = 2 << 30

// run evaluates units, each with the outcomes of its files. A unit with faults
// is not evaluated.
func (o Options) run(ctx context.Context, units []*unit) ([][]outcome, error) {
	outs := make([][]outcome, len(units))
	var todo []int
	for i, u := range units {
		if len(u.faults) == 0 {
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		var pending []*unit
		for _, i := range todo {
			pending = append(pending, units[i])
		}
		var done [][]outcome
		var err error
		if o.Trusted || len(o.Self) == 0 {
			done, err = o.inProcess(ctx, pending)
		} else {
			done, err = o.inChild(ctx, pending)
		}
		if err != nil {
			return nil, err
		}
		// What stopped a child stops its unit alone; the rest gets another child.
		for k, out := range done {
			outs[todo[k]] = out
		}
		todo = todo[len(done):]
	}
	return outs, ctx.Err()
}

// inProcess evaluates in this process. A unit that exceeds its time is left
// behind: its goroutine ends with the process.
func (o Options) inProcess(ctx context.Context, units []*unit) ([][]outcome, error) {
	outs := make([][]outcome, len(units))
	for i, u := range units {
		out, err := watched(ctx, u, o.limits())
		if err != nil {
			return nil, err
		}
		outs[i] = out
	}
	return outs, nil
}

// watched evaluates one unit and gives up on it at a limit.
func watched(ctx context.Context, u *unit, l limits) ([]outcome, error) {
	done := make(chan []outcome, 1)
	go func() { done <- evaluate(u) }()
	wall := time.NewTimer(l.wall)
	defer wall.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case out := <-done:
			return out, nil
		case <-wall.C:
			return []outcome{{Limit: "time"}}, nil
		case <-tick.C:
			if inUse() > l.memory {
				return []outcome{{Limit: "memory"}}, nil
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// inUse is the memory that the Go heap holds now.
func inUse() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// request and answer are what parent and child say to each other: one request,
// then one answer a line for each unit, in order.
type request struct {
	Units []*unit
	Wall  time.Duration
	Bytes uint64
}

type answer struct{ Outcomes []outcome }

// inChild evaluates in a child process. The answer may be shorter than units:
// the last one is that of the unit which the child did not survive.
func (o Options) inChild(ctx context.Context, units []*unit) ([][]outcome, error) {
	l := o.limits()
	req, err := json.Marshal(request{Units: units, Wall: l.wall, Bytes: l.memory})
	if err != nil {
		return nil, fmt.Errorf("encode CUE for its evaluation: %w", err)
	}
	n := time.Duration(len(units))
	res, err := proc.Run(ctx, proc.Command{
		Argv: o.Self, Stdin: bytes.NewReader(req), MaxOutput: l.output,
		MemoryBytes: hardMemory, CPUSeconds: uint64((n*l.wall + 10*time.Second) / time.Second * 2),
		Timeout: n*l.wall + 5*time.Second,
	})
	if err != nil {
		return nil, fmt.Errorf("start the evaluation of CUE: %w", err)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var outs [][]outcome
	lines := bufio.NewScanner(bytes.NewReader(res.Stdout))
	lines.Buffer(nil, len(res.Stdout)+1)
	for lines.Scan() && len(outs) < len(units) {
		var a answer
		if json.Unmarshal(lines.Bytes(), &a) != nil {
			break
		}
		outs = append(outs, a.Outcomes)
	}
	if len(outs) == len(units) || len(outs) > 0 && outs[len(outs)-1] != nil && outs[len(outs)-1][0].Limit != "" {
		return outs, nil
	}
	return append(outs, []outcome{died(res, units[len(outs)])}), nil
}

// died says why a child ended before its answer. What it printed is not shown:
// it would be a stack trace.
func died(res proc.Result, u *unit) outcome {
	switch {
	case res.Truncated:
		return outcome{Limit: "output"}
	case res.TimedOut, res.Signal == "SIGXCPU":
		return outcome{Limit: "time"}
	case res.Signal == "SIGKILL", bytes.Contains(res.Stderr, []byte("out of memory")), bytes.Contains(res.Stderr, []byte("cannot allocate memory")):
		return outcome{Limit: "memory"}
	}
	return outcome{Broken: true, Faults: []cueFault{{Problem: diag.Problem{File: u.Shown, Message: fmt.Sprintf("the process that evaluates it ended with exit code %d and no answer", res.Exit)}}}}
}
