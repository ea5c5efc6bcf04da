package app

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/trust"
)

func (a *App) trustStore(p where) (*trust.Store, error) { return trust.Open(p.trustFile()) }

// TrustList lists what counts only once trusted, profiles first, each by name.
func (a *App) TrustList(ctx context.Context) ([]TrustItem, error) {
	p, err := a.locate()
	if err != nil {
		return nil, err
	}
	store, err := a.trustStore(p)
	if err != nil {
		return nil, err
	}
	return a.allItems(ctx, p, store)
}

// projectProfiles lists profiles/*.cue of the project; one that does not load
// is left to `larva validate`.
func (a *App) projectProfiles(ctx context.Context, p where, store *trust.Store) ([]configItem, error) {
	var out []configItem
	for _, dir := range p.dirs {
		files, err := filepath.Glob(filepath.Join(escapeGlob(dir), "profiles", "*.cue"))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			it, err := a.projectConfig(ctx, p, store, f, strings.TrimSuffix(filepath.Base(f), ".cue"))
			if err != nil {
				if ctx.Err() != nil {
					return nil, err
				}
				continue
			}
			out = append(out, it)
		}
	}
	return out, nil
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

// TrustGrant records a yes to the exact content of each item: a person at a
// terminal says it, or its hash is given. Hashes without names are those of
// whatever items have them. All are found before one is recorded.
func (a *App) TrustGrant(ctx context.Context, in TrustInput) ([]TrustItem, error) {
	if err := a.refuseNested("trust grant"); err != nil {
		return nil, err
	}
	p, store, items, err := a.picked(ctx, in)
	if err != nil {
		return nil, err
	}
	if in.Confirm == nil && len(in.Hashes) == 0 {
		return nil, unasked(items)
	}
	var yes []trust.Approval
	granted := []TrustItem{}
	for _, it := range items {
		ok, err := approve(ctx, in, it)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		it.Status = string(trust.Trusted)
		granted = append(granted, it)
		yes = append(yes, trust.Approval{Project: p.common, Kind: it.Kind, Name: it.Name, Hash: it.Hash, Granted: time.Now().UTC().Truncate(time.Second)})
	}
	if len(yes) == 0 {
		return granted, nil
	}
	return granted, store.Grant(ctx, yes...)
}

func approve(ctx context.Context, in TrustInput, it TrustItem) (bool, error) {
	if len(in.Hashes) > 0 {
		if slices.Contains(in.Hashes, it.Hash) {
			return true, nil
		}
		return false, diag.New(diag.NotTrusted, "the hash given is not that of %s %s, which is %s now", it.Kind, it.Name, it.Hash).
			With("name", it.Name).With("hash", it.Hash).
			WithHint("read what changed, then take the hash that larva trust list --json prints")
	}
	return in.Confirm(ctx, it)
}

// unasked is the answer where nobody can say yes: the hashes of all that was
// named, for one who has read it.
func unasked(items []TrustItem) error {
	hashes := make([]string, len(items))
	for i, it := range items {
		hashes[i] = it.Hash
	}
	what := "hash"
	if len(hashes) > 1 {
		what = "hashes"
	}
	return diag.Usage("trust needs a person at a terminal, or the exact %s", what).With("name", items[0].Name).
		WithHint("larva trust grant --hash %s", strings.Join(hashes, " "))
}

// TrustRevoke takes the yes back, whatever the hash it was given for. Of a
// file that holds several items those that were trusted count. What is gone
// from the project can be named, too.
func (a *App) TrustRevoke(ctx context.Context, in TrustInput) ([]TrustItem, error) {
	if err := a.refuseNested("trust revoke"); err != nil {
		return nil, err
	}
	gone, left, err := a.goneItems(ctx, in.Items)
	if err != nil {
		return nil, err
	}
	in.Items = left
	p, store, items, err := a.picked(ctx, in)
	if err != nil {
		return nil, err
	}
	items = append(gone, items...)
	revoked := []TrustItem{}
	for _, it := range items {
		n, err := store.Revoke(ctx, p.common, it.Kind, it.Name)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			it.Status = string(trust.Untrusted)
			revoked = append(revoked, it)
		}
	}
	if len(revoked) == 0 {
		return nil, diag.New(diag.NotTrusted, "%s %s was not trusted", items[0].Kind, items[0].Name).With("name", items[0].Name).
			WithHint("see: larva trust list")
	}
	return revoked, nil
}

// picked finds the items that the person named, by name, file or hash.
func (a *App) picked(ctx context.Context, in TrustInput) (p where, store *trust.Store, out []TrustItem, err error) {
	if p, err = a.locate(); err != nil {
		return p, nil, nil, err
	}
	if store, err = a.trustStore(p); err != nil {
		return p, nil, nil, err
	}
	all, err := a.allItems(ctx, p, store)
	if err != nil {
		return p, nil, nil, err
	}
	refs := in.Items
	if len(refs) == 0 {
		refs = in.Hashes
	}
	for _, ref := range refs {
		found := slices.Collect(matching(all, p.rel(a.abs(ref)), ref))
		if len(found) == 0 {
			return p, nil, nil, noItem(all, ref)
		}
		// A file may hold several items: hashes say which of them are meant.
		if of := withHash(found, in.Hashes); len(of) > 0 {
			found = of
		}
		for _, it := range found {
			if !slices.ContainsFunc(out, func(o TrustItem) bool { return o.Kind == it.Kind && o.Name == it.Name }) {
				out = append(out, it)
			}
		}
	}
	for _, h := range in.Hashes {
		if len(withHash(all, []string{h})) == 0 && len(in.Items) != 1 {
			return p, nil, nil, noItem(all, h)
		}
	}
	return p, store, out, nil
}

func withHash(items []TrustItem, hashes []string) (out []TrustItem) {
	for _, it := range items {
		if slices.Contains(hashes, it.Hash) {
			out = append(out, it)
		}
	}
	return out
}

func noItem(all []TrustItem, ref string) error {
	names := make([]string, len(all))
	for i, it := range all {
		names[i] = it.Name
	}
	if strings.HasPrefix(ref, hashMark) {
		return diag.New(diag.NotTrusted, "no item of this project has the hash %s now", ref).With("hash", ref).
			WithHint("read what changed, then take the hash that larva trust list --json prints")
	}
	e := diag.New(diag.InvalidInput, "this project has no item %q", ref).With("name", ref)
	if len(names) == 0 {
		return e.WithHint("it has no items at all: larva trust list")
	}
	return e.WithHint("it has: %s", strings.Join(names, ", "))
}

// hashMark begins every hash.
const hashMark = "sha256:"

// matching gives the items that ref names: by name, by hash, or all that file
// holds.
func matching(all []TrustItem, file, ref string) func(func(TrustItem) bool) {
	return func(yield func(TrustItem) bool) {
		for _, it := range all {
			if (it.Name == ref || it.File == file || it.Hash == ref) && !yield(it) {
				return
			}
		}
	}
}
