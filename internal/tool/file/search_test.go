//go:build unix

package file

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"larva.dev/larva/internal/proc"
)

func (b *bench) age(name string, minutes int) {
	b.Helper()
	at := time.Now().Add(-time.Duration(minutes) * time.Minute)
	if err := os.Chtimes(b.path(name), at, at); err != nil {
		b.Fatal(err)
	}
}

func searchTree(t *testing.T, o Options) *bench {
	b := newBench(t, o)
	for i, f := range []string{
		"proj/a.go", "proj/b.txt", "proj/src/c.go", "proj/src/deep/d.go", "proj/src/deep/e.ts", "proj/.github/workflows/ci.yml", "proj/.hidden/x.go", "proj/.env",
		"proj/vendor/v.go", "proj/src/node_modules/n.go", "proj/build/o.go", "proj/src/target/t.go", "proj/dist/d.go", "out/o.go",
	} {
		b.put(f, "package "+filepath.Base(filepath.Dir(f))+"\nvar needle = 1\n")
		b.age(f, i)
	}
	b.put("proj/.git/config", "needle\n")
	b.link("../a.go", "proj/src/link.go")
	b.link("../out", "proj/outlink")
	return b
}

func TestGlob(t *testing.T) {
	t.Parallel()
	b := searchTree(t, Options{})
	b.age("proj/a.go", 60) // the link src/link.go has the link's own time
	for _, tt := range []struct {
		in   args
		want string
	}{
		{args{"pattern": "*.go"}, "a.go"},
		{args{"pattern": "**/*.go"}, "src/link.go src/c.go src/deep/d.go a.go"},
		{args{"pattern": "**/*.{go,ts}"}, "src/link.go src/c.go src/deep/d.go src/deep/e.ts a.go"},
		{args{"pattern": "*.go", "path": "src"}, "src/link.go src/c.go"},
		{args{"pattern": "src/*.go"}, "src/link.go src/c.go"},
		{args{"pattern": "src/**"}, "src/link.go src/c.go src/deep/d.go src/deep/e.ts"},
		{args{"pattern": "./src/deep/*"}, "src/deep/d.go src/deep/e.ts"},
		{args{"pattern": ".github/**"}, ".github/workflows/ci.yml"},
		{args{"pattern": "**/.github/**/*.yml"}, ".github/workflows/ci.yml"},
		{args{"pattern": "**/.g*/**/*.yml"}, ".github/workflows/ci.yml"},
		{args{"pattern": "**/.env"}, ".env"},
		{args{"pattern": ".*"}, ".env"},
		{args{"pattern": "*"}, "b.txt a.go"},
		{args{"pattern": "vendor/**"}, "vendor/v.go"},
		{args{"pattern": "**/node_modules/*.go"}, "src/node_modules/n.go"},
		{args{"pattern": "build/*.go"}, "build/o.go"},
		{args{"pattern": "a.go"}, "a.go"},
		{args{"pattern": "../out/*"}, b.path("out/o.go")},
		{args{"pattern": b.path("proj") + "/src/*.go"}, "src/link.go src/c.go"},
		{args{"pattern": "../proj/src/deep/*.ts", "path": "."}, "src/deep/e.ts"},
		{args{"pattern": "outlink/*"}, "outlink/o.go"},
		{args{"pattern": "[ab].*"}, "b.txt a.go"},
	} {
		want := strings.ReplaceAll(tt.want, " ", "\n") + "\n"
		b.ok("glob", tt.in, want)
	}
	b.ok("glob", args{"pattern": "*.rs"}, "no files match *.rs in .; to look in the directories below use **/*.rs\n")
	b.ok("glob", args{"pattern": "**/*.rs"}, "no files match **/*.rs in .\n")
	b.ok("glob", args{"pattern": "outlink*/**"}, "no files match outlink*/** in .\n") // links to directories are not followed
	b.fails("glob", args{"pattern": "none/*"}, "none: no such file")
	b.fails("glob", args{"pattern": "*", "path": "a.go"}, "not a directory")
	b.fails("glob", args{"pattern": "[a"}, "broken")
	b.fails("glob", args{"pattern": "*/../../x"}, "only at the beginning")
	b.fails("glob", args{"pattern": "{..,a}/x"}, "only at the beginning")
	b.fails("glob", args{"pattern": "src/"}, "names no files")
	b.fails("glob", args{"pattern": ""}, "names no files")
}

func TestGlobLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	for i := range 520 {
		f := fmt.Sprintf("proj/f%03d", i)
		b.put(f, "")
		b.age(f, i)
	}
	r := b.do("glob", args{"pattern": "*"})
	lines := strings.Split(strings.TrimSpace(r.Output), "\n")
	if len(lines) != 501 || lines[0] != "f000" || lines[499] != "f499" || lines[500] != "(the 500 newest of 520 files; narrow the pattern for others)" {
		t.Errorf("got %d lines, %s … %s", len(lines), lines[0], lines[len(lines)-1])
	}
	long := strings.Repeat("d", 200)
	for i := range 300 {
		b.put(fmt.Sprintf("proj/x/%s/%03d", long, i), "")
	}
	if r := b.do("glob", args{"pattern": "x/**"}); len(r.Output) > 30_000 || !strings.Contains(r.Output, "newest of 300 files") {
		t.Errorf("got %d bytes …%q", len(r.Output), r.Output[len(r.Output)-80:])
	}
	n := newest{keep: 3}
	for i := range 1000 {
		n.add(found{fmt.Sprint(i), time.Unix(int64(i*7919%1000), 0)})
	}
	n.trim()
	if n.total != 1000 || n.list[0].mod.Unix() != 999 || n.list[2].mod.Unix() != 997 {
		t.Errorf("got %+v of %d, want the three newest", n.list, n.total)
	}
}

// denyAll refuses what lies below these names.
func denyAll(b **bench, names ...string) func(abs, real string) bool {
	return func(_, real string) bool {
		for _, n := range names {
			p := (*b).path(n)
			if real == p || strings.HasPrefix(real, p+"/") {
				return true
			}
		}
		return false
	}
}

func TestDeniedBindsSearch(t *testing.T) {
	t.Parallel()
	var b *bench
	b = newBench(t, Options{Denied: denyAll(&b, "proj/secrets", "proj/key.pem", "out")})
	b.put("proj/secrets/s.txt", "needle\n")
	b.put("proj/key.pem", "needle\n")
	b.put("proj/open.txt", "needle\n")
	b.put("out/o.txt", "needle\n")
	b.link("../out/o.txt", "proj/linked.txt")
	b.ok("grep", args{"pattern": "needle"}, "open.txt:1:needle\n(1 file left out: reading them is denied)\n")
	b.ok("glob", args{"pattern": "**/*.{txt,pem}"}, "open.txt\n(2 files left out: reading them is denied)\n")
}

