package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/proc"
)

// TestMain lets the test binary be the helper of its own walls.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == HelperVerb {
		os.Exit(Helper(context.Background(), os.Args[2:], os.Stderr))
	}
	os.Exit(m.Run())
}

// house is a project with a home, a secret in each, and a place outside.
type house struct {
	home, project, outside, temp, state string
	o                                   Options
}

func build(t *testing.T) *house {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{home: base + "/home", project: base + "/home/work", outside: base + "/outside", temp: base + "/temp", state: base + "/state"}
	for _, d := range []string{h.home + "/.ssh", h.project + "/src", h.outside, h.temp} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, h.home+"/.ssh/id_test", "SECRET-SSH")
	put(t, h.home+"/.netrc", "SECRET-NETRC")
	put(t, h.project+"/.env", "SECRET-ENV")
	put(t, h.project+"/src/.env.local", "SECRET-DEEP")
	put(t, h.project+"/README", "readable\n")
	put(t, h.outside+"/file", "outside\n")
	git(t, h.project, "init", "-q")
	h.o = Options{Project: h.project, Cwd: h.project, Roots: []string{h.project, h.temp}, Temp: h.temp, Home: h.home, State: h.state,
		Environ: os.Environ(), Denied: func(abs, real string) bool {
			return within(h.home+"/.ssh", real) || strings.HasPrefix(filepath.Base(real), ".env") || filepath.Base(real) == ".netrc"
		}}
	return h
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	r, err := proc.Run(t.Context(), proc.Command{Argv: append([]string{"git", "-c", "user.name=a", "-c", "user.email=a@b.test", "-c", "init.defaultBranch=main"}, args...), Dir: dir, Merge: true})
	if err != nil || r.Exit != 0 {
		t.Fatalf("git %v: %v, exit %d: %s", args, err, r.Exit, r.Stdout)
	}
	return string(r.Stdout)
}

// wall is one of the kind, or a skip. Where the machine of the checks lacks
// it, that is a failure.
func wall(t *testing.T, kind string, o Options) *Wall {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Probe(t.Context(), Machine{Kind: kind, Self: []string{exe, HelperVerb}, Environ: os.Environ()})
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is missing: %v", kind, err)
		}
		t.Skipf("%s is missing: %v", kind, err)
	}
	w := f.Wall(o)
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// in runs a line inside the wall.
func in(t *testing.T, w *Wall, line string, env ...string) (proc.Result, []string) {
	t.Helper()
	argv, e, done, err := w.Wrap([]string{"/bin/bash", "--noprofile", "--norc", "-c", line}, append(proc.Env(os.Environ()), env...), WrapOptions{Dir: w.o.Cwd})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	r, err := proc.Run(t.Context(), proc.Command{Argv: argv, Env: e, Dir: w.o.Cwd, Merge: true, Timeout: 20 * time.Second, Leave: true})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return r, done()
}

