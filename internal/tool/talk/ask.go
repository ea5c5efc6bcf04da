package talk

import (
	"context"
	"strings"

	"larva.dev/larva/internal/tool"
)

const askSchema = `{"type":"object","properties":{
"question":{"type":"string","minLength":1,"pattern":"\\S"},
"options":{"type":"array","maxItems":9,"items":{"type":"string","minLength":1},"description":"Answers to choose from; the person may give another"}},
"required":["question"]}`

// maxOptions is what fits on a small terminal.
const maxOptions = 9

type askTool struct{ l *Line }

func (askTool) Spec() tool.Spec                { return spec("ask_user", askSchema) }
func (askTool) Effects(tool.Call) tool.Effects { return idle }

func (t askTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	var in struct {
		Question string   `json:"question"`
		Options  []string `json:"options"`
	}
	if fault := decode(c, &in); fault != nil {
		return *fault, nil
	}
	switch {
	case strings.TrimSpace(in.Question) == "":
		return tool.Fail("question is empty"), nil
	case len(in.Options) > maxOptions:
		return tool.Fail("%d options; %d at most", len(in.Options), maxOptions), nil
	case t.l.Ask == nil:
		return tool.Fail("nobody is there to answer. Go on with what you know and say what you assumed, or end by saying what you need to know"), nil
	}
	answer, ok := t.l.Ask(ctx, in.Question, in.Options)
	switch {
	case ctx.Err() != nil:
		return tool.Fail("the question was not answered: %v", ctx.Err()), nil
	case !ok:
		return tool.Fail("the person gave no answer. Do not ask the same again; go on with what you know, or end by saying what you need to know"), nil
	case strings.TrimSpace(answer) == "":
		return tool.Result{Output: "(an empty answer)\n"}, nil
	}
	return tool.Result{Output: answer}, nil
}
