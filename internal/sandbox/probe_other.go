//go:build !linux && !darwin

package sandbox

import "context"

func best(context.Context, Machine) Found { return Found{kind: None} }

func nowhere() (Found, *reason) {
	return Found{}, &reason{"this system has no sandbox", "take kind auto or none"}
}

func probeBubblewrap(context.Context, Machine) (Found, *reason) { return nowhere() }
func probeLandlock(context.Context, Machine) (Found, *reason)   { return nowhere() }
func probeSeatbelt(context.Context, Machine) (Found, *reason)   { return nowhere() }
