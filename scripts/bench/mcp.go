package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// mcpClient is one larva mcp over pipes, spoken to in raw frames so that the
// client's own work does not count.
type mcpClient struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	id  int
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"

// startMCP starts a server and waits until it has answered initialize.
func (b *bench) startMCP(home string) (*mcpClient, time.Duration, error) {
	c := &mcpClient{cmd: exec.Command(b.larva, "mcp")}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = home, b.env(home), os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, 0, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, 0, err
	}
	c.in, c.out = in, bufio.NewReaderSize(out, 64<<10)
	start := time.Now()
	if err := c.cmd.Start(); err != nil {
		return nil, 0, err
	}
	if _, err := io.WriteString(c.in, hello); err != nil {
		return nil, 0, err
	}
	if _, err := c.answer(); err != nil {
		return nil, 0, err
	}
	took := time.Since(start)
	_, err = io.WriteString(c.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	return c, took, err
}

// stop ends the server by ending its input.
func (c *mcpClient) stop() error {
	if err := c.in.Close(); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, c.out)
	return c.cmd.Wait()
}

func (c *mcpClient) answer() ([]byte, error) {
	for {
		line, err := c.out.ReadSlice('\n')
		if err != nil {
			return nil, fmt.Errorf("larva mcp: %w", err)
		}
		if bytes.Contains(line, []byte(`"isError":true`)) || bytes.Contains(line, []byte(`"error":`)) {
			return nil, fmt.Errorf("larva mcp: %s", line)
		}
		if !bytes.Contains(line, []byte(`"method":"notifications/`)) {
			return line, nil
		}
	}
}

// calls makes n calls with up to window in flight; each gives how long it took.
func (c *mcpClient) calls(n, window int, params func(i int) string) ([]time.Duration, time.Duration, error) {
	begun := make(map[int]time.Time, window)
	took := make([]time.Duration, 0, n)
	first, sent := c.id, 0
	send := func() error {
		c.id++
		begun[c.id] = time.Now()
		sent++
		_, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`+"\n", c.id, params(c.id-first))
		return err
	}
	start := time.Now()
	for sent < min(window, n) {
		if err := send(); err != nil {
			return nil, 0, err
		}
	}
	for len(took) < n {
		line, err := c.answer()
		if err != nil {
			return nil, 0, err
		}
		id, err := idOf(line)
		if err != nil {
			return nil, 0, err
		}
		took = append(took, time.Since(begun[id]))
		delete(begun, id)
		if sent < n {
			if err := send(); err != nil {
				return nil, 0, err
			}
		}
	}
	return took, time.Since(start), nil
}

func idOf(line []byte) (int, error) {
	_, rest, ok := bytes.Cut(line, []byte(`"id":`))
	end := bytes.IndexAny(rest, ",}")
	if !ok || end < 0 {
		return 0, fmt.Errorf("no id in %s", line)
	}
	return strconv.Atoi(string(rest[:end]))
}

// memory is what the server holds now, in bytes; 0 where it is not to be had.
func (c *mcpClient) memory() int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err == nil {
				return n << 10
			}
		}
	}
	return 0
}

// mcp measures a server over stdio: its start, its calls one after another and
// 32 at a time, and its memory before and after.
func (b *bench) mcp() error {
	home, err := b.home(1000)
	if err != nil {
		return err
	}
	var starts []time.Duration
	for range 21 {
		c, took, err := b.startMCP(home)
		if err != nil {
			return err
		}
		starts = append(starts, took)
		if err := c.stop(); err != nil {
			return err
		}
	}
	slices.Sort(starts)
	b.within("mcp, from the start to initialize answered", starts[len(starts)/2], 15*time.Millisecond)

	c, _, err := b.startMCP(home)
	if err != nil {
		return err
	}
	time.Sleep(300 * time.Millisecond) // what the start has left to do
	idle := c.memory()
	spec, err := json.Marshal(persona("bench"))
	if err != nil {
		return err
	}
	validate := func(int) string {
		return `{"name":"larva_validate","arguments":{"spec":` + string(spec) + `}}`
	}
	resolve := func(i int) string {
		return fmt.Sprintf(`{"name":"larva_resolve","arguments":{"id":"p-%05d"}}`, i%1000)
	}
	for _, kind := range []struct {
		name   string
		params func(int) string
	}{{"larva_validate", validate}, {"larva_resolve", resolve}} {
		if err := b.rates(c, kind.name, kind.params); err != nil {
			return err
		}
	}
	if runtime.GOOS == "linux" {
		loaded := c.memory()
		b.note("mcp, memory before the first call", mb(idle), "30 MB", idle < 30e6)
		b.note("mcp, memory after all these calls", mb(loaded), "45 MB", loaded < 45e6)
	}
	return c.stop()
}

func (b *bench) rates(c *mcpClient, name string, params func(int) string) error {
	const n = 20000
	if _, _, err := c.calls(2000, 32, params); err != nil { // warm
		return err
	}
	took, all, err := c.calls(n, 1, params)
	if err != nil {
		return err
	}
	slices.Sort(took)
	b.micros("mcp, "+name+", one after another, median", took[n/2], 150*time.Microsecond)
	b.micros("the same, 99th percentile", took[n*99/100], 2*time.Millisecond)
	b.rate("the same, calls a second", float64(n)/all.Seconds(), 5000)
	_, all, err = c.calls(n, 32, params)
	if err != nil {
		return err
	}
	b.rate("mcp, "+name+", 32 in flight, calls a second", float64(n)/all.Seconds(), 10000)
	return nil
}

// micros is within for shorter times.
func (b *bench) micros(what string, took, limit time.Duration) {
	text := fmt.Sprintf("%d µs", limit.Microseconds())
	if b.busy > 1 {
		text = fmt.Sprintf("%d µs (%s on the reference machine)", int64(float64(limit.Microseconds())*b.busy), text)
	}
	b.note(what, fmt.Sprintf("%d µs", took.Microseconds()), text, float64(took) <= float64(limit)*b.busy)
}

// rate is within for what must be at least so many a second.
func (b *bench) rate(what string, got, least float64) {
	text := fmt.Sprintf("at least %.0f", least)
	if b.busy > 1 {
		text = fmt.Sprintf("at least %.0f (%.0f on the reference machine)", least/b.busy, least)
	}
	b.note(what, fmt.Sprintf("%.0f", got), text, got >= least/b.busy)
}
