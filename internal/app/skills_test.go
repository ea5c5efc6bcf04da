package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	shelf "larva.dev/larva/internal/tool/skill"
)

const someSkill = "---\nname: NAME\ndescription: What NAME is for.\n---\nText of NAME.\n"

func plantSkill(t *testing.T, dir, name string) {
	t.Helper()
	plant(t, filepath.Join(dir, name, "SKILL.md"), strings.ReplaceAll(someSkill, "NAME", name))
}

// The index stands in the prompt of a run and of its subagents, is made anew for
// each fresh context, and is there only for who can load what it names.
func TestSkillIndex(t *testing.T) {
	t.Parallel()
	a, p := testApp(t)
	mine, ours := filepath.Join(a.home, ".claude/skills"), filepath.Join(p.project, ".larva/skills")
	stand := func() *stand {
		s, err := a.stand(t.Context(), about{persona: "worker", portable: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.shell.Close() })
		return s
	}
	s := stand()
	if got := s.system(time.Now()); strings.Contains(got, "<skills>") || slices.Contains(specNames(s), "skill") {
		t.Error("got an index of nothing")
	}

	plantSkill(t, mine, "one")
	plantSkill(t, ours, "two")
	if err := a.shelveAgain(s); err != nil {
		t.Fatal(err)
	}
	got := s.system(time.Now())
	if !strings.Contains(got, "- two: What two is for.\n- one: What one is for.\n</skills>\n\nToday is ") {
		t.Errorf("got %q, want the index before the date", got[max(0, len(got)-600):])
	}
	if strings.Contains(got, "Text of") || !slices.Contains(specNames(s), "skill") {
		t.Error("got a text in the prompt, or no tool")
	}
	if again := stand().system(time.Now()); again != got {
		t.Errorf("got another prompt for a run of its own:\n%s\nwant\n%s", again, got)
	}

	if err := os.RemoveAll(filepath.Join(ours, "two")); err != nil {
		t.Fatal(err)
	}
	if err := a.shelveAgain(s); err != nil {
		t.Fatal(err)
	}
	if got := s.system(time.Now()); strings.Contains(got, "- two:") || !strings.Contains(got, "- one:") {
		t.Error("got an index that was not made anew")
	}

	child := *s
	child.shelf = nil
	if err := a.equipChild(&child, s); err != nil {
		t.Fatal(err)
	}
	defer child.shell.Close()
	if got := child.childSystem(time.Now()); !strings.Contains(got, "- one:") {
		t.Error("got no index for a subagent")
	}
	if child.shelf == s.shelf {
		t.Error("got one memory of what was loaded for both")
	}
	child.route.Context = "minimal"
	if got := child.childSystem(time.Now()); strings.Contains(got, "- one:") {
		t.Error("got an index in a minimal context")
	}
}

func specNames(s *stand) (out []string) {
	for _, spec := range s.tools.Specs() {
		out = append(out, spec.Name)
	}
	return out
}

