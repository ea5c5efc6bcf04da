package app

import (
	"context"
	"maps"
	"slices"

	"larva.dev/larva/internal/capability"
	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/session"
	"larva.dev/larva/internal/spec"
)

// kept is the persona of a session that goes on: it runs as it was, under the
// lower of its ceiling then and now.
type kept struct {
	meta     session.Meta
	ceiling  capability.Ceiling
	canSpawn *spec.CanSpawn
	// above are the two ceilings as they were declared: the lower one leaves a
	// family open to rules that one of them has not declared, though the other
	// refuses it.
	above []permission.Bound
}

// keep gives the session's persona in the place of the one that is found now,
// or not found: err says why.
func (k *kept) keep(ctx context.Context, now chosen, err error) (chosen, error) {
	if err != nil {
		code := diag.As(err).Code
		if ctx.Err() != nil || code == diag.NotTrusted { // a yes that was taken back
			return now, err
		}
	}
	whole, perr := spec.ParseObject(k.meta.Spec)
	if perr != nil || spec.Digest(whole) != k.meta.Persona.Digest {
		return now, diag.New(diag.SessionCorrupt, "session %s: its persona does not have the digest %s that stands beside it",
			k.meta.SessionID, k.meta.Persona.Digest).With("session_id", k.meta.SessionID)
	}
	then := spec.FromObject(whole)
	out := chosen{spec: spec.Normalize(whole), variant: k.meta.Persona.Variant, notices: now.notices, agent: now.agent}
	if out.keptAgent, perr = k.agentBefore(); perr != nil {
		return now, perr
	}
	k.ceiling, k.canSpawn = ceilingOf(then), then.CanSpawn
	if d := out.keptAgent; d != nil && d.HasHooks() && now.agent == nil {
		return now, diag.New(diag.PersonaNotFound, "session %s ran a definition with hooks, which is not found any more", k.meta.SessionID).
			With("session_id", k.meta.SessionID).WithHint("put the file of %s back, or begin anew", k.meta.Persona.ID)
	}
	if err != nil {
		out.notices = append(out.notices, "persona "+k.meta.Named+" is not found as it was ("+diag.As(err).Message+"); the session keeps its own")
		return out, nil
	}
	is := spec.FromObject(now.spec)
	if is.Digest != then.Digest && !k.meta.Overridden {
		out.notices = append(out.notices, "persona "+k.meta.Named+" has changed since: the session keeps "+then.Digest+", now it is "+is.Digest)
	}
	out.notices = append(out.notices, k.compare(then, is)...)
	return out, nil
}

// compare lowers the ceiling to what both allow and says where they differ.
func (k *kept) compare(then, is *spec.Persona) (notices []string) {
	old, cur := ceilingOf(then), ceilingOf(is)
	k.ceiling = capability.Meet(old, cur)
	k.above = []permission.Bound{{Ceiling: old, CanSpawn: then.CanSpawn}, {Ceiling: cur, CanSpawn: is.CanSpawn}}
	families := maps.Clone(old)
	maps.Copy(families, cur)
	for _, f := range slices.Sorted(maps.Keys(families)) {
		switch o, c := old.Of(f), cur.Of(f); {
		case c > o:
			notices = append(notices, "persona "+k.meta.Named+" may now "+f+": "+c.String()+"; the session keeps "+o.String())
		case c < o:
			notices = append(notices, "persona "+k.meta.Named+" may now only "+f+": "+c.String()+"; that binds this session too")
		}
	}
	k.canSpawn = fewer(then.CanSpawn, is.CanSpawn)
	return notices
}

// fewer is who both may spawn.
func fewer(a, b *spec.CanSpawn) *spec.CanSpawn {
	switch {
	case a == nil || b == nil:
		return nil
	case a.All:
		return b
	case b.All:
		return a
	}
	out := &spec.CanSpawn{}
	for _, id := range a.IDs {
		if slices.Contains(b.IDs, id) {
			out.IDs = append(out.IDs, id)
		}
	}
	return out
}

// ceilingOf reads a checked persona's capabilities.
func ceilingOf(p *spec.Persona) capability.Ceiling {
	c := capability.Ceiling{}
	for family, posture := range p.Capabilities {
		if level, ok := capability.Parse(posture); ok {
			c[family] = level
		} else {
			c[family] = capability.None
		}
	}
	return c
}

// bind puts the ceiling onto the persona that the run uses; its digest stays
// that of the whole.
func (k *kept) bind(s *stand) {
	p := s.persona
	s.above = k.above
	p.Capabilities = map[string]string{}
	for family, level := range k.ceiling {
		p.Capabilities[family] = level.String()
	}
	p.CanSpawn = k.canSpawn
}

// kept of a sitting, nil for a new session.
func (st *sitting) kept() *kept {
	if st == nil || st.from == nil {
		return nil
	}
	return &kept{meta: st.from.Meta}
}
