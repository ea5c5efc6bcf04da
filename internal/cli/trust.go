package cli

import (
	"context"

	"larva.dev/larva/internal/app"
	"larva.dev/larva/internal/diag"
)

type trustCmd struct {
	List   trustListCmd   `cmd:"" help:"List the project's items with their hashes."`
	Grant  trustGrantCmd  `cmd:"" help:"Say yes to the exact content of an item."`
	Revoke trustRevokeCmd `cmd:"" help:"Take the yes back."`
}

type trustListCmd struct{}

func (trustListCmd) doc() doc {
	return doc{
		Long:     "One line an item: status, kind, name, hash and file, with tabs between.",
		Examples: []string{"larva trust list", "larva trust list --json"},
		Exits:    plainExits(),
	}
}

// Run lists the items.
func (trustListCmd) Run(ctx context.Context, s *session) error {
	items, err := s.app.TrustList(ctx)
	if err != nil {
		return err
	}
	return s.trustItems(items)
}

func (s *session) trustItems(items []app.TrustItem) error {
	if s.json() {
		if items == nil {
			items = []app.TrustItem{}
		}
		return s.data(items)
	}
	for _, i := range items {
		s.line("%s\t%s\t%s\t%s\t%s", i.Status, i.Kind, i.Name, i.Hash, i.File)
	}
	return nil
}

type trustGrantCmd struct {
	Items []string `arg:"" name:"item" help:"Names or files as trust list prints them."`
	Hash  string   `placeholder:"sha256:…" help:"Without a terminal: the item's exact hash, as trust list prints it."`
}

func (trustGrantCmd) doc() doc {
	return doc{
		Long:     "Needs a person at a terminal, or the exact full hash. A changed byte asks again.",
		Examples: []string{"larva trust grant profiles/work.cue --hash $HASH", "larva trust grant profiles/work.cue --hash $HASH --json"},
		Exits:    plainExits(),
	}
}

// Run records the yes.
func (c trustGrantCmd) Run(ctx context.Context, s *session) error {
	if c.Hash != "" && len(c.Items) != 1 {
		return diag.Usage("--hash is the hash of one item")
	}
	in := app.TrustInput{Items: c.Items, Hash: c.Hash}
	if s.canAsk() {
		in.Confirm = func(ctx context.Context, i app.TrustItem) (bool, error) {
			if i.Name == i.File {
				s.say("%s %s", i.Kind, i.Name)
			} else {
				s.say("%s %s (%s)", i.Kind, i.Name, i.File)
			}
			s.say("%s", i.Hash)
			return s.confirm(ctx, "Trust exactly this content?")
		}
	}
	items, err := s.app.TrustGrant(ctx, in)
	if err != nil {
		return err
	}
	return s.trustItems(items)
}

type trustRevokeCmd struct {
	Items []string `arg:"" name:"item" help:"Names or files as trust list prints them."`
}

func (trustRevokeCmd) doc() doc {
	return doc{
		Examples: []string{"larva trust revoke profiles/work.cue", "larva trust revoke profiles/work.cue --json"},
		Exits:    plainExits(),
	}
}

// Run takes the yes back.
func (c trustRevokeCmd) Run(ctx context.Context, s *session) error {
	items, err := s.app.TrustRevoke(ctx, app.TrustInput{Items: c.Items})
	if err != nil {
		return err
	}
	return s.trustItems(items)
}
