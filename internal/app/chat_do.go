package app

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/session"
)

// chatCommand is one of the chat's own. now may be done while a turn is on;
// then waits for its end.
type chatCommand struct {
	dialog.Command
	now  func(t *chatTalk, ctx context.Context, args string) (dialog.Reply, error)
	then func(t *chatTalk, ctx context.Context, args string) (dialog.Reply, error)
}

// chatCommands are the chat's own, in the order of /help.
func chatCommands() []chatCommand {
	c := func(name, args, help string) dialog.Command {
		return dialog.Command{Name: name, Args: args, Help: help}
	}
	return []chatCommand{
		{Command: c("help", "", "show the commands"), now: (*chatTalk).help},
		{Command: c("persona", "[ID [VARIANT]]", "talk to another persona, or to another variant"), now: (*chatTalk).pickPersona, then: (*chatTalk).doPersona},
		{Command: c("model", "[MODEL|default]", "use another model: a label, a role or provider/model"), now: (*chatTalk).pickModel, then: (*chatTalk).doModel},
		{Command: c("mode", "[MODE]", "default, accept-edits, plan, auto or yolo; at once"), now: (*chatTalk).doMode},
		{Command: c("clear", "", "begin the conversation anew; background tasks go on"), then: (*chatTalk).doClear},
		{Command: c("compact", "[WHAT TO KEEP]", "put a summary in the place of the conversation"), then: (*chatTalk).doCompact},
		{Command: c("undo", "[TURNS] [force]", "put files back as they were before the last turns that changed any"), then: (*chatTalk).doUndo},
		{Command: c("fork", "[N]", "go on with a copy of the session, cut before your Nth prompt"), then: (*chatTalk).doFork},
		{Command: c("resume", "[SESSION]", "go on with another session"), now: (*chatTalk).pickSession, then: (*chatTalk).doResume},
		{Command: c("export", "[FILE]", "write the conversation as Markdown"), then: (*chatTalk).doExport},
		{Command: c("tasks", "[stop ID|all]", "show or stop what runs in the background"), now: (*chatTalk).doTasks},
		{Command: c("cost", "", "show what was spent, by agent and model"), now: (*chatTalk).doCost},
		{Command: c("agents", "", "show who work can be handed to"), now: (*chatTalk).doAgents},
		{Command: c("skills", "", "show skills and commands"), now: (*chatTalk).doSkills},
		{Command: c("mcp", "", "show MCP servers"), now: (*chatTalk).doServers},
		{Command: c("hooks", "", "show hooks"), now: (*chatTalk).doHooks},
		{Command: c("worktrees", "", "show the worktrees of tasks"), now: (*chatTalk).doWorktrees},
		{Command: c("routing", "", "show who runs on which model, and what it costs"), now: (*chatTalk).doRouting},
		{Command: c("quit", "", "end the chat; larva chat --continue goes on with it"), now: func(t *chatTalk, _ context.Context, _ string) (dialog.Reply, error) {
			t.chat.set(func() { t.chat.quit = true })
			t.chat.Interrupt()
			t.chat.nudge()
			return dialog.Reply{Quit: true}, nil
		}},
	}
}

// Commands are the chat's own, then the person's skills and commands.
func (c *Chat) Commands() []dialog.Command {
	var out []dialog.Command
	for _, k := range chatCommands() {
		out = append(out, k.Command)
	}
	t, s := c.now()
	if t == nil {
		return out
	}
	out = append(out, s.promptCommands()...)
	for _, k := range s.runnable() {
		if !slices.ContainsFunc(out, func(o dialog.Command) bool { return o.Name == k.ID }) {
			out = append(out, dialog.Command{Name: k.ID, Args: k.Hint, Help: firstLine(k.Description)})
		}
	}
	return out
}

// now is the session and who is talked to, nil before there is one.
func (c *Chat) now() (*chatTalk, *stand) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.talk == nil {
		return nil, nil
	}
	return c.talk, c.talk.s
}

