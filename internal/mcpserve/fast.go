package mcpserve

import (
	"bytes"
	"context"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/spec"
)

// Nearly every message on stdio is a tool call, and the SDK spends ten times
// as much on reading its parameters and writing its result as the operation
// takes. So such a call goes through the SDK, which runs and cancels it, under
// a method of ours without parameters; what it asks travels beside it, and so
// does its answer. Calls that the protocol of 2026-07-28 makes, deletes that
// may have to ask the person, and tools that do not exist go the common way.

// fastMethod is that method. No client can call it: without what travels
// beside it there is none such.
const fastMethod = "larva/call"

// beside is what travels with a request through the SDK.
type beside struct {
	before []<-chan struct{} // what it waits for
	tool   *toolCall         // nil: it goes the common way
	room   *room             // what its answer needs; nil: it waits for none
}

// toolCall is a call on the fast way. Its goroutine writes answer and the
// connection reads it from the same goroutine, in Write.
type toolCall struct {
	op        ops.Operation
	arguments []byte
	id        jsonrpc.ID
	answer    []byte // the whole message
}

// besideKey is where it travels.
const besideKey = "larva"

func (b *beside) extra() *mcp.RequestExtra {
	return &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: map[string]any{besideKey: b}}}
}

func besideOf(req mcp.Request) *beside {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	b, _ := extra.TokenInfo.Extra[besideKey].(*beside)
	return b
}

type (
	fastParams struct{ mcp.ParamsBase }
	fastResult struct{ mcp.ResultBase }
)

func (s *Server) addFast() {
	// The name is none of the protocol's, which is all that this checks.
	_ = mcp.AddReceivingCustomMethod(s.mcp, fastMethod, func(context.Context, *mcp.ServerSession, *fastParams) (*fastResult, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + strconv.Quote(fastMethod)}
	})
}

// fastCall takes a tool call out of its parameters; nil where it must go the
// common way.
func fastCall(m *jsonrpc.Request) *toolCall {
	if m.Method != "tools/call" || !m.IsCall() {
		return nil
	}
	t := &toolCall{id: m.ID}
	name := ""
	plain := members(m.Params, func(key, value []byte) bool {
		switch string(key) {
		case "name":
			name, _ = word(value)
		case "arguments":
			t.arguments = value
		case "_meta":
			return !bytes.Contains(value, []byte("io.modelcontextprotocol/"))
		default:
			return false
		}
		return true
	})
	var known bool
	if len(name) > len(toolPrefix) && name[:len(toolPrefix)] == toolPrefix {
		t.op, known = ops.Find(name[len(toolPrefix):])
	}
	if !plain || !known || t.op.Name == deleteName {
		return nil
	}
	return t
}

// fast carries a call out and writes its answer.
func (s *Server) fast(ctx context.Context, t *toolCall) {
	var v any
	p, err := arguments(t.op, t.arguments)
	if err == nil {
		v, err = s.ops.Do(ctx, t.op.Name, p)
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), rawID(t.id)...)
	b = append(b, `,"result":{"content":[{"type":"text","text":"`...)
	if err != nil {
		v = envelope(diag.As(err))
	}
	text := spec.AppendCanonical(nil, v)
	b = append(appendQuoted(b, text), `"}],"structuredContent":`...)
	b = append(b, structured(text)...)
	if err != nil {
		b = append(b, `,"isError":true`...)
	}
	t.answer = append(b, "}}\n"...)
}

// rawID is an id as JSON.
func rawID(id jsonrpc.ID) []byte {
	return spec.AppendCanonical(nil, id.Raw())
}

// appendQuoted appends canonical JSON as the inside of a string. It is ASCII
// without control characters, so two characters need an escape.
func appendQuoted(dst, text []byte) []byte {
	for {
		i := bytes.IndexAny(text, `"\`)
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:i]...), '\\', text[i])
		text = text[i+1:]
	}
}
