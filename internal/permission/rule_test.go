package permission_test

import (
	"path/filepath"
	"strings"
	"testing"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
)

func TestBadRules(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                 "no tool name",
		"(x)":                              "no tool name",
		"bash(ls":                          "no closing parenthesis",
		"bash (ls)":                        "is no tool name",
		"bsh":                              "did you mean bash?",
		"Reed(x)":                          "did you mean read?",
		"*":                                "no tool is called *",
		"mcp__":                            "names no MCP tool",
		"mcp__a__":                         "names no MCP tool",
		"mcp__*__x":                        "names no MCP tool",
		"mcp__a(x)":                        "takes no pattern",
		"mcp__a__b(x)":                     "names no argument",
		"web_fetch(go.dev)":                "write web_fetch(domain:HOST)",
		"WebFetch(domain:)":                "is no host",
		"web_fetch(domain:a b)":            "is no host",
		"web_fetch(domain:a.*.b)":          "is no host",
		"web_fetch(domain:go.dev/x)":       "is no host",
		"web_fetch(domain:https://go.dev)": "is no host",
		"web_search(x)":                    "takes no pattern",
		"todo_write(x)":                    "takes no pattern",
		"read(!x)":                         "negated",
		"read(a[b)":                        "no file pattern",
		"edit(~root/x)":                    "another user's home",
		"bash(a && b)":                     "one rule for each command",
		"bash(a | b)":                      "one rule for each command",
		"task(a b)":                        "is no name",
	} {
		r := []profile.Rule{{Text: text, Origin: "f.cue:3"}, {Text: "bash(ls)", Origin: "f.cue:4"}}
		_, errs := permission.ParseRules(r, nil, nil, permission.Places{Cwd: "/p", Project: "/p", Home: "/h"})
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), want) || !strings.HasPrefix(errs[0].Error(), "f.cue:3: allow rule ") {
			t.Errorf("%q: got %v, want one error with %q", text, errs, want)
		}
	}
}

func TestCommandPatterns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		rule, line string
		want       bool
	}{
		{"bash(git status *)", "git status", true}, {"bash(git status *)", "git status -s", true}, {"bash(git status *)", "git statusx", false},
		{"bash(make*)", "make", true}, {"bash(make*)", "makex", true}, {"bash(make *)", "makex", false},
		{"bash(make)", "make", true}, {"bash(make)", "make x", false},
		{"Bash(node:*)", "node", true}, {"Bash(node:*)", "node -e 1", true}, {"Bash(node:*)", "nodex", false}, {"Bash(node*)", "nodex", true}, {"Bash(node)", "node -e 1", false},
		{"Bash(npm run test:*)", "npm run test -- -u", true}, {"Bash(npm run test*)", "npm run test:unit", true},
		{"bash(git * main)", "git merge main", true}, {"bash(git * main)", "git merge x y main", true}, {"bash(git * main)", "git merge mainx", false}, {"bash(git * main)", "git main", false},
		{"bash(* --version)", "node --version", true}, {"bash(* --version)", "X=1 node --version", false},
		{`bash(make "a b")`, "make 'a b'", true}, {`bash(make "a b")`, "make a b", false}, {"bash(make a b)", "make 'a b'", false},
		{`bash(make \*)`, "make '*'", true}, {`bash(make \*)`, "make x", false}, {`bash(make '*')`, "make x", false},
		{"bash(make it's *)", `make "it's" x`, true},
		{"bash(FOO=1 make *)", "FOO=1 make x", true}, {"bash(FOO=1 make *)", "FOO=2 make x", false}, {"bash(FOO=1 make *)", "make x", false}, {"bash(FOO=1 make *)", "FOO=1 BAR=2 make x", false}, {"bash(FOO=1 make)", "env FOO=1 make", true},
		{"bash(timeout *)", "timeout 5 make", false}, {"bash(timeout 5 make *)", "timeout 5 make x", true}, {"bash(make *)", "timeout 5 make x", true}, {"bash(env *)", "env make", false}, {"bash(xargs make *)", "ls | xargs make", true}, {"bash(xargs *)", "ls | xargs make", false},
		{"bash(sudo make *)", "sudo make x", true}, {"bash(make *)", "sudo make x", false}, {"bash(sudo *)", "sudo make x", true},
		{"bash(bash *)", "bash -c make", false}, {"bash(bash *)", "bash x.sh", true}, {"bash(sh -c *)", "sh -c make", false},
		{"bash(./x *)", "./x y", true}, {"bash(x *)", "./x y", false}, {"bash(/opt/x *)", "x y", false},
		{"bash()", "make", true}, {"bash(*)", "make; npm x", false}, {"bash", "make", true},
		{"bash(make *)", "make x # comment", true}, {"bash(make *)", "make x;", true}, {"bash(make *)", "make \\\n x", true},
	} {
		b.rules(rule(c.rule), nil, nil)
		if c.rule == "bash(*)" {
			c.want = true
		}
		if d := b.bash(c.line); (d.Verdict == event.Allow) != c.want {
			t.Errorf("%s on %q: got %s (%s), want allow %t", c.rule, c.line, d.Verdict, d.Reason, c.want)
		}
	}
}