// attempts are what a command may try. Each prints ESCAPED where it gets
// through; after is checked outside once it has ended.
func attempts(h *house, parent int, tcp, abstract string) []attempt {
	none := func(path string) func() string {
		return func() string {
			if _, err := os.Lstat(path); err == nil {
				return path + " exists"
			}
			return ""
		}
	}
	same := func(path, want string) func() string {
		return func() string {
			if b, _ := os.ReadFile(path); string(b) != want {
				return fmt.Sprintf("%s holds %q", path, b)
			}
			return ""
		}
	}
	config, _ := os.ReadFile(h.project + "/.git/config")
	return []attempt{
		{"write /etc", `echo x > /etc/larva-escape && echo ESCAPED`, none("/etc/larva-escape"), 0},
		{"write outside", `echo x > ` + h.outside + `/new && echo ESCAPED; echo x >> ` + h.outside + `/file && echo ESCAPED`, same(h.outside+"/file", "outside\n"), 0},
		{"write home", `echo x > ` + h.home + `/.bashrc && echo ESCAPED`, none(h.home + "/.bashrc"), 0},
		{"remove outside", `rm -rf ` + h.outside + `/file; [ -e ` + h.outside + `/file ] || true`, same(h.outside+"/file", "outside\n"), 0},
		{"link out and write", `ln -s ` + h.outside + ` l && echo x > l/through && echo ESCAPED; rm -f l`, none(h.outside + "/through"), 0},
		{"hard link out", `ln ` + h.outside + `/file h && echo x >> h; rm -f h`, same(h.outside+"/file", "outside\n"), 0},
		{"rename out", `echo x > r; mv r ` + h.outside + `/moved && echo ESCAPED; rm -f r`, none(h.outside + "/moved"), 0},
		{"read ssh", `cat ` + h.home + `/.ssh/id_test | grep -q SECRET && echo ESCAPED`, nil, 0},
		{"read netrc", `cat < ` + h.home + `/.netrc | grep -q SECRET && echo ESCAPED`, nil, 0},
		{"read ssh by a link", `ln -s ` + h.home + `/.ssh s; cat s/id_test | grep -q SECRET && echo ESCAPED; rm -f s`, nil, 0},
		{"find secrets", `grep -rqs SECRET-SSH ` + h.home + ` && echo ESCAPED`, nil, 0},
		{"remount as root", `mount -o remount,rw,bind / && echo ESCAPED; echo x > /etc/larva-escape && echo ESCAPED`, none("/etc/larva-escape"), 0},
		{"remount in a namespace", `unshare -Urm sh -c 'mount -o remount,rw,bind / && echo x > /etc/larva-escape && echo ESCAPED'`, none("/etc/larva-escape"), 0},
		{"umount a held place", `umount ` + h.project + `/.git/config && echo ESCAPED; umount -l ` + h.home + `/.ssh && echo ESCAPED`, nil, 0},
		{"mount over", `mount -t tmpfs x ` + h.project + `/.git/hooks && echo ESCAPED`, nil, 0},
		{"chroot through proc", `echo x > /proc/1/root/etc/larva-escape && echo ESCAPED; echo x > /proc/self/root/etc/larva-escape && echo ESCAPED`, none("/etc/larva-escape"), 0},
		{"parent's environment", `for p in ` + strconv.Itoa(parent) + ` $PPID 1; do tr '\0' '\n' < /proc/$p/environ | grep -q LARVA_TEST_SECRET && echo ESCAPED; done`, nil, 0},
		{"kill parent", `kill -0 ` + strconv.Itoa(parent) + ` && echo ESCAPED`, nil, 0},
		{"git hook", `mkdir -p .git/hooks; printf '#!/bin/sh\n' > .git/hooks/larva-test`, none(h.project + "/.git/hooks/larva-test"), 0},
		{"git config", `git config core.fsmonitor evil; echo '[core]' >> .git/config`, same(h.project+"/.git/config", string(config)), 0},
		{"replace git", `mv .git .git2 && mkdir .git && cp -r .git2/. .git && echo '[x]' >> .git/config; [ -d .git2 ] && rm -rf .git && mv .git2 .git`, same(h.project+"/.git/config", string(config)), bubbleOnly},
		{"git commondir", `echo /tmp/x > .git/commondir`, none(h.project + "/.git/commondir"), 0},
		{"claude settings", `mkdir -p .claude && echo '{}' > .claude/settings.json`, none(h.project + "/.claude"), 0},
		{"servers", `rm -f .mcp.json; echo '{"mcpServers":{}}' > .mcp.json`, none(h.project + "/.mcp.json"), 0},
		{"own configuration", `mkdir -p .larva && echo x > .larva/config.toml`, none(h.project + "/.larva"), 0},
		{"tcp out", `(exec 3<>/dev/tcp/` + strings.Replace(tcp, ":", "/", 1) + `) && echo ESCAPED`, nil, 0},
		{"abstract socket", `python3 -c 'import socket; s=socket.socket(socket.AF_UNIX); s.connect("\0` + abstract + `"); print("ESCAPED")'`, nil, 0},
		{"multipath tcp", `python3 -c 'import socket; s=socket.socket(socket.AF_INET,socket.SOCK_STREAM,262); s.connect(("` + strings.Split(tcp, ":")[0] + `",` + strings.Split(tcp, ":")[1] + `)); print("ESCAPED")'`, nil, 0},
		{"secret in the project", `cat .env src/.env.local | grep -q SECRET && echo ESCAPED`, nil, bubbleOnly},
		{"secret made readable", `chmod 644 .env; cat .env | grep -q SECRET && echo ESCAPED; mv .env e2; cp .env e3; cat e2 e3 | grep -q SECRET && echo ESCAPED; rm -f e3`, same(h.project+"/.env", "SECRET-ENV"), bubbleOnly},
		{"rename around a secret", `mv src src2; cat src2/.env.local | grep -q SECRET && echo ESCAPED; mv src2 src`, same(h.project+"/src/.env.local", "SECRET-DEEP"), bubbleOnly},
		{"shared tmp", `echo x > /tmp/larva-escape-` + strconv.Itoa(parent), none("/tmp/larva-escape-" + strconv.Itoa(parent)), 0},
		{"shared memory", `echo x > /dev/shm/larva-escape-` + strconv.Itoa(parent), none("/dev/shm/larva-escape-" + strconv.Itoa(parent)), 0},
		{"device file", `mknod d b 8 0 && echo ESCAPED; rm -f d`, none(h.project + "/d"), 0},
		{"kernel settings", `cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness && echo ESCAPED; cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern && echo ESCAPED`, nil, 0},
	}
}

type attempt struct {
	name, line string
	after      func() string
	kinds      int
}

const bubbleOnly = 1

func TestEscape(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{Bubblewrap, Landlock} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			w := wall(t, kind, h.o)
			tcp, abstract := listen(t)
			for _, a := range attempts(h, os.Getpid(), tcp, abstract) {
				if a.kinds == bubbleOnly && kind != Bubblewrap {
					continue
				}
				r, _ := in(t, w, a.line)
				if strings.Contains(string(r.Stdout), "ESCAPED") {
					t.Errorf("%s: got out:\n%s", a.name, r.Stdout)
				}
				if a.after != nil {
					if left := a.after(); left != "" {
						t.Errorf("%s: %s\n%s", a.name, left, r.Stdout)
					}
				}
			}
		})
	}
}

