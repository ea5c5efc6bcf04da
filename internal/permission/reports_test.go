package permission_test

import (
	"fmt"
	"strings"
	"testing"

	"larva.dev/larva/internal/command"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
)

// The tests of this file each hold the whole kind of one public bug report of
// tools like ours, by its row.

// Row 11: a deny rule on a command reaches it behind every operator, in every
// construct and wrapper, two deep, whatever allows the rest.
func TestReport11DenyReachesEveryPart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.rules(rule("bash"), nil, rule("Bash(rm *)"))
	shapes := append([]string{"find . | xargs %s", "ls; %s", "ls & %s", "ls | %s", "ls\n%s", "find . -exec %s {} \\;", "sudo %s", "sh -c '%s'", "env A=1 %s", "$(%s)", "diff <(%s) a.txt", "xargs -n 1 %s", "ls || { ls; %s; }"}, wraps...)
	n := 0
	for _, mode := range []string{permission.Default, permission.Yolo} {
		b.p.Mode = mode
		for _, outer := range shapes {
			for _, inner := range shapes {
				line := fmt.Sprintf(inner, "rm -rf x")
				if strings.HasSuffix(outer, " %s") && !strings.ContainsAny(outer, "&|!;") && !isSimple(line) || strings.Contains(outer, "'") && strings.Contains(line, "'") || (strings.Contains(outer, "-exec") || strings.Contains(outer, "xargs")) && !isSimple(line) {
					continue
				}
				line = fmt.Sprintf(outer, line)
				if _, err := command.Parse(line); err != nil {
					continue // no shell line: never allowed by a rule
				}
				if n++; b.bash(line).Verdict != event.Deny {
					t.Errorf("mode %s: %q is not denied: %s", mode, line, b.bash(line).Reason)
				}
			}
		}
	}
	t.Logf("COUNT row 11: %d lines denied", n)
	for _, line := range []string{"git rm x", "echo rm x", "grep -r 'rm -rf' src", "ls; rmdir x"} {
		if d := b.bash(line); d.Verdict == event.Deny {
			t.Errorf("%q is denied: %s", line, d.Reason)
		}
	}
}

// Row 13: duplicated descriptors and /dev/null change nothing about a rule;
// a redirect to a file is a write to that file and asks by itself.
func TestReport13Redirects(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []string{"npm run test", "npm run test -- -u", "node -e '\nconsole.log(1)\n'"} {
		b.rules(rule("Bash(npm run test:*)", "Bash(node *)", "edit(build/**)"), nil, nil)
		for _, r := range []string{"2>&1", ">/dev/null", "2>/dev/null", ">&2", "&>/dev/null", ">/dev/null 2>&1", "</dev/null", "2>&-", "1>&2", "> /dev/stderr", "> build/o.txt", "2>> build/sub/e.txt", "> build/o 2>&1"} {
			if d := b.bash(c + " " + r); d.Verdict != event.Allow {
				t.Errorf("%q: got %s (%s), want allow", c+" "+r, d.Verdict, d.Reason)
			}
		}
		for _, r := range []string{"> o.txt", ">> o.txt", "2> o.txt", "&> o.txt", ">| o.txt", "<> o.txt", ">&o.txt", "> build/../o.txt", "> $X", "> build/$X", ">&1foo", "> build/o > o.txt"} {
			if d := b.bash(c + " " + r); d.Verdict == event.Allow {
				t.Errorf("%q: got allow by %s, want a question", c+" "+r, d.Stage)
			}
		}
		b.rules(rule("Bash(npm run test:*)", "Bash(node *)", "edit"), nil, rule("edit(o.txt)"))
		if d := b.bash(c + " > o.txt"); d.Stage != event.StageDenyRule {
			t.Errorf("%q: got %s by %s, want the deny rule on the file", c, d.Verdict, d.Stage)
		}
	}
}

