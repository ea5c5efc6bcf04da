package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"larva.dev/larva/internal/app"
)

type profileCmd struct {
	List profileListCmd `cmd:"" help:"List the profiles that --profile takes by name."`
	Show profileShowCmd `cmd:"" help:"Show the profile that a run would have here, and where each value was written."`
}

type profileListCmd struct{}

func (profileListCmd) doc() doc {
	return doc{
		Long: "Your own in the personal profiles directory, the project's from its root down to here, and the shipped ones; of two with one name yours counts, then " +
			"the project's nearest one, then the shipped one. One line a profile: state, name and file, with tabs between. State own is a file of yours; one of the project " +
			"that is not trusted can only lower, and does not take a shipped profile's name.",
		Examples: []string{"larva profile list", "larva profile list --json"},
		Exits:    plainExits(),
	}
}

// Run lists the profiles.
func (profileListCmd) Run(ctx context.Context, s *session) error {
	rows, err := s.app.ProfileList(ctx)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(rows)
	}
	for _, r := range rows {
		state := r.State
		if r.Fault != "" {
			state = "broken"
			s.say("error: %s", r.Fault)
		}
		if r.ShadowedBy != "" {
			state += ", shadowed by " + r.ShadowedBy
		}
		s.line("%s\t%s\t%s", state, r.Name, r.Source)
	}
	return nil
}

type profileShowCmd struct {
	Name    string `arg:"" optional:"" help:"A profile, by name or path, as --profile of run takes it." complete:"profile"`
	Routing bool   `help:"Who runs on what instead, and what it costs."`
}

func (profileShowCmd) doc() doc {
	return doc{
		Long: "All layers merged, as a run in this directory would have them: the shipped profile, your config, the project's file where it is trusted and as far as it lowers, " +
			"what you always allow here, and the profile named. One line a value: its path, the value and file:line, with tabs between. Keys of providers are only named; values of " +
			"servers' environment and headers, and what looks like a secret elsewhere, are hidden. Of the shipped prices only the count is said; --json has all.\n" +
			"With --routing one line a role and a persona: its model, the US dollars a million tokens in and out, what bounds it, and what keeps it from being reached. Nothing is sent.",
		Examples: []string{"larva profile show ci", "larva profile show --routing"},
		Exits:    plainExits(),
	}
}

// Run shows the profile.
func (c profileShowCmd) Run(ctx context.Context, s *session) error {
	if c.Routing {
		return c.routing(ctx, s)
	}
	p, err := s.app.ProfileShow(ctx, c.Name)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(p)
	}
	for _, n := range p.Notices {
		s.say("notice: %s", n)
	}
	for _, l := range p.Layers {
		source := l.Source
		if l.Trusted != nil && !*l.Trusted {
			source += " (not trusted: it can only lower)"
		}
		s.line("layer\t%s\t%s", l.Name, source)
	}
	shipped := 0
	for _, f := range p.Fields {
		if strings.HasPrefix(f.Path, "prices.") && f.Shipped {
			shipped++ // a page of them, which nobody here has written
			continue
		}
		s.line("%s\t%s\t%s", f.Path, f.Value, f.Origin)
	}
	if shipped > 0 {
		s.line("prices\t%s\t%s", fmt.Sprintf("%d more, shipped", shipped), "profiles/default.cue")
	}
	return nil
}

func (c profileShowCmd) routing(ctx context.Context, s *session) error {
	r, err := s.app.Routing(ctx, c.Name)
	if err != nil {
		return err
	}
	if s.json() {
		return s.data(r)
	}
	for _, n := range r.Notices {
		s.say("notice: %s", n)
	}
	if isTerminal(s.process.Stdout) {
		return s.routingTable(r)
	}
	for _, row := range r.Roles {
		s.line("role"+strings.Repeat("\t%s", routingColumns), routingCells(row, false)...)
	}
	for _, row := range r.Personas {
		s.line("persona"+strings.Repeat("\t%s", routingColumns), routingCells(row, true)...)
	}
	return nil
}

// routingTable is the same for a person: columns, roles first.
func (s *session) routingTable(r app.Routing) error {
	w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	put := func(head string, persona bool, rows []app.RoutingRow) {
		fmt.Fprintf(w, "%s\tLABEL\tMODEL\t$/M IN\t$/M OUT\t\n", head)
		for _, row := range rows {
			cells := routingCells(row, persona)
			for i := range cells {
				cells[i] = escape(cells[i])
			}
			fmt.Fprintln(w, strings.Join(cells, "\t"))
		}
	}
	put("ROLE", false, r.Roles)
	fmt.Fprintln(w)
	put("PERSONA", true, r.Personas)
	return w.Flush()
}

const routingColumns = 6

// routingCells are name, label, model, price in and out, and all else.
func routingCells(r app.RoutingRow, persona bool) []string {
	model := r.Model
	switch {
	case model == "" && r.Inherits && r.Reachable:
		model = "the parent's"
	case model == "":
		model = "-"
	}
	in, out := "unknown", "unknown"
	if r.Price != nil {
		in, out = dollars(r.Price.Input), dollars(r.Price.Output)
	}
	if r.Model == "" {
		in, out = "-", "-"
	}
	return []string{r.Name, orDash(r.Label), model, in, out, strings.Join(routingRest(r, persona), "; ")}
}

func routingRest(r app.RoutingRow, persona bool) []string {
	var out []string
	if r.Inherits && (r.Model != "" || !r.Reachable) {
		out = append(out, "as a task: the parent's model")
	}
	if persona && r.Role != "" {
		out = append(out, "role "+r.Role)
	}
	if len(r.Fallbacks) > 0 {
		out = append(out, "then "+strings.Join(r.Fallbacks, ", "))
	}
	if r.Effort != "" {
		out = append(out, "effort "+r.Effort)
	}
	if r.MaxTurns > 0 {
		out = append(out, plural(r.MaxTurns, "turn"))
	}
	if r.Context != "" && r.Context != "full" {
		out = append(out, r.Context+" context")
	}
	if r.Isolation != "" && r.Isolation != "none" {
		out = append(out, "in a "+r.Isolation+" of its own")
	}
	for _, why := range r.Unreachable {
		out = append(out, "cannot be asked: "+why)
	}
	return out
}

func dollars(usd float64) string { return strconv.FormatFloat(usd, 'f', -1, 64) }
