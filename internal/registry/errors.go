package registry

import (
	"errors"
	"io/fs"
	"strings"
	"unicode/utf8"

	"larva.dev/larva/internal/diag"
)

// corrupt says that a stored file is not what it must be. path is the file or
// directory that is wrong.
func corrupt(id, path, format string, args ...any) *diag.Error {
	e := diag.New(diag.RegistryCorrupt, format, args...)
	e.Message = "persona " + id + ": " + path + ": " + e.Message
	return e.With("persona_id", id).With("path", path).
		WithHint("larva doctor lists what is wrong, larva doctor --repair mends what it safely can, larva delete %s removes the persona", id)
}

// unreadable is corrupt for a file that cannot be read; a shortage of the
// system's own is no fault of the file.
func (r *Registry) unreadable(id, path string, err error) *diag.Error {
	if shortage(err) {
		return r.readFailed(id, path, err)
	}
	e := corrupt(id, path, "%s", reason(err))
	e.Cause = err
	return e
}

func (r *Registry) readFailed(id, path string, err error) *diag.Error {
	return failed(diag.RegistrySpecReadFailed, id, path, "read", err)
}

func failed(code diag.Code, id, path, verb string, err error) *diag.Error {
	e := diag.New(code, "cannot %s %s: %s", verb, path, reason(err)).With("persona_id", orNull(id)).With("path", path)
	e.Cause = err
	return e
}

func notFound(id string) *diag.Error {
	return diag.New(diag.PersonaNotFound, "there is no persona %s", id).With("persona_id", id).
		WithHint("larva list shows the personas of this registry")
}

func variantNotFound(id, name string) *diag.Error {
	return diag.New(diag.VariantNotFound, "persona %s has no variant %s", id, name).
		With("persona_id", id).With("variant", name).WithHint("larva variant list %s shows its variants", id)
}

// reason is a disk error without the path, which the message names already, or
// what one of ours says.
func reason(err error) string {
	var p *fs.PathError
	var e *diag.Error
	if !errors.As(err, &p) && errors.As(err, &e) {
		return e.Message
	}
	return diag.Reason(err)
}

func orNull(id string) any {
	if id == "" {
		return nil
	}
	return id
}

// is says whether err is an operation's error of one code.
func is(err error, code diag.Code) bool {
	var e *diag.Error
	return errors.As(err, &e) && e.Code == code
}

// short keeps a name from outside fit for one line of a message.
func short(s string) string {
	const most = 60
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
