package definition

import (
	"embed"
	"fmt"
)

//go:embed builtin/*.md
var builtin embed.FS

// BuiltIns are the definitions that come with the binary: general-purpose,
// which has the tools of whoever calls it, and explore, which only looks. They
// are read as every other file is.
func BuiltIns() ([]Definition, error) {
	var out []Definition
	for _, name := range []string{"general-purpose", "explore"} {
		data, err := builtin.ReadFile("builtin/" + name + ".md")
		if err != nil {
			return nil, fmt.Errorf("built-in definition: %w", err)
		}
		d, p := Read(data, Source{Shown: name + ".md", Origin: BuiltIn, Level: -1})
		if p != nil {
			return nil, fmt.Errorf("built-in definition: %s", p)
		}
		out = append(out, *d)
	}
	return out, nil
}
