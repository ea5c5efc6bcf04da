package agent

import (
	_ "embed"
	"strings"
	"time"

	"larva.dev/larva/internal/frame"
)

// safety is the short section that every persona runs under.
//
//go:embed safety.md
var safety string

// Surroundings are what the system prompt says besides the persona.
type Surroundings struct {
	Cwd      string
	Platform string // GOOS/GOARCH
	GitRoot  string // "" outside a repository
	// Instructions are the person's and the project's instruction files.
	Instructions []Instruction
	// Skills is the index of what can be loaded, in a block; "" for none.
	Skills string
	// Sandbox says in a sentence what walls commands in, "" for nothing. It
	// names no path of this one run, so that the prompt stays the same.
	Sandbox string
	Date    time.Time
}

// Instruction is one instruction file.
type Instruction struct{ Source, Text string }

// System is the whole system prompt: the persona's prompt first and verbatim,
// then the safety section, the surroundings, instruction files, the sandbox, the index of skills,
// and the date last, so that
// everything before it stays the same from day to day for a prompt cache.
func System(persona string, s Surroundings) string {
	var b strings.Builder
	b.WriteString(persona)
	b.WriteString("\n\n" + safety)
	git := "none"
	if s.GitRoot != "" {
		git = plainLine(s.GitRoot)
	}
	b.WriteString("\n<env>\nWorking directory: " + plainLine(s.Cwd) + "\nGit root: " + git + "\nPlatform: " + s.Platform + "\n</env>\n")
	for _, i := range s.Instructions {
		b.WriteString("\n" + frame.Block("instructions", "source", i.Source, i.Text) + "\n")
	}
	if s.Sandbox != "" {
		b.WriteString("\n" + s.Sandbox + "\n")
	}
	if s.Skills != "" {
		b.WriteString("\n" + s.Skills + "\n")
	}
	b.WriteString("\nToday is " + s.Date.Format("2006-01-02") + ".\n")
	return b.String()
}

// plainLine keeps a directory's name on its line and inside its block: a name
// can be made to look like an instruction.
func plainLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '<' || r == '>' || r == 0x2028 || r == 0x2029 {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
}
