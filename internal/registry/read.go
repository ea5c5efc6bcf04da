package registry

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// stored is one persona with one of its variants, as the files say.
type stored struct {
	active         string // "" where a variant was named and the manifest not consulted
	variant        string
	contract       *spec.Object
	implementation *spec.Object
}

// flat joins the halves; there is no digest in it.
func (s *stored) flat() *spec.Object { return join(s.contract, s.implementation) }

func join(contract, implementation *spec.Object) *spec.Object {
	o := &spec.Object{Members: make([]spec.Member, 0, len(contract.Members)+len(implementation.Members)+1)}
	o.Members = append(o.Members, contract.Members...)
	o.Members = append(o.Members, implementation.Members...)
	return o
}

// reader reads personas one after the other into one buffer.
type reader struct {
	*Registry
	buf []byte
}

// tries is how often a reader looks without a lock. One change in between is
// common under load, three in a row are rare, and then the lock decides.
const tries = 4

// load reads a persona's active variant, or the named one, as one state that
// existed.
func (rd *reader) load(id, variant string) (*stored, error) {
	for range tries {
		s, err := rd.once(id, variant)
		if err == nil {
			return s, nil
		}
		if errors.Is(err, errChanged) {
			continue
		}
		if !doubtful(err) {
			return nil, err
		}
		break
	}
	unlock, ok := rd.rlock()
	if ok {
		defer unlock()
	}
	s, err := rd.once(id, variant)
	if errors.Is(err, errChanged) {
		err = rd.readFailed(id, rd.dir(id), err)
	}
	return s, err
}

var errChanged = errors.New("the persona changes faster than it can be read")

// doubtful says whether an error may only be the shadow of a writer. That a
// variant is not there is certain: the contract stood in its place all along.
func doubtful(err error) bool { return is(err, diag.RegistryCorrupt) }

// once reads without a lock. The manifest and the contract stay open until
// the end: their inodes cannot be given to other files meanwhile, so paths
// that still lead to them have led to them all the time, and the variant that
// was read in between belongs to them.
func (rd *reader) once(id, variant string) (*stored, error) {
	if err := rd.checkDir(id); err != nil {
		return nil, err
	}
	s := &stored{variant: variant}
	var held []*held
	defer func() {
		for _, h := range held {
			h.file.Close()
		}
	}()
	err := func() error {
		if variant == "" {
			h, active, err := rd.readManifest(id)
			if h != nil {
				held = append(held, h)
			}
			if err != nil {
				return err
			}
			s.active, s.variant = active, active
		}
		h, o, err := rd.readContract(id)
		if h != nil {
			held = append(held, h)
		}
		if err != nil {
			return err
		}
		s.contract = o
		s.implementation, err = rd.readVariant(id, s.variant)
		if is(err, diag.VariantNotFound) && variant == "" {
			return corrupt(id, rd.manifest(id), "names the variant %s, which is not there", s.variant)
		}
		return err
	}()
	for _, h := range held {
		if h.changed() {
			return nil, errChanged
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// checkDir says whether there is a persona's directory at all.
func (r *Registry) checkDir(id string) error {
	info, err := os.Lstat(r.dir(id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r.missing(id)
	case err != nil:
		return r.readFailed(id, r.dir(id), err)
	case info.Mode()&fs.ModeSymlink != 0:
		return corrupt(id, r.dir(id), "is a symbolic link")
	case !info.IsDir():
		return notFound(id)
	}
	return nil
}

// missing is PERSONA_NOT_FOUND, unless the persona only stands aside between
// the two renames of swap; then the lock must decide.
func (r *Registry) missing(id string) error {
	if _, err := os.Lstat(r.aside(swapPrefix + id)); err == nil {
		return corrupt(id, r.dir(id), "a writer was stopped while it replaced the persona; the next write puts it back")
	}
	if _, err := os.Lstat(r.dir(id)); err == nil {
		return errChanged // the swap is over
	}
	return notFound(id)
}

// held is an open file and what it was when it was opened.
type held struct {
	file *os.File
	info fs.FileInfo
	path string
}

func (h *held) close() {
	if h != nil {
		h.file.Close()
	}
}

// changed says whether the path leads to another file by now, or the file was
// rewritten in place.
func (h *held) changed() bool {
	now, err := os.Lstat(h.path)
	return err != nil || !os.SameFile(h.info, now) || now.Size() != h.info.Size() || !now.ModTime().Equal(h.info.ModTime())
}

func (rd *reader) readManifest(id string) (*held, string, error) {
	path := rd.manifest(id)
	h, data, err := rd.open(id, path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = corrupt(id, path, "is missing")
		}
		return h, "", err
	}
	active, err := parseManifest(id, path, data)
	return h, active, err
}

func parseManifest(id, path string, data []byte) (string, error) {
	o, err := spec.ParseObject(data)
	if err != nil {
		return "", corrupt(id, path, "%s", err)
	}
	active, ok := o.Get("active")
	name, isString := active.(string)
	switch {
	case !ok || len(o.Members) != 1:
		return "", corrupt(id, path, `must hold the one key "active"`)
	case !isString || !spec.ValidVariant(name):
		return "", corrupt(id, path, `"active" must be a variant name`)
	}
	return name, nil
}

func (rd *reader) readContract(id string) (*held, *spec.Object, error) {
	path := rd.contract(id)
	h, data, err := rd.open(id, path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = corrupt(id, path, "is missing")
		}
		return h, nil, err
	}
	o, err := parseContract(id, path, data)
	return h, o, err
}

func parseContract(id, path string, data []byte) (*spec.Object, error) {
	o, err := parseHalf(id, path, data, spec.ContractFields, []string{"id", "description", "capabilities", "spec_version"})
	if err != nil {
		return nil, err
	}
	if v, _ := o.Get("id"); v != id {
		return nil, corrupt(id, path, "its id is not the directory's name")
	}
	return o, nil
}

// readVariant gives VARIANT_NOT_FOUND where there is no such file.
func (rd *reader) readVariant(id, name string) (*spec.Object, error) {
	if err := rd.checkVariants(id); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, variantNotFound(id, name)
		}
		return nil, err
	}
	path := rd.variant(id, name)
	h, data, err := rd.open(id, path)
	if h != nil {
		defer h.file.Close()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, variantNotFound(id, name)
	}
	if err != nil {
		return nil, err
	}
	return parseHalf(id, path, data, spec.ImplementationFields, []string{"prompt", "model"})
}

