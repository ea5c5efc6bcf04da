package command

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// dump is a segment in one line: wrappers> argv |assigns |redirects |dirs |!dynamic.
func dump(s Segment) string {
	var b strings.Builder
	for _, w := range s.Wrappers {
		b.WriteString(w + "> ")
	}
	fmt.Fprintf(&b, "%q", values(s.Argv))
	for _, a := range s.Assigns {
		fmt.Fprintf(&b, " %s=%s", a.Name, a.Value.Text)
	}
	for _, r := range s.Redirects {
		fmt.Fprintf(&b, " %s%s", r.Op, r.Target.Text)
	}
	if len(s.Dirs) != 1 || s.Dirs[0].key() != "" {
		for _, d := range s.Dirs {
			b.WriteString(" @")
			for _, f := range d.Failed {
				b.WriteString("-" + text(f) + "/")
			}
			b.WriteString(text(d.Steps))
			if d.Unknown {
				b.WriteString("?")
			}
		}
	}
	if s.Opaque {
		b.WriteString(" opaque")
	}
	if s.Dynamic != "" {
		b.WriteString(" !")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line string
		want []string
	}{
		{"", nil}, {"# x", nil},
		{"git status -s", []string{`["git" "status" "-s"]`}},
		{`a 'b c' "d" e\ f g''h`, []string{`["a" "b c" "d" "e f" "gh"]`}},
		{"a && b || c; d & e | f", []string{`["a"]`, `["b"]`, `["c"]`, `["d"]`, `["e"]`, `["f"]`}},
		{"a 2>&1 >/dev/null 2>/dev/null </dev/null >&2 2>&- 3<&0", []string{`["a"]`}},
		{"a >&1foo", []string{`["a"] >&1foo`}},
		{"a > f >> g < h &> i >| j <> k", []string{`["a"] >f >>g <h &>i >|j <>k`}},
		{"{ a; } > f", []string{`[] >f`, `["a"]`}},
		{"> f", []string{`[] >f`}},
		{"X=1 Y=2 a", []string{`["a"] X=1 Y=2`}},
		{"X=1", []string{`[] X=1`}},
		{"export X=1 Y", []string{`[] X=1`}},
		{"env -i A=1 timeout -k 1 5 nice -n 3 a b", []string{`env> timeout> nice> ["a" "b"] A=1`}},
		{"xargs -0 -I{} a {} b", []string{`xargs> ["a" "{}" "b"]`}},
		{"xargs -n 1 a", []string{`xargs> ["a" "{}"]`}},
		{"find . -exec a {} \\; -exec b {} +", []string{`["find" "." "-exec" "a" "{}" ";" "-exec" "b" "{}" "+"]`, `find -exec> ["a" "{}"]`, `find -exec> ["b" "{}"]`}},
		{"sudo -u x a", []string{`sudo> ["a"] opaque`}},
		{"./env a", []string{`env> ["a"] opaque`}},
		{"bash -c 'a; b' x", []string{`bash -c> ["a"]`, `bash -c> ["b"]`}},
		{"sh -ec 'cd d && a' > f", []string{`sh -c> [] >f`, `sh -c> ["cd" "d"]`, `sh -c> ["a"] @d`}},
		{"bash -c \"$X\"", []string{`bash -c> ["bash" "-c" "\"$X\""] !`}},
		{"bash x.sh", []string{`["bash" "x.sh"]`}},
		{"a | bash", []string{`["a"]`, `bash> ["bash"] !`}},
		{"bash <<E\na\nE", []string{`bash> ["a"] !`}},
		{"eval 'a b'", []string{`eval> ["a" "b"] !`}},
		{". f", []string{`.> ["." "f"] !`}},
		{"$X a", []string{`["$X" "a"] !`}},
		{"{a,b} c", []string{`["a" "b" "c"] !`}},
		{"a {b,c}", []string{`["a" "b" "c"]`}},
		{"a {1..100000}", []string{`["a" "{1..100000}"]`}},
		{"a* b", []string{`["a*" "b"] !`}},
		{"[ -f x ]", []string{`["[" "-f" "x" "]"]`}},
		{"f() { a; }; f", []string{`["a"]`, `["f"] !`}},
		{"cd d; a", []string{`["cd" "d"]`, `["a"] @d @-d/`}},
		{"cd d && a; b", []string{`["cd" "d"]`, `["a"] @d`, `["b"] @d @-d/`}},
		{"cd d || a; b", []string{`["cd" "d"]`, `["a"] @-d/`, `["b"] @d @-d/`}},
		{"cd d || exit; b", []string{`["cd" "d"]`, `["exit"] @-d/`, `["b"] @d`}},
		{"(cd d && a); b", []string{`["cd" "d"]`, `["a"] @d`, `["b"]`}},
		{"cd d | a; b", []string{`["cd" "d"]`, `["a"]`, `["b"]`}},
		{"cd $X && a", []string{`["cd" "$X"]`, `["a"] @?`}},
		{"cd - && a", []string{`["cd" "-"]`, `["a"] @?`}},
		{"cd && a", []string{`["cd"]`, `["a"] @~`}},
		{"env -C d a", []string{`env> ["a"] @d`}},
		{"if cd d; then a; else b; fi", []string{`["cd" "d"]`, `["a"] @d`, `["b"] @-d/`}},
		{"a $(b `c`) <(d) \"$(e)\" ${x:-$(f)} $((1 + $(g)))", []string{`["a" "$(b ` + "`c`" + `)" "<(d)" "\"$(e)\"" "${x:-$(f)}" "$((1 + $(g)))"] !`, `["b" "` + "`c`" + `"]`, `["c"]`, `["d"]`, `["e"]`, `["f"]`, `["g"]`}},
		{"a <<E\n$(b)\nE", []string{`["a"]`, `["b"]`}},
		{"a <<'E'\n$(b)\nE", []string{`["a"]`}},
		{"n=1; a $((n + 1))", []string{`[] n=1`, `["a" "$((n + 1))"]`}},
		{"n=$(b); a $((n + 1))", []string{`[] n=$(b)`, `["b"]`, `["a" "$((n + 1))"] !`}},
		{"for i in x; do a $i; done", []string{`["a" "$i"]`}},
		{"case $x in $(a)) b;; esac", []string{`["a"]`, `["b"]`}},
		{"PATH=.; a", []string{`[] PATH=.`, `["a"] !`}},
		{"command -v a", []string{`["command" "-v" "a"]`}},
	} {
		l, err := Parse(c.line)
		if err != nil {
			t.Errorf("%q: %v", c.line, err)
			continue
		}
		var got []string
		for _, s := range l.Segments {
			got = append(got, dump(s))
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%q: got\n\t%s\nwant\n\t%s", c.line, strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
		}
	}
}

