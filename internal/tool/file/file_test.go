//go:build unix

package file

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"larva.dev/larva/internal/root"
	"larva.dev/larva/internal/tool"
)

// bench is a project in a temporary directory with the tools over it.
type bench struct {
	*testing.T
	dir   string // holds proj, home, out; proj is the working directory
	rs    *root.Set
	tools map[string]tool.Tool
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, dir: dir, tools: map[string]tool.Tool{}}
	for _, d := range []string{"proj/.git", "home", "out"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.put("proj/.git/HEAD", "ref: refs/heads/main\n")
	if b.rs, err = root.New(filepath.Join(dir, "proj"), nil, filepath.Join(dir, "home"), ""); err != nil {
		t.Fatal(err)
	}
	for _, tl := range New(b.rs, o) {
		b.tools[tl.Spec().Name] = tl
	}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) put(name, text string) {
	b.Helper()
	if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(b.path(name), []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) link(target, name string) {
	b.Helper()
	if err := os.Symlink(target, b.path(name)); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) get(name string) string {
	b.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.Fatal(err)
	}
	return string(data)
}

type args map[string]any

func (b *bench) call(name string, in args) tool.Call {
	b.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		b.Fatal(err)
	}
	return tool.Call{ID: "c1", Tool: name, Input: data}
}

// do judges and runs a call as the loop would.
func (b *bench) do(name string, in args) tool.Result {
	b.Helper()
	c := b.call(name, in)
	b.tools[name].Effects(c)
	return b.run(c)
}

func (b *bench) run(c tool.Call) tool.Result {
	b.Helper()
	r, err := b.tools[c.Tool].Run(b.Context(), c)
	if err != nil {
		b.Fatalf("%s %s: %v", c.Tool, c.Input, err)
	}
	return r
}

func (b *bench) ok(name string, in args, want string) {
	b.Helper()
	if r := b.do(name, in); r.IsError || r.Output != want {
		b.Errorf("%s %v: got %q error %v, want %q", name, in, r.Output, r.IsError, want)
	}
}

func (b *bench) fails(name string, in args, want string) {
	b.Helper()
	if r := b.do(name, in); !r.IsError || !strings.Contains(r.Output, want) {
		b.Errorf("%s %v: got %q error %v, want the error %q", name, in, r.Output, r.IsError, want)
	}
}

func TestSpecs(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	for name, parallel := range map[string]bool{"read": true, "write": false, "edit": false, "glob": true, "grep": true} {
		s := b.tools[name].Spec()
		var schema struct {
			Type       string         `json:"type"`
			Properties map[string]any `json:"properties"`
			Required   []string       `json:"required"`
		}
		if err := json.Unmarshal(s.Schema, &schema); err != nil || schema.Type != "object" || len(schema.Required) == 0 {
			t.Errorf("%s: schema %s: %v", name, s.Schema, err)
		}
		for _, r := range schema.Required {
			if schema.Properties[r] == nil {
				t.Errorf("%s: required %s is no property", name, r)
			}
		}
		if n := len(s.Description); s.Parallel != parallel || n < 40 || n > 900 {
			t.Errorf("%s: parallel %v, description of %d bytes; want %v, 40 to 900", name, s.Parallel, n, parallel)
		}
	}
}

