// Package plugin is larva's plugin for OpenCode: plain ES modules, embedded as
// they are written. Nothing is built, nothing is fetched; OpenCode runs them in
// Bun, the tests in Node.js.
package plugin

import "embed"

// Entry is the module that OpenCode is told to load; it imports the others.
const Entry = "index.mjs"

// Files are the modules, all in one directory.
//
//go:embed *.mjs
var Files embed.FS
