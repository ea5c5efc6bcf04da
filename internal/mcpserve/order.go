package mcpserve

import (
	"bytes"
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"larva.dev/larva/internal/ops"
)

// The SDK carries calls out side by side. On stdio they are a sequence, and a
// client may send the next before it has read the last answer: a list after a
// register must show what was registered. So a call that changes something
// waits for all before it, and every call waits for the changes before it.
// Calls that only read still run side by side.

// changing says whether a tool call may change something: whether it names
// such a tool. A name elsewhere in the arguments makes it wait for nothing.
func changing(m *jsonrpc.Request) bool {
	if m.Method != "tools/call" {
		return false
	}
	mark := []byte(`"` + toolPrefix)
	for rest := []byte(m.Params); ; {
		i := bytes.Index(rest, mark)
		if i < 0 {
			return false
		}
		rest = rest[i+len(mark):]
		if end := bytes.IndexByte(rest, '"'); end > 0 {
			if o, ok := ops.Find(string(rest[:end])); ok && !o.ReadOnly {
				return true
			}
		}
	}
}

// looks says whether a call looks at the registry.
func looks(method string) bool {
	noun, _, _ := strings.Cut(method, "/")
	return method == "tools/call" || noun == "resources" || noun == "prompts" || noun == "completion"
}

// lineUp gives what m has to wait for. mu is held.
func (c *conn) lineUp(m *jsonrpc.Request, this *call) (before []<-chan struct{}) {
	if this.tool != nil {
		this.changes = !this.tool.op.ReadOnly
	} else {
		this.changes = changing(m)
	}
	if c.changes == 0 && !this.changes || !looks(m.Method) {
		return nil
	}
	for _, other := range c.calls {
		if (other.changes || this.changes) && other.method != listenMethod {
			if other.done == nil {
				other.done = make(chan struct{})
			}
			before = append(before, other.done)
		}
	}
	if this.changes {
		c.changes++
	}
	return before
}

// leave lets those go on who wait for call. mu is held.
func (c *conn) leave(call *call) {
	if call.changes {
		call.changes = false
		c.changes--
	}
	if call.done != nil {
		close(call.done)
		call.done = nil
	}
}

// await waits for what was sent before.
func (b *beside) await(ctx context.Context) error {
	for _, done := range b.before {
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