func TestGrep(t *testing.T) {
	t.Parallel()
	b := searchTree(t, Options{})
	b.put("proj/m.txt", "Foo(bar)\nfoo\tbaz\r\n\nlast foo")
	b.put("proj/bin.dat", "needle\x00\n")
	b.put("proj/late.dat", strings.Repeat("x", 9000)+"\nneedle \x00\n")
	b.put("proj/wide.txt", "ü"+strings.Repeat("ä", 400)+"WIDE\n")
	b.put("proj/latin.txt", "caf\xe9 noir\n")
	b.put("proj/odd\nname.txt", "oddity\n")
	b.put("proj/bom.txt", "\uFEFFbomline\n")
	for _, tt := range []struct {
		in   args
		want string
	}{
		{args{"pattern": "needle", "glob": "*.go"}, "a.go:2:var needle = 1\nsrc/c.go:2:var needle = 1\nsrc/deep/d.go:2:var needle = 1\n"},
		{args{"pattern": "needle", "glob": "src/*.go"}, "src/c.go:2:var needle = 1\n"},
		{args{"pattern": "needle", "glob": "src/**/*.{go,ts}"}, "src/c.go:2:var needle = 1\nsrc/deep/d.go:2:var needle = 1\nsrc/deep/e.ts:2:var needle = 1\n"},
		{args{"pattern": "needle", "path": "src/deep"}, "src/deep/d.go:2:var needle = 1\nsrc/deep/e.ts:2:var needle = 1\n"},
		{args{"pattern": "needle", "path": "vendor"}, "vendor/v.go:2:var needle = 1\n"},
		{args{"pattern": "needle", "path": ".env"}, ".env:2:var needle = 1\n"},
		{args{"pattern": "needle", "glob": ".github/**"}, ".github/workflows/ci.yml:2:var needle = 1\n"},
		{args{"pattern": "needle", "glob": "*.dat"}, "late.dat:2:needle \x00\n"},
		{args{"pattern": "^foo", "path": "m.txt"}, "m.txt:2:foo\tbaz\n"},
		{args{"pattern": "^foo", "path": "m.txt", "ignore_case": true}, "m.txt:1:Foo(bar)\nm.txt:2:foo\tbaz\n"},
		{args{"pattern": "baz$", "path": "m.txt"}, "m.txt:2:foo\tbaz\n"},
		{args{"pattern": "foo$", "path": "m.txt"}, "m.txt:4:last foo\n"},
		{args{"pattern": "^$", "path": "m.txt"}, "m.txt:3:\n"},
		{args{"pattern": `\Afoo`, "path": "m.txt"}, "m.txt:2:foo\tbaz\n"},
		{args{"pattern": `foo\z`, "path": "m.txt"}, "m.txt:4:last foo\n"},
		{args{"pattern": `Foo\(bar\)`, "path": "m.txt"}, "m.txt:1:Foo(bar)\n"},
		{args{"pattern": `\bba[rz]\b`, "path": "m.txt"}, "m.txt:1:Foo(bar)\nm.txt:2:foo\tbaz\n"},
		{args{"pattern": `bar.*foo`, "path": "m.txt"}, "no matches (1 file searched)\n"},
		{args{"pattern": `(?s)bar.*foo`, "path": "m.txt"}, "no matches (1 file searched)\n"},
		{args{"pattern": `[^x]*baz[^x]*last`, "path": "m.txt"}, "no matches (1 file searched)\n"},
		{args{"pattern": `\s+last|\)\s*foo`, "path": "m.txt"}, "no matches (1 file searched)\n"},
		{args{"pattern": `func {`, "path": "m.txt"}, "no matches (1 file searched)\n"},
		{args{"pattern": "WIDE"}, "wide.txt:1:ü" + strings.Repeat("ä", 299) + "…\n"},
		{args{"pattern": "noir"}, "latin.txt:1:caf\uFFFD noir\n"},
		{args{"pattern": "oddity"}, `"odd\nname.txt":1:oddity` + "\n"},
		{args{"pattern": "^bomline"}, "bom.txt:1:bomline\n"},
		{args{"pattern": "needle", "path": "../out"}, b.path("out/o.go") + ":2:var needle = 1\n"},
		{args{"pattern": "nothing such", "glob": "*.go"}, "no matches (3 files searched)\n"},
		{args{"pattern": ".", "glob": "*.none"}, "no matches (0 files searched)\n"},
	} {
		b.ok("grep", tt.in, tt.want)
	}
	b.fails("grep", args{"pattern": "("}, "pattern: missing closing )")
	b.fails("grep", args{"pattern": `(?=x)`}, "RE2")
	b.fails("grep", args{"pattern": `a\nb`}, "line end")
	b.fails("grep", args{"pattern": "x", "glob": "[a"}, "broken")
	b.fails("grep", args{"pattern": "x", "path": "none"}, "none: no such file")
	b.fails("grep", args{"pattern": "x", "path": "bin.dat"}, "binary")
}

