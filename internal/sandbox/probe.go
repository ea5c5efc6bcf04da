package sandbox

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/proc"
)

// Machine is what a probe looks at.
type Machine struct {
	// Kind is what the profile wants: a kind, or auto (or "") for the best.
	Kind string
	// Self is the argv prefix by which this binary runs as a wall's helper; its
	// last word is the hidden verb. Empty: no Landlock and no domains.
	Self    []string
	Environ []string
}

// Found is a kind of wall that has been seen to work here. The zero value is
// none.
type Found struct {
	kind   string
	bwrap  string
	self   []string
	notice string
}

// Kind names what was found.
func (f Found) Kind() string {
	if f.kind == "" {
		return None
	}
	return f.kind
}

// Notice says why a stronger wall than the one found does not work here, and
// what would help; "" where there is nothing to say.
func (f Found) Notice() string { return f.notice }

// Wall encloses by what was found.
func (f Found) Wall(o Options) *Wall {
	return &Wall{o: o, kind: f.Kind(), bwrap: f.bwrap, self: f.self}
}

// probeTime bounds a probe: a wall that takes longer to stand is none.
const probeTime = 5 * time.Second

// Probe runs a command that does nothing inside the wanted kind of wall. With
// auto the best one that works is taken; a kind that was asked for by name and
// does not work is an error, never replaced by a weaker one.
func Probe(ctx context.Context, m Machine) (Found, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	switch m.Kind {
	case None:
		return Found{kind: None}, nil
	case Bubblewrap:
		f, why := probeBubblewrap(ctx, m)
		return f, missing(Bubblewrap, why)
	case Landlock:
		f, why := probeLandlock(ctx, m)
		return f, missing(Landlock, why)
	case Seatbelt:
		f, why := probeSeatbelt(ctx, m)
		return f, missing(Seatbelt, why)
	case "", Auto:
		return best(ctx, m), nil
	}
	return Found{}, diag.New(diag.ProfileInvalid, "there is no sandbox %q", m.Kind)
}

func missing(kind string, why *reason) error {
	if why == nil {
		return nil
	}
	return diag.New(diag.Unsupported, "the sandbox %s, which the profile wants, does not work here: %s", kind, why.text).
		With("field", "sandbox.kind").With("kind", kind).WithHint("%s", why.hint)
}

// reason is why a wall does not stand here, and what would help.
type reason struct{ text, hint string }

func bubblewrapWorks(ctx context.Context, m Machine) (Found, *reason) {
	path, err := proc.LookPath("bwrap", m.Environ)
	if err != nil {
		return Found{}, &reason{"there is no bwrap in PATH", "install bubblewrap 0.8 or later (apt install bubblewrap, dnf install bubblewrap)"}
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return Found{}, &reason{err.Error(), "install bubblewrap 0.8 or later"}
	}
	argv := append([]string{path}, hardening[:]...)
	// A bwrap that is killed while it sets up leaves its first process waiting
	// for good; the keeper ends that, should larva be killed just now.
	var keeper proc.Keeper
	defer keeper.Close()
	r, err := proc.Run(ctx, proc.Command{Argv: append(argv, "--", path, "--version"), Dir: "/",
		Env: proc.Env(m.Environ), MaxOutput: 4 << 10, Merge: true, Keeper: &keeper})
	switch {
	case err != nil:
		return Found{}, &reason{err.Error(), "see whether bwrap --version runs"}
	case r.TimedOut:
		return Found{}, &reason{"bwrap did not answer in time", "see what bwrap --ro-bind / / true does"}
	case r.Exit != 0:
		return Found{}, cause(string(r.Stdout))
	}
	return Found{kind: Bubblewrap, bwrap: path, self: m.Self}, nil
}

// cause reads what bubblewrap said.
func cause(said string) *reason {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	line = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
	text := "bwrap says: " + line
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(said, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("Unknown option"):
		return &reason{text, "bubblewrap is too old: 0.8 or later is needed, for --disable-userns"}
	case has("setuid"):
		return &reason{text, "bwrap is installed setuid, by which user namespaces cannot be closed: chmod u-s it where the kernel allows user namespaces"}
	case has("setting up uid map", "loopback", "RTM_NEWADDR"):
		return &reason{text, "AppArmor keeps programs from user namespaces (Ubuntu 23.10 and later): give bwrap a profile with userns, see apparmor_parser(8), or sysctl kernel.apparmor_restrict_unprivileged_userns=0"}
	case has("Can't mount proc", "mount proc"):
		return &reason{text, "this looks like a container that hides parts of /proc: start it with --security-opt systempaths=unconfined"}
	case has("No permissions to create", "Creating new namespace failed", "creating new namespace", "clone"):
		return &reason{text, "the kernel lets nobody make a user namespace here: in a container start it with --security-opt seccomp=unconfined; else sysctl kernel.unprivileged_userns_clone=1 and user.max_user_namespaces above 0. Inside another sandbox this cannot be had"}
	case has("Failed to make / slave", "pivot_root", "Operation not permitted", "Permission denied"):
		return &reason{text, "larva seems to run inside a container or another sandbox that forbids mounts: allow nested user namespaces there"}
	}
	return &reason{text, "see what bwrap --unshare-user --ro-bind / / true says"}
}
