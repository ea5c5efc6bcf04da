package permission

import (
	"encoding/json"

	"larva.dev/larva/internal/event"
	"larva.dev/larva/internal/tool"
)

// Judge decides one call. The verdict is allow, ask or deny, never
// Unanswered: whether anybody can be asked is the loop's business.
func (p *Policy) Judge(c tool.Call, eff tool.Effects, hook HookSays) event.Decision {
	return event.Decision{Tool: c.Tool, Input: c.Input, Verdict: event.Ask, Stage: event.StageDefault, Reason: "nothing allows it", Segments: []event.Segment{}}
}

// AllowCould says whether an allow rule could answer this question, so that
// "always" makes sense.
func (p *Policy) AllowCould(d event.Decision) bool { return false }

// ReadDenied says whether a file's content must stay unseen: for tools that
// meet files on their way, as grep and glob do.
func (p *Policy) ReadDenied(abs, real string) bool { return false }

// Suggest is the narrowest sensible rule that would allow this call, "" where
// no rule could.
func Suggest(c tool.Call, eff tool.Effects) string { return c.Tool }

// KnownEffects states the effects of a call whose tool does not exist yet or
// whose server is not connected. ok is false for a name that nobody knows.
func KnownEffects(name string, input json.RawMessage) (eff tool.Effects, ok bool) {
	return tool.Effects{}, false
}
