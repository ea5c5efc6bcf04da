package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/spec"
)

type agentCmd struct {
	List agentListCmd `cmd:"" help:"List the agent definitions, and which of them count."`
	Show agentShowCmd `cmd:"" help:"Show one as the persona that larva makes of it."`
}

type agentListCmd struct{}

func (agentListCmd) doc() doc {
	return doc{
		Long: "Markdown files of Claude Code's kind in .larva/agents, .larik/agents and .claude/agents, from the project's root down to here, " +
			"in the personal agents directory and in ~/.claude/agents; of two with one id the nearer counts, in the order of this sentence. " +
			"One line a definition: state, id, file:line, model, tools and description, with tabs between. State own is a file of yours; " +
			"one of the project counts only when it is trusted. Files that give none are told, with the reason.",
		Examples: []string{"larva agent list", "larva agent list --json"},
		Exits:    plainExits(),
	}
}

// Run lists the definitions.
func (agentListCmd) Run(ctx context.Context, s *session) error {
	list, err := s.app.AgentList(ctx)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(list)
	}
	for _, p := range list.Problems {
		s.say("%s: %s", p.Kind, p.String())
	}
	for _, r := range list.Agents {
		state := r.State
		if r.ShadowedBy != "" {
			state += ", shadowed by " + r.ShadowedBy
		}
		s.line("%s\t%s\t%s\t%s\t%s\t%s", state, r.ID, r.Source, orDash(r.Model), toolsOf(r), oneLine(r.Description))
		if n := len(r.Notices); n > 0 {
			s.say("note: %s: %s (see: larva agent show %s)", r.ID, r.Notices[0]+more(n-1), showable(r))
		}
	}
	return nil
}

// showable is what agent show takes for exactly this definition.
func showable(r app.AgentRow) string {
	if r.ShadowedBy == "" || r.Origin == "built-in" {
		return r.ID
	}
	return r.Source[:strings.LastIndexByte(r.Source, ':')]
}

func more(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "; 1 more note"
	}
	return fmt.Sprintf("; %d more notes", n)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// toolsOf are a definition's tools in one word or list: all are those of whoever
// calls it.
func toolsOf(r app.AgentRow) string {
	out := "all"
	if r.Tools != nil {
		out = strings.Join(r.Tools, ",")
		if out == "" {
			out = "none"
		}
	}
	if r.Disallowed != nil {
		out += " without " + strings.Join(r.Disallowed, ",")
	}
	return out
}

// oneLine is the beginning of a description, up to its first new line.
func oneLine(text string) string {
	const most = 100 // of a column that is the last one
	first, _, cut := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(first); len(r) > most {
		first, cut = string(r[:most]), true
	}
	if cut {
		first = strings.TrimSpace(first) + "…"
	}
	return first
}

type agentShowCmd struct {
	Agent string `arg:"" name:"id" help:"An id, or a file as agent list prints it." complete:"agent"`
}

func (agentShowCmd) doc() doc {
	return doc{
		Long: "The id, where it comes from and whether it counts; the persona with its capabilities, which are derived from its tools; everything that was healed, " +
			"dropped or has no effect, each with file:line; then the prompt. A definition that is not trusted is shown too.",
		Examples: []string{"larva agent show explore", "larva agent show explore --json"},
		Exits:    plainExits(),
	}
}

// Run shows one.
func (c agentShowCmd) Run(ctx context.Context, s *session) error {
	d, err := s.app.AgentShow(ctx, c.Agent)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(d)
	}
	s.agentShown(d)
	return nil
}

func (s *session) agentShown(d app.AgentShown) {
	put := func(label, value string) {
		if value != "" {
			s.line("%s: %s", label, value)
		}
	}
	put("id", d.ID)
	if d.Name != d.ID {
		put("name", d.Name)
	}
	put("from", d.Source)
	put("state", d.State)
	put("shadowed by", d.ShadowedBy)
	s.lines("description: ", d.Description)
	put("model", d.Persona.String("model"))
	put("tools", strings.ReplaceAll(toolsOf(d.AgentRow), ",", ", "))
	put("capabilities", capabilitiesOf(d.Persona))
	put("can spawn", spawnOf(d.Persona))
	put("mode", d.Mode)
	if d.MaxTurns > 0 {
		put("max turns", fmt.Sprint(d.MaxTurns))
	}
	put("isolation", d.Isolation)
	if d.Background {
		put("background", "yes")
	}
	put("skills", strings.Join(d.Skills, ", "))
	put("effort", d.Effort)
	put("color", d.Color)
	for _, h := range d.Hooks {
		put("hook", h)
	}
	put("digest", d.Persona.String("spec_digest"))
	put("hash", d.Hash)
	for _, n := range d.Notices {
		put("note", n)
	}
	s.lines("prompt: ", d.Persona.String("prompt"))
}

// capabilitiesOf lists a persona's families with what it may do in each; those
// of which it may do nothing come last, together.
func capabilitiesOf(o *spec.Object) string {
	v, _ := o.Get("capabilities")
	caps, ok := v.(*spec.Object)
	if !ok || len(caps.Members) == 0 {
		return "nothing declared"
	}
	var out, none []string
	for _, m := range caps.Members {
		if m.Value == "none" {
			none = append(none, m.Key)
		} else {
			out = append(out, fmt.Sprintf("%s %v", m.Key, m.Value))
		}
	}
	slices.Sort(out)
	slices.Sort(none)
	if len(none) > 0 {
		out = append(out, "none of "+strings.Join(none, ", "))
	}
	return strings.Join(out, "; ")
}

func spawnOf(o *spec.Object) string {
	v, _ := o.Get("can_spawn")
	switch x := v.(type) {
	case bool:
		if x {
			return "anybody"
		}
	case []any:
		ids := make([]string, len(x))
		for i, id := range x {
			ids[i] = fmt.Sprint(id)
		}
		return strings.Join(ids, ", ")
	}
	return ""
}