// Do carries out a typed line that begins with a slash. What is no command of
// the chat's own is a prompt: a skill's name, a path.
func (c *Chat) Do(ctx context.Context, line string) (dialog.Reply, error) {
	line = strings.TrimSpace(line)
	name, args, ok := commandLine(line)
	if !ok {
		c.Say(line)
		return dialog.Reply{}, nil
	}
	t, s := c.now()
	if t == nil {
		return dialog.Reply{}, diag.New(diag.Unsupported, "the session has not begun yet").WithHint("try again in a moment")
	}
	all := chatCommands()
	at := slices.IndexFunc(all, func(k chatCommand) bool { return k.Name == name })
	if at < 0 {
		if err := s.unknownCommand(line); err != nil {
			return dialog.Reply{}, c.meant(err, name)
		}
		c.Say(line)
		return dialog.Reply{}, nil
	}
	k := all[at]
	if k.Args == "" && args != "" {
		return dialog.Reply{}, diag.Usage("/%s takes no argument", name).WithHint("to send the line as a prompt, begin it with a space")
	}
	if k.now != nil && (k.then == nil || args == "") {
		return k.now(t, ctx, args)
	}
	return t.between(ctx, "/"+name, func(ctx context.Context, t *chatTalk) (dialog.Reply, error) { return k.then(t, ctx, args) })
}

// meant adds the chat's own commands to what may have been meant.
func (c *Chat) meant(err error, name string) error {
	var names []string
	for _, k := range c.Commands() {
		names = append(names, k.Name)
	}
	if near := nearest.Name(name, names); near != "" {
		return diag.As(err).WithHint("did you mean /%s? (to send the line as it is, begin it with a space)", near)
	}
	return diag.As(err).WithHint("see /help (to send the line as it is, begin it with a space)")
}

// between does something once no turn is on. While one is, the answer comes as
// a notice when it is over.
func (t *chatTalk) between(ctx context.Context, what string, f func(context.Context, *chatTalk) (dialog.Reply, error)) (dialog.Reply, error) {
	type said struct {
		dialog.Reply
		error
	}
	t.chat.mu.Lock()
	busy := t.chat.stop != nil || len(t.chat.queue) > 0
	t.chat.mu.Unlock()
	if busy {
		t.chat.enqueue(chatJob{do: func(ctx context.Context, t *chatTalk) {
			r, err := f(ctx, t)
			switch {
			case err != nil:
				t.host.Notice("command", what+": "+told(err))
			case r.Text != "":
				t.host.Notice("command", what+": "+r.Text)
			}
		}})
		return dialog.Reply{Text: what + " takes effect when this turn is over."}, nil
	}
	done := make(chan said, 1)
	var got said
	t.chat.enqueue(chatJob{do: func(ctx context.Context, t *chatTalk) {
		got.Reply, got.error = f(ctx, t)
	}, over: func() { done <- got }}) // not before the next one would find nothing on
	select {
	case s := <-done:
		return s.Reply, s.error
	case <-ctx.Done():
		return dialog.Reply{}, context.Cause(ctx)
	}
}

func (t *chatTalk) doPersona(ctx context.Context, args string) (dialog.Reply, error) {
	words := strings.Fields(args)
	if len(words) > 2 {
		return dialog.Reply{}, diag.Usage("/persona takes an id and a variant").WithHint("/persona %s %s", diag.Word(words[0]), diag.Word(words[1]))
	}
	variant := ""
	if len(words) == 2 {
		variant = words[1]
	}
	if err := t.persona(ctx, words[0], variant); err != nil {
		return dialog.Reply{}, err
	}
	return dialog.Reply{Text: t.who()}, nil
}

func (t *chatTalk) doModel(ctx context.Context, args string) (dialog.Reply, error) {
	if args == "default" {
		args = ""
	}
	if err := t.model(ctx, args); err != nil {
		return dialog.Reply{}, err
	}
	return dialog.Reply{Text: t.who()}, nil
}

// who says who is talked to now.
func (t *chatTalk) who() string {
	s := t.s
	text := fmt.Sprintf("You talk to **%s** (%s) on %s, mode %s.", s.ref.ID, s.ref.Variant, s.route.Name(), t.l.CurrentMode())
	if may := s.may(); may != "" {
		text += " It may: " + may + "."
	}
	return text
}

