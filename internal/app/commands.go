package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/frame"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/prompt"
	"larva.dev/larva/internal/skill"
	"larva.dev/larva/internal/tool"
)

// maxInline is how many bytes of output the commands of one text bring in.
const maxInline = 150 << 10

var slashName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/([A-Za-z0-9][A-Za-z0-9._:-]*)(?:\s+|$)`)
})

// commandLine takes a typed "/name arguments" apart. ok is false for anything
// else: a path has a further slash, and a command begins the prompt.
func commandLine(line string) (name, args string, ok bool) {
	m := slashName().FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], strings.TrimSpace(line[len(m[0]):]), true
}

// isCommand says that a word is the name of a command rather than a path.
func isCommand(word string) bool {
	_, _, ok := commandLine(word)
	return ok && !exists(word)
}

// expand gives the text that a typed line stands for, where it is the name of a
// skill or command with arguments behind it; handled is false for any other
// line. Commands in the text are run only where they would be allowed without a
// question; nothing in the arguments, in their output or in a diff ever is one.
func (s *stand) expand(ctx context.Context, l *agent.Loop, line string) (text string, handled bool, err error) {
	name, args, ok := commandLine(line)
	if !ok {
		return line, false, nil
	}
	if strings.HasPrefix(name, "mcp__") && s.serverPrompt != nil {
		return s.serverPrompt(ctx, l, name, args)
	}
	k := s.shelf.Set().Get(name)
	if k == nil || !k.Runnable() {
		return line, false, nil
	}
	body, err := k.Body()
	if err != nil {
		return "", true, diag.New(diag.InvalidInput, "/%s: %v", name, err).With("path", k.Shown)
	}
	if len(k.Ungranted) > 0 {
		l.Notice("command", fmt.Sprintf("/%s: %s has no effect: what is called is judged like any other call", k.ID, strings.Join(k.Ungranted, " and ")))
	}
	if k.Offered() {
		s.shelf.Loads(k.ID)
	}
	e := &expansion{s: s, l: l, kind: k.Kind, left: maxInline}
	if k.Origin == skill.BuiltIn {
		text = e.review(ctx, body, args)
	} else {
		text = e.text(ctx, body, args)
		text = strings.ReplaceAll(text, "${CLAUDE_SKILL_DIR}", k.Dir)
		text += e.mentioned(ctx, line)
	}
	if k.Dir != "" {
		text = "The files that it names lie in " + frame.Attribute(k.Dir) + ".\n\n" + text
	}
	return text, true, ctx.Err()
}

// expandTyped is expand for what a run was given. What is piped in is never a
// command, and stands behind what one stands for.
func (s *stand) expandTyped(ctx context.Context, l *agent.Loop, in RunInput, typed string) (string, error) {
	own, piped := typed, ""
	if in.Stdin != nil && !in.StdinTTY {
		if in.Prompt == "" || !strings.HasPrefix(typed, in.Prompt) {
			return typed, nil
		}
		own, piped = in.Prompt, typed[len(in.Prompt):]
	}
	text, handled, err := s.expand(ctx, l, own)
	if err != nil || !handled {
		return typed, err
	}
	return text + piped, nil
}

// unknownCommand refuses a prompt that begins as a command does and is none: it
// is a slip far more often than a sentence. A path that exists is a sentence.
func (s *stand) unknownCommand(line string) error {
	name, _, ok := commandLine(line)
	if !ok || strings.HasPrefix(name, "mcp__") {
		return nil
	}
	k := s.shelf.Set().Get(name)
	if k != nil && k.Runnable() || exists("/"+name) {
		return nil
	}
	e := diag.Usage("there is no command /%s", name).With("command", name)
	if k != nil {
		return e.WithHint("the skill %s is for the model alone (user-invocable: false); all: larva skill list", k.ID)
	}
	meant := "see: larva skill list"
	if near := skill.Nearest(name, s.runnable()); near != "" {
		meant = "did you mean /" + near + "?"
	}
	return e.WithHint("%s (to send the prompt as it is, begin it with a space)", meant)
}

// runnable are what a person can run by /name.
func (s *stand) runnable() []*skill.Skill {
	return slices.DeleteFunc(s.shelf.Set().Best(), func(k *skill.Skill) bool { return !k.Runnable() })
}

// expansion is one text on its way to the model.
type expansion struct {
	s    *stand
	l    *agent.Loop
	kind skill.Kind
	left int             // bytes of output that may still come in
	said strings.Builder // the words alone, without output
}

func (e *expansion) text(ctx context.Context, body, args string) string {
	var b strings.Builder
	for _, p := range skill.Expand(body, args) {
		switch {
		case p.Command == "":
			e.said.WriteString(p.Text)
			b.WriteString(p.Text)
		case p.Argued:
			e.said.WriteString("\n")
			b.WriteString(e.omit(p.Command, "arguments never become part of a command; run it yourself if it is needed"))
		default:
			e.said.WriteString("\n")
			out, _ := e.run(ctx, p.Command)
			b.WriteString(out)
		}
	}
	return b.String()
}

// omit says in the place of a command's output why there is none.
func (e *expansion) omit(command, why string) string {
	e.l.Notice("command", "`"+command+"` was not run: "+why)
	return frame.Block("not-run", "command", command, why)
}

// run is the output of a command as the model reads it, and whether it
// succeeded. It is judged and run as a call of the model's would be, and what
// would be a question is left out.
func (e *expansion) run(ctx context.Context, command string) (text string, ok bool) {
	c, why := e.allowed(command)
	if why == "" && e.left <= 0 {
		why = "the text has brought in all the output that it may"
	}
	if why != "" {
		return e.omit(command, why), false
	}
	out, failed := e.output(ctx, c)
	if failed {
		out = strings.TrimRight(out, "\n") + "\n(the command failed)"
	}
	return frame.Block("output", "command", command, out), !failed
}

// allowed makes the call, and says why it may not be made without a question.
// Hooks have their say when it is made.
func (e *expansion) allowed(command string) (c tool.Call, why string) {
	t, ok := e.s.tools.Get("bash")
	if !ok {
		return c, "this agent has no tool bash"
	}
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return c, err.Error()
	}
	e.s.inlined++
	c = tool.Call{ID: fmt.Sprintf("command_%d", e.s.inlined), Tool: "bash", Input: input}
	if d := e.s.policy.Judge(c, t.Effects(c), permission.HookSays{}); d.Verdict != event.Allow {
		return c, "it is not allowed without a question: " + d.Reason
	}
	return c, ""
}

// output is what a call says, whole as far as that is kept.
func (e *expansion) output(ctx context.Context, c tool.Call) (text string, failed bool) {
	r := e.l.Call(agent.Unasked(ctx), c)
	out := r.Output
	if e.s.line.Raw != nil && !r.IsError {
		if raw, err := e.s.line.Raw(c.ID); err == nil && len(raw) > len(out) {
			out = strings.ToValidUTF8(string(raw), "\ufffd")
		}
	}
	if len(out) > e.left {
		out = strings.ToValidUTF8(out[:e.left], "") + fmt.Sprintf("\n[… %d bytes left out …]", len(out)-e.left)
	}
	e.left -= len(out)
	return out, r.IsError
}

// mentioned reads the files that a command's own text names with @, once those
// that were typed are read: where that is allowed without a question. A skill's
// text mentions nothing: the model reads what it names.
func (e *expansion) mentioned(ctx context.Context, typed string) string {
	if e.kind != skill.Commands {
		return ""
	}
	has := map[string]bool{}
	for _, m := range prompt.Mentions(typed) {
		has[m.Path] = true
	}
	var b strings.Builder
	for _, path := range prompt.Imports(e.said.String()) {
		if !has[path] {
			has[path] = true
			b.WriteString(e.file(ctx, path))
		}
	}
	return b.String()
}

func (e *expansion) file(ctx context.Context, path string) string {
	info, err := os.Stat(e.s.roots.Resolve(path, false).Real)
	if err != nil || !info.Mode().IsRegular() {
		return "" // prose
	}
	input, err := json.Marshal(map[string]string{"path": filepath.ToSlash(path)})
	if err != nil {
		return ""
	}
	e.s.inlined++
	c := tool.Call{ID: fmt.Sprintf("command_%d", e.s.inlined), Tool: "read", Input: input}
	why := e.s.mayAttach(c, false)
	if why == "" {
		r := e.l.Call(agent.Unasked(ctx), c)
		if !r.IsError {
			return "\n\n" + frame.Block("file", "path", path, r.Output)
		}
		why = firstLine(r.Output)
	}
	e.l.Notice("mention", "@"+path+" is not attached: "+why)
	return ""
}
