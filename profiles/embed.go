// Package profiles holds the shipped profiles as CUE.
package profiles

import "embed"

// FS is the tree as written; package load evaluates it.
//
//go:embed *.cue
var FS embed.FS
