package app

import (
	"context"
	"slices"
	"strings"

	"larva.dev/larva/internal/trust"
)

// goneItems finds the approvals of what a person names, by name, file or hash,
// and this project does not have any more: what comes back with the same bytes
// would be trusted at once. left are the references to look for in the project.
func (a *App) goneItems(ctx context.Context, refs []string) (gone []TrustItem, left []string, err error) {
	p, err := a.locate()
	if err != nil {
		return nil, nil, err
	}
	store, err := a.trustStore(p)
	if err != nil {
		return nil, nil, err
	}
	all, err := a.allItems(ctx, p, store)
	if err != nil {
		return nil, nil, err
	}
	recorded := slices.DeleteFunc(store.Recorded(p.common), func(r trust.Approval) bool {
		return slices.ContainsFunc(all, func(it TrustItem) bool { return it.Kind == r.Kind && it.Name == r.Name })
	})
	for _, ref := range refs {
		n := len(gone)
		file := p.rel(a.abs(ref))
		for _, r := range recorded {
			if r.Name == ref || r.Hash == ref || r.Name == file || strings.HasPrefix(r.Name, file+"#") {
				gone = append(gone, TrustItem{Kind: r.Kind, Name: r.Name, Hash: r.Hash})
			}
		}
		if n == len(gone) || slices.ContainsFunc(all, func(it TrustItem) bool { return it.Name == ref || it.File == file || it.Hash == ref }) {
			left = append(left, ref)
		}
	}
	return gone, left, nil
}
