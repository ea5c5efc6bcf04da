package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/nearest"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/trust"
)

// ConfigDir is the personal configuration: $XDG_CONFIG_HOME/larva, by default
// ~/.config/larva.
func (a *App) ConfigDir() (string, error) {
	if x := a.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(x) {
		return filepath.Join(x, "larva"), nil
	}
	if a.home == "" {
		return "", diag.New(diag.Internal, "neither HOME nor XDG_CONFIG_HOME is set").
			WithHint("export HOME, the directory that holds .config/larva")
	}
	return filepath.Join(a.home, ".config", "larva"), nil
}

// DataDir is $XDG_DATA_HOME/larva, by default ~/.local/share/larva.
func (a *App) DataDir() (string, error) {
	if x := a.Getenv("XDG_DATA_HOME"); filepath.IsAbs(x) {
		return filepath.Join(x, "larva"), nil
	}
	if a.home == "" {
		return "", diag.New(diag.Internal, "neither HOME nor XDG_DATA_HOME is set").
			WithHint("export HOME, the directory that holds .local/share/larva")
	}
	return filepath.Join(a.home, ".local", "share", "larva"), nil
}

// where is the place a run stands: its project and the directories from there
// down to the working directory.
type where struct {
	project string   // git root, else the working directory; links resolved
	common  string   // the git common directory, the same for all worktrees; project without git
	dirs    []string // from project down to the working directory
	config  string   // personal configuration
	others  []string // further checkouts of the project: what lies there is the project's, too
}

func (a *App) locate() (where, error) {
	config, err := a.ConfigDir()
	if err != nil {
		return where{}, err
	}
	cwd, err := filepath.EvalSymlinks(a.workDir())
	if err != nil {
		return where{}, diag.Usage("the working directory %s cannot be read: %v", a.workDir(), err)
	}
	p := where{project: cwd, common: cwd, config: config, dirs: []string{cwd}, others: a.others}
	var below []string
	for dir := cwd; ; dir = filepath.Dir(dir) {
		below = append(below, dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			p.project, p.common = dir, commonDir(dir)
			slices.Reverse(below)
			p.dirs = below
			return p, nil
		}
		if dir == filepath.Dir(dir) {
			return p, nil
		}
	}
}

// commonDir follows a worktree's .git file to the repository that it shares.
func commonDir(project string) string {
	git := filepath.Join(project, ".git")
	if data, err := readSmall(git); err == nil {
		if to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: "); ok {
			git = from(project, to)
		}
	}
	if data, err := readSmall(filepath.Join(git, "commondir")); err == nil {
		git = from(git, strings.TrimSpace(string(data)))
	}
	if real, err := filepath.EvalSymlinks(git); err == nil {
		return real
	}
	return filepath.Clean(git)
}

func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// readSmall reads one of git's one-line files.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > 4096 {
		return nil, fs.ErrInvalid
	}
	return os.ReadFile(path)
}

// rel names a file of the project as a person would.
func (p where) rel(path string) string {
	if r, err := filepath.Rel(p.project, path); err == nil && filepath.IsLocal(r) {
		return filepath.ToSlash(r)
	}
	return path
}

// inside says whether path lies in the project, links resolved.
func (p where) inside(path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	for _, top := range append([]string{p.project}, p.others...) {
		if r, err := filepath.Rel(top, path); err == nil && filepath.IsLocal(r) {
			return true
		}
	}
	return false
}

// privateFile is where this project's "always" answers land.
func (p where) privateFile() string {
	sum := sha256.Sum256([]byte(p.common))
	return filepath.Join(p.config, "projects", hex.EncodeToString(sum[:8])+".toml")
}

func (p where) trustFile() string { return filepath.Join(p.config, "trust.json") }

// flags is what the command line says of how to run.
type flags struct {
	profile, mode    string
	maxTurns         int
	limits           profile.Limits
	allow, ask, deny []string
}

// layers gives the stack for profile.Merge: shipped, the project (which can
// only lower unless it is trusted), personal, private, --profile, flags.
func (a *App) layers(ctx context.Context, p where, store *trust.Store, f flags) ([]profile.Layer, error) {
	shipped, err := shippedProfiles()
	if err != nil {
		return nil, err
	}
	base := shipped["default"]
	base.Name = "shipped"
	stack := []profile.Layer{base}

	own, err := a.personal(ctx, p)
	if err != nil {
		return nil, err
	}
	stack = append(stack, own...)
	mine, err := a.claudePersonal()
	if err != nil {
		return nil, err
	}
	stack = append(stack, mine...)
	items, err := a.projectConfigs(ctx, p, store)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		stack = append(stack, it.layer)
	}
	theirs, err := a.claudeProject(p)
	if err != nil {
		return nil, err
	}
	stack = append(stack, theirs...)
	private, err := a.optional(ctx, p.privateFile(), load.Options{Dir: a.dir, Trusted: true})
	if err != nil {
		return nil, err
	}
	for i := range private {
		private[i].Name = "private"
	}
	stack = append(stack, private...)
	if f.profile != "" {
		l, err := a.named(ctx, p, store, shipped, f.profile)
		if err != nil {
			return nil, err
		}
		stack = append(stack, l)
	}
	return append(stack, f.layer()), nil
}

