package load

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
)

// Profile reads a file that holds one profile: a config.cue or config.toml
// (JSON and YAML too) with its fields at the top level, or a file with exactly
// one entry under profiles. The layer has its File, Profile and Origins; what
// it is called and how far it counts is the caller's. Mistakes are PROFILE_INVALID, a file that
// cannot be read is INVALID_INPUT with exit 2.
func Profile(ctx context.Context, path string, o Options) (profile.Layer, error) {
	return ProfileNamed(ctx, path, "", o)
}

// ProfileNamed is Profile for a file that may hold several: name picks one. A
// file with its fields at the top level is taken whatever its name.
func ProfileNamed(ctx context.Context, path, name string, o Options) (profile.Layer, error) {
	d, err := o.document(ctx, path, "profile", name)
	if err != nil {
		return profile.Layer{}, err
	}
	base, err := pick(d, path, name)
	if err != nil {
		return profile.Layer{}, err
	}
	if err := d.fits("#Profile", base); err != nil {
		return profile.Layer{}, err
	}
	return d.layer(base)
}

// Scenario reads a scenario file: one #Scenario at the top level, in any of
// the formats.
func Scenario(ctx context.Context, path string, o Options) (profile.Scenario, error) {
	d, err := o.document(ctx, path, "scenario", "")
	if err != nil {
		return profile.Scenario{}, err
	}
	if err := d.fits("#Scenario", nil); err != nil {
		return profile.Scenario{}, err
	}
	var s profile.Scenario
	if err := json.Unmarshal(spec.AppendCanonical(nil, d.root), &s); err != nil {
		return s, d.undecodable(nil, err)
	}
	return s, nil
}

// ReadText reads a text file of at most 16 MiB, valid UTF-8 without a byte
// order mark.
func ReadText(path string, o Options) (string, error) {
	data, p := openAndRead(o.name(path), path, spec.MaxBytes)
	if p == nil {
		p = text(data, path)
	}
	if p != nil {
		return "", unreadable(*p)
	}
	return string(data), nil
}

func unreadable(ps ...diag.Problem) *diag.Error {
	ps = tidy(ps)
	return &diag.Error{Code: diag.InvalidInput, Exit: diag.ExitUsage, Message: ps[0].String(), Problems: ps}
}

// document reads one file that is no persona. A CUE document has been judged
// when it comes back; its faults are an error.
func (o Options) document(ctx context.Context, path, want, name string) (*doc, error) {
	data, f, p := o.text(path)
	if p != nil {
		return nil, unreadable(*p)
	}
	if f != asCUE {
		d, p := parse(data, f, path)
		if p != nil {
			return nil, unreadable(*p)
		}
		return d, nil
	}
	var ms modules
	defer ms.close()
	var u *unit
	if path == "-" {
		u, p = ms.textUnit(path, o.name("."), data, want)
	} else {
		u, p = ms.fileUnit(path, o.name(path), want)
	}
	if p != nil {
		return nil, unreadable(*p)
	}
	u.Pick = name
	return o.evaluated(ctx, u)
}

// text reads a file that is no persona and tells its format.
func (o Options) text(path string) ([]byte, format, *diag.Problem) {
	f := formatOf(path)
	if path == "-" {
		f = unknown
	}
	var data []byte
	var p *diag.Problem
	switch {
	case path == "-" && o.Stdin == nil:
		data = nil
	case path == "-":
		data, p = readAll(o.Stdin, path, spec.MaxBytes)
	default:
		data, p = openAndRead(o.name(path), path, spec.MaxBytes)
	}
	if p == nil {
		p = text(data, path)
	}
	if p != nil {
		return nil, f, p
	}
	if f == unknown {
		f = sniff(data)
	}
	if f == asMarkdown {
		return nil, f, &diag.Problem{File: path, Message: "Markdown holds personas only"}
	}
	return data, f, nil
}

