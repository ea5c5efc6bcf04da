package mcpserve

import (
	"sync"
	"time"
)

// quietTime is how long a session must have been silent before it may be
// ended for a new one. Many clients never say goodbye; those that come back
// are told that the session is gone, as after any other end, and begin anew.
const quietTime = 10 * time.Second

// visits remember when each session was last heard of.
type visits struct {
	quiet time.Duration

	mu   sync.Mutex
	seen map[string]visit
}

type visit struct {
	open int       // requests under way: calls, and the stream of news
	last time.Time // the end of the latest
}

// begin notes a request; end must follow. "" is no session.
func (v *visits) begin(id string) {
	if id == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	one := v.seen[id]
	one.open++
	v.put(id, one)
}

// end notes the end of a request, or of the one that began the session.
func (v *visits) end(id string, now time.Time) {
	if id == "" {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	one := v.seen[id]
	one.open, one.last = max(0, one.open-1), now
	v.put(id, one)
}

func (v *visits) put(id string, one visit) {
	if v.seen == nil {
		v.seen = map[string]visit{}
	}
	v.seen[id] = one
}

// quietest gives that of ids which has been silent for longest, "" where none
// has been for long enough, and forgets all that are not among them.
func (v *visits) quietest(ids []string, now time.Time) (quietest string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	kept := make(map[string]visit, len(ids))
	oldest := now.Add(-v.quiet)
	for _, id := range ids {
		one, known := v.seen[id]
		if !known {
			continue // its first request is under way
		}
		kept[id] = one
		if one.open == 0 && !one.last.After(oldest) {
			quietest, oldest = id, one.last
		}
	}
	v.seen = kept
	return quietest
}

// makeRoom ends the session that has been silent for longest, and says
// whether there was one.
func (s *Server) makeRoom() bool {
	var ids []string
	for session := range s.mcp.Sessions() {
		ids = append(ids, session.ID())
	}
	id := s.visits.quietest(ids, time.Now())
	if id == "" {
		return false
	}
	for session := range s.mcp.Sessions() {
		if session.ID() == id {
			_ = session.Close()
		}
	}
	return true
}
