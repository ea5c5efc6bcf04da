//go:build unix

package root

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes a directory: names ending in "/" are directories, "a -> b" is a
// link, the rest are files.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		name, target, link := strings.Cut(n, " -> ")
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		switch {
		case link:
			err = os.Symlink(strings.ReplaceAll(target, "{}", dir), p)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(p, 0o755)
		case strings.HasSuffix(name, ".git"):
			err = os.WriteFile(p, []byte("gitdir: /elsewhere\n"), 0o644)
		default:
			err = os.WriteFile(p, nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestResolve(t *testing.T) {
	t.Parallel()
	d := tree(t,
		"proj/.git/HEAD", "proj/sub/file", "proj/sub/deep/x", "home/.ssh/id", "out/secret", "out/dir/f", "tmp/", "added/",
		"proj/in -> sub/file", "proj/away -> ../out", "proj/abs -> {}/out/secret", "proj/new -> ../out/not-yet",
		"proj/chain -> chain2", "proj/chain2 -> sub", "proj/loop -> loop2", "proj/loop2 -> loop",
		"proj/deep -> sub/deep", "proj/up -> ..", "proj/dangling -> nowhere", "proj/sub/back -> ../..", "linkproj -> proj")
	s, err := New(d+"/proj/sub", []string{"../../added"}, d+"/home", d+"/tmp")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Roots, []string{d + "/proj", d + "/added", d + "/tmp"}; !cmp.Equal(got, want) {
		t.Fatalf("roots %q, want %q", got, want)
	}
	for _, tt := range []struct {
		given, abs, real string
		outside          bool
	}{
		{"file", "proj/sub/file", "proj/sub/file", false},
		{"./file", "proj/sub/file", "proj/sub/file", false},
		{"", "proj/sub", "proj/sub", false},
		{".", "proj/sub", "proj/sub", false},
		{"../in", "proj/in", "proj/sub/file", false},
		{"../..", "", "", true},
		{"../../proj/in", "proj/in", "proj/sub/file", false},
		{"new/dir/file", "proj/sub/new/dir/file", "proj/sub/new/dir/file", false},
		{"new/../file", "proj/sub/file", "proj/sub/file", false},
		{"../away/secret", "proj/away/secret", "out/secret", true},
		{"../away/new/file", "proj/away/new/file", "out/new/file", true},
		{"../abs", "proj/abs", "out/secret", true},
		{"../new", "proj/new", "out/not-yet", true},
		{"../chain/file", "proj/chain/file", "proj/sub/file", false},
		{"../dangling", "proj/dangling", "proj/nowhere", false},
		// ".." leaves what the link leads to, not the link's own directory
		{"../away/../home/.ssh/id", "proj/home/.ssh/id", "home/.ssh/id", true},
		{"../deep/../file", "proj/file", "proj/sub/file", false},
		{"../away/../proj/sub/file", "proj/proj/sub/file", "proj/sub/file", false},
		{"back/out/secret", "proj/sub/back/out/secret", "out/secret", true},
		{"../up/added/x", "proj/up/added/x", "added/x", false},
		{"~/.ssh/id", "home/.ssh/id", "home/.ssh/id", true},
		{"~", "home", "home", true},
		{"~user/x", "proj/sub/~user/x", "proj/sub/~user/x", false},
		{"{}/tmp/a", "tmp/a", "tmp/a", false},
		{"{}/tmpx", "tmpx", "tmpx", true},
		{"{}/added", "added", "added", false},
		{"{}/proj//sub/./file", "proj/sub/file", "proj/sub/file", false},
		{"{}/linkproj/sub/file", "linkproj/sub/file", "proj/sub/file", true}, // named from outside
		{"{}/proj/../out/secret", "out/secret", "out/secret", true},
	} {
		given := strings.ReplaceAll(tt.given, "{}", d)
		p := s.Resolve(given, true)
		abs, real := filepath.Join(d, tt.abs), filepath.Join(d, tt.real)
		if p.Given != given || p.Abs != abs || p.Real != real || p.Outside != tt.outside || !p.Write || p.Unknown {
			t.Errorf("Resolve(%q) = %+v, want abs %s real %s outside %v", given, p, abs, real, tt.outside)
		}
	}
	if p := s.Resolve("../loop/x", false); !p.Outside || p.Write {
		t.Errorf("links in circles: %+v, want outside", p)
	}
	if p := s.ResolveFrom(d+"/out", "dir/f", false); p.Real != d+"/out/dir/f" || !p.Outside {
		t.Errorf("from another directory: %+v", p)
	}
	if p := s.Resolve("a\x00b", false); p.Real == "" || p.Outside {
		t.Errorf("a NUL: %+v, want it kept for the system to refuse", p)
	}
}

func TestResolveBelowAFile(t *testing.T) {
	t.Parallel()
	d := tree(t, "file")
	s, err := New(d, nil, "", "")
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Resolve("file/x", false); p.Real != d+"/file/x" || p.Outside {
		t.Errorf("got %+v", p)
	}
	if p := s.Resolve("~/x", false); p.Real != d+"/~/x" {
		t.Errorf("without a home: %+v, want an ordinary name", p)
	}
}

func TestProject(t *testing.T) {
	t.Parallel()
	d := tree(t, "repo/.git/HEAD", "repo/a/b/", "wt/.git", "wt/a/", "stray/.git/", "stray/a/", "odd/a/", "link -> repo", "repo/inner/.git", "repo/inner/x/")
	if err := os.WriteFile(filepath.Join(d, "odd", ".git"), []byte("no gitdir"), 0o644); err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string]string{
		"repo": "repo", "repo/a/b": "repo", "wt/a": "wt", "stray/a": "stray/a", "odd/a": "odd/a", "link/a": "repo", "repo/inner/x": "repo/inner",
	} {
		s, err := New(filepath.Join(d, cwd), nil, "", "")
		if err != nil {
			t.Fatal(err)
		}
		if want = filepath.Join(d, want); s.Project != want {
			t.Errorf("%s: project %s, want %s", cwd, s.Project, want)
		}
	}
}

// A root that is named through a link is inside by either name.
func TestRootsNamedThroughLinks(t *testing.T) {
	t.Parallel()
	d := tree(t, "real/proj/.git/HEAD", "real/proj/a/f", "real/tmp/", "via -> real")
	s, err := New(d+"/via/proj/a", nil, "", d+"/via/tmp")
	if err != nil {
		t.Fatal(err)
	}
	if s.Cwd != d+"/real/proj/a" || s.Temp != d+"/real/tmp" {
		t.Errorf("cwd %s temp %s, want them without links", s.Cwd, s.Temp)
	}
	for _, p := range []string{"/via/proj/a/f", "/real/proj/x", "/via/tmp/x", "/real/tmp/x"} {
		if got := s.Resolve(d+p, false); got.Outside {
			t.Errorf("%s: %+v, want inside", p, got)
		}
	}
	if got := s.Resolve(d+"/via", false); !got.Outside {
		t.Errorf("%+v, want outside", got)
	}
}

func TestNewErrors(t *testing.T) {
	t.Parallel()
	d := tree(t, "file", "dir/")
	for _, tt := range []struct {
		cwd       string
		add       []string
		temp, say string
	}{
		{"relative", nil, "", "not absolute"},
		{"", nil, "", "not absolute"},
		{d + "/none", nil, "", "working directory"},
		{d + "/file", nil, "", "not a directory"},
		{d, []string{"none"}, "", "added directory"},
		{d, []string{"dir", "file"}, "", "not a directory"},
		{d, nil, "rel", "not absolute"},
	} {
		if _, err := New(tt.cwd, tt.add, "", tt.temp); err == nil || !strings.Contains(err.Error(), tt.say) {
			t.Errorf("New(%q, %q, %q): got %v, want %q", tt.cwd, tt.add, tt.temp, err, tt.say)
		}
	}
}

func TestRelAndHolder(t *testing.T) {
	t.Parallel()
	d := tree(t, "p/.git/HEAD", "p/c/x", "p/inner/")
	s, err := New(d+"/p/c", []string{d + "/p/inner"}, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for abs, want := range map[string]string{"p/c": ".", "p/c/x/y": "x/y", "p": d + "/p", "p/cx": d + "/p/cx"} {
		if got := s.Rel(filepath.Join(d, abs)); got != want {
			t.Errorf("Rel(%s) = %s, want %s", abs, got, want)
		}
	}
	for real, want := range map[string][2]string{"p/c/x": {"p", "c/x"}, "p/inner/y": {"p/inner", "y"}, "p": {"p", "."}} {
		root, rest, ok := s.Holder(filepath.Join(d, real))
		if !ok || root != filepath.Join(d, want[0]) || rest != want[1] {
			t.Errorf("Holder(%s) = %s, %s, %v, want %s", real, root, rest, ok, want)
		}
	}
	if _, _, ok := s.Holder(d); ok {
		t.Errorf("Holder(%s) found a root", d)
	}
}

// The walk agrees with the system wherever the system can answer.
func FuzzFollow(f *testing.F) {
	d, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range []string{"a/b/c", "x/y"} {
		if err := os.MkdirAll(filepath.Join(d, p), 0o755); err != nil {
			f.Fatal(err)
		}
	}
	for name, target := range map[string]string{"a/l": "../x", "x/l": d + "/a/b", "a/b/l": "c", "l": "l2", "l2": "a/l/y", "x/loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(d, name)); err != nil {
			f.Fatal(err)
		}
	}
	for _, s := range []string{"a/b/c", "a/l/y", "a/l/../x", "x/l/l/..", "l/..", "x/loop/..", "../..", "a//./l/l/l/../c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := d + "/" + s
		got, ok := follow(raw)
		if !filepath.IsAbs(got) || filepath.Clean(got) != got {
			t.Errorf("follow(%q) = %q, want it absolute and clean", raw, got)
		}
		fi, err := os.Stat(raw) // the raw path: EvalSymlinks would clean it first
		if err != nil {
			return
		}
		fr, err := os.Lstat(got)
		if err != nil || !ok || !os.SameFile(fi, fr) {
			t.Errorf("follow(%q) = %q, %v (%v): not the file the system opens", raw, got, ok, err)
		}
	})
}

// Readable directories are inside for reading alone, and only with both the
// path and what it leads to in them.
func TestReadable(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for _, dir := range []string{"project", "skills/a", "other"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(filepath.Join(top, "project"), nil, top, "")
	if err != nil {
		t.Fatal(err)
	}
	skills := real(filepath.Join(top, "skills"))
	s.Readable = []string{skills}
	at := func(parts ...string) string { return filepath.Join(append([]string{real(top)}, parts...)...) }
	_ = os.Symlink(at("other"), at("skills", "out"))
	for path, outside := range map[string]bool{at("skills", "a", "x"): false, at("skills"): false, at("skills", "..", "other"): true,
		at("other", "x"): true, at("skillsx"): true, at("skills", "out", "x"): true} {
		if got := s.Resolve(path, false).Outside; got != outside {
			t.Errorf("reading %s: got outside %t, want %t", path, got, outside)
		}
		if !s.Resolve(path, true).Outside {
			t.Errorf("writing %s: got inside, want outside", path)
		}
	}
}