// may words a stand's ceiling.
func (s *stand) may() string {
	var out []string
	for _, f := range sortedKeys(s.persona.Capabilities) {
		out = append(out, f+" "+s.persona.Capabilities[f])
	}
	return joined(out)
}

func (t *chatTalk) doMode(ctx context.Context, args string) (dialog.Reply, error) {
	modes := []string{"default", "accept-edits", "plan", "auto", "yolo"}
	if args == "" {
		p := &dialog.Pick{Title: "Mode"}
		for _, m := range modes {
			p.Items = append(p.Items, dialog.Item{Label: m, Detail: modeHelp[m], Line: "/mode " + m})
		}
		return dialog.Reply{Pick: p}, nil
	}
	if !slices.Contains(modes, args) {
		e := diag.Usage("there is no mode %q", args)
		if near := nearest.Name(args, modes); near != "" {
			return dialog.Reply{}, e.WithHint("did you mean /mode %s?", near)
		}
		return dialog.Reply{}, e.WithHint("modes: %s", joined(modes))
	}
	t.host.SetMode(args) // at once: what is judged from now on is judged by it
	t.chat.enqueue(chatJob{do: func(_ context.Context, t *chatTalk) {
		if err := t.record(t.s, t.in); err != nil {
			t.host.Notice("session", diag.As(err).Message)
		}
	}})
	t.chat.mu.Lock()
	l, s := t.l, t.s
	t.chat.mu.Unlock()
	if is := l.CurrentMode(); is != args {
		return dialog.Reply{Text: fmt.Sprintf("%s stays in mode %s: its definition says no more.", s.ref.ID, is)}, nil
	}
	return dialog.Reply{}, nil // the loop says it
}

var modeHelp = map[string]string{
	"default": "ask for what no rule allows", "accept-edits": "edit in the project without asking", "plan": "read and plan, change nothing",
	"auto": "a model answers harmless questions", "yolo": "ask nothing that a sandbox or a rule does not hold back",
}

func (t *chatTalk) doClear(ctx context.Context, _ string) (dialog.Reply, error) {
	if err := t.clear(ctx); err != nil {
		return dialog.Reply{}, err
	}
	return dialog.Reply{Clear: true, Text: "The conversation begins anew. What was said is kept in the session (/export, larva session show)."}, nil
}

func (t *chatTalk) doCompact(ctx context.Context, args string) (dialog.Reply, error) {
	if len(t.l.History) == 0 {
		return dialog.Reply{Text: "There is nothing to summarise yet."}, nil
	}
	if err := t.l.Compact(ctx, args); err != nil {
		if ctx.Err() != nil {
			return dialog.Reply{Text: "Interrupted; the conversation is as it was."}, nil
		}
		return dialog.Reply{}, diag.New(diag.ModelFailed, "the conversation could not be summarised: %v", err)
	}
	t.l.History = t.l.Conversation()
	return dialog.Reply{Text: "A summary stands in the place of the conversation."}, nil
}

func (t *chatTalk) doUndo(_ context.Context, args string) (dialog.Reply, error) {
	turns, force := 1, false
	for _, w := range strings.Fields(args) {
		n, err := strconv.Atoi(w)
		switch {
		case w == "force":
			force = true
		case err == nil && n > 0:
			turns = n
		default:
			return dialog.Reply{}, diag.Usage("/undo %s: a number of turns, or force", args).WithHint("/undo 2")
		}
	}
	u, err := t.undo(turns, force)
	if err != nil {
		return dialog.Reply{}, err
	}
	if !u.Done {
		return dialog.Reply{Text: "No turn of this session has changed a file."}, nil
	}
	var b strings.Builder
	b.WriteString("Undone; the model will be told.\n")
	for _, p := range u.Files {
		word := map[string]string{session.DoRestore: "put back", session.DoRemove: "removed", session.DoSkip: "left alone"}[p.Do]
		fmt.Fprintf(&b, "\n- %s: `%s`", word, t.s.at.rel(p.Path))
	}
	return dialog.Reply{Text: b.String()}, nil
}
