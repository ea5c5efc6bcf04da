package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// patienceOfTests is for machines under load; nothing waits for it in vain.
const patienceOfTests = 30 * time.Second

func specOf(t testing.TB, id, model string) *spec.Object {
	t.Helper()
	o, err := spec.ParseObject(fmt.Appendf(nil, `{"spec_version":"0.1.0","id":%q,"description":"Watches the harbour from the mole.",
		"prompt":"Watch.","model":%q,"capabilities":{"shell":"none"}}`, id, model))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func put(t testing.TB, r *registry.Registry, id, model, variant string) {
	t.Helper()
	if _, err := r.Register(specOf(t, id, model), variant); err != nil {
		t.Fatal(err)
	}
}

// eye collects what a Watch says.
type eye struct {
	t       testing.TB
	changes chan Change
	trouble chan error
	sum     Change // of what wait has seen
}

// start watches until the test ends and returns once Ready was called.
func start(t testing.TB, root string, poll time.Duration) *eye {
	t.Helper()
	e := &eye{t: t, changes: make(chan Change, 1000), trouble: make(chan error, 10)}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		Watch(ctx, root, Options{Ready: func() { close(ready) }, Changed: func(c Change) { e.changes <- c },
			Trouble: func(err error) { e.trouble <- err }, Poll: poll})
	}()
	t.Cleanup(func() { cancel(); <-done })
	select {
	case <-ready:
	case <-time.After(patienceOfTests):
		t.Fatal("Watch is not ready")
	}
	return e
}

// wait takes reports until all of them together say want: "+added -removed
// ~changed", sorted.
func (e *eye) wait(want string) {
	e.t.Helper()
	e.sum = Change{}
	deadline := time.After(patienceOfTests)
	for {
		select {
		case c := <-e.changes:
			e.sum.Added = union(e.sum.Added, c.Added)
			e.sum.Removed = union(e.sum.Removed, c.Removed)
			e.sum.Changed = union(e.sum.Changed, c.Changed)
			if text(e.sum) == want {
				return
			}
		case <-deadline:
			e.t.Fatalf("got %q, want %q", text(e.sum), want)
		}
	}
}

func union(a, b []string) []string {
	a = append(a, b...)
	slices.Sort(a)
	return slices.Compact(a)
}

