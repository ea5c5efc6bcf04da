package app

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/dialog"
	"larva.dev/larva/internal/event"
)

// chatBills keeps what each agent has spent, by the model that answered.
type chatBills struct {
	mu    sync.Mutex
	order []billKey
	of    map[billKey]event.Usage
	asked map[billKey]int
}

type billKey struct{ agent, model string }

func (b *chatBills) add(e event.Event) {
	s, ok := e.Body.(event.Spent)
	if !ok {
		return
	}
	k := billKey{e.Agent, s.Model}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of, b.asked = map[billKey]event.Usage{}, map[billKey]int{}
	}
	if _, has := b.of[k]; !has {
		b.order = append(b.order, k)
	}
	b.of[k] = b.of[k].Add(s.Turn)
	b.asked[k]++
}

// State is what holds now.
func (c *Chat) State() dialog.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.talk
	if t == nil {
		return dialog.State{Persona: c.first.Persona, Busy: true}
	}
	out := dialog.State{Persona: t.s.ref.ID, Variant: t.s.ref.Variant, Model: t.l.ModelName(), Mode: t.l.CurrentMode(), Session: t.sit.id,
		Busy: c.stop != nil, Tasks: len(t.hub.Running())}
	for _, j := range c.queue {
		if j.do == nil {
			out.Waiting++
		}
	}
	u, usd := t.host.Spent()
	out.Tokens, out.USD = int64(u.InputTokens)+int64(u.OutputTokens)+int64(u.CacheReadTokens)+int64(u.CacheWriteTokens), usd
	out.Context, out.Window = t.l.Fill()
	return out
}

// row is a line of a Markdown table; nothing in a cell ends it.
func row(b *strings.Builder, cells ...string) {
	for _, c := range cells {
		b.WriteString("| " + strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "`", "'").Replace(c) + " ")
	}
	b.WriteString("|\n")
}

func head(b *strings.Builder, cells ...string) {
	row(b, cells...)
	b.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
}

func (t *chatTalk) help(context.Context, string) (dialog.Reply, error) {
	var b strings.Builder
	own := len(chatCommands())
	all := t.chat.Commands()
	head(&b, "command", "")
	for _, k := range all[:own] {
		row(&b, strings.TrimSpace("/"+k.Name+" "+k.Args), k.Help)
	}
	if len(all) > own {
		b.WriteString("\nYour skills and commands:\n\n")
		head(&b, "command", "")
		for _, k := range all[own:] {
			row(&b, strings.TrimSpace("/"+k.Name+" "+k.Args), k.Help)
		}
	}
	b.WriteString("\n`@` completes files. Esc interrupts, Ctrl-C twice quits.")
	return dialog.Reply{Text: b.String()}, nil
}

func (t *chatTalk) doCost(context.Context, string) (dialog.Reply, error) {
	u, usd := t.host.Spent()
	var b strings.Builder
	head(&b, "agent", "model", "requests", "in", "out", "cached")
	t.bills.mu.Lock()
	for _, k := range t.bills.order {
		s, who := t.bills.of[k], k.agent
		if who == "" {
			who = "(you talk to)"
		}
		row(&b, who, k.model, fmt.Sprint(t.bills.asked[k]), fmt.Sprint(s.InputTokens), fmt.Sprint(s.OutputTokens), fmt.Sprint(s.CacheReadTokens+s.CacheWriteTokens))
	}
	none := len(t.bills.order) == 0
	t.bills.mu.Unlock()
	if none {
		return dialog.Reply{Text: "Nothing was spent yet."}, nil
	}
	fmt.Fprintf(&b, "\nIn all: %d tokens in, %d out, %d from and to the cache", u.InputTokens, u.OutputTokens, u.CacheReadTokens+u.CacheWriteTokens)
	if usd == nil {
		b.WriteString("; a model has no price, so the cost is not known.")
	} else {
		fmt.Fprintf(&b, "; %.4f USD.", *usd)
	}
	return dialog.Reply{Text: b.String()}, nil
}

// atWork is how many background tasks are.
func (t *chatTalk) atWork() int { return len(t.hub.Running()) }

func (t *chatTalk) doTasks(_ context.Context, args string) (dialog.Reply, error) {
	words := strings.Fields(args)
	switch {
	case len(words) == 0:
		return t.showTasks(), nil
	case words[0] != "stop" || len(words) != 2:
		return dialog.Reply{}, diag.Usage("/tasks %s: show them, or stop one", args).WithHint("/tasks stop bg-1, /tasks stop all")
	}
	ids := words[1:]
	if words[1] == "all" {
		ids = t.hub.Running()
	}
	if len(ids) == 0 {
		return dialog.Reply{Text: "Nothing runs in the background."}, nil
	}
	var said []string
	for _, id := range ids {
		switch known, ended := t.hub.Stop(id); {
		case !known && words[1] != "all":
			return dialog.Reply{}, diag.Usage("no task %q is at work", id).WithHint("%s", atWork(t.hub.Running()))
		case !ended && known:
			said = append(said, id+" was told to stop and has not ended yet")
		default:
			said = append(said, id+" is stopped")
		}
	}
	return dialog.Reply{Text: strings.Join(said, "; ") + "."}, nil
}

