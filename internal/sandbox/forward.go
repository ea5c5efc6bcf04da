package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"larva.dev/larva/internal/proc"
)

// Where the proxy is found inside the wall. The port is one that nothing else
// uses: the network there is the command's own.
const (
	proxySocket = "/run/larva-proxy.sock"
	proxyPort   = 3128
)

// bridge puts the proxy's socket into the wall and a forwarder of ours around
// the command: inside, the network has only a loopback of its own.
func (w *Wall) bridge(argv, env []string) (bind, argv2, env2 []string, err error) {
	if len(w.self) == 0 {
		return nil, nil, nil, errors.New("larva's own program is not known")
	}
	socket := filepath.Join(w.dir, "proxy.sock")
	if w.proxy == nil {
		ln, err := net.Listen("unix", socket)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("proxy: %w", err)
		}
		w.proxy = newProxy(ln, w.o.Domains)
	}
	self, err := filepath.EvalSymlinks(w.self[0])
	if err != nil {
		return nil, nil, nil, err
	}
	// The program may lie where the wall shows something else.
	inside := "/run/larva-helper"
	bind = []string{"--ro-bind", self, inside, "--ro-bind", socket, proxySocket}
	argv2 = slices.Concat([]string{inside}, w.self[1:], []string{forwardJob, proxySocket, strconv.Itoa(proxyPort)}, argv)
	at := "http://127.0.0.1:" + strconv.Itoa(proxyPort)
	for _, name := range [...]string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"="+at)
	}
	for _, name := range [...]string{"NO_PROXY", "no_proxy"} {
		env = append(env, name+"=localhost,127.0.0.1,::1")
	}
	return bind, argv2, env, nil
}

// forward runs argv while connections to a port of this loopback go to the
// socket. The command's exit code is the result. Its background children go on
// until the wall falls, which is when this process ends.
func forward(ctx context.Context, socket string, port int, argv, environ []string) (int, error) {
	ln, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return 0, err
	}
	defer ln.Close()
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			// Not waited for: a tunnel may outlast the command, this process does not.
			go func() {
				defer c.Close()
				up, err := net.Dial("unix", socket)
				if err != nil {
					return
				}
				defer up.Close()
				pipe(c, up, c)
			}()
		}
	}()
	r, err := proc.Run(ctx, proc.Command{Argv: argv, Env: environ, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Leave: true})
	_ = ln.Close()
	wg.Wait()
	if err != nil {
		return 0, err
	}
	return r.Exit, nil
}
