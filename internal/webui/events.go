package webui

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/loopback"
	"larva.dev/larva/internal/spec"
	"larva.dev/larva/internal/watch"
)

const (
	// maxClients bounds how many listen at once: more tabs than anybody has.
	maxClients = 64
	// beat is how often a stream says that it lives: proxies and browsers take
	// a minute of silence for an end.
	beat = 15 * time.Second
	// sendTime is how long one event may take to a peer that does not read.
	sendTime = 10 * time.Second
)

// hub hands changes on to all who listen. It never waits for them: what a
// slow one has not taken yet is merged with what comes.
type hub struct {
	mu      sync.Mutex
	started bool
	clients map[*client]bool
}

// client is one listener. wake has room for one; news is what it has not
// heard, guarded by the hub.
type client struct {
	wake  chan struct{}
	news  news
	ready bool
}

// news is a change by id: added, removed or changed.
type news map[string]string

func newHub() *hub { return &hub{clients: map[*client]bool{}} }

// ready is called once the watching has begun.
func (h *hub) ready() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.started = true
	for c := range h.clients {
		c.ready = true
		c.ring()
	}
}

// changed is called for each change.
func (h *hub) changed(ch watch.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.clients {
		c.news.add(ch)
		c.ring()
	}
}

func (c *client) ring() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// add merges a change into what was not heard yet. What came and went is
// told as removed, what went and came as changed: a page that had asked in
// between is then right, too.
func (n news) add(ch watch.Change) {
	for _, id := range ch.Added {
		if n[id] == "removed" {
			n[id] = "changed"
		} else {
			n[id] = "added"
		}
	}
	for _, id := range ch.Changed {
		if n[id] != "added" {
			n[id] = "changed"
		}
	}
	for _, id := range ch.Removed {
		n[id] = "removed"
	}
}

// join gives a new listener; false where there are too many.
func (h *hub) join() (*client, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.clients) >= maxClients {
		return nil, false
	}
	c := &client{wake: make(chan struct{}, 1), news: news{}, ready: h.started}
	h.clients[c] = true
	if h.started {
		c.ring()
	}
	return c, true
}

func (h *hub) leave(c *client) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.clients, c)
}

// take gives what c has not heard.
func (h *hub) take(c *client) (ready bool, n news) {
	h.mu.Lock()
	defer h.mu.Unlock()
	ready, n = c.ready, c.news
	c.ready, c.news = false, news{}
	return ready, n
}

// serveEvents streams changes until the client or the server goes.
func serveEvents(s *server, w http.ResponseWriter, r *http.Request) {
	c, ok := s.hub.join()
	if !ok {
		w.Header().Set("Retry-After", "5")
		writeError(w, http.StatusServiceUnavailable, diag.New(diag.Internal, "more than %d listen already", maxClients).With("limit", maxClients))
		return
	}
	defer s.hub.leave(c)
	if err := loopback.Stream(w); err != nil {
		writeFailure(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if r.Method == http.MethodHead {
		return
	}
	st := &stream{w: w, control: http.NewResponseController(w)}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	err := st.send(": larva\nretry: 1000\n\n")
	for err == nil {
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
			err = st.send(": beat\n\n")
		case <-c.wake:
			ready, n := s.hub.take(c)
			err = st.news(ready, n)
		}
	}
}

// stream writes events to one client.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (st *stream) send(text string) error {
	if err := st.control.SetWriteDeadline(time.Now().Add(sendTime)); err != nil {
		return err
	}
	if _, err := st.w.Write([]byte(text)); err != nil {
		return err
	}
	return st.control.Flush()
}

// news sends ready, which says that from here on nothing is missed, and then
// what has changed. JSON is ASCII without line breaks, so it fits one line.
func (st *stream) news(ready bool, n news) error {
	if ready {
		if err := st.send("event: ready\ndata: {}\n\n"); err != nil {
			return err
		}
	}
	if len(n) == 0 {
		return nil
	}
	by := map[string]any{}
	for _, kind := range []string{"added", "removed", "changed"} {
		ids := []string{}
		for id, k := range n {
			if k == kind {
				ids = append(ids, id)
			}
		}
		slices.Sort(ids)
		by[kind] = ids
	}
	return st.send(fmt.Sprintf("event: change\ndata: %s\n\n", spec.AppendCanonical(nil, by)))
}