func TestEffects(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("out/f", "")
	b.link("../out/f", "proj/away")
	for _, tt := range []struct {
		tool           string
		in             args
		abs, real      string
		write, outside bool
	}{
		{"read", args{"path": "a"}, "proj/a", "proj/a", false, false},
		{"read", args{"path": "away"}, "proj/away", "out/f", false, true},
		{"read", args{"path": "~/x"}, "home/x", "home/x", false, true},
		{"write", args{"path": "d/../a", "content": ""}, "proj/a", "proj/a", true, false},
		{"edit", args{"path": "away", "old_string": "a", "new_string": "b"}, "proj/away", "out/f", true, true},
		{"glob", args{"pattern": "src/**/*.go"}, "proj/src", "proj/src", false, false},
		{"glob", args{"pattern": "*.go", "path": "sub"}, "proj/sub", "proj/sub", false, false},
		{"glob", args{"pattern": "../out/*"}, "out", "out", false, true},
		{"glob", args{"pattern": "/*", "path": "sub"}, "", "", false, true},
		{"glob", args{"pattern": "~/*"}, "home", "home", false, true},
		{"glob", args{"pattern": "../*", "path": "sub"}, "proj", "proj", false, false},
		{"glob", args{"pattern": "go.mod"}, "proj", "proj", false, false},
		{"grep", args{"pattern": "x"}, "proj", "proj", false, false},
		{"grep", args{"pattern": "x", "path": "../out"}, "out", "out", false, true},
	} {
		e := b.tools[tt.tool].Effects(b.call(tt.tool, tt.in))
		abs, real := b.path(tt.abs), b.path(tt.real)
		if tt.in["pattern"] == "/*" {
			abs, real = "/", "/"
		}
		p := e.Paths[0]
		if len(e.Paths) != 1 || p.Abs != abs || p.Real != real || p.Write != tt.write || p.Outside != tt.outside {
			t.Errorf("%s %v: got %+v, want %s %s write %v outside %v", tt.tool, tt.in, e.Paths, abs, real, tt.write, tt.outside)
		}
		need := "read_only"
		if tt.write {
			need = "read_write"
		}
		if len(e.Needs) != 1 || e.Needs[0].Family != "filesystem" || e.Needs[0].Posture.String() != need || e.ReadOnly == tt.write || !e.Touches || e.Network {
			t.Errorf("%s: got %+v, want filesystem %s", tt.tool, e, need)
		}
	}
	for name, tl := range b.tools {
		if e := tl.Effects(tool.Call{Tool: name, Input: json.RawMessage(`{"path":7}`)}); len(e.Paths) != 1 || len(e.Needs) != 1 {
			t.Errorf("%s: broken input has effects %+v, want one path and one need", name, e)
		}
		if r, err := tl.Run(t.Context(), tool.Call{Tool: name, Input: json.RawMessage(`{"path":7}`)}); !r.IsError || err != nil {
			t.Errorf("%s: broken input gave %+v, %v", name, r, err)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("proj/a", "one\ntwo\nthree\n")
	b.put("proj/open", "one\ntwo")
	b.put("proj/crlf", "\uFEFFone\r\n\r\ntwo\r\n")
	b.put("proj/empty", "")
	b.put("proj/blank", "\n")
	b.put("proj/bin", "abc\x00def\n")
	b.put("proj/late", strings.Repeat("text\n", 100)+"\x00\n")
	b.put("proj/latin", "caf\xe9\n")
	b.put("proj/dir/f", "")
	b.put("out/f", "out\n")
	b.link("a", "proj/link")
	b.link("loop", "proj/loop")
	b.ok("read", args{"path": "a"}, "     1\tone\n     2\ttwo\n     3\tthree\n")
	b.ok("read", args{"path": "open"}, "     1\tone\n     2\ttwo\n")
	b.ok("read", args{"path": "crlf"}, "     1\tone\n     2\t\n     3\ttwo\n")
	b.ok("read", args{"path": "blank"}, "     1\t\n")
	b.ok("read", args{"path": "empty"}, "(the file is empty)\n")
	b.ok("read", args{"path": "empty", "offset": 1}, "(the file is empty)\n")
	b.ok("read", args{"path": "latin"}, "     1\tcaf\uFFFD\n")
	b.ok("read", args{"path": "link"}, "     1\tone\n     2\ttwo\n     3\tthree\n")
	b.ok("read", args{"path": b.path("proj/a"), "offset": 2, "limit": 1}, "     2\ttwo\n(more lines follow; go on with offset 3)\n")
	b.ok("read", args{"path": "a", "offset": 3, "limit": 1}, "     3\tthree\n")
	b.ok("read", args{"path": "a", "offset": 2.0, "limit": 1e300}, "     2\ttwo\n     3\tthree\n")
	b.ok("read", args{"path": "late", "limit": 1}, "     1\ttext\n(more lines follow; go on with offset 2)\n")
	b.ok("read", args{"path": "../out/f"}, "     1\tout\n") // judged, and allowed by whoever calls
	b.fails("read", args{"path": "a", "offset": 4}, "a: offset 4 is past the end: the file has 3 lines")
	b.fails("read", args{"path": "empty", "offset": 2}, "the file has 0 lines")
	b.fails("read", args{"path": "blank", "offset": 2}, "the file has 1 line")
	b.fails("read", args{"path": "bin"}, "bin is a binary file")
	b.fails("read", args{"path": "late"}, "binary")
	b.fails("read", args{"path": "dir"}, "dir is a directory; list it with glob")
	b.fails("read", args{"path": "."}, "is a directory")
	b.fails("read", args{"path": "none"}, "none: no such file or directory")
	b.fails("read", args{"path": "a/b"}, "not a directory")
	b.fails("read", args{"path": ""}, "path is empty")
	b.fails("read", args{"path": "loop"}, "elsewhere")
	b.fails("read", args{"path": "a\x00b"}, "a\x00b:")
}

func TestReadLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("proj/many", strings.Repeat("x\n", 2001))
	b.put("proj/exact", strings.Repeat("x\n", 2000))
	b.put("proj/wide", strings.Repeat("é", 1500)+"\nnext\n")
	b.put("proj/fits", strings.Repeat("y", 2000)+"\r\n")
	b.put("proj/fat", strings.Repeat(strings.Repeat("z", 999)+"\n", 200))
	b.put("proj/endless", strings.Repeat("w", 3<<20))
	r := b.do("read", args{"path": "many", "limit": 9999})
	if n := strings.Count(r.Output, "\tx\n"); n != 2000 || !strings.HasSuffix(r.Output, "(more lines follow; go on with offset 2001)\n") {
		t.Errorf("got %d lines …%q, want 2000", n, r.Output[len(r.Output)-60:])
	}
	if r := b.do("read", args{"path": "exact"}); strings.Contains(r.Output, "more lines") {
		t.Errorf("2000 lines: got …%q, want no note", r.Output[len(r.Output)-60:])
	}
	b.ok("read", args{"path": "wide"}, "     1\t"+strings.Repeat("é", 1000)+" [… line of 3000 bytes, cut]\n     2\tnext\n")
	b.ok("read", args{"path": "fits"}, "     1\t"+strings.Repeat("y", 2000)+"\n")
	b.ok("read", args{"path": "endless"}, "     1\t"+strings.Repeat("w", 2000)+" [… line of 3145728 bytes, cut]\n")
	r = b.do("read", args{"path": "fat"})
	if len(r.Output) > maxReadBytes || len(r.Output) < maxReadBytes-1500 || !strings.HasSuffix(r.Output, "; go on with offset 60)\n") {
		t.Errorf("got %d bytes …%q, want just under %d", len(r.Output), r.Output[len(r.Output)-60:], maxReadBytes)
	}
	if got := b.tools["read"].Spec().MaxOutput; got != maxReadBytes {
		t.Errorf("MaxOutput %d, want %d", got, maxReadBytes)
	}
}

func TestReadSpecialFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	mkfifo(t, b.path("proj/pipe"))
	b.fails("read", args{"path": "pipe"}, "not a regular file")
	b.fails("read", args{"path": "/dev/zero"}, "not a regular file")
	b.fails("grep", args{"path": "pipe", "pattern": "x"}, "not a regular file")
	b.fails("write", args{"path": "pipe", "content": "x"}, "not a regular file")
	b.fails("edit", args{"path": "pipe", "old_string": "x", "new_string": "y"}, "not a regular file")
}

