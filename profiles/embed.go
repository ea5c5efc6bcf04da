// Package profiles holds the shipped profiles as CUE.
package profiles

import "embed"

// FS is the tree as written; package load evaluates it.
//
//go:embed *.cue
var FS embed.FS

// JSON is the same, evaluated and checked: name → profile.Layer. Generated.
//
//go:embed shipped.json
var JSON []byte