// Row 14: each anchor is a place, and a pattern reaches nothing outside of it.
func TestReport14Anchors(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	at := map[string]string{"//": b.rs.Project, "~/": "p", "/": "", "": "", "./": ""}
	for anchor, front := range at {
		for _, dir := range []string{"dev", "sub/dir", "src"} {
			pattern := anchor + strings.TrimPrefix(strings.TrimPrefix(front+"/"+dir, "/"), "/") + "/**"
			for _, tool := range []string{"Edit", "edit", "Write"} {
				b.rules(nil, nil, []profile.Rule{{Text: tool + "(" + pattern + ")", Origin: "--deny", User: true}})
				for path, want := range map[string]bool{dir + "/x": true, dir + "/a/b": true, "x/" + dir + "/x": false, "/" + dir + "/x": false, dir + "x/y": false, "../" + dir + "/x": false} {
					if d := b.path("write", path); (d.Stage == event.StageDenyRule) != want {
						t.Errorf("%s(%s) and write %s: got %s by %s, want denied %t", tool, pattern, path, d.Verdict, d.Stage, want)
					}
				}
			}
		}
	}
	b.rules(nil, nil, rule("edit(//dev/**)"))
	if d := b.path("edit", "dev/x.txt"); d.Stage == event.StageDenyRule {
		t.Error("//dev/** matches a dev inside the project")
	}
}

// Row 16: ** is any number of directories, none too, in front of a name, of a
// directory and in the middle, for every spelling of a file rule.
func TestReport16DoubleStar(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{".conf", "dir", "a.b"} {
		for _, c := range []struct {
			pattern string
			miss    string
		}{{"**/" + name + "/*", "x/" + name + "x/y"}, {"**/" + name + "/**", name + "x/y"}, {"**/" + name, "x" + name}} {
			for _, spelled := range []string{"Write", "Edit", "MultiEdit", "edit", "write"} {
				b.rules(nil, nil, rule(spelled+"("+c.pattern+")"))
				for _, front := range []string{"", "x/", "x/y/", ".h/"} {
					for _, back := range []string{"/f", "/.f"} {
						if d := b.path("write", front+name+back); d.Stage != event.StageDenyRule {
							t.Errorf("%s(%s): write %s is not denied", spelled, c.pattern, front+name+back)
						}
					}
				}
				if d := b.path("write", c.miss); d.Stage == event.StageDenyRule {
					t.Errorf("%s(%s): write %s is denied", spelled, c.pattern, c.miss)
				}
			}
		}
	}
}

// Row 17: any host, the hosts below one, one host and those below it; what is
// none of these is an error with its place, never skipped.
func TestReport17Domains(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	hosts := []string{"go.dev", "pkg.go.dev", "a.b.go.dev", "xgo.dev", "go.dev.test", "127.0.0.1"}
	for pattern, want := range map[string]string{"*": "go.dev pkg.go.dev a.b.go.dev xgo.dev go.dev.test 127.0.0.1", "*.go.dev": "pkg.go.dev a.b.go.dev", "go.dev": "go.dev pkg.go.dev a.b.go.dev", "GO.dev": "go.dev pkg.go.dev a.b.go.dev", "*.pkg.go.dev": ""} {
		for _, spelled := range []string{"WebFetch", "web_fetch"} {
			b.rules(rule(spelled+"(domain:"+pattern+")"), nil, nil)
			var got []string
			for _, h := range hosts {
				if b.call("web_fetch", `{"url":"https://`+h+`/x"}`).Verdict == event.Allow {
					got = append(got, h)
				}
			}
			if g := strings.Join(got, " "); g != want {
				t.Errorf("%s(domain:%s): got %q, want %q", spelled, pattern, g, want)
			}
		}
	}
	for _, bad := range []string{"domain:", "domain:*.", "domain:a.*.b", "domain:*x.y", "domain:a b", "domain:https://a", "domain:a/b", "domain:a..b", "domain:-a", "host:x", "go.dev", "*.go.dev"} {
		_, errs := permission.ParseRules([]profile.Rule{{Text: "WebFetch(" + bad + ")", Origin: "f.cue:7"}}, nil, nil, b.p.Places)
		if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), "f.cue:7: ") || errs[0].Hint == "" {
			t.Errorf("WebFetch(%s): got %v, want one error with its place and a hint", bad, errs)
		}
	}
}
