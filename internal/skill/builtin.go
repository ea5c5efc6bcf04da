package skill

import (
	"embed"
	"path"
	"strings"
)

// Those that come with the binary.
//
//go:embed builtin/*.md
var shipped embed.FS

// builtIns are the commands that come with the binary. {{diff}} in them is for
// who runs them.
func builtIns() []Skill {
	entries, err := shipped.ReadDir("builtin")
	if err != nil {
		panic(err) // embedded: missing only if the build is broken
	}
	var out []Skill
	for _, e := range entries {
		data, err := shipped.ReadFile(path.Join("builtin", e.Name()))
		if err != nil {
			panic(err)
		}
		name := strings.TrimSuffix(e.Name(), ".md")
		k, p := read(data, source{kind: Commands, shown: "built-in", origin: BuiltIn, name: name})
		if p != nil {
			panic(p.String())
		}
		out = append(out, *k)
	}
	return out
}
