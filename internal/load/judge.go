package load

import (
	"fmt"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// idRule is the schema's rule for ids (TestIDRule holds the two together).
const idRule = "must be kebab-case: a-z, 0-9 and single hyphens, at most 128 characters"

// items gives the personas of a document: those under personas, the one with
// variants, or the flat one that the document itself is.
func (d *doc) items() []Item {
	o, ok := d.root.(*spec.Object)
	if !ok {
		return []Item{d.failed(diag.InvalidInput, d.problem(nil, "a persona is an object, not "+kindOf(d.root), ""))}
	}
	if set, ok := o.Get("personas"); ok {
		return d.set(o, set)
	}
	if o.Has("variants") {
		return []Item{d.source(nil, o, "")}
	}
	return []Item{d.flat(o)}
}

// failed is the item of a document that could not be read as a whole.
func (d *doc) failed(code diag.Code, ps ...diag.Problem) Item {
	return Item{File: d.file, Problems: tidy(ps), Unreadable: true, Code: code, Notices: d.notices, At: d.at}
}

// set reads the sources under personas.
func (d *doc) set(o *spec.Object, personas any) []Item {
	var items []Item
	var stray []diag.Problem
	for _, m := range o.Members {
		if m.Key != "personas" {
			stray = append(stray, d.keyProblem([]string{m.Key}, "unknown field beside personas", didYouMean(m.Key, []string{"personas"})))
		}
	}
	po, ok := personas.(*spec.Object)
	switch {
	case !ok:
		stray = append(stray, d.problem([]string{"personas"}, "must be an object of persona sources by id, got "+shown(personas), ""))
	case len(po.Members) == 0:
		stray = append(stray, d.problem([]string{"personas"}, "holds no persona", ""))
	}
	if len(stray) > 0 {
		items = append(items, Item{File: d.file, Problems: tidy(stray), Code: diag.PersonaInvalid, At: d.at})
	}
	if po == nil {
		return items
	}
	for _, m := range po.Members {
		path := []string{"personas", m.Key}
		so, ok := m.Value.(*spec.Object)
		if !ok {
			it := d.item(path, m.Key)
			it.Problems = []diag.Problem{d.problem(path, "must be a persona source, got "+shown(m.Value), "")}
			it.Code = diag.PersonaInvalid
			items = append(items, it)
			continue
		}
		items = append(items, d.source(path, so, m.Key))
	}
	return items
}

// item is an empty item for what stands at path.
func (d *doc) item(path []string, id string) Item {
	file, _, _ := d.keyAt(path...)
	return Item{File: file, ID: id, Notices: d.notices,
		At: func(more ...string) (string, int, int) { return d.at(sub(path, more...)...) }}
}

// flat judges a flat PersonaSpec.
func (d *doc) flat(o *spec.Object) Item {
	it := d.item(nil, o.String("id"))
	it.Flat = o
	it.Problems = settle(d.merge(nil, d.problems(spec.Check(o), o, where{d: d})))
	if len(it.Problems) > 0 {
		it.Code = diag.PersonaInvalid
	}
	return it
}

// where maps a field of a flat spec to its path in the document.
type where struct {
	d       *doc
	base    []string // the object that holds the contract, or the flat spec
	variant string   // "" for a flat spec
}

func (w where) path(field ...string) []string {
	if w.variant != "" && slices.Contains(spec.ImplementationFields, field[0]) {
		return sub(sub(w.base, "variants", w.variant), field...)
	}
	return sub(w.base, field...)
}

// parent is the object that should hold field.
func (w where) parent(field string) []string {
	p := w.path(field)
	return p[:len(p)-1]
}

// problems gives each issue its place.
func (d *doc) problems(issues []spec.Issue, o *spec.Object, w where) []diag.Problem {
	var ps []diag.Problem
	for _, is := range issues {
		ps = append(ps, d.located(is, o, w)...)
	}
	return ps
}

// settle sorts the problems of one item. A missing field that is only misspelt
// is said once, at the misspelt one.
func settle(ps []diag.Problem) []diag.Problem {
	meant := map[string]bool{}
	for _, p := range ps {
		if name, ok := strings.CutPrefix(p.Hint, `did you mean "`); ok && strings.HasPrefix(p.Message, "unknown field") {
			parent := p.Path[:strings.LastIndexByte(p.Path, '.')+1]
			meant[parent+strings.TrimSuffix(name, `"?`)] = true
		}
	}
	return tidy(slices.DeleteFunc(ps, func(p diag.Problem) bool {
		return p.Message == missing && meant[p.Path]
	}))
}

const missing = "missing required field"

func (d *doc) located(is spec.Issue, o *spec.Object, w where) []diag.Problem {
	field := is.Details.String("field")
	message, hint := split(is.Message)
	var p diag.Problem
	switch is.Code {
	case "INVALID_SPEC_VERSION":
		p = d.problem(w.path(field), trimPath(message, field), "") // one version: nothing to guess
	case "MISSING_REQUIRED_FIELD":
		p = d.problem(w.parent(field), missing, "")
		p.Path = dotted(w.path(field))
	case "EXTRA_FIELD_NOT_ALLOWED":
		p = d.keyProblem(w.path(field), strings.TrimSuffix(trimPath(message, field), fmt.Sprintf(" %q", field)), hint)
		if strings.HasPrefix(message, "unknown field") {
			p.Message, p.Hint = "unknown field", didYouMean(field, append(spec.Fields(), "personas", "variants"))
		}
	case "INVALID_POSTURE":
		if tool := is.Details.String("tool"); is.Details.Has("tool") {
			p = d.problem(w.path("capabilities", tool), trimPath(message, "capabilities."+tool), hint)
			break
		}
		p = d.problem(w.path("capabilities"), trimPath(message, field), hint)
	case "INVALID_CAN_SPAWN":
		if is.Details.Has("invalid_targets") {
			return d.targets(is, o, w)
		}
		p = d.problem(w.path("can_spawn"), trimPath(message, field), firstOf(hint, d.hint(w.path("can_spawn"), is)))
	default:
		p = d.problem(w.path(fieldPath(field)...), trimPath(message, field), firstOf(hint, d.hint(w.path(fieldPath(field)...), is)))
	}
	p.IssueCode = is.Code
	return []diag.Problem{p}
}

// fieldPath splits the field of an issue: only model_params issues are dotted,
// and their key is the rest.
func fieldPath(field string) []string {
	if key, ok := strings.CutPrefix(field, "model_params."); ok {
		return []string{"model_params", key}
	}
	return []string{field}
}

// targets says each bad member of can_spawn at its own place.
func (d *doc) targets(is spec.Issue, o *spec.Object, w where) []diag.Problem {
	v, _ := o.Get("can_spawn")
	list, _ := v.([]any)
	var ps []diag.Problem
	seen := map[string]bool{}
	for i, t := range list {
		s, ok := t.(string)
		path := w.path("can_spawn", fmt.Sprint(i))
		switch {
		case !ok || !spec.ValidID(s):
			ps = append(ps, d.problem(path, idRule+", got "+quoted(t), ""))
		case seen[s]:
			ps = append(ps, d.problem(path, fmt.Sprintf("%q stands in the list twice", s), ""))
		}
		if ok {
			seen[s] = true
		}
	}
	if len(ps) == 0 {
		ps = []diag.Problem{d.problem(w.path("can_spawn"), trimPath(is.Message, "can_spawn"), "")}
	}
	for i := range ps {
		ps[i].IssueCode = is.Code
	}
	return ps
}

// hint helps with values that the format itself read in a way that surprises.
func (d *doc) hint(path []string, is spec.Issue) string {
	v, _ := is.Details.Get("value")
	switch v := v.(type) {
	case spec.Number:
		switch is.Details.String("field") {
		case "id", "description", "prompt", "model", "spec_version", "compaction_prompt", "spec_digest":
			return "write it in quotes"
		}
	case string:
		if len(path) > 0 && path[len(path)-1] == "can_spawn" {
			return truth(v)
		}
	}
	return ""
}

// truth is a hint for the words that YAML 1.1 took for booleans.
func truth(s string) string {
	switch strings.ToLower(s) {
	case "yes", "on", "y":
		return "write true"
	case "no", "off", "n":
		return "write false"
	}
	return ""
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// split takes a trailing "(did you mean …)" off a message.
func split(message string) (string, string) {
	if i := strings.LastIndex(message, " (did you mean "); i >= 0 && strings.HasSuffix(message, ")") {
		return message[:i], message[i+2 : len(message)-1]
	}
	return message, ""
}

// trimPath drops the field's name from the front of a message that is printed
// behind its path.
func trimPath(message, field string) string {
	for _, sep := range []string{": ", " "} {
		if rest, ok := strings.CutPrefix(message, field+sep); ok {
			return rest
		}
	}
	return message
}
