// Package personas holds the shipped personas as CUE, their prompts beside
// them in Markdown.
package personas

import "embed"

// FS is the tree as written; package load evaluates it.
//
//go:embed *.cue prompts/*.md
var FS embed.FS

// JSON is the same, evaluated and checked: id → {contract, active, variants}.
// Generated.
//
//go:embed shipped.json
var JSON []byte
