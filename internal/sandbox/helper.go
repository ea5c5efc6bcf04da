package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
)

// helperFailed is the exit code of a helper that could not do its job: that of
// a shell for a command that it cannot run.
const helperFailed = 126

// Helper is this binary as a part of a wall. args follow HelperVerb. Without
// any it does nothing, which is what a probe runs. It gives the exit code.
func Helper(ctx context.Context, args []string, stderr io.Writer) int {
	if len(args) == 0 {
		return 0
	}
	code, err := help(ctx, args)
	if err != nil {
		fmt.Fprintf(stderr, "larva: sandbox: %v\n", err)
		return helperFailed
	}
	return code
}

func help(ctx context.Context, args []string) (int, error) {
	switch {
	case args[0] == confineJob && len(args) >= 3:
		text, err := os.ReadFile(args[1])
		if err != nil {
			return 0, err
		}
		var c confinement
		if err := json.Unmarshal(text, &c); err != nil {
			return 0, err
		}
		return 0, confine(c, args[2:])
	case args[0] == tryJob && len(args) >= 2:
		return 0, confine(confinement{Read: []string{"/"}}, args[1:])
	case args[0] == forwardJob && len(args) >= 4:
		port, err := strconv.Atoi(args[2])
		if err != nil {
			return 0, err
		}
		return forward(ctx, args[1], port, args[3:], os.Environ())
	}
	return 0, fmt.Errorf("%q is no job of a wall", args[0])
}
