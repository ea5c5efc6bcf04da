package worktree

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// bench is a repository with a home and a data directory of its own.
type bench struct {
	t          *testing.T
	home       string
	data, repo string
	env        []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, home: filepath.Join(top, "home"), data: filepath.Join(top, "data"), repo: filepath.Join(top, "demo")}
	b.env = []string{"HOME=" + b.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1"}
	b.write("home/.gitconfig", gitConfig)
	first.Do(func() {
		dir, err := os.MkdirTemp("", "larva-first-")
		if err != nil {
			t.Fatal(err)
		}
		firstDir = dir
		b := &bench{t: t, repo: firstDir, env: b.env}
		b.git("init", "-q", "--template=")
		b.put("a.txt", "one\n")
		b.put("sub/b.txt", "b\n")
		b.put(".gitignore", "*.log\n.env\nbuild/\n")
		b.git("add", ".")
		b.git("commit", "-q", "-m", "First")
		b.git("checkout", "-q", "-b", "other")
		b.put("o", "other\n")
		b.git("add", "o")
		b.git("commit", "-qm", "Other")
		b.git("checkout", "-q", "main")
	})
	if err := os.CopyFS(b.repo, os.DirFS(firstDir)); err != nil {
		t.Fatal(err)
	}
	return b
}

const gitConfig = "[user]\n\tname = Demo\n\temail = demo@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n"

// The repository that every bench begins with: main, and other with one commit
// more. Making it takes longer than copying it.
var (
	first    sync.Once
	firstDir string
)

// TestMain lets one test run at a time where nobody says otherwise: nearly all
// of their time is the kernel's, starting git, and on a virtual machine of two
// processors two at once took about as long (24 s, not 28) at half as much
// processor time again (46 s, not 29), which other rooms' tests wait for.
func TestMain(m *testing.M) {
	flag.Parse()
	said := false
	flag.Visit(func(f *flag.Flag) { said = said || f.Name == "test.parallel" })
	if !said {
		_ = flag.Set("test.parallel", "1")
	}
	code := m.Run()
	if firstDir != "" {
		_ = os.RemoveAll(firstDir)
	}
	os.Exit(code)
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// write writes below the bench's top, put below the repository.
func (b *bench) write(path, text string) { write(b.t, filepath.Join(filepath.Dir(b.repo), path), text) }
func (b *bench) put(path, text string)   { write(b.t, filepath.Join(b.repo, path), text) }

func write(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// git runs in the repository, in the ordinary way: hooks, filters and all.
func (b *bench) git(args ...string) string { b.t.Helper(); return b.gitIn(b.repo, args...) }

func (b *bench) gitIn(dir string, args ...string) string {
	b.t.Helper()
	out, err := b.try(dir, args...)
	if err != nil {
		b.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimRight(out, "\n")
}

func (b *bench) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, b.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (b *bench) options() Options {
	return Options{Cwd: b.repo, Data: b.data, Environ: b.env}
}

func (b *bench) create(change ...func(*Options)) *Tree {
	b.t.Helper()
	o := b.options()
	for _, f := range change {
		f(&o)
	}
	t, err := Create(context.Background(), o)
	if err != nil {
		b.t.Fatalf("create: %v", err)
	}
	b.t.Cleanup(t.Release)
	return t
}

func (b *bench) finish(t *Tree) Report {
	b.t.Helper()
	r, err := t.Finish(context.Background())
	if err != nil {
		b.t.Fatalf("finish: %v\n%s", err, r.Text())
	}
	return r
}

// branches are the repository's, sorted.
func (b *bench) branches() string {
	return strings.ReplaceAll(b.git("for-each-ref", "--format=%(refname:short)", "refs/heads"), "\n", " ")
}

// same fails where got is not want.
func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// has fails where text holds not every one of the words.
func has(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s: got %q, want it to hold %q", what, text, w)
		}
	}
}
