package file

import (
	"context"
	"fmt"

	"larva.dev/larva/internal/tool"
)

// maxEdits bounds the edits of one call.
const maxEdits = 100

const multiEditSchema = `{"type":"object","properties":{
"path":{"type":"string","minLength":1},
"edits":{"type":"array","minItems":1,"maxItems":100,"items":{"type":"object","properties":{
"old_string":{"type":"string"},"new_string":{"type":"string"},"replace_all":{"type":"boolean"}},
"required":["old_string","new_string"]}}},
"required":["path","edits"]}`

type multiEditTool struct{ d *desk }

type multiEditInput struct {
	Path  string        `json:"path"`
	Edits []replacement `json:"edits"`
}

func (t multiEditTool) Spec() tool.Spec { return spec("multi_edit", multiEditSchema, false) }

func (t multiEditTool) Effects(c tool.Call) tool.Effects {
	var in multiEditInput
	_ = decode(c, &in) // what does not fit is refused by Run; "" is the directory
	return t.d.effects(c, in.Path, true)
}

func (t multiEditTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in multiEditInput
	if err := decode(c, &in); err != nil {
		return tool.Fail("%v", err), nil
	}
	n := len(in.Edits)
	if n == 0 || n > maxEdits {
		return tool.Fail("edits: got %d, want 1 to %d", n, maxEdits), nil
	}
	for i, e := range in.Edits {
		if err := e.check(); err != nil {
			return tool.Fail("edit %d of %d: %v; nothing was changed", i+1, n, err), nil
		}
	}
	p, err := t.d.resolve(c, in.Path, true)
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	shown := t.d.rs.Rel(p.Abs)
	return t.d.change(p, func(text string) (string, string, error) {
		text, times, err := applyAll(ctx, text, in.Edits)
		return text, fmt.Sprintf("edited %s: %s, replaced %s", shown, count(n, "edit"), count(times, "occurrence")), err
	}), nil
}

// applyAll makes all edits in order, each on what the one before has left, or
// none. times is how often something was replaced.
func applyAll(ctx context.Context, text string, edits []replacement) (changed string, times int, err error) {
	for i, e := range edits {
		if err := ctx.Err(); err != nil {
			return "", 0, err
		}
		x, err := exchange(text, e.OldString, e.NewString, e.ReplaceAll)
		if err != nil {
			return "", 0, fmt.Errorf("edit %d of %d: %w; nothing was changed", i+1, len(edits), err)
		}
		text, times = x.text, times+x.times
	}
	return text, times, nil
}
