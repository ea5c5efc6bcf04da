// Package skill is the tool that hands a skill to the model: the index names
// it, the tool gives its text. It grants nothing: what the text asks for is
// judged call by call.
package skill

import (
	"context"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"larva.dev/larva/internal/frame"
	"larva.dev/larva/internal/skill"
	"larva.dev/larva/internal/tool"
)

// MaxText is how many bytes of one skill a model reads.
const MaxText = 60 << 10

//go:embed skill.md
var text string

const schema = `{"type":"object","properties":{
"name":{"type":"string","minLength":1,"description":"A name of the index"},
"arguments":{"type":"string","description":"What it is to work on, for a text that takes arguments"}},
"required":["name"]}`

// Shelf is the skills of a run, and which of them its model has read. It may be
// used by several goroutines.
type Shelf struct {
	mu     sync.Mutex
	set    *skill.Set
	loaded []string
}

// New gives a shelf with these.
func New(set *skill.Set) *Shelf { return &Shelf{set: set} }

// Set gives what is on the shelf; nil holds nothing, and so does a nil Shelf.
func (s *Shelf) Set() *skill.Set {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set
}

// Renew puts others on it, for a fresh context.
func (s *Shelf) Renew(set *skill.Set) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set, s.loaded = set, nil
}

// Loads marks one as read.
func (s *Shelf) Loads(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.loaded, id) {
		s.loaded = append(s.loaded, id)
	}
}

// Carry is what a summary of the conversation says of those that were read, ""
// for none.
func (s *Shelf) Carry() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.loaded) == 0 {
		return ""
	}
	return "Skills that were loaded, whose text is no longer here: " + strings.Join(s.loaded, ", ") +
		". Load one again with the tool skill before you go on with what it is for."
}

// Tools gives the tool over a shelf.
func Tools(s *Shelf) []tool.Tool { return []tool.Tool{skillTool{s}} }

type skillTool struct{ shelf *Shelf }

func (skillTool) Spec() tool.Spec {
	return tool.Spec{Name: "skill", Description: text, Schema: json.RawMessage(schema), MaxOutput: MaxText + 1024}
}

type input struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (t skillTool) find(c tool.Call) (input, *skill.Skill, error) {
	var in input
	err := json.Unmarshal(c.Input, &in)
	in.Name = strings.TrimPrefix(strings.TrimSpace(in.Name), "/")
	return in, t.shelf.Set().Get(in.Name), err
}

// Effects names the skill as rules do, whatever spelling was called.
func (t skillTool) Effects(c tool.Call) tool.Effects {
	in, k, _ := t.find(c)
	if k != nil {
		in.Name = k.ID
	}
	return tool.Effects{ReadOnly: true, Subject: in.Name}
}

func (t skillTool) Run(_ context.Context, c tool.Call) (tool.Result, error) {
	in, k, err := t.find(c)
	switch {
	case err != nil:
		return tool.Fail("%s: arguments: %v", c.Tool, err), nil
	case k == nil || !k.Offered() && !k.UserOnly:
		offered := t.shelf.Set().Offered()
		if near := skill.Nearest(in.Name, offered); near != "" {
			return tool.Fail("there is no skill %s; did you mean %s?", frame.Attribute(in.Name), near), nil
		}
		return tool.Fail("there is no skill %s; the index names all", frame.Attribute(in.Name)), nil
	case k.UserOnly:
		return tool.Fail("the skill %s is for the person alone: they run it as /%s", k.ID, k.ID), nil
	}
	body, err := k.Body()
	if err != nil {
		return tool.Fail("%v", err), nil
	}
	t.shelf.Loads(k.ID)
	return tool.Result{Output: Text(k, body, in.Arguments)}, nil
}

// Text is a skill as a model reads it. Commands in it are left as they stand:
// the model can run them itself, where it may.
func Text(k *skill.Skill, body, args string) string {
	var b strings.Builder
	for _, p := range skill.Expand(body, args) {
		if p.Command != "" {
			b.WriteString("`" + p.Command + "`")
			continue
		}
		b.WriteString(p.Text)
	}
	return where(k) + frame.Block("skill", "name", k.ID, cut(strings.ReplaceAll(b.String(), "${CLAUDE_SKILL_DIR}", k.Dir)))
}

// where says where a skill's other files lie.
func where(k *skill.Skill) string {
	if k.Dir == "" {
		return ""
	}
	return "The files that it names lie in " + frame.Attribute(k.Dir) + ".\n"
}

// cut keeps a text to what a model reads of it.
func cut(s string) string {
	if len(s) <= MaxText {
		return s
	}
	n := MaxText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "\n[the text goes on: read the rest from its file]"
}
