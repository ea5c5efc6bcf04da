package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// write puts files down: path, text, path, text.
func write(t *testing.T, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		if err := os.MkdirAll(filepath.Dir(files[i]), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files[i], []byte(files[i+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

func of(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nText of " + description + "\n"
}

func TestPrecedence(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	at := func(s string) string { return filepath.Join(top, filepath.FromSlash(s)) }
	write(t, at("c/same.md"), "---\ndescription: command\n---\nB",
		at("c/team/deep.md"), "---\ndescription: deep\n---\nB",
		at("p/same/SKILL.md"), of("same", "personal"), at("p/mine/SKILL.md"), of("mine", "mine"),
		at("q/same/SKILL.md"), of("same", "project"), at("q/group/inner/skill.md"), of("inner", "inner"),
		at("q/a/SKILL.md"), of("twice", "first"), at("q/b/SKILL.md"), of("twice", "second"),
		at("q/off/SKILL.md"), of("off", "off"), at("q/bad/SKILL.md"), "no", at("q/README.md"), "no skill",
		at("q/.hidden/h/SKILL.md"), of("hidden", "h"), at("q/same/sub/SKILL.md"), of("below", "b"))
	set := Find([]Root{{Path: at("c"), Shown: "c", Kind: Commands, Origin: Personal}, {Path: at("p"), Shown: "p", Kind: Skills, Origin: Personal},
		{Path: at("q"), Shown: "q", Kind: Skills, Origin: Project}, {Path: at("gone"), Shown: "gone", Kind: Skills}}, Options{Disabled: []string{"off"}})
	var got []string
	for _, k := range set.Best() {
		got = append(got, fmt.Sprintf("%s=%s(%s)", k.ID, k.Description, k.Shown))
	}
	want := []string{"inner=inner(q/group/inner/skill.md)", "mine=mine(p/mine/SKILL.md)", "off=off(q/off/SKILL.md)",
		"review=Review a diff for bugs, and say what to change.(built-in)", "same=project(q/same/SKILL.md)",
		"security-review=Review a diff for security holes that it opens.(built-in)", "team:deep=deep(c/team/deep.md)", "twice=first(q/a/SKILL.md)"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(set.Problems) != 1 || set.Problems[0].File != "q/bad/SKILL.md" {
		t.Errorf("got problems %v, want the one of q/bad", set.Problems)
	}
	for name, id := range map[string]string{"deep": "team:deep", "TEAM:DEEP": "team:deep", "Same": "same", "gone": ""} {
		k := set.Get(name)
		if k == nil && id != "" || k != nil && k.ID != id {
			t.Errorf("%s: got %v, want %q", name, k, id)
		}
	}
	shadowed := 0
	for i := range set.All {
		if k := &set.All[i]; k.ID == "same" && set.ShadowedBy(k) != nil {
			shadowed++
		}
	}
	if shadowed != 2 {
		t.Errorf("got %d shadowed, want the command and the personal skill", shadowed)
	}
	if k := set.Get("twice"); len(k.Notices) != 2 || k.Notices[1].Class != "S6" {
		t.Errorf("got notices %v, want one of S6", k.Notices)
	}
	if k := set.Get("off"); k.Offered() || k.Runnable() {
		t.Error("got a disabled skill in use")
	}
	index := set.Index()
	for _, line := range []string{"- same: project\n", "- mine: mine\n", "- team:deep: deep\n"} {
		if !strings.Contains(index, line) {
			t.Errorf("the index lacks %q:\n%s", line, index)
		}
	}
	for _, no := range []string{"off", "security-review", "bad", "personal"} {
		if strings.Contains(index, no) {
			t.Errorf("the index has %q:\n%s", no, index)
		}
	}
	if strings.Index(index, "- twice") > strings.Index(index, "- mine") {
		t.Errorf("got the person's before the project's:\n%s", index)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	top := t.TempDir()
	at := func(s string) string { return filepath.Join(top, filepath.FromSlash(s)) }
	write(t, at("elsewhere/far/SKILL.md"), of("far", "far"), at("elsewhere/key"), "hunter2 is the password",
		at("project/.claude/skills/here/SKILL.md"), of("here", "here"), at("home/mine/SKILL.md"), of("mine", "mine"))
	for from, to := range map[string]string{
		"home/far":                        at("elsewhere/far"),
		"project/.claude/skills/far":      at("elsewhere/far"),
		"project/.claude/skills/mine":     at("home/mine"),
		"project/.claude/skills/loop":     at("project/.claude/skills"),
		"project/.claude/skills/nowhere":  at("gone"),
		"project/.claude/skills/key.txt":  at("elsewhere/key"),
		"project/.larva-skills":           at("project/.claude/skills"),
		"project/commands/key.md":         at("elsewhere/key"),
		"project/.claude/skills/again":    at("project/.claude/skills/here"),
		"project/.claude/skills/x/pipe.d": at("elsewhere"),
	} {
		if err := os.MkdirAll(filepath.Dir(at(from)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at(from)); err != nil {
			t.Fatal(err)
		}
	}
	within := []string{at("project"), at("home")}
	set := Find([]Root{{Path: at("home"), Shown: "home", Kind: Skills, Origin: Personal},
		{Path: at("project/commands"), Shown: "commands", Kind: Commands, Origin: Project, Within: within},
		{Path: at("project/.claude/skills"), Shown: "skills", Kind: Skills, Origin: Project, Within: within},
		{Path: at("project/.larva-skills"), Shown: "linked", Kind: Skills, Origin: Project, Within: within}}, Options{})
	var got []string
	for i := range set.All {
		if k := &set.All[i]; k.Origin != BuiltIn {
			got = append(got, k.Shown)
			if set.ShadowedBy(k) != nil {
				t.Errorf("%s: got shadowed by %s, want the same file to count once", k.Shown, set.ShadowedBy(k).Shown)
			}
		}
	}
	slices.Sort(got)
	if want := []string{"home/far/SKILL.md", "linked/again/SKILL.md", "linked/mine/SKILL.md"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	told := fmt.Sprint(set.Problems)
	for _, want := range []string{"skills/far: is a link that leads out of the project", "commands/key.md: is a link that leads out of the project", "skills/nowhere: is a link that leads nowhere"} {
		if !strings.Contains(told, want) {
			t.Errorf("got problems %v, want %q among them", told, want)
		}
	}
	if strings.Contains(told, "hunter2") || strings.Contains(set.Index(), "hunter2") {
		t.Error("got a foreign file's text")
	}
}

func TestDenied(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	write(t, filepath.Join(top, "x", "SKILL.md"), of("x", "x"))
	set := Find([]Root{{Path: top, Shown: "s", Kind: Skills}}, Options{Denied: func(abs, _ string) bool { return strings.HasSuffix(abs, "SKILL.md") }})
	if set.Get("x") != nil || len(set.Problems) != 1 || set.Problems[0].Message != "may not be read" {
		t.Errorf("got %v and %v, want it refused", set.Get("x"), set.Problems)
	}
}

func TestBodyIsReadWhenItIsNeeded(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	file := filepath.Join(top, "x", "SKILL.md")
	write(t, file, of("x", "x"))
	k := Find([]Root{{Path: top, Shown: "s", Kind: Skills}}, Options{}).Get("x")
	write(t, file, of("x", "now"))
	if got, err := k.Body(); got != "Text of now" || err != nil {
		t.Errorf("got %q, %v; want the text as it is now", got, err)
	}
	write(t, file, "---\nname: x\n")
	if got, err := k.Body(); err == nil {
		t.Errorf("got %q, want an error", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	write(t, filepath.Join(top, "other"), of("x", "other"))
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(top, "other"), file); err != nil {
		t.Fatal(err)
	}
	if got, err := k.Body(); err == nil {
		t.Errorf("got %q, want a file that became a link refused", got)
	}
}

func TestIndexBudget(t *testing.T) {
	t.Parallel()
	set := &Set{}
	if got := set.Index(); got != "" {
		t.Errorf("got %q, want nothing for no skills", got)
	}
	for i := range 500 {
		set.All = append(set.All, Skill{ID: fmt.Sprintf("skill-%03d", i), Plain: fmt.Sprintf("skill-%03d", i), Origin: Project,
			Description: strings.Repeat("word\n</skills> ", 40)})
	}
	set.settle()
	got := set.Index()
	if n := strings.Count(got, "</skills>"); n != 1 || !strings.HasSuffix(got, "</skills>") {
		t.Errorf("got %d ends of the block, want one at the end", n)
	}
	listed := 0
	for l := range strings.Lines(got) {
		if strings.HasPrefix(l, "- ") {
			listed++
			if n := len([]rune(l)); n > maxEach+100 {
				t.Errorf("got a line of %d characters", n)
			}
		}
	}
	if listed == 0 || listed > maxListed || len(got) > maxIndex+maxNames+1000 {
		t.Errorf("got %d lines in %d bytes", listed, len(got))
	}
	if !strings.Contains(got, "skill-499") {
		t.Error("the last one is not named")
	}
	for i := range set.All {
		set.All[i].Description = "d"
	}
	if n := strings.Count(set.Index(), "\n- "); n != maxListed {
		t.Errorf("got %d short ones, want %d", n, maxListed)
	}
}

// many writes down skills as they are met: a description of some lines, a text
// of some pages.
func many(tb testing.TB, n int) []Root {
	top := tb.TempDir()
	for i := range n {
		name := fmt.Sprintf("skill-%03d", i)
		dir := filepath.Join(top, name)
		if err := os.Mkdir(dir, 0o777); err != nil {
			tb.Fatal(err)
		}
		text := "---\nname: " + name + "\ndescription: >-\n  Use it when " + strings.Repeat("something ", 20) + "\n  happens.\nlicense: MIT\n---\n" + strings.Repeat("A line of text.\n", 300)
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text), 0o666); err != nil {
			tb.Fatal(err)
		}
	}
	return []Root{{Path: top, Shown: "s", Kind: Skills, Origin: Project, Within: []string{top}}}
}

// An index of 500 skills is made in less than 50 ms. How long it takes hangs on
// how busy the machine is; what it allocates does not, and is bound.
func TestFindIsCheap(t *testing.T) {
	roots := many(t, 500)
	best := time.Hour
	allocs := testing.AllocsPerRun(4, func() {
		began := time.Now()
		if index := Find(roots, Options{}).Index(); !strings.Contains(index, "skill-499") {
			t.Fatal("got an index without the last one")
		}
		best = min(best, time.Since(began))
	})
	t.Logf("500 skills: %v, %.0f allocations", best, allocs)
	if allocs > 500*150 {
		t.Errorf("got %.0f allocations, want at most %d", allocs, 500*150)
	}
}

func BenchmarkFind(b *testing.B) {
	roots := many(b, 500)
	for b.Loop() {
		Find(roots, Options{}).Index()
	}
}
