package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larva.dev/larva/internal/root"
)

// TestMentions: a changing command that names a guarded place counts as
// writing it, wherever in its words the name stands; one that only reads it,
// or leaves it out, does not.
func TestMentions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{".git/hooks", ".larva", "sub"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	rs, err := root.New(dir, nil, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	writes := func(line string) bool {
		for _, p := range Effects(rs, line).Paths {
			for _, part := range strings.Split(strings.ToLower(filepath.ToSlash(p.Real)), "/") {
				if p.Write && (part == ".git" || part == ".larva" || part == ".mcp.json") {
					return true
				}
			}
		}
		return false
	}
	for _, line := range []string{
		"cp --target-dir .git/hooks a.txt", "install -d .git/hooks/x", "tar xf x --directory=.git", "tar xf x --one-top-level=.git",
		"tar cf .git/config a.txt", "7z x -o.git x", "sed -n 'w .git/hooks/x' a.txt", `awk '{print > ".git/hooks/x"}' a.txt`,
		"vim -c 'w! .git/config'", "git apply --directory=.git x", "git mv .larva x", "git checkout HEAD -- .larva", "git restore .mcp.json",
		"go build -o .git/hooks/x .", "gcc -o .git/hooks/x x.c", "strace -o .git/hooks/x ls", "make -C .git x", "xargs touch <<< .git/config",
		"echo .git/config | xargs rm", `find .git/hooks -type f -exec chmod +x {} +`, "for f in .git/*; do rm $f; done",
		"cd sub && go build -o ../.git/hooks/x .", "python3 -c 'open(\".git/config\", \"w\")'", "perl -pi -e s/a/b/ .GIT/config",
	} {
		if !writes(line) {
			t.Errorf("%s: got no write to a guarded place, want one", line)
		}
	}
	for _, line := range []string{
		"git add .larva/config.cue", `git commit -m "touch .git/hooks"`, "git log -- .larva", "cat .git/config", "grep -r x .git/config",
		"cp .git/config backup", "go test ./...", "ls .git", "find . -name x -not -path './.git/*'",
		"find . -path ./.git -prune -o -name '*.tmp' -exec rm {} +", "find . -not -path './.git/*' -name '*.o' | xargs rm",
		"tar czf out.tgz --exclude=.git .", "rsync -a --exclude .git --exclude=.larva/ ./ sub/", "du -sh .git", "mkdir .github", "touch .gitignore",
	} {
		if writes(line) {
			t.Errorf("%s: counts as a write to a guarded place, want none", line)
		}
	}
}
