package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// serve compares GET /api/personas of a running larva serve with list --json
// over the same registry, by turns, and with ten times the personas.
func (b *bench) serve() error {
	for _, n := range []int{1000, 10000} {
		home, err := b.home(n)
		if err != nil {
			return err
		}
		get, list, err := b.gets(home, 15)
		if err != nil {
			return err
		}
		r := ratio(get, list)
		count := fmt.Sprintf("%d,000", n/1000)
		b.note("GET /api/personas, "+count+" personas, against list --json", fmt.Sprintf("%s, %.1fx of %s", ms(get), r, ms(list)), "2x", r <= 2)
	}
	return nil
}

// gets measures both by turns and gives the medians.
func (b *bench) gets(home string, n int) (get, list time.Duration, err error) {
	url, stop, err := b.serving(home)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	var gets, lists []time.Duration
	for range n {
		took, err := fetch(url + "api/personas")
		if err != nil {
			return 0, 0, err
		}
		gets = append(gets, took)
		s, err := b.once(home, b.larva, "list", "--json")
		if err != nil {
			return 0, 0, err
		}
		lists = append(lists, s.wall)
	}
	slices.Sort(gets)
	slices.Sort(lists)
	return gets[n/2], lists[n/2], nil
}

func fetch(url string) (time.Duration, error) {
	start := time.Now()
	resp, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", url, resp.Status)
	}
	return time.Since(start), nil
}

// serving starts larva serve on a free port; stop interrupts it and wants the
// exit code of an interrupt.
func (b *bench) serving(home string) (url string, stop func() error, err error) {
	cmd := exec.Command(b.larva, "serve", "--port", "0", "--no-open")
	cmd.Dir, cmd.Env = home, append(b.env(home), "LARVA_TOKEN=bench")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return "", nil, fmt.Errorf("larva serve: %w", err)
	}
	return strings.TrimSpace(line), func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 143 {
			return fmt.Errorf("larva serve ended with %d", code)
		}
		return nil
	}, nil
}
