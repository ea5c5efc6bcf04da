package permission

import "sync"

// The lines that are kept: a call is judged when it comes and again just
// before it runs, and a suggestion reads it a third time.
const (
	keptLines = 64
	keptBytes = 4 << 10 // a longer line is read anew
)

// lines keeps how shell lines are read. What it holds is shared and never
// changed; Rules owns it, so it lives as long as a run's rules.
type lines struct {
	one  sync.Mutex
	read map[lineKey][]unit
}

type lineKey struct {
	text  string
	boxed bool
}

// reading is how a line is read, with or without the sandbox around it.
func (r *Rules) reading(text string, boxed bool) []unit {
	if r == nil || r.lines == nil || len(text) > keptBytes {
		return readLine(text, boxed)
	}
	l, key := r.lines, lineKey{text, boxed}
	l.one.Lock()
	units, ok := l.read[key]
	l.one.Unlock()
	if ok {
		return units
	}
	units = readLine(text, boxed)
	l.one.Lock()
	defer l.one.Unlock()
	if l.read == nil || len(l.read) >= keptLines {
		l.read = map[lineKey][]unit{}
	}
	l.read[key] = units
	return units
}