// evaluated runs one unit and gives its document, or its faults as the error.
func (o Options) evaluated(ctx context.Context, u *unit) (*doc, error) {
	if len(u.faults) > 0 {
		return nil, unreadable(u.faults...)
	}
	outs, err := o.run(ctx, []*unit{u})
	if err != nil {
		return nil, err
	}
	out := outs[0][0]
	d, ok := u.doc(out)
	switch {
	case out.Limit != "":
		e := unreadable(limitProblem(d.file, out.Limit))
		e.Code = diag.EvaluationLimit
		return nil, e
	case len(out.Faults) > 0 && out.Broken:
		return nil, unreadable(d.placed(out.Faults)...)
	case len(out.Faults) > 0:
		return nil, invalid(settle(d.placed(out.Faults)))
	case !ok:
		d.root = &spec.Object{}
	}
	return d, nil
}

func invalid(ps []diag.Problem) *diag.Error {
	return &diag.Error{Code: diag.ProfileInvalid, Message: ps[0].String(), Problems: ps}
}

// pick finds the profile asked for: the path of its object in the document.
func pick(d *doc, path, name string) ([]string, error) {
	set, ok := d.get("profiles")
	if !ok {
		return nil, nil
	}
	o, ok := set.(*spec.Object)
	if !ok {
		return nil, invalid([]diag.Problem{d.problem([]string{"profiles"}, "must be an object of profiles by name, got "+shown(set), "")})
	}
	if root, _ := d.root.(*spec.Object); len(root.Members) > 1 {
		var ps []diag.Problem
		for _, m := range root.Members {
			if m.Key != "profiles" {
				ps = append(ps, d.keyProblem([]string{m.Key}, "unknown field beside profiles", ""))
			}
		}
		return nil, invalid(ps)
	}
	var names []string
	for _, m := range o.Members {
		names = append(names, m.Key)
	}
	switch {
	case name == "" && len(names) == 1:
		return []string{"profiles", names[0]}, nil
	case name == "" && len(names) > 1:
		return nil, diag.Usage("%s holds several profiles: %s", path, oneOf(names)).WithHint("name one of them")
	case name != "" && o.Has(name):
		return []string{"profiles", name}, nil
	case len(names) == 0:
		return nil, diag.Usage("%s holds no profile", path)
	}
	e := diag.Usage("%s holds no profile named %s", path, quoted(name))
	if hint := firstOf(didYouMean(name, names), "it holds "+oneOf(names)); hint != "" {
		e.Hint = hint
	}
	return nil, e
}

// fits judges the object at base of a data format by its definition and fills
// in defaults. What CUE evaluated has been judged.
func (d *doc) fits(def string, base []string) error {
	if d.files != nil {
		return nil
	}
	v, _ := d.get(base...)
	whole, faults := judgeData(def, v, base)
	if len(faults) > 0 {
		return invalid(settle(d.placed(faults)))
	}
	root := &spec.Object{}
	graft(root, base, whole)
	d.root = root
	return nil
}

// layer decodes the profile at base and keeps where each of its values stands.
func (d *doc) layer(base []string) (profile.Layer, error) {
	v, _ := d.get(base...)
	l := profile.Layer{File: d.file, Origins: map[string]string{}}
	if err := json.Unmarshal(spec.AppendCanonical(nil, v), &l.Profile); err != nil {
		return profile.Layer{}, d.undecodable(base, err)
	}
	d.origins(v, base, nil, l.Origins)
	return l, nil
}

// undecodable is a value that the schema takes and Go's types do not: a hole
// in the schema, but no reason to go on.
func (d *doc) undecodable(base []string, err error) error {
	return invalid([]diag.Problem{d.problem(base, oneLine(err.Error()), "")})
}

// origins notes file:line of every leaf below v, by its dotted path in the
// profile.
func (d *doc) origins(v any, base, path []string, out map[string]string) {
	switch v := v.(type) {
	case *spec.Object:
		for _, m := range v.Members {
			d.origins(m.Value, base, sub(path, m.Key), out)
		}
		if len(v.Members) > 0 {
			return
		}
	case []any:
		for i, c := range v {
			d.origins(c, base, sub(path, strconv.Itoa(i)), out)
		}
		if len(v) > 0 {
			return
		}
	}
	if len(path) == 0 {
		return
	}
	file, line, _ := d.at(sub(base, path...)...)
	origin := file
	if line > 0 {
		origin = fmt.Sprintf("%s:%d", file, line)
	}
	out[strings.Join(path, ".")] = origin
}
