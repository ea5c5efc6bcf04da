package mcpserve

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxMaking is how many calls that only read are carried out at once on one
// connection: more than there are processors, few enough that their answers,
// each of which may be many megabytes, fit into memory together.
const maxMaking = 8

// room is what answers in the making may take. Without it a client that asks
// and does not read would have a hundred large answers made for it. The zero
// value is ready to use.
type room struct {
	mu     sync.Mutex
	making int
	closed bool            // the client has much to read
	queue  []chan struct{} // who waits, in their order
}

// enter waits for room. Whoever has entered must leave.
func (r *room) enter(ctx context.Context) error {
	r.mu.Lock()
	if r.free() && len(r.queue) == 0 {
		r.making++
		r.mu.Unlock()
		return nil
	}
	turn := make(chan struct{})
	r.queue = append(r.queue, turn)
	r.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, other := range r.queue {
		if other == turn {
			r.queue = append(r.queue[:i], r.queue[i+1:]...)
			return context.Cause(ctx)
		}
	}
	r.making-- // the turn had come already
	r.admit()
	return context.Cause(ctx)
}

func (r *room) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.making--
	r.admit()
}

// full says whether the client has much to read.
func (r *room) full(yes bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = yes
	r.admit()
}

func (r *room) free() bool { return r.making < maxMaking && !r.closed }

// admit lets in whom there is room for. mu is held.
func (r *room) admit() {
	for r.free() && len(r.queue) > 0 {
		r.making++
		close(r.queue[0])
		r.queue = r.queue[1:]
	}
}

// maxGreetings is how often the client may say that it is ready: once is
// enough, and once more where the first came too early.
const maxGreetings = 8

// hears says whether a notification of the client's means anything here. The
// SDK keeps what it is given until it gets round to it, so what means nothing
// would cost memory without end. mu is held.
func (c *conn) hears(m *jsonrpc.Request) bool {
	switch m.Method {
	case "notifications/initialized":
		c.greeted++
		return c.greeted <= maxGreetings
	case "notifications/cancelled":
		var p struct {
			RequestID any `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) != nil {
			return false
		}
		id, err := jsonrpc.MakeID(p.RequestID)
		call := c.calls[id]
		if err != nil || call == nil || call.ended {
			return false
		}
		call.ended = true
		return true
	}
	return false
}
