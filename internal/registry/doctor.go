package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// Codes of findings that are no operation's errors.
const (
	StrayFile        diag.Code = "STRAY_FILE"         // something that is not ours; it is left alone
	Leftover         diag.Code = "LEFTOVER"           // a killed writer's work
	Permissions      diag.Code = "PERMISSIONS"        // others may read or write, or the owner may not
	DanglingCanSpawn diag.Code = "DANGLING_CAN_SPAWN" // can_spawn names personas that are not there
)

// Finding is one thing that doctor noticed, or mended.
type Finding struct {
	PersonaID string    // "" where it concerns no one persona
	Code      diag.Code // an error code of the registry, or one of the above
	Path      string
	Message   string
}

// MarshalJSON gives {persona_id, code, path, message}; a missing id is null.
func (f Finding) MarshalJSON() ([]byte, error) {
	return spec.AppendCanonical(nil, map[string]any{
		"persona_id": orNull(f.PersonaID), "code": string(f.Code), "path": f.Path, "message": f.Message,
	}), nil
}

// Diagnosis is all that doctor found.
type Diagnosis struct {
	Root     string
	Personas int       // sound or not
	Issues   []Finding // what makes an operation fail
	Warnings []Finding // what does not
	Repaired []Finding // what was done, in the past tense
}

// Doctor looks at every persona on its own: its files, each of its variants,
// what else lies about, permissions, and can_spawn ids that lead nowhere.
// With repair it first mends what is safe to mend: permissions, leftovers of
// killed writers, and a missing or broken manifest where the contract is
// sound and there is one variant or one called default. The findings are what
// is left. The error is only for a repair that cannot write.
func (r *Registry) Doctor(repair bool) (Diagnosis, error) {
	d := Diagnosis{Root: r.root}
	if _, err := os.Stat(r.root); errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if repair {
		err := r.write(diag.RegistryWriteFailed, "", func(w *writer) (err error) {
			d.Repaired, err = w.mend()
			return err
		})
		if err != nil {
			return d, err
		}
	}
	ids, err := r.IDs()
	if err == nil {
		d.Personas = len(ids)
		err = r.examineRoot(&d, ids)
	}
	if err != nil { // a finding like any other: the registry as a whole is what cannot be read
		d.Issues = append(d.Issues, Finding{"", diag.RegistrySpecReadFailed, r.root, reason(diag.As(err).Cause)})
		return d, nil
	}
	rd := &reader{Registry: r}
	for _, id := range ids {
		rd.examine(&d, id, ids)
	}
	return d, nil
}

// examineRoot looks at what stands beside the personas.
func (r *Registry) examineRoot(d *Diagnosis, ids []string) error {
	entries, err := os.ReadDir(r.root)
	if err != nil {
		return r.readFailed("", r.root, err)
	}
	d.warn(r.checkMode("", r.root))
	for _, e := range entries {
		path := filepath.Join(r.root, e.Name())
		switch {
		case e.Name() == lockName, e.Name() == asideName:
			if f := checkKind(path, e); f != nil {
				d.Issues = append(d.Issues, *f)
			} else {
				d.warn(r.checkMode("", path))
			}
		case !slices.Contains(ids, e.Name()):
			d.warn(&Finding{"", StrayFile, path, "is no persona and is left alone"})
		}
	}
	r.leftovers(d)
	return nil
}

// checkKind reports a lock that is no file and an .aside that is no
// directory: everything can still be read, and no write works.
func checkKind(path string, e fs.DirEntry) *Finding {
	wrong := ""
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		wrong = "is a symbolic link"
	case e.Name() == asideName && !e.IsDir():
		wrong = "is not a directory"
	case e.Name() == lockName && !e.Type().IsRegular():
		wrong = "is not a regular file"
	default:
		return nil
	}
	return &Finding{"", diag.RegistryWriteFailed, path, wrong + "; no write works until it is moved away"}
}

// leftovers lists what lies in .aside while nobody writes.
func (r *Registry) leftovers(d *Diagnosis) {
	if names, _ := os.ReadDir(r.aside()); len(names) == 0 {
		return
	}
	unlock, ok := r.rlock()
	if !ok {
		return
	}
	defer unlock()
	names, _ := os.ReadDir(r.aside())
	for _, e := range names {
		d.warn(&Finding{"", Leftover, r.aside(e.Name()), "is left from a writer that was stopped; the next write removes it"})
	}
}

func (d *Diagnosis) warn(f *Finding) {
	if f != nil {
		d.Warnings = append(d.Warnings, *f)
	}
}

// examine adds one persona's findings. What looks broken is looked at again
// under the shared lock, since a writer may have passed.
func (rd *reader) examine(d *Diagnosis, id string, ids []string) {
	x := examination{reader: rd, id: id, ids: ids}
	x.run()
	if len(x.issues) > 0 {
		if unlock, ok := rd.rlock(); ok {
			defer unlock()
		}
		x = examination{reader: rd, id: id, ids: ids}
		x.run()
	}
	d.Issues = append(d.Issues, x.issues...)
	d.Warnings = append(d.Warnings, x.warnings...)
}

type examination struct {
	*reader
	id       string
	ids      []string
	issues   []Finding
	warnings []Finding
}