func TestWrite(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.ok("write", args{"path": "new/deep/a.txt", "content": "one\ntwo"}, "created new/deep/a.txt (2 lines)")
	b.ok("write", args{"path": "new/deep/a.txt", "content": "one\n"}, "overwrote new/deep/a.txt (1 line)") // our own writing is known
	b.ok("write", args{"path": "empty", "content": ""}, "created empty (0 lines)")
	if got := b.get("proj/new/deep/a.txt"); got != "one\n" {
		t.Errorf("got %q", got)
	}
	b.put("proj/old", "before")
	b.fails("write", args{"path": "old", "content": "x"}, "old has not been read in this run; read it first")
	b.do("read", args{"path": "old"})
	b.put("proj/old", "longer than before")
	b.fails("write", args{"path": "old", "content": "x"}, "old has changed since it was read")
	b.do("read", args{"path": "old"})
	same := time.Now().Add(-time.Hour)
	if err := os.Chtimes(b.path("proj/old"), same, same); err != nil {
		t.Fatal(err)
	}
	b.fails("write", args{"path": "old", "content": "x"}, "changed since")
	b.do("read", args{"path": "old", "limit": 1})
	b.ok("write", args{"path": "old", "content": "x"}, "overwrote old (1 line)")
	b.put("proj/dir/f", "")
	b.fails("write", args{"path": "dir", "content": "x"}, "dir is a directory")
	b.fails("write", args{"path": ".", "content": "x"}, "is a directory")
	b.fails("write", args{"path": "fresh/", "content": "x"}, "names a directory")
	b.fails("write", args{"path": "old/sub/x", "content": "x"}, "old is not a directory")
	b.fails("write", args{"path": "", "content": "x"}, "path is empty")
	left, err := filepath.Glob(b.path("proj/.larva-*"))
	if len(left) != 0 || err != nil {
		t.Errorf("temporary files are left: %q %v", left, err)
	}
	if _, err := os.Stat(b.path("proj/fresh")); err == nil {
		t.Error("a refused write made a directory")
	}
}