func text(c Change) string {
	var words []string
	for sign, ids := range map[string][]string{"+": c.Added, "-": c.Removed, "~": c.Changed} {
		for _, id := range ids {
			words = append(words, sign+id)
		}
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// never is a Poll that no test lives to see.
const never = time.Hour

func TestEveryWriter(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "registry")
	r := registry.Open(root)
	put(t, r, "a", "m", "")
	put(t, r, "b", "m", "")
	e := start(t, root, never)
	steps := []struct {
		name string
		do   func() error
		want string
	}{
		{"register", func() error { _, err := r.Register(specOf(t, "c", "m"), ""); return err }, "+c"},
		{"register a variant", func() error { _, err := r.Register(specOf(t, "a", "m"), "terse"); return err }, "~a"},
		{"replace a variant", func() error { _, err := r.Register(specOf(t, "a", "n"), "terse"); return err }, "~a"},
		{"replace it by one of the same size", func() error { _, err := r.Register(specOf(t, "a", "o"), "terse"); return err }, "~a"},
		{"activate", func() error { return r.VariantActivate("a", "terse") }, "~a"},
		{"delete a variant", func() error { return r.VariantDelete("a", "default") }, "~a"},
		{"update the contract", func() error {
			_, err := r.Update("b", object(`{"description":"Another text about the harbour."}`), "")
			return err
		}, "~b"},
		{"clone", func() error { _, err := r.Clone("a", "d"); return err }, "+d"},
		{"put", func() error {
			_, _, err := r.Put(&spec.Source{ID: "d", Active: "x", Contract: object(`{"id":"d","description":"Watches the harbour from the mole.","capabilities":{"shell":"none"},"spec_version":"0.1.0"}`),
				Variants: []spec.Variant{{Name: "x", Implementation: object(`{"prompt":"p","model":"m"}`)}}}, registry.PutOptions{})
			return err
		}, "~d"},
		{"batch", func() error {
			_, err := r.UpdateWhere(object(`{}`), object(`{"model":"q"}`), false)
			return err
		}, "~a ~b ~c ~d"},
		{"delete", func() error { return r.Delete("b") }, "-b"},
		{"clear", func() error { _, err := r.Clear(registry.ClearToken); return err }, "-a -c -d"},
	}
	for _, s := range steps {
		if err := s.do(); err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		e.wait(s.want)
	}
}

func object(text string) *spec.Object {
	o, err := spec.ParseObject([]byte(text))
	if err != nil {
		panic(err)
	}
	return o
}

// The root comes after the watch, goes, and comes back; directories above it
// too.
func TestRootComesAndGoes(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	root := filepath.Join(top, "deep", "down", "registry")
	r := registry.Open(root)
	e := start(t, root, never)
	put(t, r, "a", "m", "")
	e.wait("+a")
	if err := os.RemoveAll(filepath.Join(top, "deep")); err != nil {
		t.Fatal(err)
	}
	e.wait("-a")
	put(t, r, "b", "m", "")
	e.wait("+b")
	put(t, r, "b", "n", "")
	e.wait("~b")
}

// A root that is moved away and another that takes its place.
func TestRootReplaced(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	root, other := filepath.Join(top, "registry"), filepath.Join(top, "other")
	put(t, registry.Open(root), "a", "m", "")
	put(t, registry.Open(other), "b", "m", "")
	e := start(t, root, never)
	if err := os.Rename(root, filepath.Join(top, "old")); err != nil {
		t.Fatal(err)
	}
	e.wait("-a")
	if err := os.Rename(other, root); err != nil {
		t.Fatal(err)
	}
	e.wait("+b")
	put(t, registry.Open(root), "c", "m", "")
	e.wait("+c")
}

// A registry made by hand has no .aside yet.
func TestFirstWriterMakesAside(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	e := start(t, root, never)
	if err := os.Mkdir(filepath.Join(root, "by-hand"), 0o700); err != nil {
		t.Fatal(err)
	}
	e.wait("+by-hand")
	put(t, registry.Open(root), "a", "m", "")
	e.wait("+a")
	put(t, registry.Open(root), "a", "n", "")
	e.wait("~a")
}

// Editors write in place; the slow look sees it.
func TestEditInPlace(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "registry")
	put(t, registry.Open(root), "a", "m", "")
	e := start(t, root, 10*time.Millisecond)
	path := filepath.Join(root, "a", "variants", "default.json")
	if err := os.WriteFile(path, []byte(`{"prompt":"by hand","model":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	e.wait("~a")
}

// What is no persona is none here either.
func TestStrangersAreNotReported(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "registry")
	r := registry.Open(root)
	put(t, r, "a", "m", "")
	e := start(t, root, never)
	for _, err := range []error{
		os.Mkdir(filepath.Join(root, "Not_Id"), 0o700),
		os.WriteFile(filepath.Join(root, "notes"), nil, 0o600),
		os.WriteFile(filepath.Join(filepath.Dir(root), "beside"), nil, 0o600),
		r.Delete("a"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	e.wait("-a")
	ids, err := r.IDs()
	got, lookErr := e.lookIDs(root)
	if err != nil || lookErr != nil || !slices.Equal(got, ids) {
		t.Errorf("got %v (%v), want the registry's %v (%v)", got, lookErr, ids, err)
	}
}

func (e *eye) lookIDs(root string) ([]string, error) { s := seen{root: root}; return s.ids() }

// Where the system refuses to notify, looking goes on, and it is said once.
func TestWithoutNotifications(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "registry")
	r := registry.Open(root)
	put(t, r, "a", "m", "")
	e := &eye{t: t, changes: make(chan Change, 100), trouble: make(chan error, 10)}
	w := newWatcher(root, Options{Changed: func(c Change) { e.changes <- c }, Trouble: func(err error) { e.trouble <- err }, Poll: never})
	refused := errors.New("no space left on device")
	w.refuse = func() error { return refused }
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan struct{})
	w.Ready = func() { close(ready) }
	go func() { defer close(done); w.watch(ctx) }()
	defer func() { cancel(); <-done }()
	<-ready
	if notifies {
		if err := <-e.trouble; !errors.Is(err, refused) {
			t.Errorf("got %v, want %v", err, refused)
		}
	}
	put(t, r, "b", "m", "")
	e.wait("+b")
	put(t, r, "b", "n", "")
	e.wait("~b")
	if err := r.Delete("a"); err != nil {
		t.Fatal(err)
	}
	e.wait("-a")
	if n := len(e.trouble); n != 0 {
		t.Errorf("got %d more reports of trouble, want none", n)
	}
}

// Writers that never rest do not keep the reports waiting.
func TestConstantWrites(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "registry")
	r := registry.Open(root)
	put(t, r, "a", "m", "")
	e := start(t, root, never)
	for i := range 100000 {
		put(t, r, "a", fmt.Sprint("m", i), "")
		select {
		case c := <-e.changes:
			if text(c) != "~a" {
				t.Errorf("got %q, want ~a", text(c))
			}
			return
		default:
		}
	}
	t.Error("got no report in 100000 writes, want one")
}

func TestPace(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	p := pace{}
	for _, c := range []struct{ now, want int }{{0, 50}, {30, 50}, {140, 50}, {170, 30}, {199, 1}} {
		if got := p.next(at(c.now), "a"); got != time.Duration(c.want)*time.Millisecond {
			t.Errorf("at %d ms: got %v, want %d ms", c.now, got, c.want)
		}
	}
	p = pace{rest: at(400)}
	if got := p.next(at(0), ""); got != 400*time.Millisecond {
		t.Errorf("got %v, want 400 ms of rest", got)
	}
}

// The names that registry's writers use in .aside.
func TestPersonaOfName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"new-tide-clerk-123": "tide-clerk", "file-tide-clerk-9": "tide-clerk", "old-tide-clerk": "tide-clerk",
		"old-tide-clerk.json": "tide-clerk", "swap-a-1": "a-1", "file-a-1-2": "a-1",
		"file-": "", "file-7": "", "new": "", "": "", "other-a": "", "old-NotAnID": "", "file--1": "",
	} {
		if got := persona(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// No write of ours makes Watch look at all personas.
func TestNamesSayWhoIsWritten(t *testing.T) {
	t.Parallel()
	if !notifies {
		t.Skip("this system does not notify")
	}
	root := filepath.Join(t.TempDir(), "registry")
	r := registry.Open(root)
	put(t, r, "a", "m", "")
	n, err := newNotifier(root)
	if err != nil {
		t.Fatal(err)
	}
	defer n.close()
	if _, err := n.arm(); err != nil {
		t.Fatal(err)
	}
	go func() {
		put(t, r, "a", "n", "")
		put(t, r, "b", "m", "")
		put(t, r, "b", "m", "terse")
		_ = r.VariantActivate("b", "terse")
		_ = r.VariantDelete("b", "default")
		_ = r.Delete("b")
		_ = os.Mkdir(filepath.Join(root, "the-end"), 0o700)
	}()
	got := map[string]int{}
	for deadline := time.After(patienceOfTests); got["the-end"] == 0; {
		select {
		case e := <-n.w.Events:
			if id, ours := n.about(e); ours {
				got[id]++
				if id == "" {
					t.Errorf("got the event %v, want one that names a persona", e)
				}
			}
		case <-deadline:
			t.Fatalf("got %v, want events up to the end", got)
		}
	}
	if got["a"] == 0 || got["b"] == 0 {
		t.Errorf("got %v, want events about a and b", got)
	}
}
