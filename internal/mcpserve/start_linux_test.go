package mcpserve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUntouched takes the mappings of the binary that are as on disk, and no
// other: not what can be written, not what was, not another file's.
func TestUntouched(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-01e07000 r-xp 00000000 fe:00 1   /bin/larva
Rss:                1372 kB
Private_Dirty:        12 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
01e07000-03f3f000 r--p 01a07000 fe:00 1   /bin/larva
Anonymous:             0 kB
VmFlags: rd mr mw me
03f3f000-03f4f000 r--p 03b3f000 fe:00 1   /bin/larva
Anonymous:             4 kB
VmFlags: rd mr mw me
03f4f000-03f5f000 rw-p 03b4f000 fe:00 1   /bin/larva
Anonymous:             0 kB
VmFlags: rd wr mr mw me
05000000-05001000 r--p 00000000 fe:00 2   /lib/libc.so
Anonymous:             0 kB
VmFlags: rd mr mw me
06000000-06001000 r--p 00000000 00:00 0
Anonymous:             0 kB
VmFlags: rd mr mw me
`
	got := untouched(smaps, "/bin/larva")
	want := []mapping{{0x400000, 0x1a07000}, {0x1e07000, 0x2138000}}
	if d := cmp.Diff(got, want, cmp.AllowUnexported(mapping{})); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
}