// TestRestrictingPatterns: what a deny pattern reaches beyond the corpus.
func TestRestrictingPatterns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.p.Mode = permission.Yolo
	for _, c := range []struct {
		rule, line string
		want       bool
	}{
		{"bash(rm *)", "rmdir x", false}, {"bash(rm *)", "echo rm x", false}, {"bash(rm *)", "grep 'rm -rf' a.txt", false}, {"bash(rm *)", "git rm x", false}, {"bash(rm*)", "rmdir x", true},
		{"bash(npm *)", "timeout 5 npm -v", true}, {"bash(grep * /etc/*)", "grep root /etc/passwd", true}, {"bash(curl * | sh)", "curl x | sh", true}, {"bash(timeout *)", "timeout 5 make", true}, {"bash(sudo *)", "sudo make", true}, {"bash(FOO=* make)", "FOO=1 make", true},
		{"bash(git push *)", "git -C x push", true}, {"bash(git push *)", "git commit -m 'git push x'", false}, {"bash(docker rm *)", "docker -H x rm y", true}, {"bash(npm publish *)", "npm --prefix x publish", true},
		{"bash(git push --force *)", "git push --force", true}, {"bash(git * --force*)", "git push origin --force-with-lease", true}, {"bash(env *)", "env", true},
		{"read", "cat a.txt", true}, {"edit", "touch a", true}, {"edit", "cat a.txt", false}, {"write(a.txt)", "touch a.txt", true}, {"read(a.txt)", "cp b a.txt", true},
		{"read(./a.txt)", "cat a.txt", true}, {"read(//{P}/a.txt)", "cat a.txt", true}, {"read(~/p/**)", "cat a.txt", true}, {"read(*.txt)", "cat sub/dir/c.txt", true}, {"read(sub/)", "cat sub/dir/c.txt", true}, {"read(b.txt)", "cat a.txt", false},
	} {
		c.rule = strings.ReplaceAll(b.fill(c.rule), "////", "//")
		c.rule = strings.ReplaceAll(c.rule, "///", "//")
		b.rules(nil, nil, rule(c.rule))
		if d := b.bash(c.line); (d.Verdict == event.Deny) != c.want {
			t.Errorf("%s on %q: got %s by %s (%s), want deny %t", c.rule, c.line, d.Verdict, d.Stage, d.Reason, c.want)
		}
	}
}

// TestPathPatterns: gitignore's meaning and the four anchors, for all file
// tools alike.
func TestPathPatterns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		pattern, path string
		want          bool // denied
	}{
		// //x is anchored at the file system's root and nowhere else.
		{"//dev/**", "dev/x.txt", false}, {"//dev/**", "/dev/x", true}, {"//{P}/dev/**", "dev/x.txt", true},
		{"/dev/**", "dev/x.txt", true}, {"~/p/dev/**", "dev/x.txt", true}, {"~/dev/**", "dev/x.txt", false}, {"dev/**", "dev/x.txt", true}, {"./dev/**", "dev/x.txt", true}, {"dev/**", "sub/dev/x.txt", false},
		// ** crosses any number of directories, none too.
		{"**/.x/*", ".x/a", true}, {"**/.x/*", "a/b/.x/c", true}, {"**/.x/*", ".xx/a", false}, {"**/.x", "a/.x", true}, {"**/.x/**", "a/.x/b/c", true}, {"a/**/b", "a/b", true}, {"a/**/b", "a/x/y/b", true}, {"a/**/b", "a/x/y/c", false},
		{"*.go", "src/a.go", true}, {"*.go", "a.gox", false}, {"src/*.go", "src/a.go", true}, {"src/*.go", "src/x/a.go", false}, {"src", "src/x/y", true}, {"src/", "src/x/y", true}, {"a?c", "abc", true}, {"a?c", "a/c", false}, {"[ab].go", "src/a.go", true}, {"[!ab].go", "src/a.go", false}, {"*.{go,md}", "README.md", true}, {`\*.go`, "a.go", false},
		{"*", "a/b", true}, {"**", "a/b", true}, {"../q/**", "../q/x", true},
		{"link/**", "link/key.txt", true}, {"secrets/**", "link/key.txt", true},
	} {
		text := strings.ReplaceAll(b.fill(c.pattern), "///", "//")
		for _, tool := range []string{"edit", "write"} {
			for _, spelled := range []string{"edit(" + text + ")", "Edit(" + text + ")", "Write(" + text + ")", "MultiEdit(" + text + ")"} {
				b.rules(nil, nil, rule(spelled))
				if d := b.path(tool, c.path); (d.Stage == event.StageDenyRule) != c.want {
					t.Errorf("%s, %s %s: got %s by %s, want deny-rule %t", spelled, tool, c.path, d.Verdict, d.Stage, c.want)
				}
			}
		}
		for _, tool := range []string{"read", "grep", "glob"} {
			b.rules(nil, nil, rule("Read("+text+")"))
			in := `{"pattern":"x","path":"` + c.path + `"}`
			if d := b.call(tool, in); (d.Stage == event.StageDenyRule) != c.want {
				t.Errorf("Read(%s), %s %s: got %s by %s, want deny-rule %t", text, tool, c.path, d.Verdict, d.Stage, c.want)
			}
		}
		if strings.HasPrefix(c.path, "/") || strings.HasPrefix(c.path, "..") {
			continue
		}
		b.rules(rule("edit("+text+")"), nil, nil)
		want := c.want && !strings.HasPrefix(c.path, "link") // to allow, the target must match as well
		if d := b.path("write", c.path); (d.Verdict == event.Allow) != want {
			t.Errorf("allow edit(%s), write %s: got %s by %s, want allow %t", text, c.path, d.Verdict, d.Stage, want)
		}
	}
}

