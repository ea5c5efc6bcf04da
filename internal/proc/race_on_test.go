//go:build race

package proc

// shadow is how many times more memory a test program takes: the race detector
// has memory of its own.
const shadow = 4
