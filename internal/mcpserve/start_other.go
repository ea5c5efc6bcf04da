//go:build !linux

package mcpserve

// dropStart has no counterpart here.
func dropStart() {}
