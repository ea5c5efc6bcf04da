package registry

import (
	"context"
	"maps"
	"testing"

	"larva.dev/larva/internal/diag"
)

// A caller who has gone writes nothing, also when the lock comes free later.
func TestUntil(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	before := snapshot(t, r.Root())
	unlock, err := r.lock()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	waiting := make(chan struct{})
	w := r.Until(ctx)
	w.fault = func(step, path string) error {
		if step == "mkdir" && path == r.aside() {
			close(waiting) // the last step before the lock
		}
		return nil
	}
	errs := make(chan error)
	go func() { _, err := w.Update("tide-clerk", object(t, `{"model":"x"}`), ""); errs <- err }()
	<-waiting
	cancel()
	code(t, <-errs, diag.Interrupted, `{}`)
	unlock()
	_, err = r.Until(ctx).Register(object(t, scout), "late")
	code(t, err, diag.Interrupted, "")
	if after := snapshot(t, r.Root()); !maps.Equal(before, after) {
		t.Errorf("got %v, want %v", after, before)
	}
	if _, err := r.Until(ctx).Resolve("tide-clerk", "", nil); err != nil {
		t.Errorf("got %v, want reading as ever", err)
	}
	if _, err := r.Until(context.Background()).Update("tide-clerk", object(t, `{"model":"x"}`), ""); err != nil {
		t.Error(err)
	}
}
