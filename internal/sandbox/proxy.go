package sandbox

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of the proxy.
const (
	dialTime    = 20 * time.Second
	headTime    = 20 * time.Second // for a request's head to arrive
	maxHead     = 64 << 10
	maxTunnels  = 256
	maxRefusals = 50 // hosts that are remembered for a result
)

// proxy lets commands reach the listed domains, and nothing else. It listens on
// a socket in the file system, which is put into the wall, and resolves names
// itself: the address that was checked is the one that is dialled.
//
// serve starts a goroutine for each connection; close ends them all and waits.
type proxy struct {
	allow   domains
	resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	ln      net.Listener

	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	refused map[string]bool
}

func newProxy(ln net.Listener, allow []string) *proxy {
	p := &proxy{allow: allow, ln: ln, refused: map[string]bool{}, resolve: func(ctx context.Context, host string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.wg.Add(1)
	go p.serve()
	return p
}

func (p *proxy) close() {
	p.cancel()
	_ = p.ln.Close()
	p.wg.Wait()
}

func (p *proxy) takeRefused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for h := range p.refused {
		out = append(out, h)
	}
	clear(p.refused)
	slices.Sort(out)
	return out
}

func (p *proxy) serve() {
	defer p.wg.Done()
	slots := make(chan struct{}, maxTunnels)
	for {
		c, err := p.ln.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || p.ctx.Err() != nil {
				return
			}
			time.Sleep(10 * time.Millisecond) // out of descriptors: some will be free again
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-p.ctx.Done():
			_ = c.Close()
			return
		}
		p.wg.Add(1)
		go func() {
			defer p.wg.Done()
			defer func() { <-slots }()
			defer c.Close()
			stop := context.AfterFunc(p.ctx, func() { _ = c.Close() })
			defer stop()
			p.handle(c)
		}()
	}
}

// handle answers one request: a tunnel, or one plain http exchange.
func (p *proxy) handle(c net.Conn) {
	_ = c.SetReadDeadline(time.Now().Add(headTime))
	lim := &io.LimitedReader{R: c, N: maxHead}
	br := bufio.NewReader(lim)
	req, err := http.ReadRequest(br)
	if err != nil {
		answer(c, http.StatusBadRequest, "larva's proxy cannot read the request")
		return
	}
	_ = c.SetReadDeadline(time.Time{})
	lim.N = 1 << 62
	target := req.Host
	port := "443"
	if req.Method != http.MethodConnect {
		if req.URL.Scheme != "http" || req.URL.Host == "" {
			answer(c, http.StatusBadRequest, "larva's proxy takes CONNECT, and http URLs")
			return
		}
		target, port = req.URL.Host, "80"
	} else if req.URL.Host != "" {
		target = req.URL.Host
	}
	up, status, err := p.dial(target, port)
	if err != nil {
		answer(c, status, err.Error())
		return
	}
	defer up.Close()
	stop := context.AfterFunc(p.ctx, func() { _ = up.Close() })
	defer stop()
	if req.Method == http.MethodConnect {
		if _, err := io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
			return
		}
		pipe(c, up, br)
		return
	}
	exchange(c, up, req)
}

// exchange sends one request on and its answer back; the connection ends with
// it, so that a second request cannot name another host.
func exchange(c, up net.Conn, req *http.Request) {
	req.Header.Del("Proxy-Connection")
	req.Header.Del("Proxy-Authorization")
	req.Header.Set("Connection", "close")
	req.Host, req.Close = req.URL.Host, true
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = req.Write(up)
	}()
	_, _ = io.Copy(c, up)
	_ = up.Close()
	_ = c.Close()
	<-done
}

// dial connects to a host that is allowed.
func (p *proxy) dial(target, port string) (net.Conn, int, error) {
	host := target
	if h, n, err := net.SplitHostPort(target); err == nil {
		host, port = h, n
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return nil, http.StatusBadRequest, errors.New("no port")
	}
	name, valid := hostOf(host)
	ok, exact := p.allow.match(host)
	if !valid || !ok {
		p.refuse(host)
		return nil, http.StatusForbidden, errors.New("the sandbox refuses " + shown(host) + ": it is not in sandbox.allowed_domains")
	}
	ctx, cancel := context.WithTimeout(p.ctx, dialTime)
	defer cancel()
	var ips []netip.Addr
	if ip, err := netip.ParseAddr(name); err == nil {
		ips = []netip.Addr{ip}
	} else if ips, err = p.resolve(ctx, name); err != nil {
		return nil, http.StatusBadGateway, errors.New(shown(host) + " cannot be resolved")
	}
	var last error
	var d net.Dialer
	for _, ip := range ips {
		if err := dialable(name, ip, exact); err != nil {
			last = err
			continue
		}
		c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(ip.Unmap().String(), port))
		if err == nil {
			return c, 0, nil
		}
		last = nil
	}
	if last != nil {
		p.refuse(host)
		return nil, http.StatusForbidden, errors.New("the sandbox refuses " + shown(host) + ": " + last.Error())
	}
	return nil, http.StatusBadGateway, errors.New(shown(host) + " does not answer")
}

func (p *proxy) refuse(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refused) < maxRefusals {
		p.refused[shown(host)] = true
	}
}

// shown is a host for a person: what a command sent may hold anything.
func shown(host string) string {
	host = strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return '?'
		}
		return r
	}, host)
	return host[:min(len(host), 253)]
}

func answer(c net.Conn, status int, text string) {
	_ = c.SetWriteDeadline(time.Now().Add(headTime))
	body := text + "\n"
	_, _ = io.WriteString(c, "HTTP/1.1 "+strconv.Itoa(status)+" "+http.StatusText(status)+
		"\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
}

// pipe carries bytes both ways until both have ended. read is c's reader,
// which may hold what came after the head.
func pipe(c, up net.Conn, read io.Reader) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(up, read)
		shutWrite(up)
	}()
	_, _ = io.Copy(c, up)
	shutWrite(c)
	<-done
}

func shutWrite(c net.Conn) {
	if h, ok := c.(interface{ CloseWrite() error }); ok {
		_ = h.CloseWrite()
		return
	}
	_ = c.Close()
}
