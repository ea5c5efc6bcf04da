package shell

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A command that carries files away names what must stay unseen below what it
// takes; git shows what it has kept, and is bound by rules alone.
func TestEffectsCarry(t *testing.T) {
	t.Parallel()
	rs := pathBench(t)
	ruled := func(abs, _ string) bool { return filepath.Base(abs) == "c.txt" }
	denied := func(abs, real string) bool { return filepath.Base(abs) == ".env" || ruled(abs, real) }
	for line, want := range map[string]string{
		"cp -r . y; cat y/sub/c.txt": ".env sub/c.txt y/sub/c.txt", "cp -a sub y": "sub/c.txt", "cp -R deep y": "", "cp a.txt deep": "", "cp -r deep .": "", "rsync -a ./ ../y": ".env sub/c.txt",
		"tar cf a.tar .": ".env sub/c.txt", "tar -czf a.tgz sub": "sub/c.txt", "tar --create -f a.tar deep": "", "tar xf a.tar": "", "tar tf a.tar .": "", "tar cf a.tar --exclude=.env --exclude=sub .": "", "tar cf - . | cat": ".env sub/c.txt",
		"zip -r a.zip .": ".env sub/c.txt", "zip a.zip a.txt": "", "7z a x.7z .": ".env sub/c.txt", "mv sub y": "sub/c.txt", "mv a.txt .": "", "ln -s . y; cat y/sub/c.txt": ".env sub/c.txt y/sub/c.txt", "ln -s deep y": "",
		"find . -type f -exec cat {} +": ".env sub/c.txt", "find . -name '*.go' -exec cat {} +": "", "find . -name '*.txt' -exec cat {} ;": "sub/c.txt", "find sub | xargs cat": "sub/c.txt", "find . -type f | xargs ls": "", "ls sub | xargs cat": "sub/c.txt", "ls -a | xargs grep x": ".env sub/c.txt",
		"git log -p": "sub/c.txt", "git log": "", "git log --oneline -5": "", "git show": "sub/c.txt", "git show --stat": "", "git show HEAD:a.txt": "", "git diff": "sub/c.txt", "git diff --name-only": "", "git diff -- deep": "", "git diff -- sub": "sub/c.txt",
		"git archive HEAD": "sub/c.txt", "git show HEAD": "sub/c.txt", "git diff main..x": "sub/c.txt", "git diff HEAD~1 -- a.txt": "", "git cat-file --batch": "sub/c.txt", "git cat-file -t HEAD": "", "git stash show -p": "sub/c.txt", "git format-patch -1": "sub/c.txt", "git status": "", "git add .": "", "git -C sub show": "sub/c.txt",
	} {
		var got []string
		for _, p := range effects(rs, line, denied, ruled).Paths {
			if rel := rs.Rel(p.Real); denied(p.Abs, p.Real) && filepath.Dir(rel) != "y" && !filepath.IsAbs(rel) && !slices.Contains(got, rel) {
				got = append(got, rel)
			}
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: got %q, want %q", line, g, want)
		}
	}
}