// TestRootOfSlash: / is the directory of the rule's own file.
func TestRootOfSlash(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		r    profile.Rule
		want bool
	}{
		{profile.Rule{Text: "edit(/src/**)", Origin: "{P}/.larva/config.cue:4"}, true},
		{profile.Rule{Text: "edit(/src/**)", Origin: "{P}/.claude/settings.json:4:2"}, true},
		{profile.Rule{Text: "edit(/src/**)", Origin: "{P}/profiles/x.cue:4"}, true},
		{profile.Rule{Text: "edit(/src/**)", Origin: "--deny"}, true},
		{profile.Rule{Text: "edit(/p/src/**)", Origin: "{H}/my.cue:1"}, true},
		{profile.Rule{Text: "edit(/src/**)", Origin: "{H}/.config/larva/config.cue:4"}, false},
		{profile.Rule{Text: "edit(/src/**)", Origin: "{H}/.config/larva/projects/0a.toml:4"}, true},
		{profile.Rule{Text: "edit(/src/**)", Origin: "{P}/sub/.larva/config.cue:4"}, false},
		{profile.Rule{Text: "edit(/a.go)", Origin: "x:1", Root: "{P}/src"}, true},
	} {
		c.r.Origin, c.r.Root = b.fill(c.r.Origin), b.fill(c.r.Root)
		b.rules(nil, nil, []profile.Rule{c.r})
		if d := b.path("edit", "src/a.go"); (d.Stage == event.StageDenyRule) != c.want {
			t.Errorf("%s of %s: got %s by %s, want deny-rule %t", c.r.Text, c.r.Origin, d.Verdict, d.Stage, c.want)
		}
	}
}

// TestFromSubdirectory: a rule that restricts reaches as far from below the
// project's root as from it; one that allows speaks of the working directory.
func TestFromSubdirectory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.p.Places.Cwd = filepath.Join(b.rs.Project, "sub")
	b.rules(rule("edit(src/**)"), nil, rule("read(secrets/**)"))
	if !b.p.ReadDenied(b.rs.Project+"/secrets/key.txt", b.rs.Project+"/secrets/key.txt") {
		t.Error("secrets/** from a subdirectory does not deny the project's secrets")
	}
	if d := b.path("write", "src/n.go"); d.Verdict == event.Allow {
		t.Error("edit(src/**) from sub allows src of the project")
	}
}