// listen offers what a command must not reach: TCP on an address of the
// machine, and an abstract socket.
func listen(t *testing.T) (tcp, abstract string) {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	abstract = "larva-test-" + strconv.Itoa(os.Getpid()) + strings.ReplaceAll(t.Name(), "/", "-")
	un, err := net.Listen("unix", "@"+abstract)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { un.Close() })
	return ln.Addr().String(), abstract
}

// TestWork is what a command must be able to do all the same.
func TestWork(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{Bubblewrap, Landlock} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			w := wall(t, kind, h.o)
			for _, c := range []struct{ line, want string }{
				{`cat README`, "readable\n"},
				{`echo new > top && cat top`, "new\n"},
				{`mkdir -p a/b && echo x > a/b/c && mv a/b/c d && cat d`, "x\n"},
				{`echo t > "$TMPDIR/t" && cat "$TMPDIR/t"`, "t\n"},
				{`cat <(echo sub)`, "sub\n"},
				{`cat <<< here`, "here\n"},
				{`echo x > /dev/null && head -c 1 /dev/zero | wc -c`, "1\n"},
				{`git add README top && git -c user.name=a -c user.email=a@b.test commit -qm one && git log --format=%s`, "one\n"},
				{`git status --porcelain --untracked-files=no; echo $?`, "0\n"},
				{`git checkout -q -b side && git branch --show-current`, "side\n"},
				{`exit 7`, ""},
				{`ls ` + h.home + ` | head -1; echo done`, "work\ndone\n"},
				{`python3 -c 'import os; print(len(os.urandom(4)))'`, "4\n"},
			} {
				r, _ := in(t, w, c.line, "TMPDIR="+h.temp)
				if got := string(r.Stdout); got != c.want || (r.Exit != 0) != (c.line == "exit 7") {
					t.Errorf("%s: got %q, exit %d, want %q", c.line, got, r.Exit, c.want)
				}
			}
			if got, want := git(t, h.project, "log", "--format=%s"), "one\n"; got != want {
				t.Errorf("outside git log says %q, want %q", got, want)
			}
		})
	}
}

// TestNothingIsLeft: placeholders, marks and directories of ours are gone, and
// git has not seen them.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	h := build(t)
	w := wall(t, Bubblewrap, h.o)
	before := tree(t, h.project)
	r, _ := in(t, w, `git status --porcelain; ls -a | grep -c -e .mcp.json -e .claude`)
	if got, want := string(r.Stdout), "?? .env\n?? README\n?? src/\n2\n"; got != want {
		t.Errorf("inside: got %q, want %q", got, want)
	}
	if after := tree(t, h.project); after != before {
		t.Errorf("left behind: got\n%s\nwant\n%s", after, before)
	}
	dir := w.dir
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); err == nil {
		t.Errorf("%s is left", dir)
	}
}

func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !strings.Contains(p, "/.git/objects") {
			b.WriteString(p + "\n")
		}
		return nil
	})
	return b.String()
}

// TestLeftoversDie: what leaves the process group and the session ends with
// the command.
func TestLeftoversDie(t *testing.T) {
	t.Parallel()
	h := build(t)
	w := wall(t, Bubblewrap, h.o)
	in(t, w, `setsid sh -c 'echo up > up; exec sleep 30' >/dev/null 2>&1 </dev/null & while ! [ -s up ]; do :; done`)
	r, _ := in(t, w, `ps ax 2>/dev/null | grep -c '[s]leep 30'`)
	if got := strings.TrimSpace(string(r.Stdout)); got != "0" {
		t.Errorf("inside: %s leftovers, want 0", got)
	}
	out, err := proc.Run(t.Context(), proc.Command{Argv: []string{"sh", "-c", `for p in /proc/[0-9]*; do tr '\0' ' ' < $p/cmdline 2>/dev/null | grep -q '^sleep 30 $' && readlink $p/cwd; done; true`}})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out.Stdout), h.project) {
		t.Errorf("a leftover runs on: %s", out.Stdout)
	}
}

// TestReadOnly: nothing but the private temp directory can be written.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{Bubblewrap, Landlock} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := build(t)
			h.o.ReadOnly = true
			w := wall(t, kind, h.o)
			before := tree(t, h.project)
			r, _ := in(t, w, `cat README; echo x > new; echo x >> README; rm -f README; git add README; echo t > "$TMPDIR/t" && cat "$TMPDIR/t"; cat `+h.home+`/.ssh/id_test`, "TMPDIR="+h.temp)
			out := string(r.Stdout)
			if !strings.HasPrefix(out, "readable\n") || !strings.Contains(out, "\nt\n") || strings.Contains(out, "SECRET") {
				t.Errorf("got %s, want README and t, and no secret", out)
			}
			if after := tree(t, h.project); after != before {
				t.Errorf("changed: got\n%s\nwant\n%s", after, before)
			}
			if b, _ := os.ReadFile(h.project + "/README"); string(b) != "readable\n" {
				t.Errorf("README holds %q", b)
			}
		})
	}
}
