package session

// Checkpoints keep files as they were before a turn changed them.
type Checkpoints struct{}
