package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/skill"
)

// SkillRow is a skill or command as `skill list` shows it.
type SkillRow struct {
	ID          string `json:"id"`
	Name        string `json:"name"` // as written
	Kind        string `json:"kind"` // skill | command
	Description string `json:"description"`
	Hint        string `json:"argument_hint,omitempty"`
	Origin      string `json:"origin"` // built-in | personal | project
	Source      string `json:"source"` // file:line
	// Model says that the model is told of it, Person that /id runs it.
	Model    bool `json:"model"`
	Person   bool `json:"person"`
	Disabled bool `json:"disabled"` // a profile switches it off
	// ShadowedBy is the file that has the name instead, "" for none.
	ShadowedBy string          `json:"shadowed_by,omitempty"`
	Notices    []skill.Problem `json:"notices"` // what was healed, dropped or breaks the format
}

// SkillListed is the answer of `skill list`.
type SkillListed struct {
	Skills []SkillRow `json:"skills"`
	// Problems are files that give neither a skill nor a command.
	Problems []skill.Problem `json:"problems"`
	// IndexBytes is the size of what the system prompt says of them.
	IndexBytes int `json:"index_bytes"`
}

// SkillShown is one with its text.
type SkillShown struct {
	SkillRow
	Dir  string `json:"dir,omitempty"` // where the files that it names lie
	Text string `json:"text"`
}

// SkillChecked is one file as `skill validate` judges it.
type SkillChecked struct {
	File     string          `json:"file"`
	ID       string          `json:"id,omitempty"`
	Kind     string          `json:"kind,omitempty"`
	Valid    bool            `json:"valid"`
	Problems []skill.Problem `json:"problems"`
}

// skills finds what a run here would find, without a persona.
func (a *App) skills(ctx context.Context) (*skill.Set, error) {
	s, err := a.stand(ctx, about{unasked: true, portable: true})
	if err != nil {
		return nil, err
	}
	return s.shelf.Set(), nil
}

// SkillList lists the skills and commands by id, of one id the one that counts
// first.
func (a *App) SkillList(ctx context.Context) (SkillListed, error) {
	set, err := a.skills(ctx)
	if err != nil {
		return SkillListed{}, err
	}
	out := SkillListed{Skills: []SkillRow{}, Problems: []skill.Problem{}, IndexBytes: len(set.Index())}
	out.Problems = append(out.Problems, set.Problems...)
	for i := range slices.Backward(set.All) {
		out.Skills = append(out.Skills, skillRow(set, &set.All[i]))
	}
	slices.SortStableFunc(out.Skills, func(x, y SkillRow) int {
		counts := map[bool]int{true: 0, false: 1}
		return cmp.Or(strings.Compare(x.ID, y.ID), counts[x.ShadowedBy == ""]-counts[y.ShadowedBy == ""])
	})
	return out, nil
}

func skillRow(set *skill.Set, k *skill.Skill) SkillRow {
	r := SkillRow{ID: k.ID, Name: k.Name, Kind: string(k.Kind), Description: k.Description, Hint: k.Hint, Origin: string(k.Origin),
		Source: fmt.Sprintf("%s:%d", k.Shown, k.Line), Model: k.Offered(), Person: k.Runnable(), Disabled: k.Disabled, Notices: []skill.Problem{}}
	if k.Origin == skill.BuiltIn {
		r.Source = "built-in"
	}
	if by := set.ShadowedBy(k); by != nil {
		r.ShadowedBy = by.Shown
	}
	r.Notices = append(r.Notices, k.Notices...)
	return r
}

// SkillShow shows one: by the name that /name means, or by file as SkillList
// gives it.
func (a *App) SkillShow(ctx context.Context, ref string) (SkillShown, error) {
	set, err := a.skills(ctx)
	if err != nil {
		return SkillShown{}, err
	}
	k := set.Get(strings.TrimPrefix(ref, "/"))
	for i := range set.All {
		if set.All[i].Shown == ref && set.All[i].Origin != skill.BuiltIn {
			k = &set.All[i]
		}
	}
	if k == nil {
		e := diag.New(diag.InvalidInput, "there is no skill or command %s", ref).With("name", ref)
		e.Exit = diag.ExitFailed
		if near := skill.Nearest(ref, set.Best()); near != "" {
			return SkillShown{}, e.WithHint("did you mean %s? all: larva skill list", near)
		}
		return SkillShown{}, e.WithHint("see: larva skill list")
	}
	text, err := k.Body()
	if err != nil {
		return SkillShown{}, diag.New(diag.InvalidInput, "%v", err).With("path", k.Shown)
	}
	return SkillShown{SkillRow: skillRow(set, k), Dir: k.Dir, Text: text}, nil
}

// SkillIDs lists the names, for completion.
func (a *App) SkillIDs(ctx context.Context) ([]string, error) {
	set, err := a.skills(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, k := range set.Best() {
		out = append(out, k.ID)
	}
	return out, nil
}

// SkillValidate checks files: those named, where a directory means a skill, or
// the skills below it; without any all that a run here would find, but for what
// comes with the binary.
func (a *App) SkillValidate(ctx context.Context, paths []string) ([]SkillChecked, error) {
	out := []SkillChecked{}
	if len(paths) == 0 {
		set, err := a.skills(ctx)
		if err != nil {
			return nil, err
		}
		return append(out, checkedSet(set)...), nil
	}
	for _, path := range paths {
		info, err := os.Stat(a.abs(path))
		switch {
		case err != nil:
			return nil, diag.Usage("%s cannot be read: %v", path, pathless(err)).With("path", path)
		case info.IsDir():
			found := checkedSet(skill.Find([]skill.Root{{Path: a.abs(path), Shown: path, Kind: skill.Skills, Origin: skill.Personal}}, skill.Options{}))
			if len(found) == 0 {
				return nil, diag.Usage("%s holds no SKILL.md", path).With("path", path).WithHint("name commands file by file")
			}
			out = append(out, found...)
		default:
			k, p := skill.ReadFile(a.abs(path), path)
			out = append(out, checkedFile(path, k, p))
		}
	}
	return out, nil
}

// checkedSet judges everything of a set that is a file, by file.
func checkedSet(set *skill.Set) (out []SkillChecked) {
	for _, p := range set.Problems {
		out = append(out, checkedFile(p.File, nil, &p))
	}
	for i := range set.All {
		if k := &set.All[i]; k.Origin != skill.BuiltIn {
			out = append(out, checkedFile(k.Shown, k, nil))
		}
	}
	slices.SortStableFunc(out, func(x, y SkillChecked) int { return strings.Compare(x.File, y.File) })
	return out
}

func checkedFile(file string, k *skill.Skill, p *skill.Problem) SkillChecked {
	c := SkillChecked{File: filepath.ToSlash(file), Problems: []skill.Problem{}}
	if p != nil {
		c.Problems = append(c.Problems, *p)
		return c
	}
	c.ID, c.Kind, c.Valid = k.ID, string(k.Kind), k.Valid()
	c.Problems = append(c.Problems, k.Notices...)
	return c
}

// pathless is an operating system's error without the path.
func pathless(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
