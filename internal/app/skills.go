package app

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/frame"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/skill"
	shelf "larva.dev/larva/internal/tool/skill"
)

// skillTool is the tool that loads a skill.
const skillTool = "skill"

// skillRoots are the directories of commands, then of skills, the lowest
// precedence first: ~/.claude, the personal ones of larva, then from the
// project's root down to the working directory .claude, .larik, .larva. Skills
// have ~/.agents and .agents below those, and what profiles name above the
// personal ones. Since skills come last, a skill has its name before a command.
func (a *App) skillRoots(p where, named []string) []skill.Root {
	b := &roots{a: a, p: p, seen: map[string]bool{}}
	within := []string{p.project}
	for _, kind := range []skill.Kind{skill.Commands, skill.Skills} {
		personal, project := []string{".claude"}, []string{".claude", ".larik", ".larva"}
		if kind == skill.Skills {
			personal, project = []string{".agents", ".claude"}, append([]string{".agents"}, project...)
		}
		sub := string(kind) + "s"
		for _, dir := range personal {
			if a.home != "" {
				b.personal(kind, filepath.Join(a.home, dir, sub), "~/"+dir+"/"+sub)
			}
		}
		config := filepath.Join(p.config, sub)
		b.personal(kind, config, a.shortened(profile.Layer{File: config}))
		if kind == skill.Skills {
			for _, r := range b.list {
				if r.Kind == skill.Skills {
					within = append(within, r.Path)
				}
			}
			for _, path := range named {
				b.named(path)
			}
		}
		b.project(kind, sub, project)
	}
	for i := range b.list {
		if b.list[i].Origin == skill.Project {
			b.list[i].Within = within
		}
	}
	return b.list
}

// roots gathers directories, each once.
type roots struct {
	a    *App
	p    where
	list []skill.Root
	seen map[string]bool
}

func (b *roots) add(r skill.Root) {
	if at := real(r.Path); !b.seen[at] {
		b.seen[at] = true
		b.list = append(b.list, r)
	}
}

func (b *roots) personal(kind skill.Kind, path, shown string) {
	b.add(skill.Root{Path: path, Shown: shown, Kind: kind, Origin: skill.Personal})
}

func (b *roots) project(kind skill.Kind, sub string, folders []string) {
	larvaHome, _ := b.a.LarvaHome()
	for _, dir := range b.p.dirs {
		for _, folder := range folders {
			if at := filepath.Join(dir, folder); at != larvaHome {
				path := filepath.Join(at, sub)
				b.add(skill.Root{Path: path, Shown: b.p.rel(path), Kind: kind, Origin: skill.Project})
			}
		}
	}
}

// named is a directory of skills.paths: absolute, below the home, or below the
// project's root.
func (b *roots) named(path string) {
	shown := path
	switch rest, home := strings.CutPrefix(path, "~/"); {
	case home:
		path = filepath.Join(b.a.home, rest)
	case !filepath.IsAbs(path):
		path = filepath.Join(b.p.project, path)
	}
	r := skill.Root{Path: filepath.Clean(path), Shown: shown, Kind: skill.Skills, Origin: skill.Personal}
	if rel, err := filepath.Rel(b.p.project, r.Path); err == nil && filepath.IsLocal(rel) {
		r.Origin = skill.Project
	}
	b.add(r)
}

// shelve finds the skills and commands of a stand. Nothing of what they say has
// an effect before it is loaded or run.
func (a *App) shelve(s *stand) {
	named := s.eff.Profile.Skills.Paths
	roots := a.skillRoots(s.at, named)
	set := skill.Find(roots, skill.Options{Denied: s.policy.ReadDenied, Disabled: s.eff.Profile.Skills.Disabled})
	if s.shelf == nil {
		s.shelf = shelf.New(set)
	} else {
		s.shelf.Renew(set)
	}
	s.notices = append(s.notices, skillNotices(set)...)
	s.roots.Readable = readable(roots, named, set)
}

// readable are the places of a person's own skills: a skill names files beside
// it, which the model then reads. Of a directory that a profile names only the
// skills in it are.
func readable(roots []skill.Root, named []string, set *skill.Set) []string {
	var out []string
	add := func(path string) {
		for _, p := range []string{path, real(path)} {
			if !slices.Contains(out, p) {
				out = append(out, p)
			}
		}
	}
	for _, r := range roots {
		if r.Origin == skill.Personal && r.Kind == skill.Skills && !slices.Contains(named, r.Shown) && exists(r.Path) {
			add(r.Path)
		}
	}
	for _, k := range set.All {
		if k.Origin == skill.Personal && k.Dir != "" {
			add(k.Dir)
		}
	}
	return out
}