func TestTextsAreSource(t *testing.T) {
	t.Parallel()
	l, err := Parse("X=1 git  log 2>&1 > f; { ls; } ; ! a <<E\nb\nE\n")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"X=1 git  log 2>&1 > f", "ls", "a <<E"} {
		if l.Segments[i].Text != want {
			t.Errorf("segment %d: got %q, want %q", i, l.Segments[i].Text, want)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	v := Vars{Home: "/h", Temp: "/t", Cwd: "/c"}
	for text, want := range map[string]string{
		"a": "a", "~": "/h", "~/x": "/h/x", "$HOME/x": "/h/x", `"$HOME"/x`: "/h/x", "${HOME}/x": "/h/x", "$TMPDIR/x": "/t/x", "$PWD": "/c", "~+/x": "/c/x", `'~/x'`: "~/x", `\~/x`: "~/x", `"~/x"`: "~/x", `~"/x"`: "~/x", "a~": "a~", `$'a\x2fb'`: "a/b",
		"~root/x": "", "$X/y": "", "$HOME$X": "", "${HOME%/*}": "", "$(pwd)": "", "~-": "",
	} {
		l, err := Parse("a " + text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := l.Segments[0].Argv[1].Resolve(v)
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	l, _ := Parse("HOME=/etc; a ~/x")
	if got, ok := l.Segments[1].Argv[1].Resolve(v); ok {
		t.Errorf("a line that sets HOME: ~ is %q, want unknown", got)
	}
	if g := l.Segments[1].Argv[1].Guesses(); len(g) != 1 || g[0] != "/etc/x" {
		t.Errorf("guess: got %q, want /etc/x", g)
	}
}

// TestTooMuch: what costs too much ends in an error soon.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"a megabyte":       "echo " + strings.Repeat("x", 1<<20),
		"parentheses":      strings.Repeat("(", 10000) + "a" + strings.Repeat(")", 10000),
		"open parentheses": strings.Repeat("(", 10000),
		"substitutions":    strings.Repeat("$(", 10000) + "a" + strings.Repeat(")", 10000),
		"braces":           strings.Repeat("{ ", 10000) + "a" + strings.Repeat("; }", 10000),
		"arithmetic":       "echo $((" + strings.Repeat("(", 10000) + "1" + strings.Repeat(")", 10000) + "))",
		"ifs":              strings.Repeat("if ", 10000),
		"commands":         strings.Repeat("a;", 20000),
		"NUL":              "a\x00b",
		"carriage return":  "a\r\nb",
		"invalid UTF-8":    "a \xff",
	} {
		start := time.Now()
		if _, err := Parse(line); err == nil {
			t.Errorf("%s: no error", name)
		}
		if d := time.Since(start); d > 2*time.Second {
			t.Errorf("%s: took %s", name, d)
		}
	}
	for name, line := range map[string]string{
		"a long word":      "echo " + strings.Repeat("x", 100000),
		"wrappers":         strings.Repeat("nice ", 20000) + "a",
		"sudo":             strings.Repeat("sudo ", 20000) + "a",
		"xargs":            strings.Repeat("xargs ", 20000) + "a",
		"watch":            strings.Repeat("watch ", 20000) + "a",
		"eval":             strings.Repeat("eval ", 20000) + "a",
		"finds":            strings.Repeat("find -exec ", 10000) + "a",
		"bash":             strings.Repeat("bash -c ", 10000) + "a",
		"env -S":           strings.Repeat("env -S ", 10000) + "a",
		"brace expansions": "echo " + strings.Repeat("{a,b}", 2000),
		"pipes":            strings.Repeat("a|", 500) + "a",
		"minus signs":      "echo $((" + strings.Repeat("- ", 50000) + "1))",
		"cds":              strings.Repeat("cd a;", 500),
		"a here-document":  "cat > f <<'E'\n" + strings.Repeat("((((\n", 15000) + "E\n",
	} {
		start := time.Now()
		_, _ = Parse(line) // either answer will do
		d := time.Since(start)
		t.Logf("%s: %s", name, d)
		if d > 5*time.Second {
			t.Errorf("%s: took %s", name, d)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a && b | c", "env -S 'a b'", "bash -c 'x; y' z", "find . -exec a {} \\;", "xargs -I% a %", "a <<E\n$(b)\nE\n", "{a,b}{1..3}", "$'\\x41' ~/x", "f() { x; }; f", "cd a || exit; b", "[[ $x -eq 1 ]]", "((i++))", "${x@P}", "let 'a[1]=2'", "case a in b|c) d;; esac", "eval \"eval 'a'\"", "x=(1 2); echo ${x[@]}", "select a in b; do c; done", "coproc a { b; }", "time -p a", "declare -A x=([a]=b)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		start := time.Now()
		l, err := Parse(line)
		if d := time.Since(start); d > 10*time.Second {
			t.Fatalf("%q took %s", line, d)
		}
		if err != nil {
			return
		}
		for _, s := range l.Segments {
			if len(s.Dirs) == 0 || len(s.Argv) > 0 && len(s.Outer) == 0 {
				t.Fatalf("%q: segment %+v is not filled", line, s)
			}
			for _, w := range s.Argv {
				w.Resolve(Vars{})
				w.Guesses()
			}
		}
	})
}
