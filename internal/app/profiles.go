package app

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/trust"
)

// ProfileRow is a profile as `profile list` shows it.
type ProfileRow struct {
	Name   string `json:"name"`
	Origin string `json:"origin"` // shipped | personal | project
	Source string `json:"source"` // the file, or shipped
	// State is shipped, own for a file of the user's, or trusted, changed or
	// untrusted for one of the project's, which then can only lower.
	State string `json:"state"`
	// ShadowedBy is the file that --profile NAME takes instead; "" for none.
	ShadowedBy string `json:"shadowed_by,omitempty"`
	// Fault is why it does not load; "" where it does.
	Fault string `json:"fault,omitempty"`
	Hash  string `json:"hash,omitempty"` // what trust would be given to
}

// ProfileList lists the profiles that --profile takes by name, by name, of one
// name the one that counts first.
func (a *App) ProfileList(ctx context.Context) ([]ProfileRow, error) {
	p, err := a.locate()
	if err != nil {
		return nil, err
	}
	store, err := a.trustStore(p)
	if err != nil {
		return nil, err
	}
	shipped, err := shippedProfiles()
	if err != nil {
		return nil, err
	}
	own, err := a.personalRows(ctx, p)
	if err != nil {
		return nil, err
	}
	project, err := a.projectRows(ctx, p, store)
	if err != nil {
		return nil, err
	}
	var ours []ProfileRow
	for _, name := range sortedKeys(shipped) {
		ours = append(ours, ProfileRow{Name: name, Origin: "shipped", Source: "shipped", State: "shipped"})
	}
	return ranked(own, project, ours), nil
}

// ranked puts rows in the order of names and says which of one name counts: the
// user's, then the project's nearest one where it is trusted or nobody else has
// the name, then the shipped one.
func ranked(own, project, shipped []ProfileRow) []ProfileRow {
	isShipped := func(name string) bool {
		return slices.ContainsFunc(shipped, func(r ProfileRow) bool { return r.Name == name })
	}
	var first, last []ProfileRow
	seen := map[string]bool{}
	for _, r := range project { // the nearest first
		if seen[r.Name] || isShipped(r.Name) && r.State != string(trust.Trusted) && r.Fault == "" {
			last = append(last, r)
		} else {
			first = append(first, r)
		}
		seen[r.Name] = true
	}
	out := slices.Concat(own, first, shipped, last)
	winner := map[string]string{}
	for i, r := range out {
		if by, taken := winner[r.Name]; taken {
			out[i].ShadowedBy = by
		} else {
			winner[r.Name] = r.Source
		}
	}
	slices.SortStableFunc(out, func(x, y ProfileRow) int { return strings.Compare(x.Name, y.Name) })
	return out
}

func (a *App) personalRows(ctx context.Context, p where) ([]ProfileRow, error) {
	files, err := profileGlob(p.config)
	if err != nil {
		return nil, err
	}
	var out []ProfileRow
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".cue")
		r := ProfileRow{Name: name, Origin: "personal", Source: a.shortened(profile.Layer{File: f}), State: "own"}
		if _, err := load.ProfileNamed(ctx, f, name, load.Options{Dir: a.dir, Trusted: true}); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			r.Fault = faultOf(err, r.Source)
		}
		out = append(out, r)
	}
	return out, nil
}

// projectRows are those of the project, of the nearest directory first.
func (a *App) projectRows(ctx context.Context, p where, store *trust.Store) ([]ProfileRow, error) {
	var out []ProfileRow
	for _, dir := range slices.Backward(p.dirs) {
		files, err := profileGlob(dir)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			name := strings.TrimSuffix(filepath.Base(f), ".cue")
			r := ProfileRow{Name: name, Origin: "project", Source: p.rel(f), State: string(trust.Untrusted)}
			it, err := a.projectConfig(ctx, p, store, f, name)
			switch {
			case err == nil:
				r.State, r.Hash = it.Status, it.Hash
			case ctx.Err() != nil:
				return nil, err
			default:
				r.Fault = faultOf(err, r.Source)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

func profileGlob(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(escapeGlob(dir), "profiles", "*.cue"))
}

// faultOf is a file's first mistake on a line, the file as it is shown.
func faultOf(err error, shown string) string {
	e := diag.As(err)
	if len(e.Problems) == 0 {
		return shown + ": " + e.Message
	}
	p := e.Problems[0]
	p.File = shown
	return p.String()
}
