package loopback

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"larva.dev/larva/internal/diag"
)

// Listen opens addr, HOST:PORT; port 0 takes any that is free. HOST has to be
// localhost or a loopback address unless allowRemote; no host is a loopback
// one where that is not given, every address where it is. The error is a
// *diag.Error with {address} in its details; a hint with the face's own flags
// is the caller's to add.
func Listen(ctx context.Context, addr string, allowRemote bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, badAddress(addr, "it must be HOST:PORT, 127.0.0.1:7450 for instance")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return nil, badAddress(addr, "the port must be a number from 0 to 65535")
	}
	if strings.EqualFold(host, "localhost") || host == "" && !allowRemote {
		host = "127.0.0.1" // not what a resolver says: that may be anything
	}
	if !allowRemote && !isLoopback(host) {
		return nil, badAddress(addr, "it is not an address of this machine alone")
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, network(host), net.JoinHostPort(host, port))
	if err != nil {
		return nil, cannotListen(addr, err)
	}
	return l, nil
}

// network keeps 0.0.0.0 to IPv4, as it is written: "tcp" would take it for
// every address of both kinds.
func network(host string) string {
	if a, err := netip.ParseAddr(host); err == nil && a.Is4() {
		return "tcp4"
	}
	return "tcp"
}

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

func badAddress(addr, why string) *diag.Error {
	return diag.Usage("cannot listen on %s: %s", strconv.Quote(addr), why).With("address", addr)
}

func cannotListen(addr string, err error) *diag.Error {
	what := err.Error()
	var op *net.OpError
	if errors.As(err, &op) {
		what = op.Err.Error()
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		what = "another program uses that port"
	}
	e := diag.New(diag.Internal, "cannot listen on %s: %s", addr, what).With("address", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		e.WithHint("port 0 takes one that is free")
	}
	e.Cause = err
	return e
}
