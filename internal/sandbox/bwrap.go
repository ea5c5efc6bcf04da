package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hardening is on every bubblewrap command line, the probe's too. As root,
// without --cap-drop ALL, a command inside could mount the disk writable again;
// without --disable-userns it could get capabilities back in a namespace of
// its own.
var hardening = [...]string{
	"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try",
	"--cap-drop", "ALL", "--disable-userns", "--die-with-parent", "--new-session",
	"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc",
	// The files of /proc/sys ask for the user's id alone, no capability: as root
	// core_pattern would start a program outside. bwrap covers only what looks
	// writable from above.
	"--ro-bind", "/proc/sys", "/proc/sys", "--ro-bind-try", "/proc/sysrq-trigger", "/proc/sysrq-trigger",
	"--ro-bind-try", "/proc/irq", "/proc/irq", "--ro-bind-try", "/proc/bus", "/proc/bus", "--ro-bind-try", "/proc/fs", "/proc/fs",
	"--ro-bind-try", "/proc/acpi", "/proc/acpi", "--ro-bind-try", "/proc/scsi", "/proc/scsi", "--ro-bind-try", "/proc/driver", "/proc/driver",
}

// runKept are the parts of /run that programs are started from or that say
// where a name server is. The rest of /run is sockets by which the machine is
// run: containers, the session bus, agents.
var runKept = [...]string{"/run/current-system", "/run/booted-system", "/run/opengl-driver", "/run/wrappers",
	"/run/systemd/resolve/stub-resolv.conf", "/run/systemd/resolve/resolv.conf", "/run/resolvconf/resolv.conf"}

// bubble is Wrap for bubblewrap.
func (w *Wall) bubble(argv, env []string, dir string) (argv2, env2 []string, done func() []string, err error) {
	m, done, err := w.mounts()
	if err != nil {
		return nil, nil, nil, err
	}
	out := slices.Concat([]string{w.bwrap}, hardening[:], w.surroundings(env))
	out = append(out, m.argv(filepath.Join(w.dir, voidFile), filepath.Join(w.dir, shutDir), isDir)...)
	if len(w.o.Domains) > 0 {
		var bind []string
		bind, argv, env, err = w.bridge(argv, env)
		if err != nil {
			done()
			return nil, nil, nil, err
		}
		out = append(out, bind...)
	}
	out = append(out, "--chdir", dir, "--")
	return append(out, argv...), env, done, nil
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// shared are directories in which every user of the machine writes. A command
// gets its own, which lasts as long as the run.
var shared = [...]string{"/tmp", "/var/tmp"}

// surroundings are the mounts below which roots and guarded places are put:
// own temp directories, no sockets of /run, and what PATH and HOME name where
// it lies in there.
func (w *Wall) surroundings(env []string) []string {
	var out []string
	for _, d := range shared {
		if fi, err := os.Lstat(d); err == nil && fi.IsDir() {
			out = append(out, "--bind", filepath.Join(w.dir, tmpDir), d)
		}
	}
	for _, d := range [...]string{"/run", "/var/run"} {
		if fi, err := os.Lstat(d); err == nil && fi.IsDir() {
			out = append(out, "--tmpfs", d)
		}
	}
	for _, p := range runKept {
		out = append(out, "--ro-bind-try", p, p)
	}
	path, _ := lookup(env, "PATH")
	named := append(filepath.SplitList(path), w.o.Home)
	slices.Sort(named)
	for _, p := range slices.Compact(named) {
		if !filepath.IsAbs(p) || slices.Contains(w.o.Roots, p) {
			continue
		}
		for _, d := range [...]string{"/tmp", "/var/tmp", "/run"} {
			if p = filepath.Clean(p); p != d && within(d, p) {
				out = append(out, "--ro-bind-try", p, p)
			}
		}
	}
	return out
}

// mounts are the roots and what is special in them. In a read-only wall only
// Temp is writable, so nothing else needs to be held.
func (w *Wall) mounts() (mounts, func() []string, error) {
	m := mounts{}
	done := func() []string { return nil }
	var tops []string
	for _, r := range w.o.Roots {
		if r == w.o.Temp {
			m.put(r, write, "")
			continue
		}
		tops = append(tops, r)
		if w.o.ReadOnly {
			m.put(r, read, "")
		} else {
			m.put(r, write, "")
		}
	}
	all := w.finder().find(tops)
	if !w.o.ReadOnly {
		var err error
		if done, err = w.hold(m, all.guarded); err != nil {
			return nil, nil, err
		}
		for _, p := range all.fixed {
			if holder(w.o.Roots, p) != "" {
				m.put(p, read, "")
				m.pins(w.o.Roots, p)
			}
		}
		if w.o.Cache != "" {
			m.put(w.o.Cache, write, "")
		}
	}
	for _, p := range append(all.secret, atHome(w.o.Home, w.o.Denied)...) {
		m.put(p, shut, "")
		if !w.o.ReadOnly {
			m.pins(w.o.Roots, p)
		}
	}
	if w.dir != "" && holder(w.o.Roots, w.dir) != "" {
		m.put(w.dir, shut, "")
	}
	return m, done, nil
}

// hold puts in what commands must not change inside the roots.
func (w *Wall) hold(m mounts, nested []string) (done func() []string, err error) {
	places, writable := w.guards()
	for _, dir := range writable {
		m.put(dir, write, "")
	}
	if w.holds == nil {
		w.holds = newPlaceholders(w.o.State, w.o.Project)
	}
	ours, err := w.holds.acquire(places)
	if err != nil {
		w.holds.release()
		return nil, err
	}
	done = func() []string {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.holds.release()
		return nil
	}
	for _, p := range nested {
		places = append(places, place{path: p})
	}
	roots := append(slices.Clone(w.o.Roots), writable...)
	for _, p := range places {
		real, err := filepath.EvalSymlinks(p.path)
		if err != nil || holder(roots, real) == "" {
			continue // nothing there, or nothing that could be written
		}
		access := read
		if filepath.Base(p.path) == ".git" && isDir(real) && !made(ours, p.path) {
			access = pin // its parts are named one by one
		}
		if slices.Contains(writable, real) {
			continue
		}
		m.put(real, access, "")
		m.pins(roots, real)
	}
	// A repository's own .git is held in position with all that it must write.
	for _, top := range w.tops() {
		if git := filepath.Join(top, ".git"); isDir(git) && !made(ours, git) {
			m.put(git, pin, "")
		}
	}
	w.unlisted(m, ours)
	return done, nil
}

// unlisted keeps placeholders out of what git calls untracked: it sees an
// exclude file with their names. Empty directories git does not see anyway.
func (w *Wall) unlisted(m mounts, ours []place) {
	var names []string
	for _, p := range ours {
		if p.content != "/" && !strings.Contains(p.path, "/.git/") && within(w.o.Project, p.path) {
			rel, err := filepath.Rel(w.o.Project, p.path)
			if err == nil && !strings.ContainsAny(rel, "\n\\*?[") {
				names = append(names, "/"+rel)
			}
		}
	}
	git := filepath.Join(w.o.Project, ".git")
	if !isDir(git) {
		if _, git = linked(git); git == "" {
			return
		}
	}
	exclude := filepath.Join(git, "info", "exclude")
	had, err := os.ReadFile(exclude)
	if err != nil || len(names) == 0 {
		return
	}
	own := filepath.Join(w.dir, "exclude")
	text := string(had) + "\n" + strings.Join(names, "\n") + "\n"
	if os.WriteFile(own, []byte(text), 0o600) == nil {
		m.put(exclude, read, own)
	}
}
