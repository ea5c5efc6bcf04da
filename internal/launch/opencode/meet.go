package opencode

import "slices"

// meet keeps what the user's own permission says more strictly. OpenCode puts
// it before an agent's rules, where ours would be the last word. A permission
// that we allow without patterns takes the user's rows as they are; elsewhere
// what they refuse or ask about is added, and what they allow is left out.
func (o *Projection) meet(user *Table) {
	if user == nil {
		return
	}
	rules := user.Rules()
	for _, k := range slices.Clone(o.Table.keys) {
		if k.name != "*" {
			o.Table.put(k.name, met(k.name, k.rows, rules))
		}
	}
	for _, k := range user.keys {
		if o.Table.get(k.name) != nil || k.name == "*" {
			continue
		}
		// One of ours with a wildcard (SERVER_*) may cover it, so its refusals are
		// said again behind that; what it allows is not ours to give.
		var rows []Rule
		for _, r := range k.rows {
			if r.Action != Allow {
				rows = append(rows, Rule{k.name, r.Pattern, Lower(r.Action, o.Table.Rules().Evaluate(k.name, r.Pattern))})
			}
		}
		if len(rows) > 0 {
			o.Table.put(k.name, rows)
		}
	}
}

func met(name string, ours []Rule, user Rules) []Rule {
	var theirs []Rule
	stricter := false
	for _, r := range user {
		if Match(name, r.Permission) {
			theirs = append(theirs, Rule{name, r.Pattern, r.Action})
			stricter = stricter || r.Action != Allow
		}
	}
	if !stricter {
		return ours
	}
	if len(ours) == 1 && ours[0].Pattern == "*" && ours[0].Action == Allow {
		return append(slices.Clone(ours), theirs...)
	}
	out := Rules(slices.Clone(ours))
	for _, r := range theirs {
		switch said := Rules(ours).Evaluate(name, r.Pattern); {
		case r.Pattern == "*":
			out = slices.Clone(ours)
			for i := range out {
				out[i].Action = Lower(out[i].Action, r.Action)
			}
		case r.Action == Deny:
			out = append(out, r)
		case r.Action == Ask:
			out = append(out, Rule{name, r.Pattern, Lower(Ask, said)})
		case name != "bash": // a line that the user allows may hold words that ours refuses
			out = append(out, Rule{name, r.Pattern, said})
		}
	}
	// Once more, so that none of the user's questions lifts a refusal of ours.
	for _, r := range ours {
		if r.Action == Deny && r.Pattern != "*" && (name != "bash" || r.Pattern[0] == '*') {
			out = append(out, r)
		}
	}
	return out
}
