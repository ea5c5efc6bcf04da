//go:build !race

package proc

const shadow = 1
