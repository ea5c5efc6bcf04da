package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/launch/opencode"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// opencodeSide is what the launcher and the plugin's helper both make agents
// of: the registry, and where labels of models lead.
type opencodeSide struct {
	registry *registry.Registry
	eff      profile.Effective
	models   opencode.ModelMap
	context  opencode.Context // without what a configuration says
}

// opencodeSide reads the profile as a run in the working directory would.
func (a *App) opencodeSide(ctx context.Context) (*opencodeSide, error) {
	r, err := a.registry()
	if err != nil {
		return nil, err
	}
	s := &opencodeSide{registry: r}
	at, err := a.locate()
	if err != nil {
		return nil, err
	}
	store, err := a.trustStore(at)
	if err != nil {
		return nil, err
	}
	stack, err := a.layers(ctx, at, store, flags{})
	if err != nil {
		return nil, err
	}
	stack, _, _ = a.perItem(at, store, stack)
	if s.eff, err = profile.Merge(stack); err != nil {
		return nil, diag.New(diag.ProfileInvalid, "%v", err)
	}
	if s.models, err = readModelMap(filepath.Join(at.config, "opencode", "model-map.json")); err != nil {
		return nil, err
	}
	return s, a.opencodePlaces(s, at.config)
}

func (a *App) opencodePlaces(s *opencodeSide, config string) error {
	data, err := a.DataDir()
	if err != nil {
		return err
	}
	home, err := a.LarvaHome()
	if err != nil {
		return err
	}
	s.context = opencode.Context{ConfigDir: real(config), DataDir: real(data), HomeLarva: real(home), OpenCodeData: filepath.Join(filepath.Dir(data), "opencode")}
	return nil
}

// readModelMap reads the file if it is there.
func readModelMap(path string) (opencode.ModelMap, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return opencode.ModelMap{}, nil
	}
	var m opencode.ModelMap
	if err == nil {
		m, err = opencode.ReadModelMap(text)
	}
	if err != nil {
		return m, diag.New(diag.ProfileInvalid, "%s: %v", path, err).
			WithHint(`{"models": {"MODEL": {"provider": "P", "model_id": "M"}}, "prefix_rules": [{"from_prefix": "A/", "to_provider": "P", "to_model_id_prefix": ""}]}`)
	}
	return m, nil
}

// personas are all that can be agents, and those that cannot, with the reason.
func (s *opencodeSide) personas() (all []opencode.Persona, left []opencode.Left, err error) {
	ids, err := s.registry.IDs()
	if err != nil {
		return nil, nil, err
	}
	for _, id := range ids {
		p, err := s.persona(id)
		if err != nil {
			left = append(left, opencode.Left{ID: id, Why: diag.As(err).Message})
			continue
		}
		all = append(all, p)
	}
	return all, left, nil
}

func (s *opencodeSide) persona(id string) (opencode.Persona, error) {
	o, err := s.registry.Resolve(id, "", nil)
	if err != nil {
		return opencode.Persona{}, err
	}
	p := spec.FromObject(o)
	model, err := s.model(p.Model)
	return opencode.Persona{Spec: p, Model: model}, err
}

// model is OpenCode's name of what a label leads to. What is written as
// provider/model is OpenCode's to know.
func (s *opencodeSide) model(label string) (string, error) {
	name := label
	if r, err := s.eff.RouteNamed(label); r.Model != "" && (err == nil || strings.Contains(label, "/")) {
		name = r.Name()
	}
	for _, n := range []string{name, label} {
		if to, ok := s.models.Lookup(n); ok {
			return to, nil
		}
	}
	if provider, model, ok := strings.Cut(name, "/"); !ok || provider == "" || model == "" {
		return "", diag.New(diag.ModelUnknown, "its model %s is no role of the profile, no provider/model, and in no model map", label)
	}
	return name, nil
}

// opencodeConfigDirs are where OpenCode looks for files of the user's and the
// project's, as far as they matter here.
func (a *App) opencodeConfigDirs(at where) []string {
	config := a.Getenv("XDG_CONFIG_HOME")
	if config == "" && a.home != "" {
		config = filepath.Join(a.home, ".config")
	}
	var dirs []string
	for _, d := range slices.Backward(at.dirs) {
		dirs = append(dirs, filepath.Join(d, ".opencode"), d)
	}
	if config != "" {
		dirs = append(dirs, filepath.Join(config, "opencode"))
	}
	if a.home != "" {
		dirs = append(dirs, filepath.Join(a.home, ".opencode"))
	}
	if d := a.Getenv("OPENCODE_CONFIG_DIR"); d != "" {
		dirs = append(dirs, a.abs(d))
	}
	return dirs
}
