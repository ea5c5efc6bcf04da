package cli

import (
	"context"
	"fmt"
	"strings"

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
		Long:     "Profiles, personas, hooks, servers and definitions of the project. One line an item: state, kind, name, hash and file:line, with tabs between.",
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
		s.line("%s\t%s\t%s\t%s\t%s", i.Status, i.Kind, i.Name, i.Hash, i.Source)
	}
	return nil
}

type trustGrantCmd struct {
	Items []string `arg:"" optional:"" name:"item" help:"Names, files or hashes as trust list prints them."`
	Hash  []string `placeholder:"sha256:…" help:"Without a question: exact hashes, as trust list prints them. Repeats, or several behind it."`
}

func (trustGrantCmd) doc() doc {
	return doc{
		Long: "Needs a person at a terminal, or exact full hashes: --hash HASH… takes the items that have them, without names. " +
			"A file names all items in it. A changed byte, of the item or of a project file that its command names, asks again.",
		Examples: []string{"larva trust grant --hash $HASH", "larva trust grant profiles/work.cue --hash $HASH --json"},
		Exits:    plainExits(),
	}
}

// Run records the yes.
func (c trustGrantCmd) Run(ctx context.Context, s *session) error {
	in := app.TrustInput{}
	for _, h := range c.Hash {
		if !isHash(h) {
			return diag.Usage("--hash %q is no hash", h).WithHint("larva trust list prints them: sha256: and 64 digits")
		}
		in.Hashes = append(in.Hashes, h)
	}
	for _, i := range c.Items {
		// Behind --hash further hashes are hashes; on their own they only name
		// an item, and the person is asked.
		if len(c.Hash) > 0 && isHash(i) {
			in.Hashes = append(in.Hashes, i)
			continue
		}
		in.Items = append(in.Items, i)
	}
	if len(in.Items) == 0 && len(in.Hashes) == 0 {
		return diag.Usage("expected an item, or --hash").WithHint("see: larva trust list")
	}
	if s.canAsk() {
		in.Confirm = func(ctx context.Context, i app.TrustItem) (bool, error) {
			s.showItem(i)
			yes, err := s.confirm(ctx, "Trust exactly this content?")
			if err == nil && !yes {
				s.say("%s %s is left as it is: %s", i.Kind, i.Name, i.Status)
			}
			return yes, err
		}
	}
	items, err := s.app.TrustGrant(ctx, in)
	if err != nil {
		return err
	}
	return s.trustItems(items)
}

func isHash(s string) bool { return strings.HasPrefix(s, "sha256:") }

// shownLines bounds the lines of an item that are shown before the yes. What is
// longer is to be read in its file, and the question says so.
const shownLines = 200

// showItem tells a person what the yes is for: the content, what it raises,
// and the variables that it would see.
func (s *session) showItem(i app.TrustItem) {
	s.say("%s %s (%s)", i.Kind, i.Name, i.Source)
	for n, l := range i.Content {
		if n == shownLines {
			s.say("  … %s more lines: read %s before you say yes", fmt.Sprint(len(i.Content)-n), i.File)
			break
		}
		s.say("  | %s", strings.ReplaceAll(l, "\t", "    "))
	}
	for _, f := range i.Files {
		s.say("names the file %s, which the hash covers", f)
	}
	for _, r := range i.Raises {
		s.say("counts once trusted: %s", r)
	}
	if len(i.Vars) > 0 {
		s.say("fills in the variables %s", strings.Join(i.Vars, ", "))
	}
	s.say("%s", i.Hash)
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
