package sandbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"larva.dev/larva/internal/diag"
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

// TestDomains goes to a server outside through the wall's proxy.
func TestDomains(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer up.Close()
	h := build(t)
	h.o.Domains = []string{"127.0.0.1"}
	w := wall(t, Bubblewrap, h.o)
	get := func(url string) string {
		return `env -u no_proxy -u NO_PROXY python3 -c 'import urllib.request,sys
try: print(urllib.request.build_opener(urllib.request.ProxyHandler({"http":"http://127.0.0.1:3128"})).open(sys.argv[1],timeout=10).read().decode())
except Exception as e: print("refused", e)' ` + url
	}
	r, _ := in(t, w, get(up.URL)+`; exit 3`)
	if got := string(r.Stdout); got != "hello\n" || r.Exit != 3 {
		t.Errorf("got %q, exit %d, want hello and 3", got, r.Exit)
	}
	r, _ = in(t, w, get("http://other.test/")+`; `+get("http://169.254.169.254/latest/meta-data/")+`; env | grep -i -c _proxy`)
	if got := string(r.Stdout); strings.Count(got, "refused HTTP Error 403") != 2 || !strings.HasSuffix(got, "8\n") {
		t.Errorf("got %q, want two refusals and 8 variables", got)
	}
	if got, want := fmt.Sprint(w.Refused()), "[169.254.169.254 other.test]"; got != want {
		t.Errorf("refused: got %s, want %s", got, want)
	}
	// The proxy is the only way: the machine's own network is not there.
	r, _ = in(t, w, `(exec 3<>/dev/tcp/`+strings.Replace(up.Listener.Addr().String(), ":", "/", 1)+`) 2>/dev/null && echo ESCAPED; true`)
	if strings.Contains(string(r.Stdout), "ESCAPED") {
		t.Error("the server was reached without the proxy")
	}
}

