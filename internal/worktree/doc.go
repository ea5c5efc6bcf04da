// Package worktree gives one task a checkout of its own: a linked git worktree
// outside of the repository, on a branch of its own, kept or removed by what
// the task has left in it. It knows git, nothing of the agent.
//
// No code of the repository runs: hooks, filters, merge drivers, monitors,
// transports, editors and signing programs are off in every git call, see
// safe.go. Where this leaves something undone (a filter's file is checked out
// as it is stored, a missing object is not fetched) the result says so.
//
// Ownership: Create takes a lock that says "a process works here" and holds it
// until Finish or Release; the kernel frees it when the process is killed.
// Nothing else lives between the calls: what must be known later stands in a
// file beside git's own record of the worktree, where a task cannot write.
package worktree
