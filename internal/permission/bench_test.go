package permission_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/profile"
	"larva.dev/larva/internal/root"
	"larva.dev/larva/internal/tool"
	"larva.dev/larva/internal/tool/file"
	"larva.dev/larva/internal/tool/shell"
)

// bench is a project on disk with a policy over it.
type bench struct {
	t     testing.TB
	rs    *root.Set
	home  string
	tools map[string]tool.Tool
	p     *permission.Policy
}

// files of the project; a name with a last slash is a directory.
var projectFiles = []string{"src/a.go", "src/b.go", "secrets/key.txt", ".env", ".env.example", "README.md", "AGENTS.md", "personas/x.cue", "sub/dir/c.txt",
	"server.pem", "notes.key", "a.txt", "dev/x.txt", "-rf"}

func newBench(t testing.TB) *bench {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project, home := filepath.Join(base, "home", "p"), filepath.Join(base, "home")
	for _, d := range []string{".git/hooks", "tmp"} {
		if err := os.MkdirAll(filepath.Join(project, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range append([]string{".git/HEAD"}, projectFiles...) {
		f = filepath.Join(project, f)
		if err := os.MkdirAll(filepath.Dir(f), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link": "secrets", "out": base, "hook": ".git/hooks/pre-commit", "innocent": ".env"} {
		if err := os.Symlink(to, filepath.Join(project, link)); err != nil {
			t.Fatal(err)
		}
	}
	temp := filepath.Join(base, "private")
	if err := os.Mkdir(temp, 0o700); err != nil {
		t.Fatal(err)
	}
	rs, err := root.New(project, nil, home, temp)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, rs: rs, home: home, tools: map[string]tool.Tool{}}
	for _, tl := range file.New(rs, file.Options{}) {
		b.tools[tl.Spec().Name] = tl
	}
	b.p = &permission.Policy{Places: permission.Places{Project: rs.Project, Cwd: rs.Cwd, Home: home, Temp: temp, Roots: rs.Roots,
		Config: filepath.Join(home, ".config", "larva"), LarvaHome: filepath.Join(home, ".larva"), Data: filepath.Join(home, ".local", "share", "larva")}}
	return b
}

// rule makes rules of a user layer.
func rule(texts ...string) []profile.Rule {
	var out []profile.Rule
	for _, t := range texts {
		out = append(out, profile.Rule{Text: t, Origin: "--flag", User: true})
	}
	return out
}

func (b *bench) rules(allow, ask, deny []profile.Rule) {
	b.t.Helper()
	r, errs := permission.ParseRules(allow, ask, deny, b.p.Places)
	if len(errs) > 0 {
		b.t.Fatal(errs)
	}
	b.p.Rules = r
}

func (b *bench) call(name, input string) event.Decision {
	b.t.Helper()
	c := tool.Call{Tool: name, Input: json.RawMessage(input)}
	var eff tool.Effects
	if tl, ok := b.tools[name]; ok {
		eff = tl.Effects(c)
	} else if eff, ok = permission.KnownEffects(name, c.Input); !ok {
		b.t.Fatalf("%s: not known", name)
	}
	return b.p.Judge(c, eff, permission.HookSays{})
}

func (b *bench) bash(line string) event.Decision { return b.bashHook(line, permission.HookSays{}) }

func (b *bench) bashHook(line string, h permission.HookSays) event.Decision {
	b.t.Helper()
	c, eff := b.prepare(line)
	return b.p.Judge(c, eff, h)
}

func (b *bench) prepare(line string) (tool.Call, tool.Effects) {
	b.t.Helper()
	input, err := json.Marshal(map[string]string{"command": line})
	if err != nil {
		b.t.Fatal(err)
	}
	return tool.Call{Tool: "bash", Input: input}, shell.Effects(b.rs, line)
}

// path is a call of a file tool on one path.
func (b *bench) path(name, path string) event.Decision {
	b.t.Helper()
	in, err := json.Marshal(map[string]string{"path": path})
	if err != nil {
		b.t.Fatal(err)
	}
	return b.call(name, string(in))
}

func (b *bench) fill(s string) string {
	return strings.NewReplacer("{P}", b.rs.Project, "{H}", b.home).Replace(s)
}

func ceiling(pairs ...string) capability.Ceiling {
	c := capability.Ceiling{}
	for i := 0; i < len(pairs); i += 2 {
		p, ok := capability.Parse(pairs[i+1])
		if !ok {
			panic(pairs[i+1])
		}
		c[pairs[i]] = p
	}
	return c
}
