// Package session writes and reads the event log of a run: resume, fork, undo.
package session
