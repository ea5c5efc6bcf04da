package wire

import "sync"

// Forgetting counts the messages of a conversation whose reasoning the service
// refused to take back. The zero value forgets nothing; several goroutines may
// use it.
type Forgetting struct {
	mu sync.Mutex
	n  int
}

// In is how many of so many messages go without it. Fewer messages than were
// forgotten are another conversation.
func (f *Forgetting) In(messages int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if messages < f.n {
		f.n = 0
	}
	return f.n
}

// Forget says that the service refused the reasoning of so many messages; false
// where it was not sent any more.
func (f *Forgetting) Forget(messages int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if messages <= f.n {
		return false
	}
	f.n = messages
	return true
}
