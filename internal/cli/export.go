package cli

import (
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
	buf := []byte(nil)
	if s.json() {
		buf = append(buf, `{"data":[`...)
	}
	n := 0
	err := s.app.Export(ids, func(o *spec.Object) error {
		buf = s.appendExport(buf, o, n)
		n++
		return nil
	})
	if err != nil {
		return err
	}
	if s.json() {
		buf = append(buf, "]}\n"...)
	}
	_, err = s.out.Write(buf)
	return err
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
