package loopback

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// How long a peer may take. A page on the same machine needs milliseconds;
// 16 MiB at the pace of a slow disk need some seconds.
const (
	headerTime = 5 * time.Second
	readTime   = 30 * time.Second // header and body
	writeTime  = 60 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
	// graceTime is how long requests on their way may go on after the stop.
	graceTime = time.Second
)

// Serve answers on l until ctx ends; then it takes no more, lets requests on
// their way end, cuts off what still stands, and gives nil. The context of
// every request ends with ctx, which is how streams know. Nothing is printed:
// what goes wrong with one connection is nobody's business but the peer's.
// Serve closes l.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		WriteTimeout:      writeTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext:       withPeer,
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer cancel()
	if s.Shutdown(grace) != nil {
		_ = s.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Stream lifts the deadlines of one request, for an answer that goes on. The
// handler must then end with the request's context, and should put a deadline
// on each of its writes.
func Stream(w http.ResponseWriter) error {
	c := http.NewResponseController(w)
	return errors.Join(c.SetReadDeadline(time.Time{}), c.SetWriteDeadline(time.Time{}))
}
