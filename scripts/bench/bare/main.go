// Command bare is the least a kong program can do: what validate's start is
// compared with.
package main

import (
	"os"

	"github.com/alecthomas/kong"
)

type grammar struct {
	Validate struct {
		Files []string `arg:""`
	} `cmd:""`
}

func main() {
	var g grammar
	if kong.Parse(&g).Command() == "" {
		os.Exit(1)
	}
}
