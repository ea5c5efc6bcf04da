// Package sandbox builds walls around a shell command: bubblewrap, Landlock, Seatbelt.
package sandbox
