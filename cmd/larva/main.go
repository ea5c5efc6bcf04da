// Command larva: personas as code. Everything is in internal/cli.
package main

import (
	"context"
	"os"

	"larva.dev/larva/internal/cli"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := cli.Signals(context.Background())
	defer stop()
	return cli.Main(ctx, cli.System())
}
