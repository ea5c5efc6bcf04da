package load

import (
	"context"
	"encoding/json"
	"io"
	"runtime/debug"
)

// EvalChild is what the hidden verb of a child process runs: it evaluates the
// units of the request in in, and writes one answer a line to out. It reads no
// file. The result is the exit code: 0 also where a limit stopped a unit, since
// the answer says so; the caller must then end the process, for the evaluation
// may still be running.
func EvalChild(in io.Reader, out io.Writer) int {
	debug.SetGCPercent(400) // a short life: less collecting is a third of the time
	var req request
	if err := json.NewDecoder(in).Decode(&req); err != nil {
		return 2
	}
	enc := json.NewEncoder(out)
	l := standard
	if req.Wall > 0 {
		l.wall = req.Wall
	}
	if req.Bytes > 0 {
		l.memory = req.Bytes
	}
	debug.SetMemoryLimit(int64(l.memory)) // collect hard before giving up
	for _, u := range req.Units {
		outs, err := watched(context.Background(), u, l)
		if err != nil {
			return 1
		}
		if err := enc.Encode(answer{outs}); err != nil {
			return 1
		}
		if len(outs) > 0 && outs[0].Limit != "" {
			return 0
		}
	}
	return 0
}
