// Package task holds the tools by which an agent hands work to others, and the
// hub of the tasks that run in the background. It knows nothing of the loop:
// who wires it says how a subagent is spawned.
package task

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"larva.dev/larva/internal/frame"
	"larva.dev/larva/internal/tool"
)

// Agent is one that work may be handed to.
type Agent struct {
	ID          string
	Description string // a line
	Background  bool   // it always works in the background
}

// Request is one task for a subagent.
type Request struct {
	ID          string // task-N, or bg-N in the background
	Description string // a few words, for the person
	Prompt      string
	Agent       string // subagent_type
	Model       string // "" leaves the choice to the subagent
	Isolation   string // none, worktree; "" leaves it to the subagent
	Schema      json.RawMessage
	Background  bool
	// Again goes on with the conversation of the finished task ID: Prompt is all
	// that is set beside it.
	Again bool
}

// Report is how a subagent ended. Text is its final message, or the last one
// that it said where it did not finish.
type Report struct {
	Text string
	// Failed says in a sentence why this is no final report; "" where it is one.
	Failed string
	// Refused says that it never began: nothing can have been changed.
	Refused bool
	// Note follows the report, whatever became of it: where its work lies.
	Note string
}

// Spawn runs a subagent until it ends, or until ctx does. An error is a
// failure of its own kind: of the model's service, or ours. It is called from
// several goroutines.
type Spawn func(ctx context.Context, r Request) (Report, error)

// Footer is put behind a subagent's own prompt: it asks for a complete report.
func Footer() string { return text("footer") }

const (
	maxReport = 30_000 // bytes of a report: as much as of any other result
	maxLast   = 4000   // characters of the last message of one that failed
)

//go:embed *.md
var texts embed.FS

func text(name string) string {
	t, err := texts.ReadFile(name + ".md")
	if err != nil {
		panic(err) // embedded: missing only if the build is broken
	}
	return string(t)
}

// result is a report as the parent reads it.
type result struct {
	status string // done, failed, stopped
	text   string
}

// read words how a subagent ended.
func read(ctx context.Context, rep Report, err error) result {
	if err != nil && rep.Failed == "" {
		rep.Failed = err.Error()
	}
	r := result{status: "done", text: clip(rep.Text)}
	if rep.Failed != "" {
		r = result{status: "failed", text: failure(ctx, rep)}
		if ctx.Err() != nil {
			r.status = "stopped"
		}
	}
	if rep.Note != "" {
		r.text = strings.TrimRight(r.text, "\n") + "\n\n" + rep.Note
	}
	return r
}

func failure(ctx context.Context, rep Report) string {
	why := rep.Failed
	if w, ok := context.Cause(ctx).(interface{ Why() string }); ok {
		why = w.Why()
	}
	if rep.Refused {
		return "The task was not begun: " + sentence(why)
	}
	out := "The task did not finish: " + sentence(why) + " What the subagent changed before that stays: check it before you go on."
	if last := strings.TrimSpace(rep.Text); last != "" {
		out += "\n\nIts last message:\n" + frame.Block("last-message", "", "", ending(last))
	}
	return out
}

// ending is the end of a message, where it says what it came to.
func ending(s string) string {
	n := utf8.RuneCountInString(s)
	if n <= maxLast {
		return s
	}
	r := []rune(s)
	return fmt.Sprintf("[… %d of %d characters left out …]\n", n-maxLast, n) + string(r[n-maxLast:])
}

// clip bounds a report: its first two thirds and its last third.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= maxReport {
		return s
	}
	head, tail := maxReport*2/3, len(s)-maxReport/3
	for !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + fmt.Sprintf("\n[… %d of %d bytes left out …]\n", tail-head, len(s)) + s[tail:]
}

func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" || strings.ContainsRune(".!?", rune(s[len(s)-1])) {
		return s
	}
	return s + "."
}

// block is what became of a background task, in a block that its text cannot
// close.
func (t *task) block(status, text string) string {
	const tag = "task-notification"
	return "<" + tag + ` id="` + t.id + `" agent="` + frame.Attribute(t.label()) + `" status="` + status + "\">\n" +
		strings.TrimRight(frame.Inert(tag, text), "\n") + "\n</" + tag + ">"
}

func (t *task) label() string { return Label(t.agent, t.description) }

// Label is what a subagent is called before a person and in events.
func Label(agent, description string) string {
	if description == "" {
		return agent
	}
	return agent + ": " + description
}

func spec(name, schema string) tool.Spec {
	return tool.Spec{Name: name, Description: text(name), Schema: json.RawMessage(schema), Endless: true}
}

func decode(c tool.Call, into any) *tool.Result {
	if err := json.Unmarshal(c.Input, into); err != nil {
		r := tool.Fail("%s: arguments: %v", c.Tool, err)
		return &r
	}
	return nil
}
