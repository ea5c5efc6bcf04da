// Package talk holds the tools that touch nothing outside the run: the list of
// what is to do, questions to the person, the end of plan mode, and what the
// run itself still knows of earlier calls.
package talk

import (
	"context"
	"embed"
	"encoding/json"

	"larva.dev/larva/internal/tool"
)

// Line is how these tools reach the run and its person. Its funcs are set before
// the run begins; a nil one is answered as its comment says.
type Line struct {
	// Ask puts a question to the person and waits. ok is false where they gave
	// no answer. nil: nobody is there.
	Ask func(ctx context.Context, question string, options []string) (answer string, ok bool)
	// Planning says whether plan mode is on. The loop ends it once the person's
	// yes to exit_plan_mode is there. nil: it is not on.
	Planning func() bool
	// Raw gives the bytes of an earlier call's output. nil: none are kept.
	Raw func(callID string) ([]byte, error)
}

//go:embed *.md
var texts embed.FS

// New gives the tools of one run over its line.
func New(l *Line) []tool.Tool {
	return []tool.Tool{todoTool{}, askTool{l}, planTool{l}, rawTool{l}}
}

// idle are the effects of them all.
var idle = tool.Effects{ReadOnly: true}

func spec(name, schema string) tool.Spec {
	text, err := texts.ReadFile(name + ".md")
	if err != nil {
		panic(err) // embedded: missing only if the build is broken
	}
	return tool.Spec{Name: name, Description: string(text), Schema: json.RawMessage(schema)}
}

func decode(c tool.Call, into any) *tool.Result {
	if err := json.Unmarshal(c.Input, into); err != nil {
		r := tool.Fail("%s: arguments: %v", c.Tool, err)
		return &r
	}
	return nil
}