func TestGrepLimits(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	for i := range 12 {
		b.put(fmt.Sprintf("proj/many%02d", i), strings.Repeat("hit\n", 51))
	}
	b.put("proj/fifty", strings.Repeat("fit\n", 50))
	r := b.do("grep", args{"pattern": "hit", "glob": "many0[01]"})
	if n := strings.Count(r.Output, ":hit\n"); n != 100 || !strings.HasSuffix(r.Output, "(only the first 50 matching lines of many00, many01)\n") {
		t.Errorf("got %d lines …%q, want 100", n, r.Output[len(r.Output)-80:])
	}
	if r := b.do("grep", args{"pattern": "fit"}); strings.Count(r.Output, "\n") != 50 || strings.Contains(r.Output, "only") {
		t.Errorf("50 lines: got …%q, want no note", r.Output[len(r.Output)-80:])
	}
	r = b.do("grep", args{"pattern": "hit"})
	if n := strings.Count(r.Output, ":hit\n"); n != 500 || !strings.Contains(r.Output, "stopped at 500 lines") || !strings.Contains(r.Output, "and 5 others") {
		t.Errorf("got %d lines …%q, want 500", n, r.Output[len(r.Output)-200:])
	}
	for i := range 10 {
		b.put(fmt.Sprintf("proj/fat%02d", i), strings.Repeat(strings.Repeat("ß", 400)+"\n", 40))
	}
	if r := b.do("grep", args{"pattern": "ß"}); len(r.Output) > 30_000 || len(r.Output) < 28_000 || !strings.Contains(r.Output, "stopped at") {
		t.Errorf("got %d bytes …%q", len(r.Output), r.Output[len(r.Output)-80:])
	}
}

// A file of many chunks has right line numbers and bounded memory.
func TestGrepLargeFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, Options{})
	var text strings.Builder
	for i := 1; text.Len() < 5<<20; i++ {
		fmt.Fprintf(&text, "line %d %s\n", i, strings.Repeat("x", i%200))
	}
	b.put("proj/big", text.String())
	want := ""
	for i, l := range strings.Split(text.String(), "\n") {
		if strings.HasPrefix(l, "line 4") && strings.Contains(l, "777 ") {
			want += fmt.Sprintf("big:%d:%s\n", i+1, strings.TrimSuffix(l, ""))
		}
	}
	b.ok("grep", args{"pattern": "^line 4[0-9]*777 ", "path": "big"}, want)
	b.put("proj/oneline", strings.Repeat("y", 3<<20)+"end\n")
	b.ok("grep", args{"pattern": "end$", "path": "oneline"}, "oneline:1:"+strings.Repeat("y", 300)+"…\n")
}

// grep by chunks over whole text finds the lines that matching each line alone
// finds.
func FuzzMatcher(f *testing.F) {
	for _, s := range []string{"a", "^a|b$", `\s+`, `[^b]*c`, "a*", "^$", `\bx`, "(?i)A.", `\Aa\z`, "x?$", "(a|b)+c{0,2}"} {
		f.Add(s, "abc\nb\n\nxa ac\r\n\r\nend", false)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		if len(pattern) > 60 || len(text) > 2000 || strings.ContainsAny(text, "\x00") {
			return
		}
		m, err := compile(pattern, fold)
		if err != nil {
			return
		}
		flags := "(?s)"
		if fold {
			flags = "(?si)"
		}
		plain, err := regexp.Compile(flags + "(?:" + pattern + ")")
		if err != nil || strings.Contains(pattern, "?") && strings.Contains(pattern, "(?") {
			return // flags inside mean another thing here
		}
		got := map[int]bool{}
		r := m.file(t.Context(), strings.NewReader(text), int64(len(text)))
		if r.more || r.err != nil {
			return
		}
		for _, h := range r.lines {
			got[h.number] = true
		}
		n := 0
		for l := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
			n++
			l = strings.TrimSuffix(l, "\n")
			// A line may be taken with or without its carriage return.
			with, without := plain.MatchString(l), plain.MatchString(strings.TrimSuffix(l, "\r"))
			if with && without && !got[n] || !with && !without && got[n] {
				t.Errorf("pattern %q line %d %q: got %v, alone %v", pattern, n, l, got[n], with)
			}
		}
		for k := range got {
			if k < 1 || k > n {
				t.Errorf("pattern %q: line %d of %d", pattern, k, n)
			}
		}
	})
}

func FuzzGlobSplit(f *testing.F) {
	for _, s := range []string{"**/*.go", "../x", "/etc/*", "~/a/*", "a/../../b/*", "{..,a}/b", "a\\*/b", "[", ".github/**", "*/..", "x/**/../y", `*/.\.`, `?\../..`} {
		f.Add(s, "")
		f.Add(s, "sub")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		start, rest := globInput{Pattern: pattern, Path: path}.split()
		if start == "" || strings.HasPrefix(rest, "/") {
			t.Errorf("split(%q, %q) = %q, %q", pattern, path, start, rest)
		}
		if goodPattern(rest) != nil {
			return
		}
		// What is matched lies below the start: a path that climbs never fits.
		for _, rel := range []string{"..", "../x", "a/../../x", "../../etc/passwd"} {
			if rest != "" && matches(rest, rel) && !strings.Contains(rest, "*") && !strings.Contains(rest, "?") && !strings.Contains(rest, "[") {
				t.Errorf("%q matches %q", rest, rel)
			}
		}
	})
}

