package load

import (
	"cmp"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// doc makes a document of an outcome.
func (u *unit) doc(o outcome) (*doc, bool) {
	d := &doc{file: u.Shown, pos: spec.Positions{}, files: map[string]string{}, notices: u.notices, faults: o.Faults, open: o.Open}
	if u.File != "" {
		d.file = u.Names[u.File]
	} else if len(u.Only) == 1 {
		d.file = u.Names[u.Only[0]]
	}
	for k, p := range o.Pos {
		d.pos[k] = spec.Pos{Line: p.L, Col: p.C}
		if name := u.Names[p.F]; name != "" {
			d.files[k] = name
		}
	}
	if o.Tree == nil {
		return d, false
	}
	root, err := spec.Parse(o.Tree)
	if err != nil {
		return d, false
	}
	d.root = root
	return d, true
}

// items makes items of what the evaluation of a unit gave.
func (u *unit) items(outs []outcome, listed bool) []Item {
	d := &doc{file: u.Shown, notices: u.notices}
	if len(u.faults) > 0 {
		return []Item{d.failed(diag.InvalidInput, u.faults...)}
	}
	var items []Item
	for _, o := range outs {
		items = append(items, u.itemsOf(o, listed)...)
	}
	return items
}

func (u *unit) itemsOf(o outcome, listed bool) []Item {
	d, ok := u.doc(o)
	if o.Limit != "" {
		return []Item{d.failed(diag.EvaluationLimit, limitProblem(d.file, o.Limit))}
	}
	if o.Broken || !ok {
		if file := o.file(); file != "" {
			d.file = file
		}
		return []Item{d.failed(diag.InvalidInput, d.placed(o.Faults)...)}
	}
	if root, ok := d.root.(*spec.Object); ok && len(root.Members) == 0 && len(o.Faults) == 0 {
		if listed {
			return nil
		}
		return []Item{d.failed(diag.InvalidInput, diag.Problem{File: d.file, Message: "holds no persona"})}
	}
	if listed && !looksLikePersona(d.root) && len(o.Faults) == 0 {
		return nil
	}
	items := d.items()
	items = append(items, d.orphans(items)...)
	// CUE keeps no order of files; a person reads them in one.
	slices.SortStableFunc(items, func(a, b Item) int {
		af, al, ac := a.start()
		bf, bl, bc := b.start()
		return cmp.Or(cmp.Compare(af, bf), cmp.Compare(al, bl), cmp.Compare(ac, bc))
	})
	return items
}

// file is the one file that all faults lie in, "" where there are several.
func (o outcome) file() string {
	if len(o.Faults) == 0 {
		return ""
	}
	for _, f := range o.Faults {
		if f.File != o.Faults[0].File {
			return ""
		}
	}
	return o.Faults[0].File
}

func limitProblem(file, limit string) diag.Problem {
	switch limit {
	case "memory":
		return diag.Problem{File: file, Message: "stopped: its evaluation takes more memory than a persona may need", Hint: "look for a comprehension, a disjunction or a string that grows at each step"}
	case "output":
		return diag.Problem{File: file, Message: "stopped: its evaluation gives more data than a persona may hold"}
	}
	return diag.Problem{File: file, Message: "stopped: its evaluation does not end in the time that a persona may need", Hint: "look for a comprehension or a disjunction that grows at each step"}
}

// placed gives faults the places that the document knows of their paths.
func (d *doc) placed(faults []cueFault) []diag.Problem {
	ps := make([]diag.Problem, 0, len(faults))
	for _, f := range faults {
		p := f.Problem
		key := spec.PathKey(f.Path...)
		if file, at, ok := d.exact(key + keyMark); ok && p.Message == "unknown field" {
			p.File, p.Line, p.Col = file, at.Line, at.Col
		} else if file, at, ok := d.exact(key); ok {
			p.File, p.Line, p.Col = file, at.Line, at.Col
		} else if p.Line == 0 {
			p.File, p.Line, p.Col = d.at(f.Path...)
		}
		ps = append(ps, p)
	}
	return ps
}

// merge adds to the problems of the value at path what CUE alone found: the
// user's own constraints, and values that are not there yet. Of a path that
// both speak of, ours says it better.
func (d *doc) merge(path []string, ps []diag.Problem) []diag.Problem {
	if len(d.faults) == 0 {
		return ps
	}
	open := map[string]bool{}
	for key := range d.open {
		open[dotted(strings.Split(key, "\x01"))] = true
	}
	// Where the value as a whole is wrong, nothing that is missing is news.
	whole := slices.ContainsFunc(d.faults, func(f cueFault) bool { return slices.Equal(f.Path, path) })
	ps = slices.DeleteFunc(ps, func(p diag.Problem) bool { return p.Message == missing && (whole || open[p.Path]) })
	for i, p := range d.placed(d.faults) {
		if !related(d.faults[i].Path, path) || slices.ContainsFunc(ps, func(q diag.Problem) bool { return near(p.Path, q.Path) }) {
			continue
		}
		ps = append(ps, p)
	}
	return ps
}

// near says whether one dotted path lies at or below the other.
func near(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// orphans are items for personas that have faults but no data at all.
func (d *doc) orphans(items []Item) []Item {
	have := map[string]bool{}
	for _, it := range items {
		have[it.ID] = true
	}
	byID := map[string][]cueFault{}
	var order []string
	for _, f := range d.faults {
		if len(f.Path) < 2 || f.Path[0] != "personas" || have[f.Path[1]] {
			continue
		}
		if byID[f.Path[1]] == nil {
			order = append(order, f.Path[1])
		}
		byID[f.Path[1]] = append(byID[f.Path[1]], f)
	}
	var out []Item
	for _, id := range order {
		it := d.item([]string{"personas", id}, id)
		it.Problems = settle(d.placed(byID[id]))
		it.Code = diag.PersonaInvalid
		out = append(out, it)
	}
	return out
}

// start is where an item begins in its file.
func (it Item) start() (string, int, int) {
	_, line, col := it.At()
	return it.File, line, col
}
