//go:build !linux

package sandbox

import "errors"

func confine(confinement, []string) error { return errors.New("landlock needs Linux") }