// thicket puts a tree of what is hard to search into each bench.
func thicket(benches ...*bench) {
	rng := rand.New(rand.NewPCG(1, 2))
	words := []string{"alpha", "beta", "gamma", "foo_bar", "x1", "(", "é", "ALPHA", "\xff", "al\xffpha", "\u00df", "\t", "foo-bar", "\uFFFD"}
	dirs := []string{"d%d", "d%d/.hidden", "node_modules/d%d", "d%d/build", "ignored/d%d", ".d%d", "d%d/sub sub"}
	for i := range 200 {
		var text strings.Builder
		if i%11 == 0 {
			text.WriteString("\uFEFF")
		}
		words, ends := words, []string{" ", "\n", "", "\r\n", "\r"}
		if i%2 == 0 {
			words, ends = words[:8], ends[:3]
		}
		for range rng.IntN(20) {
			text.WriteString(words[rng.IntN(len(words))])
			text.WriteString(ends[rng.IntN(len(ends))])
		}
		switch i % 29 {
		case 7:
			text.WriteString("\x00alpha\n")
		case 13:
			text.WriteString(strings.Repeat("long ", 8_000) + "alpha beta\n")
		case 17:
			text.WriteString(strings.Repeat("alpha\n", maxGrepPerFile+1))
		}
		name := fmt.Sprintf("proj/"+dirs[i%len(dirs)]+"/-f %d", i%5, i)
		for _, b := range benches {
			b.put(name, text.String())
		}
	}
	for _, b := range benches {
		b.put("proj/.gitignore", "ignored/\n-f 1*\n")
		b.put("proj/.ignore", "d2/\n")
		b.put("proj/.rgignore", "d3/\n")
		b.link("../d1", "proj/d2/link")
	}
}

// realRg is where ripgrep is installed, "" where it is not.
func realRg() string {
	path, err := proc.LookPath("rg", []string{"PATH=" + os.Getenv("PATH")})
	if err != nil {
		return ""
	}
	return path
}

var searched = []string{"alpha", "^beta", "x1$", "foo_bar|x1", "a+l", "(alpha|beta) (gamma|x1)", "nothing", "[(]", "al.pha", "^.", "[^a-z ]a", `\bfoo\b`, `\W$`,
	"^$", "é|ß", `\S+\s\S+$`, "^alpha", "al[^x]pha", `\x{FFFD}`, "a.{0,3}b", `.\z`, "foo-"}

// With rg and without it, the answer is the same to the byte. The real one is
// used where it is installed; elsewhere a stand-in made of grep shows that rg
// is called and believed.
func TestRgGivesTheSame(t *testing.T) {
	t.Parallel()
	path, patterns := os.Getenv("PATH"), searched
	if realRg() == "" {
		path, patterns = standIn(t, "exec grep -lZaP -e \"$pattern\" -- \"$@\"")+":"+path, searched[:8]
	}
	plain := newBench(t, Options{})
	with := newBench(t, Options{Environ: []string{"PATH=" + path}})
	thicket(plain, with)
	for _, pattern := range patterns {
		for _, in := range []args{{}, {"glob": "**/.hidden/*"}, {"path": "d1", "ignore_case": true}} {
			in["pattern"] = pattern
			if got, want := with.do("grep", in).Output, plain.do("grep", in).Output; got != want {
				t.Errorf("%q %v: with rg\n%.2000q\nwithout\n%.2000q", pattern, in, got, want)
			}
		}
	}
}

