package app

import (
	"context"
	"io"
	"sync"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/spec"
)

// Where names one persona among those that a command read.
type Where struct {
	File string
	ID   string // "" where it could not be read
	// Crowded marks a file that holds several.
	Crowded bool
}

// Label is the file, with the id where the file alone does not say which.
func (w Where) Label() string {
	if w.Crowded && w.ID != "" {
		return w.File + ": " + w.ID
	}
	return w.File
}

// Checked is validate's answer for one persona. Err is nil for a valid one;
// Report is empty for one that could not be read.
type Checked struct {
	Where
	Report spec.Report
	Err    *diag.Error
}

// Validate checks every persona of files, each on its own, and every profile
// where a profile or a directory of them is named. An error means that there
// was nothing to check.
func (a *App) Validate(ctx context.Context, files []string, stdin io.Reader) ([]Checked, error) {
	var personas []string
	var profiles []Checked
	for _, f := range files {
		list := a.profileFiles(f)
		for _, p := range list {
			profiles = append(profiles, a.checkProfile(ctx, p))
		}
		if len(list) == 0 {
			personas = append(personas, f)
		}
	}
	if len(personas) == 0 && len(files) > 0 {
		return profiles, ctx.Err()
	}
	items, err := a.loadItems(ctx, personas, stdin)
	if err != nil {
		return nil, err
	}
	known := a.knownIDs(items)
	out := make([]Checked, len(items), len(items)+len(profiles))
	for i := range items {
		out[i].Where = whereOf(items, i)
		out[i].Report, out[i].Err = judge(&items[i], known)
	}
	return append(out, profiles...), nil
}

func (a *App) loadItems(ctx context.Context, files []string, stdin io.Reader) ([]load.Item, error) {
	o := a.loadOptions()
	o.Stdin = stdin
	items, err := load.Specs(ctx, files, o)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, diag.Usage("no personas found").WithHint("a persona is a JSON, YAML, TOML, CUE or Markdown file: larva init demo writes one")
	}
	return items, nil
}

func whereOf(items []load.Item, i int) Where {
	n := 0
	for j := range items {
		if items[j].File == items[i].File {
			n++
		}
	}
	return Where{File: items[i].File, ID: items[i].ID, Crowded: n > 1}
}

// knownIDs says which ids can_spawn may name: those of the registry and, where
// several personas are at hand, those. The registry is read once and only when
// a list asks; where it cannot be read every id is known, which leaves the
// warning out.
func (a *App) knownIDs(items []load.Item) func(string) bool {
	set, all := map[string]bool{}, false
	if len(items) > 1 {
		for i := range items {
			set[items[i].ID] = true
		}
	}
	read := sync.OnceFunc(func() {
		ids, err := a.PersonaIDs()
		all = err != nil
		for _, id := range ids {
			set[id] = true
		}
	})
	return func(id string) bool {
		read()
		return all || set[id]
	}
}
