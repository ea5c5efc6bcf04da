//go:build !unix

package cli

// keepOnBrokenPipe has nothing to do here: a broken pipe is an error anyway.
func keepOnBrokenPipe() (undo func()) { return func() {} }
