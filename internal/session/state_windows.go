package session

const noWait = 0

// isNotDir has no code of its own here.
func isNotDir(error) bool { return false }
