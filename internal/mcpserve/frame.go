package mcpserve

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// frame judges one message before the SDK sees it, which would end the
// connection over a broken one. The answer to a broken message has no id: it
// is not known whose it is.
func frame(data []byte) (jsonrpc.Message, *jsonrpc.Error) {
	if e := wellFormed(data); e != nil {
		return nil, e
	}
	return message(data)
}

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

// message reads well-formed JSON as a request, a notification or a response.
func message(data []byte) (jsonrpc.Message, *jsonrpc.Error) {
	if id, ok := oddID(data); ok {
		return nil, invalid("the id " + id + " is neither a string nor an integer")
	}
	m, err := jsonrpc.DecodeMessage(data)
	if err != nil {
		return nil, invalid("the message is no JSON-RPC 2.0 request: " + err.Error())
	}
	return m, nil
}

func invalid(message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: message}
}

// maxSafeID is the largest integer that every JSON reader keeps exact. The
// SDK reads an id as a float64 and would answer a larger one, or a fraction,
// under another id.
const maxSafeID = 1<<53 - 1

// oddID finds an id that could not be answered under its own name. null is
// one too: the protocol forbids it.
func oddID(data []byte) (string, bool) {
	var m struct {
		ID json.RawMessage `json:"id"`
	}
	if !bytes.Contains(data, []byte(`"id"`)) || json.Unmarshal(data, &m) != nil || m.ID == nil || m.ID[0] == '"' {
		return "", false
	}
	var n float64
	if string(m.ID) == "null" || json.Unmarshal(m.ID, &n) != nil || n != float64(int64(n)) || n > maxSafeID || n < -maxSafeID {
		return string(m.ID), true
	}
	return "", false
}
