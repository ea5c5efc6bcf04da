// Package permission judges the effects of a call by rules, mode and ceiling:
// allow, ask or deny, with the reason. It is pure: it touches no disk, asks
// nobody and remembers nothing but how the lines that it met last are read.
package permission

import (
	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/spec"
)

// The modes of a run. Any other word is judged as Default. So is auto, whose
// last questions a model may answer: see AutoMay.
const (
	Default     = "default"
	AcceptEdits = "accept-edits"
	Plan        = "plan"
	Auto        = "auto"
	Yolo        = "yolo"
)

// Places are the directories that rules and stages speak of: absolute, clean,
// links resolved. "" switches off what hangs on that place.
type Places struct {
	Project   string   // the git root, else Cwd
	Cwd       string   // what a relative path means
	Home      string   // what ~ means
	Config    string   // the personal config directory
	LarvaHome string   // ~/.larva, or what LARVA_HOME says
	Data      string   // sessions, checkpoints, worktrees
	Temp      string   // the run's private temp directory
	Roots     []string // every root: Project, the added directories, Temp
	// Others are checkouts of the same repository that the run was kept out of.
	// A path in one, outside the roots, is for a person to answer: no rule does.
	Others []string
}

// Policy is everything that a call is judged by; read-only once a run has
// begun. The zero value is mode default without rules and without a ceiling.
type Policy struct {
	Mode string
	// Ceiling is the persona's declared capabilities. nil means no persona and
	// so no ceiling; an empty one declares nothing, which is something else.
	Ceiling    capability.Ceiling
	Undeclared string // "ask" (or "") or "deny"
	Rules      *Rules // nil: none
	Places     Places
	// Sandboxed says that shell commands of this policy's executor run inside
	// bubblewrap.
	Sandboxed bool
	// CanSpawn is who may be a subagent; it binds only beside a Ceiling.
	CanSpawn *spec.CanSpawn
	// Above bound a subagent's calls too: those of all that it works for. The
	// lower of two ceilings is not enough, since an undeclared family is a
	// question that a rule may answer, and a declared one is a refusal.
	Above []Bound
}

// Bound is the ceiling of an agent, as in Policy.
type Bound struct {
	Ceiling  capability.Ceiling
	CanSpawn *spec.CanSpawn
}

// bounds are the policy's own and those above, without those that have no
// ceiling.
func (p *Policy) bounds() []Bound {
	var out []Bound
	if p.Ceiling != nil {
		out = append(out, Bound{p.Ceiling, p.CanSpawn})
	}
	for _, b := range p.Above {
		if b.Ceiling != nil {
			out = append(out, b)
		}
	}
	return out
}

// Below gives a subagent's policy: this one's rules and mode, its own bound
// beside all that bind this one.
func (p *Policy) Below(own Bound) *Policy {
	c := *p
	c.Ceiling, c.CanSpawn = own.Ceiling, own.CanSpawn
	c.Above = p.bounds()
	return &c
}

// HookSays is what the hooks before a tool said together. Zero: nothing.
type HookSays struct {
	Verdict event.Verdict
	Reason  string
	Name    string
}
