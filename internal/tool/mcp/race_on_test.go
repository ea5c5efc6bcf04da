//go:build race

package mcp

const raceFactor = 10
