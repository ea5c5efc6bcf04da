package sandbox

import (
	"context"

	"larva.dev/larva/internal/proc"
)

const sandboxExec = "/usr/bin/sandbox-exec"

func best(ctx context.Context, m Machine) Found {
	f, no := probeSeatbelt(ctx, m)
	if no == nil {
		return f
	}
	return Found{kind: None, notice: "sandbox: " + no.text + "; " + no.hint + ". Shell commands run without a sandbox and are asked about one by one"}
}

func probeBubblewrap(context.Context, Machine) (Found, *reason) {
	return Found{}, &reason{"it needs Linux", "take kind auto, which is Seatbelt on macOS"}
}

func probeLandlock(context.Context, Machine) (Found, *reason) {
	return Found{}, &reason{"it needs Linux", "take kind auto, which is Seatbelt on macOS"}
}

func probeSeatbelt(ctx context.Context, m Machine) (Found, *reason) {
	r, err := proc.Run(ctx, proc.Command{Argv: []string{sandboxExec, "-p", "(version 1)(allow default)", "/usr/bin/true"}, Dir: "/",
		Env: proc.Env(m.Environ), MaxOutput: 4 << 10, Merge: true})
	if err != nil {
		return Found{}, &reason{err.Error(), "sandbox-exec is a part of macOS"}
	}
	if r.Exit != 0 {
		return Found{}, &reason{"sandbox-exec fails", "inside another sandbox it cannot be had"}
	}
	return Found{kind: Seatbelt, bwrap: sandboxExec}, nil
}
