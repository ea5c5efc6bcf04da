package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// child is this test program as larva, with pipes. It ends with the test, or
// when it has been there for too long.
type child struct {
	in   io.WriteCloser
	out  *bufio.Reader
	errs io.ReadCloser
}

func startLarva(t *testing.T, p facePlace, args ...string) child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return startProgram(t, self, append([]string{"larva"}, args...), p.env())
}

func startProgram(t *testing.T, path string, argv, env []string) child {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	cmd := exec.CommandContext(ctx, path)
	cmd.Args, cmd.Env = argv, env
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if argv[1] == "serve" || slices.Contains(argv, "--http") {
			_ = cmd.Process.Signal(os.Interrupt)
		}
		_, _ = io.Copy(io.Discard, errs)
		_ = cmd.Wait()
		cancel()
	})
	return child{in, bufio.NewReaderSize(out, 1<<20), errs}
}

// line asks with one line and reads one.
func (c child) line(t *testing.T, text []byte) []byte {
	t.Helper()
	if _, err := c.in.Write(append(bytes.TrimSpace(text), '\n')); err != nil {
		t.Fatal(err)
	}
	answer, err := c.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%v after %q", err, answer)
	}
	return answer
}

// mcpFace is larva mcp on pipes; the frames are written and read here, so that
// no library stands between the bytes and the comparison.
type mcpFace struct {
	child
	number *int
}

func openMCP(t *testing.T, p facePlace) caller {
	f := mcpFace{startLarva(t, p, "mcp"), new(int)}
	f.request(t, "initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "faces", "version": "1"}})
	if _, err := io.WriteString(f.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	return f
}

// request gives the result of one request, passing over notifications.
func (f mcpFace) request(t *testing.T, method string, params any) json.RawMessage {
	t.Helper()
	*f.number++
	text := jsonOf(t, map[string]any{"jsonrpc": "2.0", "id": *f.number, "method": method, "params": params})
	answer := f.line(t, []byte(text))
	for {
		var m struct {
			ID     int
			Method string
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(answer, &m); err != nil {
			t.Fatalf("%v: %q", err, answer)
		}
		if m.Method == "" {
			if m.ID != *f.number || m.Error != nil {
				t.Fatalf("%s: got %s, want a result", method, answer)
			}
			return m.Result
		}
		var err error
		if answer, err = f.out.ReadBytes('\n'); err != nil {
			t.Fatal(err)
		}
	}
}

func (f mcpFace) call(t *testing.T, row faceRow, params map[string]any) []byte {
	result := f.request(t, "tools/call", map[string]any{"name": "larva_" + row.op, "arguments": params})
	var got struct {
		Content           []struct{ Type, Text string }
		StructuredContent any
		IsError           bool
	}
	if err := exact(result, &got); err != nil || len(got.Content) != 1 || got.Content[0].Type != "text" {
		t.Errorf("%s: mcp: got %s, want one block of text (%v)", row.name, result, err)
		return nil
	}
	var text any
	if err := exact([]byte(got.Content[0].Text), &text); err != nil {
		t.Errorf("%s: mcp: the text is no JSON: %v", row.name, err)
		return nil
	}
	structured := got.StructuredContent
	if _, ok := text.([]any); ok {
		structured = structured.(map[string]any)["result"]
	}
	if d := cmp.Diff(structured, text); d != "" {
		t.Errorf("%s: mcp: structured content and text differ (-structured +text):\n%s", row.name, d)
	}
	under := `{"data":`
	if got.IsError {
		under = `{"error":`
	}
	return []byte(under + got.Content[0].Text + "}")
}

// pythonFace is one Python that calls the client's functions.
type pythonFace struct {
	child
	env map[string]string
}

func openPython(t *testing.T, p facePlace) caller {
	env := append(p.env(), "PYTHONPATH="+absolute(t, "../../python"), "PYTHONDONTWRITEBYTECODE=1", "LARVA_BIN="+larvaProgram(t))
	set := map[string]string{}
	for _, e := range p.env() {
		k, v, _ := strings.Cut(e, "=")
		set[k] = v
	}
	python := python3(t)
	return pythonFace{startProgram(t, python, []string{python, "-S", "-W", "error", absolute(t, "testdata/faces.py")}, env), set}
}

func (f pythonFace) call(t *testing.T, row faceRow, params map[string]any) []byte {
	return f.line(t, []byte(jsonOf(t, map[string]any{"operation": row.op, "params": params, "env": f.env})))
}