// maxSkillNotices is how many files a run tells of one by one.
const maxSkillNotices = 3

// skillNotices tell of what is there and does not count as it was meant.
func skillNotices(set *skill.Set) []string {
	var out []string
	for _, p := range set.Problems {
		out = append(out, p.String())
	}
	for _, k := range set.Best() {
		for _, n := range k.Notices {
			if n.Kind == skill.Invalid && k.UserOnly && !k.Disabled && strings.HasSuffix(n.Message, skill.Untold) {
				out = append(out, n.String())
			}
		}
	}
	if n := len(out) - maxSkillNotices; n > 0 {
		out = append(out[:maxSkillNotices], fmt.Sprintf("%d more skills or commands cannot be used as they are (see: larva skill validate)", n))
	}
	return out
}

// skillTexts stand in the system prompt: those that the run's definition
// preloads, then the index, where the agent can load what it names. A minimal
// context has no index.
func (s *stand) skillTexts() string {
	parts := s.preloaded()
	if s.tools != nil && s.route.Context != "minimal" {
		if _, ok := s.tools.Get(skillTool); ok {
			parts = append(parts, s.shelf.Set().Index())
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "\n")
}

// preloaded are the texts of the skills that a definition names.
func (s *stand) preloaded() []string {
	var out []string
	for _, d := range s.agents[:min(len(s.agents), 1)] { // what a session began with names them too, or no longer does
		for _, name := range d.Skills {
			if k := s.shelf.Set().Get(name); k != nil && k.Offered() {
				if body, err := k.Body(); err == nil {
					out = append(out, shelf.Text(k, body, ""))
				}
			}
		}
	}
	return out
}

// lostSkills tells of skills that a definition names and the run does not have.
func (s *stand) lostSkills() {
	for _, d := range s.agents[:min(len(s.agents), 1)] {
		for _, name := range d.Skills {
			why := "there is no such skill"
			k := s.shelf.Set().Get(name)
			switch {
			case k == nil:
				if near := skill.Nearest(name, s.shelf.Set().Offered()); near != "" {
					why += "; did you mean " + near + "?"
				}
			case k.Disabled:
				why = "a profile switches it off"
			case k.UserOnly:
				why = "it is for the person alone"
			default:
				if _, err := k.Body(); err == nil {
					continue
				}
				why = "it cannot be read"
			}
			s.notices = append(s.notices, fmt.Sprintf("%s: skills: %s is not loaded: %s", d.Shown, frame.Attribute(name), why))
		}
	}
}

// shelveAgain finds them anew for a fresh context, and gives the agent the tool
// where it had none to load before. The system prompt is to be worded anew.
func (a *App) shelveAgain(s *stand) error {
	before := s.notices
	s.notices = nil
	a.shelve(s)
	s.notices = slices.Concat(before, slices.DeleteFunc(s.notices, func(n string) bool { return slices.Contains(before, n) }))
	return s.shelveTools()
}

// shelveTools gives the agent the tool where there is something to load.
func (s *stand) shelveTools() error {
	if _, has := s.tools.Get(skillTool); has || len(s.shelf.Set().Offered()) == 0 {
		return nil
	}
	return s.tools.Add(s.having(shelf.Tools(s.shelf))...)
}

// shelveChild gives a child its parent's skills; one with a worktree has those
// of that.
func (a *App) shelveChild(s, parent *stand) error {
	if s.tree != nil {
		told := s.notices
		a.shelve(s)
		s.notices = told // the parent's run has told of them
	} else if s.shelf == nil {
		s.shelf = shelf.New(parent.shelf.Set())
	}
	s.lostSkills()
	if _, has := parent.tools.Get(skillTool); !has {
		return nil
	}
	return s.shelveTools()
}

// offeredSkills are the names of those that the model is told of.
func (s *stand) offeredSkills() []string {
	var out []string
	if _, ok := s.tools.Get(skillTool); !ok {
		return nil
	}
	for _, k := range s.shelf.Set().Offered() {
		out = append(out, k.ID)
	}
	slices.Sort(out)
	return out
}
