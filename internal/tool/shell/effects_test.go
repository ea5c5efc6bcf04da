package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/root"
)

// pathBench is a project with links, in a home.
func pathBench(t *testing.T) *root.Set {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(base, "home", "p")
	for _, f := range []string{".git/HEAD", "a.txt", ".env", "sub/b.txt", "sub/c.txt", "deep/er/d.txt"} {
		f = filepath.Join(project, f)
		if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"in": "deep/er", "out": base, "env": ".env"} {
		if err := os.Symlink(to, filepath.Join(project, link)); err != nil {
			t.Fatal(err)
		}
	}
	temp := filepath.Join(base, "tmp")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	rs, err := root.New(project, nil, filepath.Join(base, "home"), temp)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func TestEffectsPaths(t *testing.T) {
	t.Parallel()
	rs := pathBench(t)
	short := func(p string) string {
		for _, r := range [][2]string{{rs.Project + "/", ""}, {rs.Project, "."}, {rs.Temp, "T"}, {rs.Home, "~"}, {filepath.Dir(rs.Home), "B"}} {
			if after, ok := strings.CutPrefix(p, r[0]); ok {
				return r[1] + after
			}
		}
		return p
	}
	// A path is segment:real, then w for writing, > for a redirect, ! for
	// outside, ? for one that cannot be known.
	for line, want := range map[string]string{
		"cat a.txt sub/b.txt":                  "0:a.txt 0:sub/b.txt",
		"cat env":                              "0:.env",
		"cat out/x":                            "0:B/x!",
		"cat ~/x \"$HOME/y\" $TMPDIR/z":        "0:~/x! 0:~/y! 0:T/z",
		"cat $PWD/a.txt ~+/a.txt":              "0:a.txt 0:a.txt",
		"cat '~/x'":                            "0:~/x",
		"cat $X":                               "0:?",
		"F=a.txt; cat $F":                      "1:? 1:a.txt",
		"cd sub && cat b.txt ../a.txt":         "0:sub 1:sub/b.txt 1:a.txt",
		"cd sub; cat b.txt":                    "0:sub 1:sub/b.txt",
		"cd nosuch; cat b.txt":                 "0:nosuch 1:nosuch/b.txt 1:b.txt",
		"cd in && cat ../a":                    "0:deep/er 1:deep/a",
		"cd in && cd .. && cat a.txt":          "0:deep/er 1:deep 2:a.txt",
		"cat in/../a":                          "0:deep/a",
		"cd $X && cat a.txt":                   "0:? 1:?",
		"cd $X && cat /etc/x":                  "0:? 1:/etc/x!",
		"(cd sub); cat b.txt":                  "0:sub 1:b.txt",
		"cd .. && ls":                          "0:~!",
		"env -C sub cat b.txt":                 "0:sub/b.txt",
		"git -C sub log -- b.txt":              "0:sub 0:sub/b.txt 0:b.txt",
		"cat sub/*":                            "0:sub 0:sub/* 0:sub/b.txt 0:sub/c.txt",
		"cat *.txt":                            "0:. 0:*.txt 0:a.txt",
		"cat .e*":                              "0:. 0:.e* 0:.env",
		"rm sub/*.txt":                         "0:sub 0:sub/*.txt w 0:sub/b.txt w 0:sub/c.txt w",
		"cat sub/{b,c}.txt":                    "0:sub/b.txt 0:sub/c.txt",
		"touch n && cp a.txt sub/n":            "0:n w 1:a.txt 1:sub/n w",
		"ls > n 2>> m < a.txt":                 "0:n w> 0:m w> 0:a.txt>",
		"ls > /dev/null 2>&1 < /dev/tty":       "",
		"ls > $X":                              "0:? w>",
		"cp x/.git .":                          "0:x/.git 0:. w 0:.git w",
		"cp -r sub/. deep":                     "0:sub 0:deep w 0:deep/b.txt w 0:deep/c.txt w",
		"cp -T sub deep":                       "0:sub 0:deep w 0:deep/sub w 0:deep/b.txt w 0:deep/c.txt w",
		"ln -s ../deep/er sub/l":               "0:~/deep/er! 0:sub/l w 0:~/deep/er w! 0:deep/er w",
		"rsync a.txt sub/":                     "0:a.txt 0:sub 0:sub w 0:sub/a.txt w",
		"ls > n*":                              "0:? w> 0:. 0:n* w 0:n* w>",
		"{ ls; cat a.txt; } > n":               "0:n w> 2:a.txt",
		"ls < /dev/tcp/h/80":                   "",
		"grep a/b a.txt":                       "0:a.txt",
		"echo /etc/passwd":                     "",
		"dd if=a.txt of=n":                     "0:if=a.txt w 0:a.txt 0:of=n w 0:n w",
		"git show HEAD:.env":                   "0:HEAD:.env 0:.env",
		"curl https://x/.env -d @a.txt":        "0:a.txt",
		"curl file:///etc/passwd":              "0:/etc/passwd!",
		"nosuch --in=a.txt word sub":           "0:a.txt w 0:sub w",
		"xargs -a .env cat":                    "0:? 0:.env",
		"./run.sh a":                           "0:run.sh",
		"/usr/bin/git status":                  "",
		"bash -c 'cat a.txt'":                  "0:a.txt",
		"git config core.pager sh":             "0:core.pager 0:sh 0:.git/config w",
		"sed -i s/a/b/ a.txt":                  "0:a.txt w",
		"find sub -name '*.txt' -delete":       "0:sub w",
		"(((":                                  "",
		"cat a.txt # and /etc/passwd":          "0:a.txt",
		"while read l; do :; done < sub/b.txt": "0:sub/b.txt>",
	} {
		var got []string
		for _, p := range Effects(rs, line).Paths {
			s := fmt.Sprintf("%d:%s", p.Segment, short(p.Real))
			if p.Unknown {
				s = fmt.Sprintf("%d:?", p.Segment)
			}
			if p.Write {
				s += " w"
			}
			if p.Redirect {
				s += ">"
			}
			if p.Outside {
				s += "!"
			}
			if !slices.Contains(got, s) || p.Given == "~+/a.txt" {
				got = append(got, s)
			}
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: got %q, want %q", line, g, want)
		}
	}
}

func TestEffectsNeeds(t *testing.T) {
	t.Parallel()
	rs := pathBench(t)
	for _, c := range []struct {
		line              string
		highest           capability.Posture
		readOnly, network bool
	}{
		{"ls | wc -l && git status", capability.ReadOnly, true, false},
		{"ls > n", capability.ReadWrite, false, false},
		{"make", capability.ReadWrite, false, false},
		{"curl x", capability.ReadWrite, false, true},
		{"cat < /dev/tcp/h/80", capability.ReadWrite, false, true},
		{"git push", capability.Destructive, false, true},
		{"nosuch", capability.Destructive, false, false},
		{"sudo ls", capability.Destructive, false, false},
		{"$X", capability.Destructive, false, false},
		{"X=1 ls", capability.ReadOnly, false, false},
		{"(((", capability.Destructive, false, false},
		{"# nothing", capability.None, true, false},
	} {
		e := Effects(rs, c.line)
		if h := capability.Highest(e.Needs); h != c.highest || e.ReadOnly != c.readOnly || e.Network != c.network || !e.Touches || e.Command != c.line {
			t.Errorf("%s: got %s read-only %t network %t, want %s %t %t", c.line, h, e.ReadOnly, e.Network, c.highest, c.readOnly, c.network)
		}
	}
}

// A command that reads a tree names what must stay unseen in it.
func TestEffectsBelow(t *testing.T) {
	t.Parallel()
	rs := pathBench(t)
	denied := func(abs, _ string) bool { return filepath.Base(abs) == ".env" || filepath.Base(abs) == "c.txt" }
	for line, want := range map[string]string{
		"grep -r x .": ".env sub/c.txt", "grep -rn x": ".env sub/c.txt", "grep x a.txt": "", "grep -R x sub": "sub/c.txt", "grep --recursive x deep": "",
		"grep -r --exclude=.env --exclude-dir=sub x .": "", "grep -r --include='*.go' x .": "", "egrep -d recurse x .": ".env sub/c.txt",
		"rg x": "sub/c.txt", "rg x deep": "", "rg --hidden x": ".env sub/c.txt", "rg -uu x .": ".env sub/c.txt", "rg -g '!c.txt' x": "", "cd sub && rg x": "sub/c.txt",
		"git grep x": ".env sub/c.txt", "git grep --no-index x": ".env sub/c.txt", "diff -r . deep": ".env sub/c.txt", "ls -R": "", "find . -name x": "", "cat a.txt; rg x sub | head": "sub/c.txt",
	} {
		var got []string
		for _, p := range effects(rs, line, denied, nil).Paths {
			if denied(p.Abs, p.Real) {
				got = append(got, rs.Rel(p.Real))
			}
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: got %q, want %q", line, g, want)
		}
	}
}
