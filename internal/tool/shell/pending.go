package shell

import (
	"sync"
	"unicode/utf8"
)

// keptPending is the head, and again the tail, of the output of a background
// run that waits to be read: eight runs that flood hold one megabyte.
const keptPending = 64 << 10

// pending is output on its way from a background run to whoever asks for it.
// The run writes, any goroutine takes.
type pending struct {
	mu   sync.Mutex
	head []byte
	tail []byte
	lost int64
	news chan struct{} // holds one token where something came since it was drained
}

func newPending() *pending { return &pending{news: make(chan struct{}, 1)} }

func (p *pending) Write(b []byte) (int, error) {
	n := len(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	room := min(keptPending-len(p.head), len(b))
	if len(p.tail) > 0 {
		room = 0 // the head was given back to once: order comes first
	}
	p.head = append(p.head, b[:room]...)
	p.tail = append(p.tail, b[room:]...)
	if over := len(p.tail) - keptPending; over > keptPending { // now and then, not with every write
		p.lost += int64(over)
		p.tail = append(p.tail[:0], p.tail[over:]...)
	}
	select {
	case p.news <- struct{}{}:
	default:
	}
	return n, nil
}

// take gives what has come since the last take. While the run may still write,
// the beginning of a character stays for the next time.
func (p *pending) take(more bool) (head, tail string, lost int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.news:
	default:
	}
	if over := len(p.tail) - keptPending; over > 0 {
		p.lost += int64(over)
		p.tail = p.tail[over:]
	}
	last := &p.tail
	if len(p.tail) == 0 {
		last = &p.head
	}
	var stay []byte
	if more {
		n := broken(*last)
		stay = append(stay, (*last)[len(*last)-n:]...)
		*last = (*last)[:len(*last)-n]
	}
	head, tail, lost = string(p.head), string(p.tail), p.lost
	p.head, p.tail, p.lost = append(p.head[:0], stay...), p.tail[:0], 0
	if lost == 0 {
		return head + tail, "", 0
	}
	return head, tail, lost
}

// broken is how many bytes at the end begin a character and do not end it.
func broken(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}
