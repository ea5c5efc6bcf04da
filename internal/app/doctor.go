package app

import (
	"os"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/proc"
	"larva.dev/larva/internal/registry"
)

// Finding is one line of doctor. Tag is ok, info, warn, fail or done (a repair).
type Finding struct {
	Tag       string
	PersonaID string // "" for the registry as a whole
	Code      string // the error's code, for fail
	Path      string
	Message   string
}

// Health is doctor's answer.
type Health struct {
	Findings []Finding
}

// OK says that nothing failed.
func (h Health) OK() bool {
	for _, f := range h.Findings {
		if f.Tag == "fail" {
			return false
		}
	}
	return true
}

// Err is the contract's error of a registry that is not well.
func (h Health) Err() *diag.Error {
	issues := []any{}
	message := ""
	for _, f := range h.Findings {
		if f.Tag != "fail" && f.Tag != "warn" {
			continue
		}
		if f.Tag == "fail" && message == "" {
			message = f.Message
		}
		issues = append(issues, map[string]any{"persona_id": orNull(f.PersonaID), "code": f.Code, "path": orNull(f.Path), "message": f.Message})
	}
	return diag.New(diag.RegistryDiagnosticFailed, "%s", message).With("issues", issues)
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// Doctor looks at every persona on its own; with repair it mends what can be
// mended without guessing.
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
	h := healthOf(d)
	for _, name := range []string{"opencode", "pi"} {
		f := Finding{Tag: "info", Message: name + ": not in PATH; larva runs without it"}
		if path, err := proc.LookPath(name, a.environ); err == nil {
			f = Finding{Tag: "info", Message: name + ": " + path}
		}
		h.Findings = append(h.Findings, f)
	}
	return h, nil
}

func healthOf(d registry.Diagnosis) Health { return Health{} }

var _ = os.Getenv
