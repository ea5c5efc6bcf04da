package mcpserve

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// batch is the calls of one message of the older protocol, which are answered
// together once the last is done.
type batch struct {
	open    int
	answers [][]byte
}

// acceptBatch takes a list of messages from a client whose protocol has them;
// any other gets one error.
func (c *conn) acceptBatch(line []byte) {
	if e := wellFormed(line); e != nil {
		c.refuse(e)
		return
	}
	var parts []json.RawMessage
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.old {
		c.put(refusal(invalid("this protocol version has no batches: send one message a line")))
		return
	}
	if err := json.Unmarshal(line, &parts); err != nil || len(parts) == 0 {
		c.put(refusal(invalid("the batch is empty")))
		return
	}
	b := &batch{open: 1} // this one is ours: nothing is sent before all are in
	for _, part := range parts {
		m, e := message(part)
		if e == nil && m != nil {
			if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
				b.open++
				if e = c.enqueue(m, len(part), b); e != nil {
					b.open--
				}
			} else {
				e = c.enqueue(m, 0, nil)
			}
		}
		if e != nil {
			b.answers = append(b.answers, refusal(e))
		}
	}
	if together := b.done(); together != nil {
		c.put(together)
	}
}

// add takes the answer of one call, and gives the answer of all once it was
// the last. The connection's mu is held.
func (b *batch) add(text []byte) []byte {
	b.answers = append(b.answers, bytes.TrimSpace(text))
	return b.done()
}

func (b *batch) done() []byte {
	if b.open--; b.open > 0 || len(b.answers) == 0 {
		return nil
	}
	return append(append([]byte{'['}, bytes.Join(b.answers, []byte{','})...), ']')
}

// hasBatches says whether the protocol that initialize agreed on knows them:
// all before 2025-06-18.
func hasBatches(result json.RawMessage) bool {
	var r struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	return json.Unmarshal(result, &r) == nil && r.ProtocolVersion != "" && r.ProtocolVersion < "2025-06-18"
}
