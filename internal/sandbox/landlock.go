package sandbox

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
)

// What Landlock holds: files are written only in the roots, the private temp
// directory and the cache; secret places of the home directory cannot be read;
// no TCP connection, in or out; no signal to and no abstract socket of a
// process outside. What it does not: UDP, sockets in the file system, a private
// /tmp, and secret files inside the roots. Guarded places in the roots are put
// back after a command (see keep). So its commands are still asked about.

// HelperVerb is the hidden first argument under which this binary becomes a
// part of a wall: see Helper.
const HelperVerb = "__wall"

// The helper's jobs.
const (
	confineJob = "confine" // FILE ARGV…
	tryJob     = "try"     // ARGV… confined to reading
	forwardJob = "forward" // SOCKET PORT ARGV…
)

// confinement is what the helper is told, as JSON in a file.
type confinement struct {
	Read  []string `json:"read"`  // files and directories that may be read, with all below
	List  []string `json:"list"`  // directories whose names may be read
	Write []string `json:"write"` // directories that may be written
}

// confined is Wrap for Landlock.
func (w *Wall) confined(argv []string) (argv2 []string, done func() []string, err error) {
	if len(w.self) == 0 {
		return nil, nil, errors.New("larva's own program is not known")
	}
	c := confinement{}
	for _, r := range w.o.Roots {
		if r == w.o.Temp || !w.o.ReadOnly {
			c.Write = append(c.Write, r)
		}
	}
	if !w.o.ReadOnly {
		_, writable := w.protected()
		c.Write = append(c.Write, writable...)
		if w.o.Cache != "" {
			c.Write = append(c.Write, w.o.Cache)
		}
	}
	hide := append(atHome(w.o.Home, w.o.Denied), "/proc")
	readable("/", hide, &c)
	c.Read = append(c.Read, procKept[:]...)
	file, err := w.tell(c)
	if err != nil {
		return nil, nil, err
	}
	undo := func() []string { return nil }
	if !w.o.ReadOnly {
		undo = w.keep()
	}
	done = func() []string {
		_ = os.Remove(file)
		return undo()
	}
	return slices.Concat(w.self, []string{confineJob, file}, argv), done, nil
}

// tell writes what the helper is told into a file of its own: an argument has
// a limit, and a home may hold many files.
func (w *Wall) tell(c confinement) (file string, err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(w.dir, "confine-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	return f.Name(), errors.Join(err, f.Close())
}

// procKept are the files of /proc that tell of the machine and of the command
// itself, and not of other processes.
var procKept = [...]string{"/proc/self", "/proc/thread-self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg", "/proc/uptime", "/proc/version",
	"/proc/filesystems", "/proc/sys", "/proc/swaps", "/proc/devices", "/proc/cgroups", "/proc/vmstat"}

// readable adds what may be read of a directory: Landlock knows only what is
// allowed, so around a hidden place each neighbour is named. A link is decided
// on where it leads.
func readable(dir string, hide []string, c *confinement) {
	around := slices.ContainsFunc(hide, func(h string) bool { return h != "" && h != dir && within(dir, h) })
	if !around {
		c.Read = append(c.Read, dir)
		return
	}
	c.List = append(c.List, dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.Type()&os.ModeSymlink != 0 || slices.Contains(hide, path) {
			continue
		}
		readable(path, hide, c)
	}
}
