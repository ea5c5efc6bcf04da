package talk

import (
	"context"
	"strings"

	"larva.dev/larva/internal/tool"
)

// An empty plan fails the schema, so that nobody is asked about it.
const planSchema = `{"type":"object","properties":{
"plan":{"type":"string","minLength":1,"pattern":"\\S","description":"The whole plan, in Markdown"}},
"required":["plan"]}`

// planTool ends plan mode. The question is permission's, the change of mode the
// loop's; what is left to say is that the plan was accepted.
type planTool struct{ l *Line }

func (planTool) Spec() tool.Spec                { return spec("exit_plan_mode", planSchema) }
func (planTool) Effects(tool.Call) tool.Effects { return idle }

func (t planTool) Run(_ context.Context, c tool.Call) (tool.Result, error) {
	var in struct {
		Plan string `json:"plan"`
	}
	if fault := decode(c, &in); fault != nil {
		return *fault, nil
	}
	switch {
	case strings.TrimSpace(in.Plan) == "":
		return tool.Fail("the plan is empty; write it out"), nil
	case t.l.Planning == nil || !t.l.Planning():
		return tool.Result{Output: "Plan mode is not on; nothing has changed. Go on.\n"}, nil
	}
	return tool.Result{Output: "The person has accepted the plan. Carry it out.\n"}, nil
}
