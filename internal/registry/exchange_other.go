//go:build !linux && !darwin

package registry

import "errors"

// exchange is not to be had here; swap takes two renames instead.
func exchange(a, b string) error { return errors.ErrUnsupported }
