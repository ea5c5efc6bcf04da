package ops

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// Whatever the parameters: no panic, an error with a code, and a result that
// the output schema takes.
func FuzzDo(f *testing.F) {
	for _, c := range successes(f) {
		f.Add(c.op, c.params)
	}
	f.Add("list", `{"z":{}}`)
	f.Add("export", `{"ids":[null]}`)
	f.Add("validate", `{"spec":[[[]]]}`)
	f.Add("nothing", `{}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		p, err := spec.ParseObject([]byte(text))
		if err != nil {
			return
		}
		s := &Service{Registry: registry.Open(filepath.Join(t.TempDir(), "registry"))}
		v, err := s.Do(context.Background(), name, p)
		if err == nil {
			o, _ := Find(name)
			fits(t, o, v)
			return
		}
		var e *diag.Error
		if !errors.As(err, &e) || e.Code == diag.Internal || e.Message == "" {
			t.Errorf("%s %s: got %v, want an error of one of the contract's codes", name, text, err)
		}
		if _, ok := err.(*diag.Error); !ok {
			t.Errorf("got a %T, want *diag.Error itself", err)
		}
	})
}
