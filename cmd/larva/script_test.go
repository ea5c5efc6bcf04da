package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "__") {
		os.Exit(run()) // started again by itself under a hidden verb, whatever this program is called
	}
	if code, ok := asOther(os.Args); ok {
		os.Exit(code)
	}
	_ = os.Setenv("COLUMNS", "100") // how wide help is: its library looks here, also for a command line inside this process
	testscript.Main(m, map[string]func(){"larva": func() { os.Exit(run()) }, "briefly": briefly})
}

// TestScript runs testdata/script. LARVA_UPDATE=1 writes what the commands
// printed into the scripts.
func TestScript(t *testing.T) {
	t.Parallel()
	dir, names := inside(t, filepath.Join("..", "..", "testdata", "script"))
	commands := insiders(t.Context(), names)
	commands["capture"] = capture
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("LARVA_UPDATE") != "",
		Setup:               insideHome,
		Cmds:                commands,
	})
}

// freshHome gives each script its own home and none of the caller's settings,
// and keeps it off the network: a proxy that nobody serves.
func freshHome(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	env.Setenv("HOME", home)
	env.Setenv("USERPROFILE", home)
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	env.Setenv("XDG_DATA_HOME", filepath.Join(home, ".local", "share"))
	if bin, _, ok := strings.Cut(env.Getenv("PATH"), string(os.PathListSeparator)); ok && runtime.GOOS != "windows" {
		env.Setenv("PATH", bin+":/usr/bin:/bin") // what else is installed here is no part of a script
	}
	env.Setenv("COLUMNS", os.Getenv("COLUMNS"))
	repo, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		return err
	}
	env.Setenv("REPO", repo)
	env.Setenv("NO_COLOR", "1")
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, proxy := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env.Setenv(proxy, "http://127.0.0.1:1")
	}
	return nil
}

// exits runs a command and checks its exact exit code: exits 2 larva frobnicate.
func exits(ts *testscript.TestScript, neg bool, args []string, larva func(*testscript.TestScript, []string) int) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if args[1] == "inside" {
		got = larva(ts, args[2:])
	} else if err := ts.Exec(args[1], args[2:]...); err != nil {
		coder, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = coder.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// capture sets a variable to what the expression's group finds in the last
// stdout: capture HASH '"hash":"([^"]*)"'.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEXP")
	}
	re, err := regexp.Compile(args[1])
	ts.Check(err)
	m := re.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) != 2 {
		ts.Fatalf("%s finds nothing in stdout", args[1])
	}
	ts.Setenv(args[0], m[1])
}
