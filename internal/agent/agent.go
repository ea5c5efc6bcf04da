// Package agent is the loop and the second seam: the points at which plug-ins
// run. Loop.Judge is steps 1 to 3 of a tool call, Loop.Call the only way to a
// tool.
package agent
