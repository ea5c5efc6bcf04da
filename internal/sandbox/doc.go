// Package sandbox builds walls around a shell command: bubblewrap or Landlock
// on Linux, Seatbelt on macOS. A wall is stated as a command line and an
// environment; starting it is the caller's.
//
// Bubblewrap holds: everything is read-only but the roots, the private temp
// directory and a cache of the project's own; what chooses code (git's hooks,
// our own configuration) is read-only inside the roots, too; secret files and
// other programs' sockets are out of sight; processes, signals and the network
// are the command's own. Landlock confines less, see landlock.go, so calls in
// it are still asked about.
package sandbox
