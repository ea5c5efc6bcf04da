package loopback

import (
	"context"
	"net"
	"net/http"
	"os"
	"sync"
)

// A loopback port is open to everybody who has an account on this machine,
// the registry's files are not. So a server that answers without a token asks
// the kernel whose program a connection comes from: ours or root's, who can
// read the files anyway. Where the kernel does not tell, nobody is turned
// away: only a socket that still is held can read an answer, and Linux tells
// of those.

type peerKey struct{}

// withPeer lets the handlers of a connection ask for its user; the kernel is
// asked once, when the first request needs it.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, sync.OnceValue(func() bool {
		uid, ok := peerUser(c)
		return ok && uid != 0 && uid != os.Getuid()
	}))
}

// otherUser says whether r comes from a program of another user.
func otherUser(r *http.Request) bool {
	foreign, ok := r.Context().Value(peerKey{}).(func() bool)
	return ok && foreign()
}
