// Package arch holds, as a test, what each room may import and which room
// owns an outside package. A new room or arrow is a line in rooms_test.go
// first, with its reason.
package arch
