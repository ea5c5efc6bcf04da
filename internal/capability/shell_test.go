package capability

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// args reads a test line: $x is unknown, a word with * is a pattern.
func args(line string) []Arg {
	var out []Arg
	for _, w := range strings.Fields(line) {
		a := Arg{Value: strings.ReplaceAll(w, "␣", " "), Known: true, Glob: strings.ContainsAny(w, "*?")}
		if before, _, ok := strings.Cut(w, "$"); ok {
			a = Arg{Value: before, Many: strings.HasSuffix(w, "@")}
		}
		out = append(out, a)
	}
	return out
}

func show(needs []Need) string {
	var out []string
	for _, n := range needs {
		out = append(out, fmt.Sprintf("%s=%s", n.Family, n.Posture))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestShellNeeds(t *testing.T) {
	t.Parallel()
	const (
		r  = "shell=read_only"
		w  = "shell=read_write"
		d  = "shell=destructive"
		n  = "network=read_write shell=read_write"
		gr = "git=read_only shell=read_only"
		gw = "git=read_write shell=read_only"
		gd = "git=destructive shell=read_only"
		gn = "git=destructive network=read_write shell=read_only"
		gc = "git=read_write shell=read_write"
	)
	for _, c := range []struct {
		line string
		want string
		safe bool
	}{
		{"ls -la", r, true}, {"cat a b", r, true}, {"rg -n foo src", r, true}, {"echo $x", r, true}, {"cat $x", r, false},
		{"rg --pre=sh foo", w, false}, {"rg --pr sh foo", w, false},
		{"find . -name *.go", r, true}, {"find . -delete", d, false}, {"find . -fprint out", w, false}, {"find $x", d, false},
		{"find . -name $x", r, false}, {"find . -name $x@", d, false}, {"find . -name *", d, false}, {"find -del*", d, false},
		{"sort a", r, true}, {"sort -o b a", w, false}, {"sort -uo b a", w, false}, {"sort --out=b a", w, false}, {"sort *.txt", w, false}, {"sort ./*.txt", r, true},
		{"sort -k 2o a", r, true},
		{"uniq a", r, true}, {"uniq a b", w, false},
		{"sed -n 1,5p f", r, true}, {"sed s/a/b/g f", r, true}, {"sed -i s/a/b/ f", w, false}, {"sed -ni s/a/b/ f", w, false},
		{"sed --in-pl s/a/b/ f", w, false}, {"sed s/a/b/e f", w, false}, {"sed 1e␣id f", w, false}, {"sed w␣out f", w, false}, {"sed -n $x f", w, false},
		{"sed -e s/a/b/w␣out f", w, false}, {"sed -f prog f", w, false}, {"sed --exp=w␣out p", w, false}, {"sed --expression w␣out p", w, false}, {"sed -ne w␣out p", w, false}, {"sed -ne 1p f", r, true}, {"man -P sh ls", w, false}, {"man ls", r, false}, {"fd -Hx rm", w, false}, {"ag x", r, false}, {"nm --plug=x.so a", w, false}, {"sed 1,5p;s/x/y/w␣o f", w, false},
		{"awk {print␣$1} f", w, false}, {"awk {print} f", r, true}, {"awk BEGIN{system(1)}", w, false}, {"awk {print>1} f", w, false},
		{"touch a", w, false}, {"cp a b", w, false}, {"tee f", w, false}, {"python x.py", w, false}, {"make test", w, false}, {"go test ./...", w, false},
		{"go version", r, true}, {"go env -w A=b", d, false}, {"go get x", n, false}, {"python3 --version", r, true}, {"bash --version", r, true}, {"bash x.sh --version", w, false},
		{"rm a", d, false}, {"dd if=a of=b", d, false}, {"docker ps", d, false}, {"kill 1", d, false}, {"sudo ls", d, false}, {"nosuch", d, false}, {"./git status", d, false}, {"/usr/bin/git status", gr, false},
		{"curl https://x", n, false}, {"wget x", n, false}, {"ssh h", n, false}, {"nc a 1", n, false},
		{"git status", gr, true}, {"git status -s", gr, true}, {"git log --oneline -5", gr, true}, {"git diff HEAD~1 -- a", gr, true}, {"git diff --output=x", gc, false},
		{"git diff --outp=x", gc, false}, {"git diff --ext-diff", gc, false}, {"git log $x", gc, false}, {"git log -- $x", gr, false}, {"git grep -n foo", gr, true}, {"git grep -Oless foo", gc, false}, {"git grep --open foo", gc, false},
		{"git -C sub status", gr, true}, {"git -c core.pager=sh log", gc, false}, {"git --git-dir=x log", gc, false}, {"git --exec-path=x status", gc, false}, {"git --no-pager log", gr, true},
		{"git branch", gr, true}, {"git branch -a", gr, true}, {"git branch --list foo*", gr, true}, {"git branch new", gw, false}, {"git branch -d x", gw, false}, {"git branch -D x", gd, false}, {"git branch -vv", gr, true}, {"git branch -rD x", gd, false},
		{"git tag", gr, true}, {"git tag v1", gw, false}, {"git tag -d v1", gd, false},
		{"git remote -v", gr, true}, {"git remote add o u", gw, false}, {"git remote remove o", gd, false}, {"git remote show o", gn, false},
		{"git config --get user.name", gr, false}, {"git config user.name", gr, false}, {"git config user.name x", gd, false}, {"git config core.pager get", gd, false}, {"git config -l", gr, false}, {"git config get a", gr, false}, {"git config set a b", gd, false},
		{"git add .", gw, false}, {"git commit -m x", gw, false}, {"git commit --amend", gd, false}, {"git commit --am", gd, false}, {"git switch x", gw, false}, {"git stash", gw, false}, {"git stash list", gr, true}, {"git stash drop", gd, false}, {"git merge x", gw, false},
		{"git checkout x", gw, false}, {"git checkout -b x y", gw, false}, {"git checkout -- a", gd, false}, {"git checkout .", gd, false}, {"git checkout HEAD a", gd, false},
		{"git restore a", gd, false}, {"git restore --staged a", gw, false}, {"git restore --staged --worktree a", gd, false},
		{"git push", gn, false}, {"git fetch", gn, false}, {"git pull", gn, false}, {"git clone u", gn, false}, {"git reset", gw, false}, {"git reset --hard", gd, false}, {"git clean -fd", gd, false}, {"git rebase main", gd, false},
		{"git reflog", gr, true}, {"git reflog expire", gd, false}, {"git worktree list", gr, true}, {"git worktree remove x", gd, false}, {"git submodule status", gr, true},
		{"git bisect run make", gc, false}, {"git nosuch", "git=destructive shell=destructive", false},
		{"npm run test", w, false}, {"npm install", n, false}, {"npm publish", "network=read_write shell=destructive", false}, {"larva validate x", r, false}, {"larva trust grant", d, false},
		{"set -euo pipefail", r, true}, {"set -a", w, false}, {"set -ea", w, false}, {"date", r, true}, {"date -s x", d, false}, {"env", r, false}, {"tar xf a", w, false}, {"tar -cf a b --to-command=x", d, false},
	} {
		u := ShellNeeds(args(c.line), false)
		if got := show(u.Needs); got != c.want || u.Safe != c.safe {
			t.Errorf("%s: got %s safe=%t, want %s safe=%t", c.line, got, u.Safe, c.want, c.safe)
		}
	}
	if got := show(ShellNeeds(args("nosuch"), true).Needs); got != w {
		t.Errorf("unknown inside a sandbox: got %s, want %s", got, w)
	}
	if u := ShellNeeds(args("git $x"), false); Highest(u.Needs) != Destructive {
		t.Errorf("git $x: got %s, want destructive", show(u.Needs))
	}
	t.Logf("%d commands in the table", len(CommandNames()))
}

func TestOperands(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"cat a b":                  "a! b!",
		"grep pat f":               "f!",
		"grep -e pat f":            "pat f!",
		"cp a b":                   "a! b!w",
		"touch a":                  "a!w",
		"git show HEAD:.env":       "HEAD:.env! .env",
		"git config user.name x":   "user.name! x! .git/config!w",
		"git config user.name":     "user.name!",
		"sort -o out in":           "out!w in!",
		"dd if=a of=b":             "if=a!w a of=b!w b!w",
		"curl -d @f file:///etc/p": "@f f file:///etc/p! /etc/p",
		"nosuch --out=x/y z":       "x/yw zw",
		"uniq a b":                 "a! b!w",
		"echo a":                   "",
		"find sub -name *.go":      "*.go sub!",
		"git diff --output=x":      "x!w",
	} {
		var got []string
		for _, o := range ShellNeeds(args(line), false).Operands {
			s := o.Value
			if o.Sure {
				s += "!"
			}
			if o.Write {
				s += "w"
			}
			got = append(got, s)
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%s: got %q, want %q", line, g, want)
		}
	}
}
