package permission

import (
	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/event"
)

// AutoMay says whether a model may answer this question of mode auto: one
// where nothing spoke for or against the call. It never may where the call
// destroys, opens a connection or cannot be known before it runs, where a
// rule, a hook or another stage asks, or where only readers are left. A
// decision that was read from a file is no question of this policy's.
func (p *Policy) AutoMay(d event.Decision) bool {
	return p.Mode == Auto && d.Verdict == event.Ask && d.Stage == event.StageDefault && d.Judgeable && !d.Unanswered
}

// judgeable says that a unit whose verdict is ask may be left to a model.
func (p *Policy) judgeable(u *unit, o outcome) bool {
	for _, f := range o.found {
		if f.stage != event.StageDefault {
			return false
		}
	}
	if u.broken != "" || u.network || p.lean(u) || capability.Highest(u.needs) >= capability.Destructive {
		return false
	}
	for _, pt := range u.paths {
		if pt.Unknown && (pt.Write || pt.Redirect) {
			return false
		}
	}
	return u.seg == nil || u.seg.Dynamic == ""
}
