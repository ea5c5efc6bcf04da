// Package hook runs hooks at the points of the loop, in Claude Code's format:
// it picks those that match, gives each the event as JSON, reads what it
// answers, and joins the answers of all into one for the loop.
//
// Who owns what: a firing starts one goroutine a hook and waits for all of
// them, but for async ones. Those belong to the Runner: the end of the session
// waits for them and ends what still runs then.
package hook
