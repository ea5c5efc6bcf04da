package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"

	"larva.dev/larva/internal/spec"
)

// notifies says whether this system's notifications are of use: they cost
// nothing for each persona, and a file that comes and goes at once is told of.
const notifies = runtime.GOOS == "linux"

// asideName is the directory in the root that every writer works through.
const asideName = ".aside"

// notifier has the system tell of changes in a few directories.
type notifier struct {
	root string
	w    *fsnotify.Watcher
	held map[string]os.FileInfo // what was watched by which name
}

func newNotifier(root string) (*notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return &notifier{root, w, map[string]os.FileInfo{}}, nil
}

// close waits until the watcher's goroutine has ended.
func (n *notifier) close() {
	if n != nil {
		_ = n.w.Close()
	}
}

// channels of a nil notifier never give anything.
func (n *notifier) channels() (<-chan fsnotify.Event, <-chan error) {
	if n == nil {
		return nil, nil
	}
	return n.w.Events, n.w.Errors
}

// about says which persona an event is about. id is "" where it can be any;
// ours is false for what happens beside the root's path, in the user's home
// say.
func (n *notifier) about(e fsnotify.Event) (id string, ours bool) {
	if e.Op == fsnotify.Chmod {
		return "", false
	}
	if dir, name := filepath.Split(e.Name); filepath.Clean(dir) == n.root && spec.ValidID(name) {
		return name, true
	} else if filepath.Clean(dir) == filepath.Join(n.root, asideName) {
		return persona(name), true
	}
	return "", inside(n.root, e.Name) || inside(e.Name, n.root)
}

// persona reads the id from a name in .aside: old-ID, swap-ID, and new-ID-…
// and file-ID-… with a number at the end; "" where there is none.
func persona(name string) string {
	name = strings.TrimSuffix(name, ".json")
	kind, id, _ := strings.Cut(name, "-")
	switch kind {
	case "new", "file":
		id = id[:max(0, strings.LastIndexByte(id, '-'))]
	case "old", "swap":
	default:
		return ""
	}
	if !spec.ValidID(id) {
		return ""
	}
	return id
}

func inside(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}

// arm watches what should be watched now, and says whether that was another
// set of directories before. It looks again after each change
// that it makes, since a directory may have come or gone meanwhile; whoever
// changes them that fast sends an event, and with it comes the next arm.
func (n *notifier) arm() (other bool, err error) {
	for range 4 {
		changed, err := n.adjust(wanted(n.root))
		if err != nil || !changed {
			return other, err
		}
		other = true
	}
	return other, nil
}

func (n *notifier) adjust(want map[string]os.FileInfo) (changed bool, err error) {
	list := n.w.WatchList()
	for path := range n.held {
		if _, ok := want[path]; !ok {
			_ = n.w.Remove(path) // gone already, perhaps
			delete(n.held, path)
			changed = true
		}
	}
	for path, info := range want {
		watched := slices.Contains(list, path)
		if old, ok := n.held[path]; ok && watched && os.SameFile(old, info) {
			continue
		}
		changed = true
		if watched {
			_ = n.w.Remove(path)
		}
		if err := n.w.Add(path); err != nil {
			if _, gone := os.Stat(path); gone != nil {
				continue
			}
			return changed, err
		}
		n.held[path] = info
	}
	return changed, nil
}

// wanted are the directories to watch: the root and .aside, or the nearest
// one above a root that is not there.
func wanted(root string) map[string]os.FileInfo {
	want := map[string]os.FileInfo{}
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		want[root] = info
		aside := filepath.Join(root, asideName)
		if info, err := os.Lstat(aside); err == nil && info.IsDir() {
			want[aside] = info
		}
		return want
	}
	for path := filepath.Dir(root); ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err == nil && info.IsDir() {
			want[path] = info
			return want
		}
		if path == filepath.Dir(path) {
			return want
		}
	}
}
