package loopback

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"larva.dev/larva/internal/diag"
)

func TestHolder(t *testing.T) {
	t.Parallel()
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1CE8 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0
   1: 0100007F:1CE8 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0
   2: 0100007F:D431 0100007F:1CE8 01 00000000:00000000 00:00000000 00000000  1001        0 3 1 0
   3: 0000000000000000FFFF00000100007F:D432 0000000000000000FFFF00000100007F:1CE8 01 00000000:00000000 00:00000000 00000000  1002 0 4 1 0
   4: short`
	ours := netip.MustParseAddrPort("127.0.0.1:7400")
	for _, tt := range []struct {
		peer string
		uid  int
		ok   bool
	}{{"127.0.0.1:54321", 1001, true}, {"127.0.0.1:54322", 1002, true}, {"127.0.0.1:54323", 0, false}} {
		if uid, ok := holder(strings.NewReader(table), netip.MustParseAddrPort(tt.peer), ours); uid != tt.uid || ok != tt.ok {
			t.Errorf("%s: got %d %v, want %d %v", tt.peer, uid, ok, tt.uid, tt.ok)
		}
	}
}

// TestPeerUser: this process is told as the holder of its own connections.
func TestPeerUser(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if uid, ok := peerUser(accepted); !ok || uid != os.Getuid() {
		t.Errorf("got %d %v, want %d", uid, ok, os.Getuid())
	}
}

// TestOtherUser: a program of another user reaches the port and gets nothing
// that needs no token. Only root can start one.
func TestOtherUser(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if os.Getuid() != 0 || err != nil {
		t.Skip("needs root and curl")
	}
	l, err := Listen(t.Context(), "127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	g := Guard{Token: "tok", Addr: l.Addr(), NoToken: func(*http.Request) bool { return true },
		Refuse: func(w http.ResponseWriter, _ *http.Request, status int, _ *diag.Error) { w.WriteHeader(status) }}
	go func() {
		served <- Serve(ctx, l, g.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("secret")) })))
	}()
	defer func() { cancel(); <-served }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, tt := range []struct {
		uid        uint32
		host, want string
	}{{0, "127.0.0.1", "secret200"}, {65534, "127.0.0.1", "403"}, {0, "[::ffff:127.0.0.1]", "secret200"}, {65534, "[::ffff:127.0.0.1]", "403"}} {
		cmd := exec.Command(curl, "-s", "-w", "%{http_code}", "http://"+tt.host+":"+port+"/")
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: tt.uid, Gid: 65534}}
		if out, err := cmd.Output(); err != nil || string(out) != tt.want {
			t.Errorf("user %d at %s: got %q %v, want %q", tt.uid, tt.host, out, err, tt.want)
		}
	}
}
