package shell

import (
	"larva.dev/larva/internal/root"
	"larva.dev/larva/internal/tool"
)

func Effects(rs *root.Set, line string) tool.Effects { return tool.Effects{Command: line, Touches: true} }