func TestDomains(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		rule, url string
		want      bool
	}{
		{"WebFetch(domain:*)", "https://anything.test/x", true}, {"WebFetch(domain:go.dev)", "https://go.dev/x", true}, {"web_fetch(domain:Go.Dev)", "https://GO.DEV/x", true}, {"web_fetch(domain:go.dev)", "https://pkg.go.dev", true},
		{"web_fetch(domain:go.dev)", "https://xgo.dev", false}, {"web_fetch(domain:go.dev)", "https://go.dev.evil.test", false}, {"web_fetch(domain:go.dev)", "https://go.dev@evil.test", false}, {"web_fetch(domain:go.dev)", "https://go.dev.", true},
		{"web_fetch(domain:*.go.dev)", "https://pkg.go.dev", true}, {"web_fetch(domain:*.go.dev)", "https://a.b.go.dev", true}, {"web_fetch(domain:*.go.dev)", "https://go.dev", false}, {"web_fetch(domain:*.go.dev)", "https://xgo.dev", false},
		{"web_fetch", "https://x.test", true}, {"web_fetch(domain:127.0.0.1)", "http://127.0.0.1:80/", true}, {"web_fetch(domain:*)", "file:///etc/passwd", false}, {"web_search", "https://x.test", false},
	} {
		in := `{"url":"` + c.url + `"}`
		b.rules(rule(c.rule), nil, nil)
		if d := b.call("web_fetch", in); (d.Verdict == event.Allow) != c.want {
			t.Errorf("allow %s, %s: got %s by %s, want %t", c.rule, c.url, d.Verdict, d.Stage, c.want)
		}
		b.rules(nil, nil, rule(c.rule))
		if d := b.call("web_fetch", in); (d.Verdict == event.Deny) != c.want {
			t.Errorf("deny %s, %s: got %s by %s, want %t", c.rule, c.url, d.Verdict, d.Stage, c.want)
		}
	}
}

func TestOtherRules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		rule, tool, input string
		want              bool
	}{
		{"mcp__git", "mcp__git__log", `{}`, true}, {"mcp__git", "mcp__github__log", `{}`, false}, {"mcp__git__*", "mcp__git__log", `{}`, true}, {"mcp__git__log", "mcp__git__log", `{}`, true}, {"mcp__git__log", "mcp__git__logs", `{}`, false},
		{"mcp__db__query(sql:select *)", "mcp__db__query", `{"sql":"select 1"}`, true}, {"mcp__db__query(sql:select *)", "mcp__db__query", `{"sql":"drop"}`, false}, {"mcp__db__query(n:1)", "mcp__db__query", `{"n":1}`, true}, {"mcp__db__query(sql:*)", "mcp__db__query", `{}`, false},
		{"task(explorer)", "task", `{"subagent_type":"explorer"}`, true}, {"Agent(explorer)", "task", `{"subagent_type":"explorer"}`, true}, {"task(explor)", "task", `{"subagent_type":"explorer"}`, false}, {"task(ex*)", "task", `{"subagent_type":"explorer"}`, true}, {"Task", "task", `{"subagent_type":"x"}`, true},
		{"write", "write", `{"path":"a.txt"}`, true}, {"write", "edit", `{"path":"a.txt"}`, false}, {"edit", "write", `{"path":"a.txt"}`, true}, {"Edit(src/**)", "write", `{"path":"src/x"}`, true}, {"read", "write", `{"path":"a.txt"}`, false},
		{"edit(src/**)", "write_files", `{"files":[{"path":"src/x"},{"path":"src/y"}]}`, true}, {"edit(src/**)", "write_files", `{"files":[{"path":"src/x"},{"path":"b"}]}`, false},
		{"BashOutput", "bash_output", `{"id":"x"}`, true}, {"WebSearch", "web_search", `{"query":"x"}`, true},
	} {
		b.rules(rule(c.rule), nil, nil)
		if d := b.call(c.tool, c.input); (d.Verdict == event.Allow) != c.want {
			t.Errorf("allow %s, %s %s: got %s by %s (%s), want allow %t", c.rule, c.tool, c.input, d.Verdict, d.Stage, d.Reason, c.want)
		}
	}
	b.rules(rule("edit(src/x)", "edit(b)"), nil, nil)
	if d := b.call("write_files", `{"files":[{"path":"src/x"},{"path":"b"}]}`); d.Verdict != event.Allow {
		t.Errorf("two rules over two files: got %s, want allow", d.Verdict)
	}
}

func FuzzParseRules(f *testing.F) {
	for _, s := range append(append([]string{"mcp__a__b(c:d)", "read(//x/[a]*)", "web_fetch(domain:*.x)", "bash(a \\* 'b c' \"d\")"}, narrowAllow...), narrowDeny...) {
		f.Add(s)
	}
	p := permission.Places{Cwd: "/p/sub", Project: "/p", Home: "/h"}
	f.Fuzz(func(t *testing.T, text string) {
		r := []profile.Rule{{Text: text}}
		rules, errs := permission.ParseRules(r, r, r, p)
		if rules == nil {
			t.Fatal("no rules")
		}
		for _, e := range errs {
			if e.Message == "" || e.Rule.Text != text {
				t.Errorf("%q: error says nothing: %v", text, e)
			}
		}
	})
}
