package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/load"
	"larva.dev/larva/internal/loopback"
	"larva.dev/larva/internal/ops"
	"larva.dev/larva/internal/proc"
	"larva.dev/larva/internal/webui"
)

// ServeInput is everything `serve` was told.
type ServeInput struct {
	Port int  // 0 takes any that is free
	Open bool // show the page in the browser
	// Ready is told once where the server stands, and the token where this
	// start has drawn one.
	Ready func(url, freshToken string) error
	// Say takes a line for the operator; called from many goroutines.
	Say func(line string)
}

// Serve serves the registry and its page to this machine until ctx ends.
// Inside a larva run it changes nothing and opens no browser.
func (a *App) Serve(ctx context.Context, in ServeInput) error {
	r, err := a.registry()
	if err != nil {
		return err
	}
	token, fresh, err := loopback.Token(a.Getenv(loopback.TokenVariable))
	if err != nil {
		return err
	}
	l, err := loopback.Listen(ctx, fmt.Sprintf("127.0.0.1:%d", in.Port), false)
	if err != nil {
		return diag.As(err).WithHint("larva serve --port 0 takes a port that is free")
	}
	url := pageURL(l)
	shown := ""
	if fresh {
		shown = token
	}
	if err := in.Ready(url, shown); err != nil {
		_ = l.Close()
		return err
	}
	if in.Open && a.refuseNested("serve") == nil {
		a.openBrowser(ctx, url, in.Say)
	}
	a.spendMemory()
	return webui.Serve(ctx, webui.Options{
		Ops:      &ops.Service{Registry: r, Writable: a.writableOperation},
		Root:     r.Root(),
		Token:    token,
		Listener: l,
		Load:     load.Options{Self: a.evalArgv()},
		Say:      in.Say,
	})
}

// writableOperation refuses to change anything inside a run, by the name of
// the verb that does the same.
func (a *App) writableOperation(operation string) error {
	return a.refuseNested(strings.ReplaceAll(strings.TrimSuffix(operation, "_batch"), "_", " "))
}

// pageURL is made of the listener's port alone, so it is safe to hand to a
// program.
func pageURL(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "http://127.0.0.1:" + port + "/"
}

// browserCommand is how this system shows a page in the user's browser.
func browserCommand(url string) []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open", url}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	return []string{"xdg-open", url}
}

// openBrowser starts the browser and does not wait: on some systems the
// opener lives as long as the browser does, which goes on when larva ends. So
// its goroutine is the one that nobody waits for.
func (a *App) openBrowser(ctx context.Context, url string, say func(string)) {
	argv := browserCommand(url)
	program, err := proc.LookPath(argv[0], a.environ)
	if err != nil {
		say("cannot open the browser: " + argv[0] + " is not here; open " + url)
		return
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a pipe of ours would break under the browser
	if err != nil {
		say("cannot open the browser: " + err.Error())
		return
	}
	c := proc.Command{Argv: append([]string{program}, argv[1:]...), Dir: a.dir, Env: proc.Env(a.environ), Stdout: null, Stderr: null, Leave: true}
	go func() {
		defer null.Close()
		if _, err := proc.Run(context.WithoutCancel(ctx), c); err != nil {
			say("cannot open the browser: " + err.Error())
		}
	}()
}
