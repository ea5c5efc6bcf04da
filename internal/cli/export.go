package cli

import (
	"io"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

type exportCmd struct {
	All bool     `help:"Every persona, by id."`
	ID  []string `name:"id" sep:"none" placeholder:"ID" help:"This persona; repeats, order is kept." complete:"persona"`
	IDs []string `arg:"" optional:"" name:"ids" help:"The same as --id." complete:"persona"`
}

func (exportCmd) doc() doc {
	return doc{
		Long:     "Whole PersonaSpecs of the active variants; in text a line --- stands between two.",
		Examples: []string{"larva export --all --json", "larva export --id code-reviewer --id explorer"},
		Exits:    plainExits(),
	}
}

// Run prints what was selected, or nothing where one of them fails.
func (c exportCmd) Run(s *session) error {
	ids := append(append([]string{}, c.ID...), c.IDs...)
	switch {
	case c.All && len(ids) > 0:
		return diag.Usage("--all and ids exclude each other")
	case c.All:
		ids = nil
	case len(ids) == 0:
		return diag.Usage("expected --all, --id or ids").WithHint("larva export --all")
	}
	var held blocks
	if s.json() {
		held.last = append(held.last, `{"data":[`...)
	}
	n := 0
	err := s.app.Export(ids, func(o *spec.Object) error {
		held.last = s.appendExport(held.last, o, n)
		held.turn()
		n++
		return nil
	})
	if err != nil {
		return err
	}
	if s.json() {
		held.last = append(held.last, "]}\n"...)
	}
	return held.write(s.out)
}

// blocks hold much text without copying it as it grows.
type blocks struct {
	full [][]byte
	last []byte
}

// blockSize is large beside one persona and small beside the heap.
const blockSize = 1 << 20

// turn begins a new block where the last one is full.
func (b *blocks) turn() {
	if len(b.last) < blockSize*7/8 {
		return
	}
	b.full = append(b.full, b.last)
	b.last = make([]byte, 0, blockSize)
}

func (b *blocks) write(w io.Writer) error {
	for _, block := range append(b.full, b.last) {
		if _, err := w.Write(block); err != nil {
			return err
		}
	}
	return nil
}

// appendExport keeps the result back as bytes: a later persona may fail, and
// then nothing is printed. 10,000 personas of 1 KiB are 10 MB so.
func (s *session) appendExport(buf []byte, o *spec.Object, n int) []byte {
	if s.json() {
		if n > 0 {
			buf = append(buf, ',')
		}
		return spec.AppendCanonical(buf, o)
	}
	if n > 0 {
		buf = append(buf, "---\n"...)
	}
	return spec.AppendPretty(buf, o)
}