// TestEnvironment: what looks secret passes where the profile says so, a
// provider's key never, and what leads out is gone.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	w := &Wall{o: Options{Pass: []string{"NPM_TOKEN", "ANTHROPIC_API_KEY", "MY_KEY", "BASH_ENV", "MISSING"}, Keys: []string{"MY_KEY"}, Cache: "/c",
		Environ: []string{"NPM_TOKEN=n", "ANTHROPIC_API_KEY=a", "MY_KEY=k", "BASH_ENV=/evil", "SSH_AUTH_SOCK=/s", "HTTPS_PROXY=http://x"}}}
	got := w.environment([]string{"PATH=/bin", "SSH_AUTH_SOCK=/s", "HTTPS_PROXY=http://x", "DBUS_SESSION_BUS_ADDRESS=unix:/b", "XDG_CACHE_HOME=/home/c"})
	want := []string{"PATH=/bin", "NPM_TOKEN=n", "XDG_CACHE_HOME=/c", "GOCACHE=/c/go-build", "npm_config_cache=/c/npm"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestForcedKindIsNeverReplaced: a wall that was asked for and is missing is
// an error with a hint; auto goes on with a notice.
func TestForcedKindIsNeverReplaced(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	none := Machine{Kind: Bubblewrap, Environ: []string{"PATH=" + bin}}
	if f, err := Probe(t.Context(), none); err == nil || f.Kind() != None {
		t.Errorf("no bwrap: got %s, %v, want an error", f.Kind(), err)
	}
	none.Kind = Auto
	f, err := Probe(t.Context(), none)
	if err != nil || f.Kind() != None || !strings.Contains(f.Notice(), "no bwrap in PATH") {
		t.Errorf("auto without anything: got %s, %v, %q", f.Kind(), err, f.Notice())
	}
	for said, want := range map[string]string{
		"bwrap: Unknown option --disable-userns":                                                                                    "too old",
		"bwrap: setting up uid map: Permission denied":                                                                              "AppArmor",
		"bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted":                                                              "AppArmor",
		"bwrap: Can't mount proc on /newroot/proc: Operation not permitted":                                                         "container",
		"bwrap: No permissions to create a new namespace, likely because the kernel does not allow non-privileged user namespaces.": "user namespace",
		"bwrap: Creating new namespace failed: Operation not permitted":                                                             "user namespace",
		"bwrap: Failed to make / slave: Operation not permitted":                                                                    "container",
		"bwrap: something else": "see what bwrap",
	} {
		put(t, bin+"/bwrap", "#!/bin/sh\necho \""+said+"\"\nexit 1\n")
		if err := os.Chmod(bin+"/bwrap", 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := Probe(t.Context(), Machine{Kind: Bubblewrap, Environ: []string{"PATH=" + bin}})
		if e := diag.As(err); err == nil || !strings.Contains(e.Hint, want) || !strings.Contains(e.Message, said) {
			t.Errorf("%s: got %v, want a hint with %q", said, err, want)
		}
	}
}

// TestWorktree: git works in a linked worktree, whose repository lies
// elsewhere, and what chooses code there is held.
func TestWorktree(t *testing.T) {
	t.Parallel()
	h := build(t)
	git(t, h.project, "add", "README")
	git(t, h.project, "commit", "-qm", "one")
	tree := h.outside + "/tree"
	git(t, h.project, "worktree", "add", "-q", tree)
	o := h.o
	o.Project, o.Cwd, o.Roots = tree, tree, []string{tree, h.temp}
	w := wall(t, Bubblewrap, o)
	r, _ := in(t, w, `echo n > n && git add n && git -c user.name=a -c user.email=a@b.test commit -qm two && git log -1 --format=%s
		echo x > `+h.project+`/.git/hooks/evil; echo x >> `+h.project+`/.git/config; echo x > .git; echo x > `+h.project+`/new; echo x > `+h.project+`/.git/worktrees/other; git -C `+h.project+` status -s >/dev/null; mv `+h.project+`/.git/worktrees/tree/gitdir x; echo y > "$(git rev-parse --git-dir)/commondir"; true`)
	if got := strings.SplitN(string(r.Stdout), "\n", 2)[0]; got != "two" {
		t.Errorf("got %s, want two", r.Stdout)
	}
	for _, p := range []string{"/.git/hooks/evil", "/new", "/.git/worktrees/other"} {
		if _, err := os.Lstat(h.project + p); err == nil {
			t.Errorf("%s was written", p)
		}
	}
	if got, want := git(t, tree, "log", "-1", "--format=%s"), "two\n"; got != want {
		t.Errorf("outside: got %q, want %q", got, want)
	}
	git(t, tree, "status")
}

// TestForgedWorktree: a .git file that the project brings along opens nothing.
func TestForgedWorktree(t *testing.T) {
	t.Parallel()
	h := build(t)
	forged := h.outside + "/forged"
	for _, d := range []string{forged, h.outside + "/victim/worktrees/x"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, h.outside+"/victim/worktrees/x/HEAD", "ref: refs/heads/main\n")
	put(t, h.outside+"/victim/worktrees/x/commondir", "../..\n")
	put(t, h.outside+"/victim/worktrees/x/gitdir", "/elsewhere/.git\n")
	put(t, forged+"/.git", "gitdir: "+h.outside+"/victim/worktrees/x\n")
	o := h.o
	o.Project, o.Cwd, o.Roots = forged, forged, []string{forged, h.temp}
	w := wall(t, Bubblewrap, o)
	in(t, w, `echo x > `+h.outside+`/victim/worktrees/x/HEAD; echo x > `+h.outside+`/victim/new`)
	if b, _ := os.ReadFile(h.outside + "/victim/worktrees/x/HEAD"); string(b) == "x\n" {
		t.Error("a forged .git file opened a directory outside")
	}
}

// TestLinkIsNotFirm: a guarded place that is a link could be replaced, so
// commands are asked about.
func TestLinkIsNotFirm(t *testing.T) {
	t.Parallel()
	h := build(t)
	w := &Wall{o: h.o, kind: Bubblewrap}
	if firm, why := w.Firm(); !firm {
		t.Errorf("not firm: %s", why)
	}
	if err := os.Symlink(h.outside, h.project+"/.claude"); err != nil {
		t.Fatal(err)
	}
	if firm, why := w.Firm(); firm || !strings.Contains(why, ".claude") {
		t.Errorf("firm %v, %q, want the link named", firm, why)
	}
	w = &Wall{o: h.o, kind: Landlock}
	if firm, _ := w.Firm(); firm {
		t.Error("Landlock is firm, want that it still asks")
	}
}

// TestPlaceholdersAreShared: two walls of one project overlap; the last to end
// removes what was made, and a wall that was killed leaves nothing for good.
func TestPlaceholdersAreShared(t *testing.T) {
	t.Parallel()
	h := build(t)
	a, b := newPlaceholders(h.state, h.project), newPlaceholders(h.state, h.project)
	places := []place{{h.project + "/.claude", "/"}, {h.project + "/.mcp.json", "{}\n"}}
	exist := func(want int) {
		t.Helper()
		n := 0
		for _, p := range places {
			if _, err := os.Lstat(p.path); err == nil {
				n++
			}
		}
		if n != want {
			t.Errorf("%d placeholders, want %d", n, want)
		}
	}
	for _, h := range []*placeholders{a, b} {
		if ours, err := h.acquire(places); err != nil || len(ours) != 2 {
			t.Fatalf("got %v, %v, want both", ours, err)
		}
	}
	exist(2)
	a.release()
	exist(2)
	b.release()
	exist(0)
	if _, err := a.acquire(places); err != nil { // killed: nothing is released but the lock
		t.Fatal(err)
	}
	_ = flock(a.use, unix.LOCK_UN)
	exist(2)
	if _, err := b.acquire(nil); err != nil {
		t.Fatal(err)
	}
	exist(0)
	b.release()
	// What somebody has filled in the meantime is theirs.
	if _, err := b.acquire(places); err != nil {
		t.Fatal(err)
	}
	put(t, h.project+"/.claude/mine", "x")
	put(t, h.project+"/.mcp.json", `{"mcpServers":{}}`)
	b.release()
	exist(2)
}