// layer is what the flags say, as the last layer.
func (f flags) layer() profile.Layer {
	l := profile.Layer{Name: "flags", Origins: map[string]string{"mode": "--mode"}}
	l.Profile.Mode = f.mode
	l.Profile.Permissions = profile.Permissions{Allow: f.allow, Ask: f.ask, Deny: f.deny}
	for list, rules := range map[string][]string{"allow": f.allow, "ask": f.ask, "deny": f.deny} {
		for i := range rules {
			l.Origins[fmt.Sprintf("permissions.%s.%d", list, i)] = "--" + list
		}
	}
	l.Profile.Limits = f.limits
	if f.maxTurns > 0 {
		l.Profile.Limits.MaxTurns = &f.maxTurns
	}
	return l
}

// configNames are the two spellings of a config file; having both is an error.
var configNames = [...]string{"config.cue", "config.toml"}

func (a *App) personal(ctx context.Context, p where) ([]profile.Layer, error) {
	out, err := a.configIn(ctx, p.config, load.Options{Dir: a.dir, Trusted: true})
	for i := range out {
		out[i].Name = "personal"
	}
	return out, err
}

// configIn reads the config file of a directory, if there is one.
func (a *App) configIn(ctx context.Context, dir string, o load.Options) ([]profile.Layer, error) {
	var out []profile.Layer
	for _, name := range configNames {
		l, err := a.optional(ctx, filepath.Join(dir, name), o)
		if err != nil {
			return nil, err
		}
		out = append(out, l...)
	}
	if len(out) > 1 {
		return nil, diag.New(diag.ProfileInvalid, "%s holds both %s and %s", dir, configNames[0], configNames[1]).
			With("path", dir).WithHint("keep one of the two")
	}
	return out, nil
}

// optional reads a profile file where there is one.
func (a *App) optional(ctx context.Context, path string, o load.Options) ([]profile.Layer, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, nil
	} else if err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil, nil // a parent that is no directory: nothing there
	}
	l, err := load.Profile(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return []profile.Layer{l}, nil
}

// named finds --profile: a path, or a name among the personal profiles, the
// project's trusted ones, the shipped ones.
func (a *App) named(ctx context.Context, p where, store *trust.Store, shipped map[string]profile.Layer, ref string) (profile.Layer, error) {
	if isPath(ref) {
		path := a.abs(ref)
		if p.inside(path) {
			return a.projectProfile(ctx, p, store, path, "")
		}
		l, err := load.Profile(ctx, path, a.loadOptions())
		l.Name = "profile"
		return l, err
	}
	if path := filepath.Join(p.config, "profiles", ref+".cue"); exists(path) {
		l, err := load.ProfileNamed(ctx, path, ref, load.Options{Dir: a.dir, Trusted: true})
		l.Name = "profile"
		return l, err
	}
	l, isShipped := shipped[ref]
	l.Name = "profile"
	for _, dir := range slices.Backward(p.dirs) {
		path := filepath.Join(dir, "profiles", ref+".cue")
		if !exists(path) {
			continue
		}
		got, err := a.projectProfile(ctx, p, store, path, ref)
		if err != nil || got.Trusted || !isShipped {
			return got, err
		}
		break // an untrusted file never takes a shipped profile's name
	}
	if isShipped {
		return l, nil
	}
	names := make([]string, 0, len(shipped))
	for n := range shipped {
		names = append(names, n)
	}
	slices.Sort(names)
	lie := filepath.Join(p.config, "profiles")
	own := profilesIn(p.dirs...)
	meant := ""
	if near := nearest.Name(ref, slices.Concat(own, names)); near != "" {
		meant = "did you mean " + near + "? "
	}
	if len(own) > 0 {
		return l, diag.Usage("there is no profile %q", ref).With("profile", ref).
			WithHint("%sthe project's: %s; shipped: %s; your own lie in %s", meant, strings.Join(own, ", "), strings.Join(names, ", "), lie)
	}
	return l, diag.Usage("there is no profile %q", ref).With("profile", ref).
		WithHint("%sshipped: %s; your own lie in %s", meant, strings.Join(names, ", "), lie)
}

// isPath tells a path from a name: it has a slash or a file ending.
func isPath(ref string) bool {
	return strings.ContainsAny(ref, `/\`) || filepath.Ext(ref) != "" || ref == "-"
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }
