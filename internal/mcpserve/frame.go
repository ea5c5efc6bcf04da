package mcpserve

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"larva.dev/larva/internal/spec"
)

// wellFormed says whether data is one JSON value in UTF-8.
func wellFormed(data []byte) *jsonrpc.Error {
	if !utf8.Valid(data) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message is not UTF-8"}
	}
	if !json.Valid(data) {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the message is no JSON value"}
	}
	return nil
}

// message reads well-formed JSON as a request, a notification or a response;
// it keeps nothing of data. Of a response that cannot be read both are nil:
// an answer to an answer would be answered in turn, by a peer like this one
// for ever. The SDK's own reader would do, but it takes four
// buffers of 32 KiB for a message of any size, which is most of what a call
// costs; it still reads what is not written plainly.
func message(data []byte) (jsonrpc.Message, *jsonrpc.Error) {
	var f struct{ version, id, method, params []byte }
	outcome := false
	plain := members(data, func(key, value []byte) bool {
		switch string(key) {
		case "jsonrpc":
			f.version = value
		case "id":
			f.id = value
		case "method":
			f.method = value
		case "params":
			f.params = value
		case "result", "error":
			outcome = true
		}
		return bytes.IndexByte(key, '\\') < 0
	})
	bad := f.id != nil && !goodID(f.id)
	if plain && outcome && f.method == nil {
		if m, e := slowMessage(data); e == nil && !bad {
			return m, nil
		}
		return nil, nil
	}
	if bad {
		return nil, invalid("the id " + short(string(f.id)) + " is neither a string nor an integer of at most 53 bits")
	}
	method, ok := word(f.method)
	id, idOK := idOf(f.id)
	if !plain || !ok || !idOK || string(f.version) != `"2.0"` {
		return slowMessage(data)
	}
	return &jsonrpc.Request{ID: id, Method: method, Params: bytes.Clone(f.params)}, nil
}

func slowMessage(data []byte) (jsonrpc.Message, *jsonrpc.Error) {
	m, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil, invalid("the message is no JSON-RPC 2.0 request: " + short(err.Error()))
	}
	if r, ok := m.(*jsonrpc.Response); ok && r.Result == nil && r.Error == nil {
		return nil, invalid("the message has no method, and neither result nor error")
	}
	return m, nil
}

// short cuts what quotes a message, which may be as long as one.
func short(text string) string {
	const most = 400
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " …"
}

func invalid(message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message}
}

// word is a string's content where it is written without escapes.
func word(value []byte) (string, bool) {
	if len(value) < 2 || value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return "", false
	}
	return string(value[1 : len(value)-1]), true
}

// maxSafeID is the largest integer that every JSON reader keeps exact. The
// SDK reads an id as a float64 and would answer a larger one, or a fraction,
// under another id.
const maxSafeID = 1<<53 - 1

// goodID says whether an id can be answered under its own name. null is none:
// the protocol forbids it; nor is half a surrogate pair, which has no UTF-8.
func goodID(id []byte) bool {
	if id[0] == '"' {
		_, plain := word(id)
		if plain {
			return true
		}
		_, err := spec.Parse(id)
		return err == nil
	}
	n, err := strconv.ParseFloat(string(id), 64)
	return err == nil && n == float64(int64(n)) && n <= maxSafeID && n >= -maxSafeID
}

// idOf reads a plainly written id; none is the id of a notification.
func idOf(raw []byte) (jsonrpc.ID, bool) {
	if raw == nil {
		return jsonrpc.ID{}, true
	}
	var v any
	if s, ok := word(raw); ok {
		v = s
	} else if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		v = float64(n)
	} else {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil
}
