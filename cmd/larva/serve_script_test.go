package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// What differs from start to start in a server's lines.
var (
	freePort   = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	freshToken = regexp.MustCompile(`[0-9a-f]{64}`)
)

// startTime is how long a server may take to say where it stands.
const startTime = 30 * time.Second

// briefly runs a server for scripts: exec briefly larva serve --port 0. It
// waits for the line that names the address, interrupts, and passes on what
// was printed, with PORT and TOKEN in place of what differs from start to
// start. It exits with the server's code, and with 0 for 130, which is how a
// server ends when it is interrupted.
func briefly() {
	code, err := interrupted(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "briefly:", err)
		code = 99
	}
	os.Exit(code)
}

func interrupted(argv []string) (int, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	var once sync.Once
	stop := func() { once.Do(func() { _ = cmd.Process.Signal(os.Interrupt) }) }
	late := time.AfterFunc(startTime, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
	defer late.Stop()
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { defer wg.Done(); pass(stdout, os.Stdout, stop) }()
	go func() { defer wg.Done(); pass(stderr, os.Stderr, stop) }()
	wg.Wait()
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		return code, nil
	}
	return 0, nil
}

// pass copies lines and calls found for one with an address in it.
func pass(from io.Reader, to io.Writer, found func()) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		line := lines.Text()
		fmt.Fprintln(to, freshToken.ReplaceAllString(freePort.ReplaceAllString(line, "127.0.0.1:PORT"), "TOKEN"))
		if freePort.MatchString(line) {
			found()
		}
	}
}
