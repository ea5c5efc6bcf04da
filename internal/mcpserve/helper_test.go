package mcpserve

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/registry"
	"larva.dev/larva/internal/spec"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

func persona(id string) string {
	return `{"id":"` + id + `","spec_version":"0.1.0","description":"Reads what is there and says what it is.",` +
		`"prompt":"Say what is there. Name files and lines.","model":"m","capabilities":{"git":"read_only","filesystem":"read_only"},"model_params":{"temperature":0.2}}`
}

// store is a registry with personas of these ids.
func store(t testing.TB, ids ...string) *registry.Registry {
	t.Helper()
	r := registry.Open(t.TempDir())
	for _, id := range ids {
		put(t, r, id, "")
	}
	return r
}

func put(t testing.TB, r *registry.Registry, id, variant string) {
	t.Helper()
	o, err := spec.ParseObject([]byte(persona(id)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Register(o, variant); err != nil {
		t.Fatal(err)
	}
}

// breakPersona makes a stored persona one that cannot be read.
func breakPersona(t testing.TB, r *registry.Registry, id string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(r.Root(), id, "manifest.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// raw is a client that sends what it likes.
type raw struct {
	t    testing.TB
	in   io.WriteCloser
	out  *bufio.Reader
	done chan error // Serve's
}

// serve starts a server on pipes; it is stopped with the test.
func serve(t testing.TB, o Options) *raw {
	t.Helper()
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	c := &raw{t: t, in: in, out: bufio.NewReaderSize(out, 32<<20), done: make(chan error, 1)}
	go func() { c.done <- New(o).Serve(t.Context(), theirIn, theirOut); theirOut.Close() }()
	t.Cleanup(func() { in.Close(); out.Close() })
	return c
}

// greeted is serve after initialize.
func greeted(t testing.TB, o Options) *raw {
	t.Helper()
	c := serve(t, o)
	c.send(hello)
	c.read()
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *raw) send(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

// read gives the next line.
func (c *raw) read() string {
	c.t.Helper()
	type answer struct {
		line string
		err  error
	}
	ch := make(chan answer, 1)
	go func() { line, err := c.out.ReadString('\n'); ch <- answer{line, err} }()
	select {
	case a := <-ch:
		if a.err != nil {
			c.t.Fatalf("got %q %v, want an answer", a.line, a.err)
		}
		if !json.Valid([]byte(a.line)) {
			c.t.Fatalf("got %q, want protocol", a.line)
		}
		return strings.TrimSuffix(a.line, "\n")
	case <-time.After(patience):
		c.t.Fatal("got nothing, want an answer")
	}
	return ""
}

// rest gives the lines until the server has ended, and its error.
func (c *raw) rest() (lines []string, err error) {
	c.t.Helper()
	type all struct {
		text []byte
		err  error
	}
	ch := make(chan all, 1)
	go func() { text, err := io.ReadAll(c.out); ch <- all{text, err} }()
	select {
	case a := <-ch:
		for line := range strings.Lines(string(a.text)) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
		return lines, <-c.done
	case <-time.After(patience):
		c.t.Fatal("the server goes on, want its end")
	}
	return nil, nil
}

// answered reads lines up to the answer of id.
func (c *raw) answered(id string) reply {
	c.t.Helper()
	for {
		r := parse(c.t, c.read())
		if string(r.ID) == id {
			return r
		}
	}
}

// reply is an answer.
type reply struct {
	ID     json.RawMessage
	Method string
	Result struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
		IsError           bool
	}
	Error *struct {
		Code    int
		Message string
	}
}

func parse(t testing.TB, line string) (r reply) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return r
}

// code is the error's code, 0 where there is none.
func (r reply) code() int {
	if r.Error == nil {
		return 0
	}
	return r.Error.Code
}

// envelopeCode is the failed operation's code, "" where it did not fail.
func (r reply) envelopeCode() string {
	var e struct{ Code string }
	if !r.Result.IsError || json.Unmarshal(r.Result.StructuredContent, &e) != nil {
		return ""
	}
	return e.Code
}

func ask(id any, name, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":"larva_%s","arguments":%s}}`, id, name, arguments)
}

func sameJSON(t testing.TB, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return x == y
}

// write puts a persona on the disk past the registry's writers, which sync
// each file.
func write(t testing.TB, r *registry.Registry, id string) {
	t.Helper()
	dir := filepath.Join(r.Root(), id)
	for name, text := range map[string]string{
		"manifest.json":         `{"active":"default"}`,
		"contract.json":         `{"id":"` + id + `","description":"Reads what is there and says it.","capabilities":{"git":"read_only"},"spec_version":"0.1.0"}`,
		"variants/default.json": `{"prompt":"Say it.","model":"m"}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