// checkVariants refuses a variants directory that is none; it may be missing.
func (r *Registry) checkVariants(id string) error {
	path := r.variants(id)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return err
	case err != nil:
		return r.unreadable(id, path, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return corrupt(id, path, "is a symbolic link")
	case !info.IsDir():
		return corrupt(id, path, "is not a directory")
	}
	return nil
}

// parseHalf reads a contract or variant file: an object of its own fields
// alone, with the required ones there. What the values are is Check's affair.
func parseHalf(id, path string, data []byte, fields, required []string) (*spec.Object, error) {
	o, err := spec.ParseObject(data)
	if err != nil {
		return nil, corrupt(id, path, "%s", err)
	}
	for _, m := range o.Members {
		if !slices.Contains(fields, m.Key) {
			return nil, corrupt(id, path, "the field %q does not belong here", short(m.Key))
		}
	}
	for _, key := range required {
		if !o.Has(key) {
			return nil, corrupt(id, path, "the field %q is missing", key)
		}
	}
	return o, nil
}

// open opens and reads one regular file. data is valid until the next open.
// The error is fs.ErrNotExist or already a *diag.Error; a held file is given
// whenever the file could be opened.
func (rd *reader) open(id, path string) (*held, []byte, error) {
	if err := rd.step("open", path); err != nil {
		return nil, nil, rd.unreadable(id, path, err)
	}
	if openFlags == 0 {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, nil, corrupt(id, path, "is a symbolic link")
		}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, err
	case err != nil && isLink(err):
		return nil, nil, corrupt(id, path, "is a symbolic link")
	case err != nil:
		return nil, nil, rd.unreadable(id, path, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, rd.unreadable(id, path, err)
	}
	h := &held{f, info, path}
	switch {
	case info.IsDir():
		return h, nil, corrupt(id, path, "is a directory")
	case !info.Mode().IsRegular():
		return h, nil, corrupt(id, path, "is not a regular file")
	case info.Size() > spec.MaxBytes:
		return h, nil, corrupt(id, path, "has %d bytes; %d are allowed", info.Size(), spec.MaxBytes)
	}
	data, err := rd.fill(f, int(info.Size()))
	if err != nil {
		return h, nil, rd.unreadable(id, path, err)
	}
	return h, data, nil
}

// fill reads size bytes and looks for one more, so that a file that grows is
// seen: its text is cut and does not parse, and its time has changed.
func (rd *reader) fill(f *os.File, size int) ([]byte, error) {
	if cap(rd.buf) < size+1 {
		rd.buf = make([]byte, max(4096, 2*size+1))
	}
	n, err := f.Read(rd.buf[:size+1])
	for err == nil && n < size {
		var m int
		m, err = f.Read(rd.buf[n : size+1])
		n += m
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	return rd.buf[:n], nil
}