func (t *chatTalk) showTasks() dialog.Reply {
	t.chat.mu.Lock()
	desks := t.desks
	t.chat.mu.Unlock()
	var b strings.Builder
	n := 0
	head(&b, "task", "state", "agent", "about")
	for _, d := range desks {
		list, _ := d.Background()
		for _, s := range list {
			n++
			row(&b, s.ID, s.Status, s.Agent, s.Description)
		}
	}
	if n == 0 {
		return dialog.Reply{Text: "Nothing runs in the background."}
	}
	return dialog.Reply{Text: b.String()}
}

func (t *chatTalk) doAgents(context.Context, string) (dialog.Reply, error) {
	_, s := t.chat.now()
	if s == nil || s.desk == nil {
		return dialog.Reply{Text: "This persona hands no work on: its can_spawn names nobody."}, nil
	}
	var b strings.Builder
	head(&b, "agent", "")
	for _, a := range s.team() {
		row(&b, a.ID, firstLine(a.Description))
	}
	return dialog.Reply{Text: b.String()}, nil
}

func (t *chatTalk) doSkills(ctx context.Context, _ string) (dialog.Reply, error) {
	list, err := t.app.SkillList(ctx)
	if err != nil {
		return dialog.Reply{}, err
	}
	var b strings.Builder
	head(&b, "name", "kind", "for", "", "where")
	for _, k := range list.Skills {
		if k.Disabled || k.ShadowedBy != "" {
			continue
		}
		who := "you and the model"
		switch {
		case !k.Model:
			who = "you"
		case !k.Person:
			who = "the model"
		}
		row(&b, k.ID, k.Kind, who, firstLine(k.Description), k.Source)
	}
	for _, p := range list.Problems {
		b.WriteString("\n- " + p.String())
	}
	return dialog.Reply{Text: b.String()}, nil
}

func (t *chatTalk) doServers(context.Context, string) (dialog.Reply, error) {
	_, s := t.chat.now()
	if s == nil || s.servers == nil {
		return dialog.Reply{Text: "No MCP servers are connected. `larva server list` says which there are."}, nil
	}
	var b strings.Builder
	head(&b, "server", "state", "tools", "prompts", "")
	for _, st := range s.servers.Status() {
		why := ""
		if st.Err != nil {
			why = st.Err.Error()
		}
		row(&b, st.Name, string(st.State), fmt.Sprint(len(st.Tools)), fmt.Sprint(len(st.Prompts)), why)
	}
	return dialog.Reply{Text: b.String()}, nil
}

func (t *chatTalk) doHooks(context.Context, string) (dialog.Reply, error) {
	_, s := t.chat.now()
	if s == nil || len(s.hooks) == 0 {
		return dialog.Reply{Text: "No hooks."}, nil
	}
	var b strings.Builder
	head(&b, "event", "hook", "state")
	for _, h := range s.hooks {
		state := "runs"
		if !h.counts() {
			state = h.Item.Status + ": larva trust list"
		}
		row(&b, h.Event, h.Name, state)
	}
	return dialog.Reply{Text: b.String()}, nil
}

func (t *chatTalk) doWorktrees(ctx context.Context, _ string) (dialog.Reply, error) {
	list, err := t.app.WorktreeList(ctx, false)
	if err != nil {
		return dialog.Reply{}, err
	}
	if len(list) == 0 {
		return dialog.Reply{Text: "No task has a worktree."}, nil
	}
	var b strings.Builder
	head(&b, "branch", "state", "commits", "changed", "about")
	for _, w := range list {
		row(&b, w.Branch, w.State, fmt.Sprint(w.Commits), fmt.Sprint(w.Changed), w.Label)
	}
	return dialog.Reply{Text: b.String()}, nil
}

func (t *chatTalk) doRouting(ctx context.Context, _ string) (dialog.Reply, error) {
	t.chat.mu.Lock()
	name := t.in.Profile
	t.chat.mu.Unlock()
	r, err := t.app.Routing(ctx, name)
	if err != nil {
		return dialog.Reply{}, err
	}
	var b strings.Builder
	put := func(what string, rows []RoutingRow) {
		head(&b, what, "model", "USD/M in", "USD/M out", "")
		for _, r := range rows {
			in, out, model := "", "", r.Model
			if r.Price != nil {
				in, out = fmt.Sprint(r.Price.Input), fmt.Sprint(r.Price.Output)
			}
			if model == "" || r.Inherits && what == "role" {
				model = "its parent's"
			}
			row(&b, r.Name, model, in, out, strings.Join(r.Unreachable, "; "))
		}
	}
	put("role", r.Roles)
	b.WriteString("\n")
	put("persona", r.Personas)
	return dialog.Reply{Text: b.String()}, nil
}

func atWork(ids []string) string {
	if len(ids) == 0 {
		return "no task is at work"
	}
	return "at work: " + joined(ids)
}
