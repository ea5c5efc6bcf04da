package definition

import (
	"strings"
	"testing"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/spec"
)

func TestBuiltIns(t *testing.T) {
	t.Parallel()
	all, err := BuiltIns()
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, d := range all {
		tools := "all"
		if d.Tools != nil {
			tools = strings.Join(d.Tools.Names, " ")
		}
		got += d.ID + ": " + d.Model + ": " + tools + ": " + ceiling(&d) + "\n"
		for _, n := range d.Notices {
			t.Errorf("got the notice %s", n)
		}
	}
	want := "general-purpose: worker: all: \nexplore: explore: glob grep lsp read: shell=none filesystem=read_only git=none email=none http=none network=none database=none browser=none python=none mcp=none\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func ceiling(d *Definition) string {
	var out []string
	for _, n := range d.Ceiling() {
		out = append(out, n.Family+"="+n.Posture.String())
	}
	return strings.Join(out, " ")
}

func TestCeilings(t *testing.T) {
	t.Parallel()
	none := " email=none http=none network=none database=none browser=none python=none mcp=none"
	for tools, want := range map[string]string{
		"tools: Read":                        "shell=none filesystem=read_only git=none" + none,
		"tools: Edit, WebFetch":              "shell=none filesystem=read_write git=none email=none http=read_only network=none database=none browser=none python=none mcp=none",
		"tools: Bash":                        "shell=destructive filesystem=read_only git=destructive email=none http=none database=none browser=none python=none mcp=none",
		"tools: Bash\ndisallowedTools: Bash": "shell=none filesystem=none git=none" + none,
		"tools: mcp__a":                      "shell=none filesystem=none git=none email=none http=none network=none database=none browser=none python=none mcp=destructive",
		"tools: []":                          "shell=none filesystem=none git=none" + none,
		"tools: TodoWrite":                   "shell=none filesystem=none git=none" + none,
		"color: red":                         "",
		"disallowedTools: Bash":              "shell=none git=none",
		"disallowedTools: Bash, WebFetch,WebSearch": "shell=none git=none http=none",
		"disallowedTools: Bsh":                      "shell=none filesystem=none git=none" + none,
		"tools: true":                               "shell=none filesystem=none git=none" + none,
	} {
		d := mustRead(t, tools)
		if got := ceiling(d); got != want {
			t.Errorf("%s: got %s, want %s", tools, got, want)
		}
		if r := spec.Validate(d.Persona(), nil); !r.Valid {
			t.Errorf("%s: got %v, want a valid persona", tools, r.Errors)
		}
	}
}

func TestUnder(t *testing.T) {
	t.Parallel()
	parent := capability.Ceiling{"shell": capability.ReadWrite, "filesystem": capability.ReadOnly, "git": capability.ReadOnly}
	for _, c := range []struct {
		front, family string
		want          capability.Posture
	}{
		{"color: red", "shell", capability.ReadWrite}, {"color: red", "mcp", capability.Undeclared},
		{"disallowedTools: Bash", "shell", capability.None}, {"disallowedTools: Bash", "filesystem", capability.ReadOnly},
		{"tools: Read", "shell", capability.None}, {"tools: Read", "filesystem", capability.ReadOnly},
		{"tools:", "filesystem", capability.None},
	} {
		if got := mustRead(t, c.front).Under(parent).Of(c.family); got != c.want {
			t.Errorf("%s: %s: got %s, want %s", c.front, c.family, got, c.want)
		}
	}
}

func TestSpawn(t *testing.T) {
	t.Parallel()
	for tools, want := range map[string]string{
		"tools: Read": "null", "color: red": "null", `tools: "*"`: "null", "tools: Task": "true", "tools: Task(b, A B)": `["a-b","b"]`,
		"tools: Task\ndisallowedTools: Task": "null", "tools: Task()": "null", "tools: Agent(a), Task": `["a"]`, "tools: Task(a)\nallowed-tools: Task(b)": "null",
	} {
		v, _ := mustRead(t, tools).Persona().Get("can_spawn")
		if got := string(spec.AppendCanonical(nil, v)); got != want {
			t.Errorf("%s: got %s, want %s", tools, got, want)
		}
	}
}

func mustRead(t *testing.T, front string) *Definition {
	t.Helper()
	d, p := Read([]byte("---\nname: x\ndescription: d\n"+front+"\n---\nBody.\n"), Source{Shown: "a.md"})
	if p != nil {
		t.Fatal(p)
	}
	return d
}