func TestWriteKeepsModeAndBreaksHardLinks(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("proj/run.sh", "old")
	b.put("out/other", "shared")
	if err := os.Chmod(b.path("proj/run.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(b.path("out/other"), b.path("proj/linked")); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{"run.sh", "linked"} {
		b.do("read", args{"path": f})
		b.ok("write", args{"path": f, "content": "new\n"}, "overwrote "+f+" (1 line)")
	}
	fi, err := os.Stat(b.path("proj/run.sh"))
	if err != nil || fi.Mode().Perm() != 0o750 {
		t.Errorf("mode %v %v, want 0750", fi.Mode(), err)
	}
	if got := b.get("out/other"); got != "shared" {
		t.Errorf("the other hard link holds %q, want shared", got)
	}
	b.put("proj/locked", "x")
	if err := os.Chmod(b.path("proj/locked"), 0o444); err != nil {
		t.Fatal(err)
	}
	b.do("read", args{"path": "locked"})
	b.fails("write", args{"path": "locked", "content": "y"}, "locked is read-only")
	b.fails("edit", args{"path": "locked", "old_string": "x", "new_string": "y"}, "locked is read-only")
}

func TestWriteThroughALinkInside(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("proj/real/f", "old")
	b.link("real/f", "proj/link")
	b.do("read", args{"path": "link"})
	b.ok("write", args{"path": "link", "content": "new"}, "overwrote link (1 line)")
	fi, err := os.Lstat(b.path("proj/link"))
	if err != nil || fi.Mode()&os.ModeSymlink == 0 || b.get("proj/real/f") != "new" {
		t.Errorf("link %v %v, file %q; want the link kept and its target written", fi.Mode(), err, b.get("proj/real/f"))
	}
}

// What was judged is what is done, whatever is put in the way meanwhile.
func TestSwappedLinks(t *testing.T) {
	t.Parallel()
	type swap func(b *bench)
	replaceBy := func(name, target string) swap {
		return func(b *bench) {
			if err := os.Rename(b.path(name), b.path(name+".was")); err != nil && !os.IsNotExist(err) {
				b.Fatal(err)
			}
			b.link(target, name)
		}
	}
	for _, tt := range []struct {
		name string
		tool string
		in   args
		do   swap
	}{
		{"a file by a link out", "write", args{"path": "d/f", "content": "evil"}, replaceBy("proj/d/f", "../../out/f")},
		{"a directory by a link out", "write", args{"path": "d/f", "content": "evil"}, replaceBy("proj/d", "../out")},
		{"a new file by a link out", "write", args{"path": "d/new", "content": "evil"}, replaceBy("proj/d/new", "../../out/new")},
		{"a new directory by a link out", "write", args{"path": "n/new", "content": "evil"}, replaceBy("proj/n", "../out")},
		{"a directory by a link within", "write", args{"path": "d/hooks", "content": "evil"}, replaceBy("proj/d", ".git")},
		{"edit through a link", "edit", args{"path": "d/f", "old_string": "text", "new_string": "evil"}, replaceBy("proj/d", "../out")},
		{"read through a link", "read", args{"path": "d/f"}, replaceBy("proj/d", "../out")},
		{"read a link", "read", args{"path": "d/f"}, replaceBy("proj/d/f", "../../out/f")},
		{"grep a link", "grep", args{"path": "d/f", "pattern": "."}, replaceBy("proj/d/f", "../../out/f")},
		{"grep through a link", "grep", args{"path": "d", "pattern": "."}, replaceBy("proj/d", "../out")},
		{"glob through a link", "glob", args{"pattern": "d/*"}, replaceBy("proj/d", "../out")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{})
			b.put("proj/d/f", "text")
			b.put("out/f", "secret text")
			b.do("read", args{"path": "d/f"})
			c := b.call(tt.tool, tt.in)
			b.tools[tt.tool].Effects(c)
			tt.do(b)
			r := b.run(c)
			if !r.IsError || strings.Contains(r.Output, "secret") {
				t.Errorf("got %q error %v, want a refusal", r.Output, r.IsError)
			}
			if got := b.get("out/f"); got != "secret text" {
				t.Errorf("the file outside holds %q", got)
			}
			for _, n := range []string{"out/new", "proj/.git/hooks"} {
				if _, err := os.Lstat(b.path(n)); err == nil {
					t.Errorf("%s was made", n)
				}
			}
			// Nor without having been judged at all.
			fresh := newTools(b.rs)[tt.tool]
			if r, err := fresh.Run(t.Context(), c); err != nil || strings.Contains(r.Output, "secret") {
				t.Errorf("never judged: got %q %v", r.Output, err)
			}
			if got := b.get("out/f"); got != "secret text" {
				t.Errorf("never judged: the file outside holds %q", got)
			}
		})
	}
}

