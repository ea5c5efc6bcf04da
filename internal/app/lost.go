package app

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/nearest"
)

// lost tells what may have been meant where the registry has no persona of an
// id: a shipped one, which run knows and the registry's own verbs do not, or a
// stored one whose id is near. Other errors pass.
func (a *App) lost(id string, err error) error {
	var e *diag.Error
	if !errors.As(err, &e) || e.Code != diag.PersonaNotFound {
		return err
	}
	if _, miss := shipped(id, ""); miss == nil {
		return e.WithHint("%s is shipped with larva and not registered: larva run %s takes it as it is", id, id)
	}
	ids, unread := a.PersonaIDs()
	if unread != nil {
		return err
	}
	if near := nearest.Name(id, ids); near != "" {
		e.WithHint("did you mean %s? larva list shows the personas of this registry", near)
	}
	return err
}

// noPersona is PERSONA_NOT_FOUND where nothing at all has the id, with what
// may have been meant: a path without its slash, or an id that is near.
func (a *App) noPersona(id string, sources []sourceItem, defs agents) error {
	e := diag.New(diag.PersonaNotFound, "there is no persona %s", id).With("persona_id", id)
	if _, err := os.Lstat(a.abs(id)); err == nil {
		return e.WithHint("a path needs a slash: larva run %s", diag.Word("./"+id))
	}
	all, err := shippedPersonas()
	if err != nil {
		return err
	}
	var names []string
	for _, one := range all {
		names = append(names, one.ID)
	}
	ids := slices.Clone(names)
	for _, s := range sources {
		ids = append(ids, s.Name)
	}
	for _, f := range defs.list {
		ids = append(ids, f.ID)
	}
	if stored, err := a.PersonaIDs(); err == nil {
		ids = append(stored, ids...)
	}
	meant := ""
	if near := nearest.Name(id, ids); near != "" {
		meant = "did you mean " + near + "? "
	}
	return e.WithHint("%sregistered ones: larva list; definitions: larva agent list; shipped: %s", meant, strings.Join(names, ", "))
}

// scenarioAt is the model that a scenario file is, where label is such a
// file's path without what stands before it; "" where it is none.
func (a *App) scenarioAt(label string) string {
	if fi, err := os.Stat(a.abs(label)); err != nil || fi.IsDir() || !isPath(label) {
		return ""
	}
	return scenarioModel(label)
}

// scenarioModel names a scenario file as a model.
func scenarioModel(file string) string {
	if filepath.IsAbs(file) || strings.HasPrefix(file, ".") {
		return "script/" + file
	}
	return "script/./" + file
}

// noID is what a persona that is neither an id nor a path is answered with. A
// sentence is a prompt whose persona was left out.
func noID(text string) error {
	e := diag.New(diag.InvalidPersonaID, "%q is no persona id", text).With("persona_id", text)
	if strings.ContainsAny(text, " \t\n") {
		return e.WithHint("the persona stands before the prompt: larva run PERSONA PROMPT; larva list shows the stored ones")
	}
	return e.WithHint("ids are lower case with single hyphens; a path needs a slash or a file ending")
}
