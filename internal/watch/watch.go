// Package watch tells what has changed in a registry's directory, whoever did
// it: this process, another one, or a person with an editor.
//
// Every writer of ours works through ROOT/.aside and renames into place. So
// two directories tell of all our writes, whatever the number of personas:
// the root and .aside; while there is no root, the nearest directory above it
// tells when it comes. The names in .aside say which persona is being written, so that
// one write costs one look at one persona; where nothing says it, all are
// looked at, two stats a persona. Edits in place, which no directory tells of, are found by a slower
// look at every file.
//
// On Linux the system notifies (inotify). Elsewhere, and where it refuses,
// the times of the two directories are looked at four times a second, which
// costs less than the open file for each persona that kqueue would need.
package watch

import (
	"context"
	"hash/maphash"
	"path/filepath"
	"time"
)

// Change is what differs from the last report, by persona id, sorted; never
// empty as a whole.
type Change struct {
	Added, Removed, Changed []string
}

// Options say what to call. All calls come from Watch itself, one at a time.
type Options struct {
	// Ready is called once, after the first look: what is read from then on is
	// at least as new as what changes are counted from. nil is allowed.
	Ready func()
	// Changed is required.
	Changed func(Change)
	// Trouble is called at most once, where the system cannot notify and
	// looking has to do. nil is allowed.
	Trouble func(error)
	// Poll is the pause between looks at every file; 0 is three seconds. Large
	// registries get a longer one, so that looking takes a hundredth of a
	// processor at most.
	Poll time.Duration
}

const (
	// quiet is how long writers must rest before a look, so that one batch is
	// one report.
	quiet = 50 * time.Millisecond
	// patience is how long a look waits for writers that never rest.
	patience = 200 * time.Millisecond
	// glance is how often the two directories are looked at where the system
	// does not notify.
	glance = 250 * time.Millisecond
	// pollPause is the default of Options.Poll.
	pollPause = 3 * time.Second
)

// Watch reports until ctx ends. root need not exist; it may go and come
// back. A change that is taken back before the next look is not reported.
// Nothing that Watch starts outlives it.
func Watch(ctx context.Context, root string, o Options) {
	newWatcher(root, o).watch(ctx)
}

// watcher is one Watch.
type watcher struct {
	Options
	root     string
	notifier *notifier // nil where the system does not notify
	glanced  stamps    // what the last glance saw; without a notifier only
	seen     seen
	told     bool         // Trouble was
	refuse   func() error // a test's error in the place of the system's
}

func newWatcher(root string, o Options) *watcher {
	if o.Poll == 0 {
		o.Poll = pollPause
	}
	root = filepath.Clean(root)
	return &watcher{Options: o, root: root, seen: seen{root: root, seed: maphash.MakeSeed()}}
}

func (w *watcher) watch(ctx context.Context) {
	w.notify()
	defer func() { w.notifier.close() }()
	w.arm()
	w.seen.look(true)
	if w.Ready != nil {
		w.Ready()
	}
	w.loop(ctx)
}

// notify sets up notifications where this system has useful ones.
func (w *watcher) notify() {
	if !notifies {
		return
	}
	n, err := newNotifier(w.root)
	if err == nil && w.refuse != nil {
		n.close()
		n, err = nil, w.refuse()
	}
	if err != nil {
		w.trouble(err)
		return
	}
	w.notifier = n
}

func (w *watcher) trouble(err error) {
	if w.Trouble != nil && !w.told {
		w.Trouble(err)
	}
	w.told = true
}

// arm watches the directories that are there now, and says whether they are
// others than before. It comes before each look: what happens after it is
// notified, what happened before it is seen.
func (w *watcher) arm() (other bool) {
	if w.notifier == nil {
		w.glanced = w.seen.stamps()
		return true
	}
	other, err := w.notifier.arm()
	if err != nil {
		w.notifier.close()
		w.notifier = nil
		w.trouble(err)
	}
	return other || err != nil
}

// loop waits for a reason to look and looks.
func (w *watcher) loop(ctx context.Context) {
	look, poll, tick := time.NewTimer(time.Hour), time.NewTimer(w.Poll), time.NewTicker(glance)
	defer func() { look.Stop(); poll.Stop(); tick.Stop() }()
	look.Stop()
	if w.notifier != nil {
		tick.Stop()
	}
	var p pace
	for {
		full := false
		events, errs := w.notifier.channels()
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			if id, ours := w.notifier.about(e); ours {
				look.Reset(p.next(time.Now(), id))
			}
			continue
		case <-errs: // too many at once: some were lost
			look.Reset(p.next(time.Now(), ""))
			continue
		case <-tick.C:
			if w.glanced.same(w.seen.stamps()) {
				continue
			}
			p.all = true
		case <-look.C:
		case <-poll.C:
			full = true
		}
		start := time.Now()
		if c, any := w.look(full, p); any {
			w.Changed(c)
		}
		cost := time.Since(start)
		p = pace{rest: time.Now().Add(4 * cost)}
		look.Stop()
		if full {
			p.rest = time.Time{}
			poll.Reset(max(w.Poll, 100*cost))
		}
		if w.notifier == nil {
			tick.Reset(max(glance, 4*cost))
		}
	}
}

func (w *watcher) look(full bool, p pace) (Change, bool) {
	if w.arm() || full || p.all {
		return w.seen.look(full)
	}
	return w.seen.lookAt(p.ids)
}

// pace gathers notifications and says when to look after them.
type pace struct {
	first time.Time       // the first one since the last look
	rest  time.Time       // no look before: looking takes a fifth of a processor at most
	ids   map[string]bool // whom they are about
	all   bool            // or anybody
}

// next takes one about id, "" for any, and gives how long to wait from now on.
func (p *pace) next(now time.Time, id string) time.Duration {
	if p.ids == nil {
		p.first, p.ids = now, map[string]bool{}
	}
	if id == "" {
		p.all = true
	} else {
		p.ids[id] = true
	}
	at := now.Add(quiet)
	if latest := p.first.Add(patience); at.After(latest) {
		at = latest
	}
	if at.Before(p.rest) {
		at = p.rest
	}
	return at.Sub(now)
}
