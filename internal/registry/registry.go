// Package registry keeps personas on disk: one directory a persona, made of a
// manifest, a contract and variants (registry contract, sections 4 and 5).
//
//	<root>/.lock                         the one lock; writers hold it from read to write
//	<root>/.aside/                       what is being built or taken away; empty between writes
//	<root>/<id>/manifest.json            {"active": "<variant>"}
//	<root>/<id>/contract.json            id, description, capabilities, can_spawn?, spec_version
//	<root>/<id>/variants/<variant>.json  prompt, model, model_params?, compaction_prompt?
//
// Every change reaches the readers by one rename (or one unlink), so at each
// moment the disk holds a state that some writer meant. Files are built in
// .aside and renamed in; a whole persona is exchanged for its successor in
// one step. A writer that was killed leaves its work in .aside, and the next
// writer, who holds the lock and therefore knows that nobody works there,
// sweeps it. That directory is nearly always empty, so a write never has to
// list the personas.
//
// Readers take no lock. They hold manifest and contract open, read the
// variant, and look whether both paths still lead to the same files; if not,
// they read again. What still looks broken is read once more under the shared
// lock before anybody is told.
//
// Writers never follow a symbolic link, and readers refuse one.
package registry

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// DefaultVariant is the variant that register writes where none is named.
const DefaultVariant = "default"

// ClearToken is what Clear wants to hear.
const ClearToken = "CLEAR REGISTRY"

const (
	manifestName = "manifest.json"
	contractName = "contract.json"
	variantsName = "variants"
	suffix       = ".json"
	lockName     = ".lock"
	asideName    = ".aside"
)

// lockWait is how long a writer waits for the lock: longer than a batch
// update over ten thousand personas on a slow disk, short enough that a
// stopped process does not hold everybody up for good.
const lockWait = 2 * time.Minute

// Registry is the personas below one root directory. It holds no state of its
// own and is safe for use by many goroutines and processes.
type Registry struct {
	root string
	wait time.Duration
	ctx  context.Context // nil, or what a wait for the lock ends with
	// expected, unless nil, is the digest that a write's spec must still have.
	expected *string
	// fault, where a test sets it, is asked before each step on the disk; its
	// error stands for the step's own.
	fault func(step, path string) error
	// exchange swaps two directories in one step; nil where a test wants the
	// way of platforms that cannot.
	exchange func(a, b string) error
}

// Open names the root; the disk is not touched before an operation needs it,
// and nothing is created before the first write.
func Open(root string) *Registry {
	return &Registry{root: filepath.Clean(root), wait: lockWait, exchange: exchange}
}

// Until gives a registry whose writes do not begin once ctx has ended, be it
// while they wait for the lock: then the error is INTERRUPTED. A write that
// has begun is finished.
func (r *Registry) Until(ctx context.Context) *Registry {
	other := *r
	other.ctx = ctx
	return &other
}

// gone is INTERRUPTED once nobody waits any more.
func (r *Registry) gone() error {
	if r.ctx == nil || r.ctx.Err() == nil {
		return nil
	}
	e := diag.New(diag.Interrupted, "cancelled before anything was written")
	e.Cause = r.ctx.Err()
	return e
}

// Root is the directory that Open was given.
func (r *Registry) Root() string { return r.root }

// IDs lists the personas, sorted. Files, and directories whose name is no
// persona id, are none of ours and are passed over; a registry that does not
// exist yet is empty.
func (r *Registry) IDs() ([]string, error) {
	entries, err := os.ReadDir(r.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, r.readFailed("", r.root, err)
	}
	var ids []string
	for _, e := range entries {
		// A link counts: it stands where a persona would, and reading it says why not.
		if spec.ValidID(e.Name()) && (e.IsDir() || e.Type()&fs.ModeSymlink != 0) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

func (r *Registry) dir(id string) string      { return filepath.Join(r.root, id) }
func (r *Registry) manifest(id string) string { return filepath.Join(r.root, id, manifestName) }
func (r *Registry) contract(id string) string { return filepath.Join(r.root, id, contractName) }
func (r *Registry) variants(id string) string { return filepath.Join(r.root, id, variantsName) }
func (r *Registry) aside(parts ...string) string {
	return filepath.Join(append([]string{r.root, asideName}, parts...)...)
}

func (r *Registry) variant(id, name string) string {
	return filepath.Join(r.root, id, variantsName, name+suffix)
}

// step asks the test's fault, if there is one.
func (r *Registry) step(name, path string) error {
	if r.fault == nil {
		return nil
	}
	return r.fault(name, path)
}

func checkID(id string) error {
	if spec.ValidID(id) {
		return nil
	}
	return diag.New(diag.InvalidPersonaID, "%q is not a persona id", short(id)).With("persona_id", id).
		WithHint("ids are lower-case letters and digits in parts joined by single hyphens, at most %d characters", spec.MaxIDLength)
}

func checkVariant(name string) error {
	if spec.ValidVariant(name) {
		return nil
	}
	return diag.New(diag.InvalidVariantName, "%q is not a variant name", short(name)).With("variant", name).
		WithHint("names are lower-case letters and digits in parts joined by single hyphens, at most %d characters", spec.MaxVariantLength)
}

// checkSpec gives PERSONA_INVALID with the whole report where o breaks a rule.
func checkSpec(o *spec.Object) error {
	issues := spec.Check(o)
	if len(issues) == 0 {
		return nil
	}
	return diag.New(diag.PersonaInvalid, "%s", issues[0].Message).With("report", spec.Validate(o, nil))
}
