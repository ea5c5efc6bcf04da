package app

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/trust"
)

// ProfileLayer is one file that a merged profile was made of.
type ProfileLayer struct {
	Name   string `json:"name"` // shipped, personal, project, private, profile
	Source string `json:"source"`
	// Trusted is null for a layer of the user's own: a project's can only lower
	// until it is trusted.
	Trusted *bool `json:"trusted"`
}

// ProfileField is one value of the merged profile.
type ProfileField struct {
	Path, Value, Origin string
	Shipped             bool // it comes with the binary
}

// ProfileShown is the profile that a run would have here.
type ProfileShown struct {
	Name   string         `json:"name"` // of --profile, "" for none
	Layers []ProfileLayer `json:"layers"`
	// Profile is what they merge to, without what trust is missing for. Secrets
	// read (hidden).
	Profile profile.Profile `json:"profile"`
	// Origins gives file:line of each value, by its dotted path.
	Origins map[string]string `json:"origins"`
	Notices []string          `json:"notices"`
	// Fields are the same as rows, a price and a script in one each.
	Fields []ProfileField `json:"-"`
}

// profileStand is a stand without a persona: nothing is asked and nothing is
// looked for on the machine.
func (a *App) profileStand(ctx context.Context, name string) (*stand, error) {
	return a.stand(ctx, about{unasked: true, portable: true, flags: flags{profile: name}})
}

// ProfileShow shows it; name is what --profile would say, "" for none.
func (a *App) ProfileShow(ctx context.Context, name string) (ProfileShown, error) {
	s, err := a.profileStand(ctx, name)
	if err != nil {
		return ProfileShown{}, err
	}
	out := ProfileShown{Name: name, Origins: map[string]string{}, Notices: s.notices, Layers: a.layersOf(s, name)}
	if out.Notices == nil {
		out.Notices = []string{}
	}
	p := s.eff.Profile
	p.Permissions = profile.Permissions{Allow: ruleTexts(s.eff.Allow), Ask: ruleTexts(s.eff.Ask), Deny: ruleTexts(s.eff.Deny)}
	own := s.showHooks(&p)
	out.Profile = veiled(p)
	tree, err := spec.ParseObject(mustJSON(out.Profile))
	if err != nil {
		return out, err
	}
	for list, rules := range map[string][]profile.Rule{"allow": s.eff.Allow, "ask": s.eff.Ask, "deny": s.eff.Deny} {
		for i, r := range rules {
			own["permissions."+list+"."+strconv.Itoa(i)] = r.Origin
		}
	}
	w := fieldWalk{s: s, own: own, out: &out, short: func(o string) string { return a.shortOrigin(s.at, o) }}
	w.walk("", tree)
	return out, nil
}

func mustJSON(p profile.Profile) []byte {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // plain values of our own
	}
	return b
}

func ruleTexts(rules []profile.Rule) []string {
	out := make([]string, len(rules))
	for i, r := range rules {
		out[i] = r.Text
	}
	return out
}

// showHooks puts the hooks that would run back into the profile, and gives
// where each was written.
func (s *stand) showHooks(p *profile.Profile) map[string]string {
	origins := map[string]string{}
	p.Hooks = map[string][]profile.Hooks{}
	for _, h := range s.hooks {
		if h.Item != nil && h.Item.Status != string(trust.Trusted) {
			continue
		}
		at := fmt.Sprintf("hooks.%s.%d", h.Event, len(p.Hooks[h.Event]))
		origins[at] = h.Origin
		p.Hooks[h.Event] = append(p.Hooks[h.Event], profile.Hooks{Matcher: h.Matcher, Hooks: []profile.Hook{h.Hook.Hook}})
	}
	if len(p.Hooks) == 0 {
		p.Hooks = nil
	}
	return origins
}

func (a *App) layersOf(s *stand, name string) []ProfileLayer {
	var out []ProfileLayer
	for _, l := range s.layers {
		if l.Name == "flags" {
			continue
		}
		row := ProfileLayer{Name: l.Name, Source: a.shortOrigin(s.at, l.File)}
		byName := l.Name == "profile" && !l.Project && !isPath(name) // the user's own lies in the config directory
		if l.Name == "shipped" || byName && !filepath.IsAbs(l.File) {
			row.Source = l.File + " (shipped)"
		}
		if l.Project {
			row.Trusted = &l.Trusted
		}
		out = append(out, row)
	}
	return out
}

// shortOrigin names a place as a person would: below the project or the home
// directory.
func (a *App) shortOrigin(p where, origin string) string {
	file, line := cutOrigin(origin)
	if file != "" && p.inside(file) {
		file = p.rel(file)
	} else {
		file = a.shortened(profile.Layer{File: file})
	}
	if line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

// fieldWalk makes rows and origins of a profile's tree.
type fieldWalk struct {
	s     *stand
	own   map[string]string // origins that the merged profile does not know
	out   *ProfileShown
	short func(origin string) string
}

func (w fieldWalk) walk(path string, v any) {
	switch v := v.(type) {
	case *spec.Object:
		if whole := wholeRow(path, v); whole != "" {
			w.row(path, whole)
			w.origins(path, v)
			return
		}
		for _, m := range v.Members {
			w.walk(strings.TrimPrefix(path+"."+m.Key, "."), m.Value)
		}
	case []any:
		for i, x := range v {
			w.walk(path+"."+strconv.Itoa(i), x)
		}
	default:
		w.row(path, string(spec.AppendCanonical(nil, v)))
		w.out.Origins[path] = w.origin(path)
	}
}

// origins notes those below a row that stands for a whole object.
func (w fieldWalk) origins(path string, v any) {
	switch v := v.(type) {
	case *spec.Object:
		for _, m := range v.Members {
			w.origins(path+"."+m.Key, m.Value)
		}
	case []any:
		for i, x := range v {
			w.origins(path+"."+strconv.Itoa(i), x)
		}
	default:
		w.out.Origins[path] = w.origin(path)
	}
}

func (w fieldWalk) row(path, value string) {
	w.out.Fields = append(w.out.Fields, ProfileField{Path: path, Value: value, Origin: w.origin(path), Shipped: w.s.eff.Shipped(path)})
}

func (w fieldWalk) origin(path string) string {
	for at := path; at != ""; at = at[:max(strings.LastIndexByte(at, '.'), 0)] {
		if o := w.own[at]; o != "" {
			return w.short(o)
		}
	}
	return w.short(w.s.eff.OriginOf(path))
}

// wholeRow is an object that is one row: a price, a script, a hook; "" for one
// that is not.
func wholeRow(path string, v *spec.Object) string {
	kind, rest, _ := strings.Cut(path, ".")
	switch {
	case kind == "scripts" && rest != "":
		turns, _ := v.Get("turns")
		list, _ := turns.([]any)
		return fmt.Sprintf("%d %s", len(list), plural(len(list), "turn"))
	case kind == "prices" && rest != "", kind == "hooks" && strings.Contains(rest, "."):
		return string(spec.AppendCanonical(nil, v))
	}
	return ""
}
