package talk

import (
	"context"
	"fmt"
	"strings"

	"larva.dev/larva/internal/tool"
)

const todoSchema = `{"type":"object","properties":{
"todos":{"type":"array","maxItems":50,"items":{"type":"object","properties":{
"content":{"type":"string","minLength":1,"description":"What to do"},
"status":{"type":"string","enum":["pending","in_progress","completed"]},
"active_form":{"type":"string","description":"What is being done while it is in progress: Running the tests"}},
"required":["content","status","active_form"]}}},
"required":["todos"]}`

// maxTodos is a list that a person can still read.
const maxTodos = 50

// Todo is one point of the list.
type Todo struct {
	Content    string `json:"content"`
	Status     string `json:"status"` // pending, in_progress, completed
	ActiveForm string `json:"active_form"`
}

// todoTool keeps nothing: the latest call that succeeded is the list.
type todoTool struct{}

func (todoTool) Spec() tool.Spec                { return spec("todo_write", todoSchema) }
func (todoTool) Effects(tool.Call) tool.Effects { return idle }

func (todoTool) Run(_ context.Context, c tool.Call) (tool.Result, error) {
	var in struct {
		Todos []Todo `json:"todos"`
	}
	if fault := decode(c, &in); fault != nil {
		return *fault, nil
	}
	if len(in.Todos) > maxTodos {
		return tool.Fail("%d todos; %d at most", len(in.Todos), maxTodos), nil
	}
	count := map[string]int{}
	for i, t := range in.Todos {
		switch t.Status {
		case "pending", "in_progress", "completed":
			count[t.Status]++
		default:
			return tool.Fail("todo %d: status %q; want pending, in_progress or completed", i+1, t.Status), nil
		}
		if strings.TrimSpace(t.Content) == "" {
			return tool.Fail("todo %d: content is empty", i+1), nil
		}
	}
	if n := count["in_progress"]; n > 1 {
		return tool.Fail("%d todos are in progress; one at most: do one thing at a time", n), nil
	}
	if len(in.Todos) == 0 {
		return tool.Result{Output: "the list is empty\n"}, nil
	}
	return tool.Result{Output: fmt.Sprintf("the list has %d: %d completed, %d in progress, %d pending\n",
		len(in.Todos), count["completed"], count["in_progress"], count["pending"])}, nil
}
