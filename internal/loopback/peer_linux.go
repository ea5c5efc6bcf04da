package loopback

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// peerUser gives the user whose program holds the other end of a connection
// on this machine; false where the kernel does not tell.
func peerUser(c net.Conn) (int, bool) {
	theirs, err := netip.ParseAddrPort(c.RemoteAddr().String())
	ours, err2 := netip.ParseAddrPort(c.LocalAddr().String())
	if err != nil || err2 != nil {
		return 0, false
	}
	// A socket of the newer family reaches the older one's addresses, too.
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue
		}
		uid, ok := holder(f, theirs, ours)
		f.Close()
		if ok {
			return uid, true
		}
	}
	return 0, false
}

// holder finds the row of a socket in the kernel's table and gives its user.
func holder(table io.Reader, local, remote netip.AddrPort) (int, bool) {
	want := map[string]bool{}
	for _, wide := range []bool{false, true} {
		want[kernelForm(local, wide)+" "+kernelForm(remote, wide)] = true
	}
	rows := bufio.NewScanner(table)
	for rows.Scan() {
		f := strings.Fields(rows.Text())
		if len(f) < 8 || !want[f[1]+" "+f[2]] {
			continue
		}
		uid, err := strconv.Atoi(f[7])
		return uid, err == nil
	}
	return 0, false
}

// kernelForm is an address as the table has it: words of 32 bits in the
// machine's own order, in hexadecimal.
func kernelForm(a netip.AddrPort, wide bool) string {
	ip := a.Addr().Unmap()
	bytes := ip.AsSlice()
	if wide {
		b := ip.As16()
		bytes = b[:]
	}
	var s strings.Builder
	for i := 0; i+4 <= len(bytes); i += 4 {
		fmt.Fprintf(&s, "%08X", binary.NativeEndian.Uint32(bytes[i:]))
	}
	return fmt.Sprintf("%s:%04X", &s, a.Port())
}
