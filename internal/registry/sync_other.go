//go:build !unix

package registry

import "errors"

// syncDir: this platform writes directory entries through.
func syncDir(string) error { return nil }

func cannotExchange(err error) bool { return errors.Is(err, errors.ErrUnsupported) }
