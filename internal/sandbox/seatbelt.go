package sandbox

import "strings"

// seatbelt is the profile for sandbox-exec: read everything but secrets, write
// the roots without what is guarded, the network of this machine only.
func (w *Wall) seatbelt() string {
	var b strings.Builder
	line := func(s string) { b.WriteString(s + "\n") }
	line("(version 1)")
	line("(deny default)")
	line("(allow process*)")
	line("(allow sysctl-read)")
	line("(allow mach-lookup)")
	line("(allow ipc-posix-shm*)")
	line("(allow signal (target same-sandbox))")
	line("(allow file-read*)")
	line("(allow file-ioctl (literal \"/dev/tty\") (literal \"/dev/null\"))")
	line(`(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (subpath "/dev/fd"))`)
	line(`(allow network* (local ip "localhost:*") (remote ip "localhost:*"))`)
	for _, r := range w.o.Roots {
		if r == w.o.Temp || !w.o.ReadOnly {
			line("(allow file-write* (subpath " + quote(r) + "))")
		}
	}
	if !w.o.ReadOnly {
		places, writable := w.guards()
		for _, d := range writable {
			line("(allow file-write* (subpath " + quote(d) + "))")
		}
		if w.o.Cache != "" {
			line("(allow file-write* (subpath " + quote(w.o.Cache) + "))")
		}
		// Later rules win, so what is guarded comes after what is open. A name
		// that does not exist is held as well, and so is its position.
		for _, p := range places {
			kind := "subpath "
			if strings.HasSuffix(p.path, "/.git") && isDir(p.path) {
				kind = "literal "
			}
			line("(deny file-write* (" + kind + quote(p.path) + "))")
		}
	}
	all := w.finder().find(w.o.Roots)
	for _, p := range all.fixed {
		line("(deny file-write* (subpath " + quote(p) + "))")
	}
	for _, p := range append(atHome(w.o.Home, w.o.Denied), all.secret...) {
		line("(deny file-read* file-write* (subpath " + quote(p) + "))")
	}
	return b.String()
}

// quote is a string of the profile's language.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
