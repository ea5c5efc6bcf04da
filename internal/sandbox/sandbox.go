package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// The kinds of wall, strongest first, and the word for the best there is.
const (
	Bubblewrap = "bubblewrap"
	Seatbelt   = "seatbelt"
	Landlock   = "landlock"
	None       = "none"
	Auto       = "auto"
)

// Options are what a wall encloses. Paths are absolute with links resolved.
type Options struct {
	Project string   // the git root, else the working directory
	Cwd     string   // inside Project
	Roots   []string // writable: Project, the added directories, Temp
	Temp    string   // the run's private directory, "" for none
	Home    string   // "" where there is none
	// Guarded are further places that stay read-only even inside a root: the
	// configuration, the registry, the session store.
	Guarded []string
	// Denied says which files must stay unseen; nil: none. Bubblewrap hides
	// them in Home's top and in the roots, Landlock in Home's top.
	Denied func(abs, real string) bool
	// Fixed says which files must stay as they are; nil: none. Bubblewrap and
	// Seatbelt hold those that exist in the roots, and a directory whole where
	// it holds for every name in it; Landlock puts them back after a command.
	Fixed func(abs, real string) bool
	// ReadOnly mounts everything read-only but Temp.
	ReadOnly bool
	// Domains may be reached through a proxy (see Allow); bubblewrap only.
	Domains []string
	// Pass are variables that commands get although they look secret; Keys are
	// variables that hold a provider's key and never pass.
	Pass, Keys []string
	// Environ is the run's environment, not scrubbed: where Pass is taken from.
	Environ []string
	// Cache is a directory of ours for what builds keep between commands, ""
	// for none: it stands in for the user's cache, which others trust.
	Cache string
	// State is a directory of ours that outlives the run, "" for none: there
	// it is kept which placeholders are ours to remove.
	State string
}

// Wall encloses the commands of one executor. nil is no wall. Its owner closes
// it when no command runs any more.
type Wall struct {
	o     Options
	kind  string
	bwrap string   // the program that encloses: bwrap, or sandbox-exec
	self  []string // larva as a helper, see HelperVerb
	own   *temp
	dir   string // ours alone, outside of every root or hidden in it; "" before the first command

	mu      sync.Mutex
	secrets *finder
	looked  bool    // for repos
	repos   []place // of the repositories below the tops, see nested
	holds   *placeholders
	proxy   *proxy
	closed  bool
}

// WrapOptions are those of one command.
type WrapOptions struct {
	Dir string // the command's working directory, absolute
}

// Kind names the wall: bubblewrap, seatbelt, landlock or none.
func (w *Wall) Kind() string {
	if w == nil {
		return None
	}
	return w.kind
}

// Firm says that commands may run in this wall without a question. Landlock
// leaves too much open for that, and no wall can hold a protected place in
// position that is a symbolic link: why names the reason, "" for Landlock and
// none.
func (w *Wall) Firm() (firm bool, why string) {
	switch w.Kind() {
	case Seatbelt:
		return true, ""
	case Bubblewrap:
		if slices.Contains(w.o.Roots, string(filepath.Separator)) {
			return false, "the whole disk is writable there"
		}
		if link := w.loose(); link != "" {
			return false, link + " is a symbolic link, which the sandbox cannot hold in place"
		}
		return true, ""
	}
	return false, ""
}

// Wrap gives the command line and the environment that run argv inside the
// wall. done is to be called when the command has ended; it gives the guarded
// places that the command had changed and that have been put back.
func (w *Wall) Wrap(argv, env []string, o WrapOptions) (argv2, env2 []string, done func() (changed []string), err error) {
	none := func() []string { return nil }
	if w.Kind() == None {
		return argv, env, none, nil
	}
	if len(argv) == 0 {
		return nil, nil, none, errors.New("sandbox: no command")
	}
	if !filepath.IsAbs(o.Dir) {
		return nil, nil, none, fmt.Errorf("sandbox: directory %q is not absolute", o.Dir)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, nil, none, errors.New("sandbox: closed")
	}
	if w.dir == "" {
		if err := w.settle(); err != nil {
			return nil, nil, none, fmt.Errorf("sandbox: %w", err)
		}
	}
	env = w.environment(env)
	switch w.kind {
	case Bubblewrap:
		argv, env, done, err = w.bubble(argv, env, o.Dir)
	case Landlock:
		argv, done, err = w.confined(argv)
	case Seatbelt:
		argv, done = append([]string{w.bwrap, "-p", w.seatbelt(), "--"}, argv...), none
	}
	if done == nil {
		done = none
	}
	if err != nil {
		return nil, nil, none, fmt.Errorf("sandbox: %w", err)
	}
	return argv, env, sync.OnceValue(done), nil
}

// Names of what lies in the wall's own directory.
const (
	voidFile = "void" // an empty file that nobody may read: what a hidden file is
	shutDir  = "shut" // an empty directory that nobody may enter
	tmpDir   = "tmp"  // what /tmp is inside
)

// settle makes the wall's own directory.
func (w *Wall) settle() error {
	t, err := newTemp(wallPrefix)
	if err != nil {
		return err
	}
	dir := t.path
	w.own, w.dir = t, dir
	for _, d := range []string{shutDir, tmpDir} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, voidFile), nil, 0o600); err != nil {
		return err
	}
	if w.o.Cache != "" && !w.o.ReadOnly {
		if err := os.MkdirAll(w.o.Cache, 0o700); err != nil {
			w.o.Cache = "" // a home that cannot be written
		}
	}
	for _, n := range []string{voidFile, shutDir} {
		if err := os.Chmod(filepath.Join(dir, n), 0); err != nil {
			return err
		}
	}
	return nil
}

// Refused gives the hosts that the proxy has refused since the last call,
// sorted, each once.
func (w *Wall) Refused() []string {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.proxy == nil {
		return nil
	}
	return w.proxy.takeRefused()
}

// Close ends what the wall keeps running and removes what it made. It may be
// called more than once.
func (w *Wall) Close() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.proxy != nil {
		w.proxy.close()
		w.proxy = nil
	}
	if w.holds != nil {
		w.holds.releaseAll()
	}
	if w.dir == "" {
		return nil
	}
	_ = os.Chmod(filepath.Join(w.dir, shutDir), 0o700)
	err := w.own.remove()
	w.own, w.dir = nil, ""
	return err
}
