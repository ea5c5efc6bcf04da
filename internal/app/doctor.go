package app

import (
	"fmt"
	"slices"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/proc"
	"larva.dev/larva/internal/registry"
)

// Finding is one line of doctor.
type Finding struct {
	Tag  string // OK, INFO, WARN, FAIL, or DONE for a repair
	Text string
}

// Health is doctor's answer: the findings in the order in which they are
// shown, and the registry's own.
type Health struct {
	Findings  []Finding
	Diagnosis registry.Diagnosis
}

// Err is nil for a registry where every operation works, else the contract's
// error with each finding as an object.
func (h Health) Err() *diag.Error {
	d := h.Diagnosis
	if len(d.Issues) == 0 {
		return nil
	}
	message := d.Issues[0].Path + ": " + d.Issues[0].Message
	if n := len(d.Issues); n > 1 {
		message = fmt.Sprintf("%s, and %d more", message, n-1)
	}
	return diag.New(diag.RegistryDiagnosticFailed, "%s", message).
		With("issues", list(d.Issues)).With("warnings", list(d.Warnings)).With("repaired", list(d.Repaired))
}

// list is never nil: an empty list prints as [].
func list(f []registry.Finding) []registry.Finding { return append([]registry.Finding{}, f...) }

// Doctor looks at every persona on its own; with repair it first mends what
// can be mended without guessing.
func (a *App) Doctor(repair bool) (Health, error) {
	open := a.registry
	if repair {
		open = func() (*registry.Registry, error) { return a.writable("doctor --repair") }
	}
	r, err := open()
	if err != nil {
		return Health{}, err
	}
	d, err := r.Doctor(repair)
	if err != nil {
		return Health{}, err
	}
	h := Health{Diagnosis: d}
	if !slices.ContainsFunc(d.Issues, func(f registry.Finding) bool { return f.Path == d.Root }) {
		h.add("OK", fmt.Sprintf("%s: %d %s", d.Root, d.Personas, plural(d.Personas, "persona")))
	}
	for _, f := range d.Repaired {
		h.add("DONE", f.Path+": "+f.Message)
	}
	for _, f := range d.Issues {
		h.add("FAIL", string(f.Code)+": "+f.Path+": "+f.Message)
	}
	for _, f := range d.Warnings {
		h.add("WARN", f.Path+": "+f.Message)
	}
	for _, name := range []string{"opencode", "pi"} {
		path, err := proc.LookPath(name, a.environ)
		if err != nil {
			path = "not in PATH; only needed to launch it"
		}
		h.add("INFO", name+": "+path)
	}
	return h, nil
}

func (h *Health) add(tag, text string) { h.Findings = append(h.Findings, Finding{tag, text}) }

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
