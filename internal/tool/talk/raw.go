package talk

import (
	"context"
	"encoding/base64"
	"fmt"
	"unicode/utf8"

	"larva.dev/larva/internal/tool"
)

const rawSchema = `{"type":"object","properties":{
"tool_call_id":{"type":"string","minLength":1},
"offset":{"type":"integer","minimum":0,"description":"First byte, from 0"},
"limit":{"type":"integer","minimum":1,"maximum":20000,"description":"How many bytes; 20000 if left out"}},
"required":["tool_call_id"]}`

// maxSlice is a piece that, written as base64, still fits into one result.
const maxSlice = 20_000

type rawTool struct{ l *Line }

func (rawTool) Spec() tool.Spec {
	s := spec("raw_output", rawSchema)
	s.Parallel = true
	return s
}
func (rawTool) Effects(tool.Call) tool.Effects { return idle }

func (t rawTool) Run(_ context.Context, c tool.Call) (tool.Result, error) {
	var in struct {
		ID     string   `json:"tool_call_id"`
		Offset *float64 `json:"offset"`
		Limit  *float64 `json:"limit"`
	}
	if fault := decode(c, &in); fault != nil {
		return *fault, nil
	}
	if t.l.Raw == nil {
		return tool.Fail("no outputs are kept in this run"), nil
	}
	data, err := t.l.Raw(in.ID)
	if err != nil {
		return tool.Fail("%v; only outputs that were cut or left out are kept, under the id that stands there", err), nil
	}
	offset, limit := whole(in.Offset, 0), max(min(whole(in.Limit, maxSlice), maxSlice), 1)
	if offset >= len(data) {
		if offset == 0 {
			return tool.Result{Output: "(the output is empty)\n"}, nil
		}
		return tool.Fail("offset %d is past the end: the output has %d bytes", offset, len(data)), nil
	}
	return piece(data, offset, min(offset+limit, len(data))), nil
}

// whole gives a number of the input as an int that is not negative.
func whole(v *float64, def int) int {
	switch {
	case v == nil:
		return def
	case *v >= 1<<31:
		return 1 << 31
	}
	return max(int(*v), 0)
}

// piece is data[from:to] for the model: a line that says which bytes these are,
// unless they are all, and then the bytes as they are; as base64 where they are
// no text. Of a text no character is cut in two.
func piece(data []byte, from, to int) tool.Result {
	first, last := from, to
	for first > 0 && first < last && !utf8.RuneStart(data[first]) && from-first < utf8.UTFMax {
		first--
	}
	for last < len(data) && !utf8.RuneStart(data[last]) && last > first+utf8.UTFMax && to-last < utf8.UTFMax {
		last--
	}
	if from == 0 && last == len(data) && utf8.Valid(data) {
		return tool.Result{Output: string(data)}
	}
	if utf8.Valid(data[first:last]) {
		return tool.Result{Output: heading("", first, last, len(data)) + string(data[first:last])}
	}
	return tool.Result{Output: heading("base64 of ", from, to, len(data)) + base64.StdEncoding.EncodeToString(data[from:to])}
}

func heading(form string, from, to, size int) string {
	if to == size {
		return fmt.Sprintf("[%sbytes %d to %d, the end]\n", form, from, to)
	}
	return fmt.Sprintf("[%sbytes %d to %d of %d; go on with offset %d]\n", form, from, to, size, to)
}