// What grep finds is what rg itself finds over the same tree, but for what is
// ours to leave out. Files that are no UTF-8 are not compared: there the two
// have other ideas of a character.
func TestGrepFindsWhatRgFinds(t *testing.T) {
	t.Parallel()
	rg := realRg()
	if rg == "" {
		t.Skip("ripgrep is not installed")
	}
	b := newBench(t, Options{})
	thicket(b)
	var names []string
	for d := range 5 {
		for _, dir := range []string{fmt.Sprintf("d%d", d), fmt.Sprintf("d%d/sub sub", d)} {
			entries, _ := os.ReadDir(b.path("proj/" + dir))
			for _, e := range entries {
				name := dir + "/" + e.Name()
				data, err := os.ReadFile(b.path("proj/" + name))
				if err == nil && utf8.Valid(data) && !bytes.ContainsAny(data, "\x00\r") {
					names = append(names, name)
				}
			}
		}
	}
	found := 0
	for _, pattern := range searched {
		m, err := compile(pattern, false)
		if err != nil {
			t.Fatal(err)
		}
		argv := []string{rg, "--no-config", "--line-number", "--no-heading", "--with-filename", "--null", "--sort=path", "--max-count=50", "--max-columns=1", "--regexp", forRust(m.re.String()), "--"}
		r, err := proc.Run(t.Context(), proc.Command{Dir: b.path("proj"), Env: []string{}, Argv: append(argv, names...)})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{}
		for l := range strings.Lines(string(r.Stdout)) {
			name, rest, _ := strings.Cut(l, "\x00")
			number, _, _ := strings.Cut(rest, ":")
			want[name] = append(want[name], number)
			found++
		}
		for _, name := range names {
			var got []string
			for l := range strings.Lines(b.do("grep", args{"pattern": pattern, "path": name}).Output) {
				if rest, ok := strings.CutPrefix(l, name+":"); ok {
					number, _, _ := strings.Cut(rest, ":")
					got = append(got, number)
				}
			}
			if !slices.Equal(got, want[name]) {
				t.Errorf("%q in %s: lines %v, rg has %v", pattern, name, got, want[name])
			}
		}
	}
	if len(names) < 15 || found < 300 {
		t.Errorf("%d lines in %d files: too little to tell anything", found, len(names))
	}
}

// standIn puts a script called rg into a directory of its own.
func standIn(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	script := `#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in --) shift; break;; --regexp) pattern=$2; shift 2;; *) shift;; esac; done
` + body + "\n"
	if err := os.WriteFile(filepath.Join(dir, "rg"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestRgIsBelievedOrPassedOver(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, body, want string }{
		{"no match", "exit 1", "no matches (2 files searched)\n"},
		{"one file", `printf './b.txt\0'`, "b.txt:1:needle\n"},
		{"an error", "echo broken >&2; exit 2", "a.txt:1:needle\nb.txt:1:needle\n"},
		{"killed", "kill -9 $$", "a.txt:1:needle\nb.txt:1:needle\n"},
		{"other files", `printf '../out/o.txt\0/etc/passwd\0'`, "no matches (2 files searched)\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{Environ: []string{"PATH=" + standIn(t, tt.body) + ":/usr/bin:/bin"}})
			b.put("proj/a.txt", "needle\n")
			b.put("proj/b.txt", "needle\n")
			b.put("out/o.txt", "needle\n")
			b.ok("grep", args{"pattern": "needle"}, tt.want)
		})
	}
	t.Run("of the project", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, Options{})
		b.put("proj/a.txt", "needle\n")
		b.put("proj/bin/rg", "#!/bin/sh\necho ran >> "+b.path("out/ran")+"\nexit 1\n")
		if err := os.Chmod(b.path("proj/bin/rg"), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, tl := range New(b.rs, Options{Environ: []string{"PATH=" + b.path("proj/bin") + ":/usr/bin:/bin"}}) {
			b.tools[tl.Spec().Name] = tl
		}
		b.ok("grep", args{"pattern": "needle", "path": ".", "glob": "*.txt"}, "a.txt:1:needle\n")
		if _, err := os.Stat(b.path("out/ran")); err == nil {
			t.Error("grep ran a program of the project")
		}
	})
}

func TestForRust(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`a\bc`: `a(?-u:\b)c`, `\\b`: `\\b`, `\\\b`: `\\(?-u:\b)`, `\B\.`: `(?-u:\B)\.`, `x\`: `x\`, "": "",
	} {
		if got := forRust(in); got != want {
			t.Errorf("forRust(%q) = %q, want %q", in, got, want)
		}
	}
}