func newTools(rs *root.Set) map[string]tool.Tool {
	out := map[string]tool.Tool{}
	for _, tl := range New(rs, Options{}) {
		out[tl.Spec().Name] = tl
	}
	return out
}

// The last stretch, between resolving and opening, is raced for real: a
// directory that flips between itself and a link out.
func TestRacedLink(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("proj/d/f", "inside")
	b.put("out/f", "outside")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(b.path("proj/d"), b.path("proj/away"))
			_ = os.Symlink("../out", b.path("proj/d"))
			_ = os.Remove(b.path("proj/d"))
			_ = os.Rename(b.path("proj/away"), b.path("proj/d"))
		}
	}()
	inside := 0
	for range 500 {
		for name, in := range map[string]args{"write": {"path": "d/new", "content": "x"}, "read": {"path": "d/f"}} {
			c := b.call(name, in)
			if b.tools[name].Effects(c).Paths[0].Outside {
				continue // the judge would have refused
			}
			inside++
			if r := b.run(c); strings.Contains(r.Output, "outside") {
				t.Fatalf("read the file outside: %q", r.Output)
			}
		}
	}
	close(stop)
	<-ended
	if _, err := os.Lstat(b.path("out/new")); err == nil || inside == 0 {
		t.Errorf("of %d calls judged as inside one wrote outside", inside)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	b.put("proj/a", "text\n")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, in := range map[string]args{
		"write": {"path": "new", "content": "x"}, "edit": {"path": "a", "old_string": "text", "new_string": "x"},
		"glob": {"pattern": "*"}, "grep": {"pattern": "text"},
	} {
		c := b.call(name, in)
		b.tools[name].Effects(c)
		if r, err := b.tools[name].Run(ctx, c); !r.IsError || err != nil {
			t.Errorf("%s: got %+v, %v, want an error result", name, r, err)
		}
	}
	if _, err := os.Lstat(b.path("proj/new")); err == nil || b.get("proj/a") != "text\n" {
		t.Error("a cancelled call changed files")
	}
}

func TestSchemasKeepTheInputsOfTheContract(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	for name, want := range map[string][]string{
		"read": {"limit", "offset", "path"}, "write": {"content", "path"}, "edit": {"new_string", "old_string", "path", "replace_all"},
		"glob": {"path", "pattern"}, "grep": {"glob", "ignore_case", "path", "pattern"},
	} {
		var schema struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(b.tools[name].Spec().Schema, &schema); err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for k := range schema.Properties {
			got[k] = true
		}
		wantSet := map[string]bool{}
		for _, k := range want {
			wantSet[k] = true
		}
		if !cmp.Equal(got, wantSet) {
			t.Errorf("%s: got %v, want %v", name, got, wantSet)
		}
	}
}
