package oauth

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"larva.dev/larva/internal/proc"
)

// Keyring holds small secrets by name. Get's error is also "not there".
type Keyring interface {
	Get(ctx context.Context, key string) (string, error)
	Set(ctx context.Context, key, secret string) error
	Delete(ctx context.Context, key string) error
}

// SecretTool gives the keyring of a Linux desktop by its own program, nil where
// there is none: a session without a message bus has no keyring, and asking for
// one would start things.
func SecretTool(environ []string) Keyring {
	if !slices.ContainsFunc(environ, func(e string) bool {
		return strings.HasPrefix(e, "DBUS_SESSION_BUS_ADDRESS=") && len(e) > len("DBUS_SESSION_BUS_ADDRESS=")
	}) {
		return nil
	}
	path, err := proc.LookPath("secret-tool", environ)
	if err != nil {
		return nil
	}
	return secretTool{path, proc.Env(environ)}
}

type secretTool struct {
	path string
	env  []string
}

func (t secretTool) Get(ctx context.Context, key string) (string, error) {
	return t.run(ctx, "", "lookup", "service", "larva", "account", key)
}

// Set hands the secret over on stdin: arguments are public on the machine.
func (t secretTool) Set(ctx context.Context, key, secret string) error {
	_, err := t.run(ctx, secret, "store", "--label=larva "+key, "service", "larva", "account", key)
	return err
}

func (t secretTool) Delete(ctx context.Context, key string) error {
	_, err := t.run(ctx, "", "clear", "service", "larva", "account", key)
	return err
}

// run bounds the wait: a locked keyring asks in a window that may stand on no
// screen.
func (t secretTool) run(ctx context.Context, stdin string, args ...string) (string, error) {
	res, err := proc.Run(ctx, proc.Command{Argv: append([]string{t.path}, args...), Env: t.env,
		Stdin: strings.NewReader(stdin), Timeout: 10 * time.Second, MaxOutput: 64 << 10})
	if err != nil {
		return "", err
	}
	if res.Exit != 0 || res.TimedOut || len(res.Stdout) == 0 && args[0] == "lookup" {
		return "", errors.New("secret-tool: no answer")
	}
	return strings.TrimSuffix(string(res.Stdout), "\n"), nil
}