// A definition begins with the texts of the skills that it names, whether or not
// it has the tool.
func TestPreloadedSkills(t *testing.T) {
	t.Parallel()
	a, p := testApp(t)
	plantSkill(t, filepath.Join(p.project, ".claude/skills"), "one")
	plant(t, filepath.Join(a.home, ".claude/agents/starter.md"), "---\nname: starter\ndescription: D\ntools: Read\nskills: [one, two]\n---\nYou begin.\n")
	s, err := a.stand(t.Context(), about{persona: "starter", portable: true, unasked: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.shell.Close()
	got := s.system(time.Now())
	if !strings.Contains(got, "<skill name=\"one\">\nText of one.\n</skill>") || strings.Contains(got, "<skills>") {
		t.Errorf("got %q, want the text and no index", got)
	}
	if want := "~/.claude/agents/starter.md: skills: two is not loaded: there is no such skill"; !strings.Contains(strings.Join(s.notices, "\n"), want) {
		t.Errorf("got notices %q, want %q", s.notices, want)
	}
}

// Files beside a person's own skills can be read, and nothing be written there;
// of a directory that a profile names only the skills can.
func TestReadableSkills(t *testing.T) {
	t.Parallel()
	a, _ := testApp(t)
	plantSkill(t, filepath.Join(a.home, ".claude/skills"), "one")
	plantSkill(t, filepath.Join(a.home, "named"), "two")
	linked := filepath.Join(a.home, "dotfiles")
	plantSkill(t, linked, "three")
	if err := os.Symlink(filepath.Join(linked, "three"), filepath.Join(a.home, ".claude/skills/three")); err != nil {
		t.Skip("no links here")
	}
	plant(t, filepath.Join(a.home, ".config/larva/config.cue"), `skills: paths: ["~/named"]`)
	s, err := a.stand(t.Context(), about{persona: "worker", portable: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.shell.Close()
	for path, outside := range map[string]bool{
		"~/.claude/skills/one/SKILL.md": false, "~/.claude/skills/one/gone.md": false, "~/.claude/skills": false,
		"~/.claude/skills/three/x": false, "~/named/two/x": false, "~/dotfiles/three/x": false,
		"~/.claude/settings.json": true, "~/.claude/skills/../x": true, "~/named/other": true, "~/dotfiles/x": true, "~/.claude/skillsx": true,
	} {
		if got := s.roots.Resolve(path, false).Outside; got != outside {
			t.Errorf("reading %s: got outside %t, want %t", path, got, outside)
		}
		if !s.roots.Resolve(path, true).Outside {
			t.Errorf("writing %s: got inside, want outside", path)
		}
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][2]string{
		"/review": {"review", ""}, "/review main": {"review", "main"}, "/team:fix  a\nb ": {"team:fix", "a\nb"}, "/x.y-Z_1 a": {"x.y-Z_1", "a"},
		"/mcp__server__prompt a b": {"mcp__server__prompt", "a b"}, "/review\n": {"review", ""},
	} {
		if name, args, ok := commandLine(line); !ok || name != want[0] || args != want[1] {
			t.Errorf("%q: got %q %q %t, want %q", line, name, args, ok, want)
		}
	}
	for _, line := range []string{"", "/", "/ x", " /x", "x /y", "/a/b", "/a/ b", "/etc/passwd is", "//x", "/-x", "/.x", "/x?", "/x, y", "/ü", "/x`y`", "/$x"} {
		if name, _, ok := commandLine(line); ok {
			t.Errorf("%q: got the command %q, want none", line, name)
		}
	}
}

func FuzzCommandLine(f *testing.F) {
	for _, s := range []string{"/review main", "/a/b", "/team:x\ny", "/x\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		name, args, ok := commandLine(line)
		if !ok {
			return
		}
		if !strings.HasPrefix(line, "/"+name) || strings.ContainsAny(name, "/ \t\n`$;|&\\\"'") || !strings.HasSuffix(strings.TrimSpace(line), args) {
			t.Fatalf("%q: got %q and %q", line, name, args)
		}
	})
}

// A revision is one word to a shell and no option to git.
func TestRevision(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{"main", "origin/main", "v1.2.3", "HEAD~2", "HEAD^", "a..b", "a...b", "0abc", "feature/x+y", "main@1"} {
		if !revision().MatchString(ok) {
			t.Errorf("%q: got none, want a revision", ok)
		}
	}
	for _, no := range []string{"", "-x", "--output=x", "a b", "a;b", "$(x)", "`x`", "a|b", "a&b", "a>b", "a\nb", "'a'", "a*", "a?", "{a,b}", "~x", "a\\b", "(a)", "a\x00", "!x", "#x", "ü"} {
		if revision().MatchString(no) {
			t.Errorf("%q: got a revision, want none", no)
		}
	}
}

func TestShelfOfNothing(t *testing.T) {
	t.Parallel()
	var none *shelf.Shelf
	if got := none.Set().Index(); got != "" || none.Set().Get("x") != nil {
		t.Errorf("got %q, want nothing", got)
	}
}
