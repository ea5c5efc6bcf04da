package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"larva.dev/larva/internal/event"
)

// style paints, or does not.
type style struct{ on bool }

func (s style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) dim(text string) string    { return s.paint("2", text) }
func (s style) bold(text string) string   { return s.paint("1", text) }
func (s style) red(text string) string    { return s.paint("31", text) }
func (s style) green(text string) string  { return s.paint("32", text) }
func (s style) yellow(text string) string { return s.paint("33", text) }

// clean makes text of several lines safe for a terminal: newlines and tabs
// stay, all else that escape would change becomes visible.
func clean(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if strings.IndexFunc(s, func(r rune) bool { return r != '\n' && r != '\t' && unsafeRune(r) }) < 0 && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' {
			b.WriteRune(r)
			continue
		}
		b.WriteString(escape(string(r)))
	}
	return b.String()
}

// maxCallText is how much of a call a line shows.
const maxCallText = 100

// callText is a call on one line: the tool and what it is mostly about.
func callText(tool string, input json.RawMessage) string {
	about := listed(tool, input)
	if about == "" {
		about = mainArgument(input)
	}
	return strings.TrimSpace(escape(tool) + " " + shorten(escape(about), maxCallText))
}

// listed is what a call that takes a list is about, "" for other calls.
func listed(tool string, input json.RawMessage) string {
	var in struct {
		Todos []struct{ Status string } `json:"todos"`
		Files []struct{ Path string }   `json:"files"`
	}
	if tool != "todo_write" && tool != "write_files" || json.Unmarshal(input, &in) != nil {
		return ""
	}
	if tool == "todo_write" {
		done := 0
		for _, t := range in.Todos {
			if t.Status == "completed" {
				done++
			}
		}
		return fmt.Sprintf("%d of %d done", done, len(in.Todos))
	}
	paths := make([]string, len(in.Files))
	for i, f := range in.Files {
		paths[i] = f.Path
	}
	return strings.Join(paths, ", ")
}

// mainArgument is the argument that tells calls apart, else the whole input.
func mainArgument(input json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	for _, key := range []string{"command", "pattern", "path", "url", "query", "description", "name", "question", "plan", "id"} {
		text, ok := args[key].(string)
		if !ok {
			continue
		}
		if in, ok := args["path"].(string); ok && key == "pattern" {
			text += " in " + in
		}
		if key == "plan" {
			text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		}
		return text
	}
	if len(args) == 0 {
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, input) != nil {
		return ""
	}
	return b.String()
}

func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// denialText is a refused call with what refused it.
func denialText(d event.Decision) string {
	by := string(d.Stage)
	if d.Rule != "" {
		by += ", rule " + d.Rule
	}
	if d.Origin != "" {
		by += ", " + d.Origin
	}
	return fmt.Sprintf("%s: %s [%s]", callText(d.Tool, d.Input), escape(d.Reason), escape(by))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return shorten(escape(line), 120)
}

// mainOf is a call in full: a shell line as it is, with its other arguments
// below; any other input as JSON of several lines.
func mainOf(d event.Decision) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(d.Input, &args) != nil {
		return string(d.Input)
	}
	line, rest := "", d.Input
	if field := textField(d.Tool); field != "" && json.Unmarshal(args[field], &line) == nil {
		delete(args, field)
		if len(args) == 0 {
			return line
		}
		line += "\n"
		rest, _ = event.Encode(args)
	}
	var b bytes.Buffer
	if json.Indent(&b, rest, "", "  ") != nil {
		return string(d.Input)
	}
	return line + b.String()
}

// textField names the field of a tool's input that is text of several lines,
// which a person reads as it is: what JSON makes of line ends is for programs.
func textField(tool string) string {
	switch tool {
	case "bash":
		return "command"
	case "exit_plan_mode":
		return "plan"
	}
	return ""
}
