// Package hook runs hooks at the points of the loop, in Claude Code's format.
package hook