func (x *examination) issue(err error) {
	if err == nil || is(err, diag.PersonaNotFound) {
		return
	}
	e := diag.As(err)
	path, _ := e.Details["path"].(string)
	if path == "" {
		path = x.dir(x.id)
	}
	prefix := "persona " + x.id + ": " + path + ": "
	x.issues = append(x.issues, Finding{x.id, e.Code, path, strings.TrimPrefix(e.Message, prefix)})
}

func (x *examination) run() {
	if err := x.checkDir(x.id); err != nil {
		x.issue(err)
		return
	}
	x.lyingAbout()
	h, active, manifestErr := x.readManifest(x.id)
	h.close()
	x.issue(manifestErr)
	h, contract, err := x.readContract(x.id)
	h.close()
	x.issue(err)
	names := x.variantFiles()
	if manifestErr == nil && !slices.Contains(names, active) {
		x.issue(corrupt(x.id, x.manifest(x.id), "names the variant %s, which is not there", active))
	}
	for _, name := range names {
		x.oneVariant(contract, name)
	}
	if contract != nil {
		x.dangling(contract)
	}
}

// variantFiles names the variant files and reports those that are none.
func (x *examination) variantFiles() []string {
	dir := x.variants(x.id)
	err := x.checkVariants(x.id)
	if errors.Is(err, fs.ErrNotExist) {
		err = corrupt(x.id, dir, "is missing")
	}
	if err != nil {
		x.issue(err)
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		x.issue(x.unreadable(x.id, dir, err))
		return nil
	}
	var names []string
	seen := 0
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok {
			continue
		}
		seen++
		if !spec.ValidVariant(name) {
			x.issue(corrupt(x.id, filepath.Join(dir, e.Name()), "is not named like a variant"))
		} else if err := x.checkRegular(x.id, e); err != nil {
			x.issue(err)
		} else {
			names = append(names, name)
		}
	}
	if seen == 0 {
		x.issue(corrupt(x.id, dir, "holds no variant"))
	}
	slices.Sort(names)
	return names
}

func (x *examination) oneVariant(contract *spec.Object, name string) {
	o, err := x.readVariant(x.id, name)
	if err != nil {
		x.issue(err)
		return
	}
	if contract == nil {
		return
	}
	for _, issue := range spec.Check(join(contract, o)) {
		f := Finding{x.id, diag.PersonaInvalid, x.variant(x.id, name), issue.Code + ": " + issue.Message}
		if root := spec.Segments(fieldOf(issue))[0]; slices.Contains(spec.ContractFields, root) {
			f.Path = x.contract(x.id)
		}
		if !slices.Contains(x.issues, f) { // a contract's fault shows with every variant
			x.issues = append(x.issues, f)
		}
	}
}

func fieldOf(i spec.Issue) string {
	if i.Details == nil {
		return ""
	}
	return i.Details.String("field")
}

func (x *examination) dangling(contract *spec.Object) {
	v, _ := contract.Get("can_spawn")
	targets, _ := v.([]any)
	var missing []string
	for _, t := range targets {
		if id, ok := t.(string); ok {
			if _, found := slices.BinarySearch(x.ids, id); !found {
				missing = append(missing, short(id))
			}
		}
	}
	if len(missing) > 0 {
		x.warnings = append(x.warnings, Finding{x.id, DanglingCanSpawn, x.contract(x.id),
			"can_spawn names personas that are not in the registry: " + strings.Join(unique(missing), ", ")})
	}
}

// lyingAbout reports permissions, leftovers and strays.
func (x *examination) lyingAbout() {
	x.walk(x.id, func(path string, ours bool) {
		switch {
		case ours:
			if f := x.checkMode(x.id, path); f != nil {
				x.warnings = append(x.warnings, *f)
			}
		case isTemp(path):
			x.warnings = append(x.warnings, Finding{x.id, Leftover, path, "is a temporary file that a writer left"})
		default:
			x.warnings = append(x.warnings, Finding{x.id, StrayFile, path, "is no part of a persona"})
		}
	})
}

// walk calls each with every path of a persona, and whether it is one of ours.
func (r *Registry) walk(id string, each func(path string, ours bool)) {
	each(r.dir(id), true)
	top, _ := os.ReadDir(r.dir(id))
	for _, e := range top {
		path := filepath.Join(r.dir(id), e.Name())
		each(path, e.Name() == manifestName || e.Name() == contractName || e.Name() == variantsName)
	}
	if r.checkVariants(id) != nil {
		return
	}
	files, _ := os.ReadDir(r.variants(id))
	for _, e := range files {
		each(filepath.Join(r.variants(id), e.Name()), strings.HasSuffix(e.Name(), suffix))
	}
}

// isTemp knows the temporary names of programs that share this layout.
func isTemp(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp")
}

// checkMode wants 0700 for directories and 0600 for files. Links and other
// kinds are reported elsewhere.
func (r *Registry) checkMode(id, path string) *Finding {
	info, want, ok := mode(path)
	if !ok || info.Mode().Perm() == want {
		return nil
	}
	return &Finding{id, Permissions, path, "has mode " + info.Mode().Perm().String() + ", should have " + want.String()}
}

func mode(path string) (info fs.FileInfo, want fs.FileMode, ok bool) {
	info, err := os.Lstat(path)
	switch {
	case err != nil || !hasModes:
		return nil, 0, false
	case info.IsDir():
		return info, 0o700, true
	case info.Mode().IsRegular():
		return info, 0o600, true
	}
	return nil, 0, false
}
