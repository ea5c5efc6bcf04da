package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/frame"
	"larva.dev/larva/internal/model"
)

const (
	openSummary  = "<summary>"
	closeSummary = "</summary>"
)

// extractSummary reads the summary out of an answer: from the first opening
// tag to the last closing one. Without tags, or with one that is not closed,
// the rest of the text is the summary; a tag that is opened twice is one.
func extractSummary(text string) string {
	if _, rest, ok := strings.Cut(text, openSummary); ok {
		text = rest
	}
	if i := strings.LastIndex(text, closeSummary); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimSpace(text)
	for {
		rest, opened := strings.CutPrefix(text, openSummary)
		rest, closed := strings.CutSuffix(rest, closeSummary)
		if !opened && !closed {
			return text
		}
		text = strings.TrimSpace(rest)
	}
}

// maxRequest is how much of the last prompt stands behind a summary word for
// word: more is the summary's job.
const maxRequest = 8000

// standsFor is the message that takes the conversation's place.
func (r *run) standsFor(summary string, midway bool) string {
	var b strings.Builder
	b.WriteString("The conversation so far was too long and is summarised here.\n\n")
	b.WriteString(frame.Block("summary", "", "", summary))
	if path := r.Compaction.Transcript; path != "" {
		path = plainLine(path)
		fmt.Fprintf(&b, "\n\nThe whole of it is in %s, one JSON object a line. Look up what is missing here, with grep -n 'WORD' %s for one.", path, path)
	}
	if list := openTodos(r.context.todos); list != "" {
		b.WriteString("\n\nThe open todos:\n" + list)
	}
	if r.Compaction.Carry != nil {
		if text := r.Compaction.Carry(); text != "" {
			b.WriteString("\n\n" + text)
		}
	}
	if midway {
		b.WriteString("\n\nThe last request, word for word:\n" + frame.Block("request", "", "", capOutput(r.prompt, maxRequest, "")))
		b.WriteString("\n\n" + systemNote("Continue the work where the summary leaves it. Do not begin anew, do not repeat the summary, and do not ask what to do."))
	}
	return b.String()
}

// todoTool keeps its list nowhere: the last call that succeeded is the list.
const todoTool = "todo_write"

type todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// sees keeps the newest list of todos.
func (f *fill) sees(calls []model.Call, results []model.Result) {
	for i, c := range calls {
		if c.Tool == todoTool && i < len(results) && !results[i].IsError {
			if list, ok := todosOf(c); ok {
				f.todos = list
			}
		}
	}
}

func todosOf(c model.Call) ([]todo, bool) {
	var in struct {
		Todos []todo `json:"todos"`
	}
	return in.Todos, json.Unmarshal(c.Input, &in) == nil
}

// lastTodos is the list that a conversation leaves.
func lastTodos(messages []model.Message) []todo {
	failed := map[string]bool{}
	for _, m := range slices.Backward(messages) {
		for _, b := range slices.Backward(m.Blocks) {
			switch {
			case b.Result != nil && b.Result.IsError:
				failed[b.Result.ID] = true
			case b.Call != nil && b.Call.Tool == todoTool && !failed[b.Call.ID]:
				if list, ok := todosOf(*b.Call); ok {
					return list
				}
			}
		}
	}
	return nil
}

func openTodos(list []todo) string {
	var out []string
	for _, t := range list {
		if t.Status != "completed" {
			out = append(out, "- "+oneLine(t.Content)+" ("+oneLine(t.Status)+")")
		}
	}
	return strings.Join(out, "\n")
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
