//go:build unix

package proc

import (
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
)

// watch remembers process groups as it is told and, when its input ends, kills
// those that are left. The input ends with the process that holds it, whatever
// ended that. What bears the mark of a run is looked for three times: it may
// start another while we look.
const watch = `trap '' HUP INT QUIT TERM
while read -r op g; do
	case $op in
	+) all="$all $g" ;;
	-) new=; for x in $all; do [ "$x" = "$g" ] || new="$new $x"; done; all=$new ;;
	m) mark=$g ;;
	esac
done
for x in $all; do kill -s KILL -- "-$x" 2>/dev/null; done
[ -n "$mark" ] && [ -d /proc/self ] && for i in 1 2 3; do
	for f in $(grep -lasF -e "LARVA_RUN=$mark" /proc/[0-9]*/environ 2>/dev/null); do
		x=${f#/proc/}; kill -s KILL "${x%/environ}" 2>/dev/null
	done
done`

// Keeper sees to it that programs do not outlive this process, also where it
// is killed: a program's own children get no signal from that. A small shell
// stands by, started with the first program. The zero value works; its owner
// closes it.
type Keeper struct {
	mu   sync.Mutex
	cmd  *exec.Cmd
	in   io.WriteCloser
	shut bool

	marked bool
}

func (k *Keeper) tell(op string, g group) {
	if k == nil || g.id() <= 1 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cmd == nil && op == "+" && !k.shut {
		k.start()
	}
	if k.in != nil {
		_, _ = fmt.Fprintf(k.in, "%s %d\n", op, g.id())
	}
}

// mark tells, once, what all programs of this keeper bear: the part of a mark
// before its last ".". A keeper serves one run.
func (k *Keeper) mark(mark string) {
	i := strings.LastIndexByte(mark, '.')
	if k == nil || i <= 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.in != nil && !k.marked {
		k.marked = true
		_, _ = fmt.Fprintf(k.in, "m %s\n", mark[:i+1])
	}
}

// start leaves in nil where the shell does not start: programs then end with
// this process as far as the kernel sees to it.
func (k *Keeper) start() {
	k.cmd = exec.Command("/bin/sh", "-c", watch)
	k.cmd.Env, k.cmd.Dir = []string{}, "/"
	k.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := k.cmd.StdinPipe()
	if err == nil && k.cmd.Start() == nil {
		k.in = in
	}
}

// Close ends the shell that stands by, and what it still holds.
func (k *Keeper) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.shut = true
	if k.in != nil {
		_, _ = fmt.Fprintln(k.in, "m") // who closes in order has ended the marked ones
		_ = k.in.Close()
		_ = k.cmd.Wait()
		k.in = nil
	}
}
