// Package session keeps what a run said and what it changed. A session is one
// file of events, one a line, that is only ever appended to: a run writes it
// as it goes, the next run goes on behind it, a fork copies it up to a prompt.
// Beside it lie the whole outputs of tools that were shown in part, and in a
// place of their own the files as they were before each turn, for undo.
//
// Ownership: a Log is the only writer of its file while it is open (a lock
// says so to other processes), readers need no lock. Checkpoints belong to the
// Log's holder.
package session
