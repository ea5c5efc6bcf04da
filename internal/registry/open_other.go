//go:build !unix

package registry

// openFlags: this platform has no flag against links; readFile looks first.
const openFlags = 0

// hasModes: permission bits say who may read here.
const hasModes = false

func isLink(error) bool { return false }

func shortage(error) bool { return false }
