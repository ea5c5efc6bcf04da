//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// chatRequest is what a test's model server reads of a request.
type chatRequest struct {
	Messages []struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	} `json:"messages"`
}

// says tells whether a message of that role holds the text.
func (r chatRequest) says(role, text string) bool {
	for _, m := range r.Messages {
		if m.Role == role && strings.Contains(fmt.Sprint(m.Content), text) {
			return true
		}
	}
	return false
}

// chatServer answers by a func that gives text and calls.
func chatServer(t *testing.T, answer func(r chatRequest, gone <-chan struct{}) (text string, calls []map[string]any)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var r chatRequest
		if err := json.NewDecoder(req.Body).Decode(&r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, calls := answer(r, req.Context().Done())
		delta, reason := map[string]any{"content": text}, "stop"
		if len(calls) > 0 {
			var list []map[string]any
			for i, c := range calls {
				args, _ := json.Marshal(c["input"])
				list = append(list, map[string]any{"index": i, "id": fmt.Sprintf("c%d", i), "type": "function",
					"function": map[string]any{"name": c["tool"], "arguments": string(args)}})
			}
			delta, reason = map[string]any{"content": text, "tool_calls": list}, "tool_calls"
		}
		line, _ := json.Marshal(map[string]any{"choices": []map[string]any{{"index": 0, "delta": delta, "finish_reason": reason}}})
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: %s\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}\n\ndata: [DONE]\n\n", line)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// taskRun gives a larva run of the persona lead, which may spawn scout, against
// a model server.
func taskRun(t *testing.T, url, limits string) (cmd *exec.Cmd, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, dir := t.TempDir(), t.TempDir()
	files := map[string]string{
		filepath.Join(home, ".config", "larva", "config.cue"): `{"models":{"m":"here/x"},"providers":{"here":{"api":"openai","base_url":"` + url + `","key_env":""}},
"sandbox":{"kind":"none"},"permissions":{"allow":["bash"]},"limits":` + limits + `}`,
		filepath.Join(dir, "lead.json"):  `{"spec_version":"0.1.0","id":"lead","description":"Leads","prompt":"You lead.","model":"m","capabilities":{"shell":"destructive"},"can_spawn":true}`,
		filepath.Join(dir, "scout.json"): `{"spec_version":"0.1.0","id":"scout","description":"Looks","prompt":"You look.","model":"m","capabilities":{"shell":"destructive"}}`,
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	larva := func(args ...string) *exec.Cmd {
		return &exec.Cmd{Path: self, Args: append([]string{"larva"}, args...), Dir: dir, Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}}
	}
	if out, err := larva("register", "lead.json", "scout.json").CombinedOutput(); err != nil {
		t.Fatalf("register: %v\n%s", err, out)
	}
	return larva("run", "lead", "-o", "stream-json", "go"), dir
}

func taskCall(i int, background bool) map[string]any {
	return map[string]any{"tool": "task", "input": map[string]any{"description": fmt.Sprintf("n%d", i), "prompt": fmt.Sprintf("look at %d.", i),
		"subagent_type": "scout", "run_in_background": background}}
}

// TestManyTasks lets 64 children work at once: each result comes once, in the
// order of the calls, in little memory.
func TestManyTasks(t *testing.T) {
	t.Parallel()
	const many = 64
	var atWork atomic.Int32
	all := make(chan struct{})
	url := chatServer(t, func(r chatRequest, gone <-chan struct{}) (string, []map[string]any) {
		switch {
		case r.says("system", "You look."):
			if atWork.Add(1) == many {
				close(all)
			}
			select { // no child is answered before all have asked
			case <-all:
			case <-gone:
			case <-time.After(time.Minute):
			}
			for i := range many {
				if r.says("user", fmt.Sprintf("look at %d.", i)) {
					return fmt.Sprintf("found %d.", i), nil
				}
			}
			return "lost", nil
		case !r.says("tool", "found"):
			var calls []map[string]any
			for i := range many {
				calls = append(calls, taskCall(i, false))
			}
			return "", calls
		}
		var b strings.Builder
		for _, m := range r.Messages {
			if m.Role == "tool" {
				b.WriteString(fmt.Sprint(m.Content) + " ")
			}
		}
		return b.String(), nil
	})
	cmd, _ := taskRun(t, url, `{"max_parallel":64}`)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	var want strings.Builder
	for i := range many {
		fmt.Fprintf(&want, "found %d. ", i)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var last struct {
		Type, Result string
		Usage        struct {
			InputTokens int `json:"input_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	if last.Type != "result" || last.Result != want.String() || last.Usage.InputTokens != 10*(many+2) {
		t.Errorf("got %+v\nwant %s", last, want.String())
	}
	if n := strings.Count(out.String(), `"type":"task_end"`); n != many {
		t.Errorf("got %d ends, want %d", n, many)
	}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" {
		t.Logf("COUNT %d tasks at once: %d MiB at most", many, u.Maxrss>>10)
		if u.Maxrss>>10 > 250 {
			t.Errorf("got %d MiB, want 250 at most", u.Maxrss>>10)
		}
	}
}

// TestTasksEndWithTheRun interrupts a run whose children run commands, in the
// foreground and in the background: nothing of them is left.
func TestTasksEndWithTheRun(t *testing.T) {
	t.Parallel()
	url := chatServer(t, func(r chatRequest, gone <-chan struct{}) (string, []map[string]any) {
		if !r.says("system", "You look.") {
			return "", []map[string]any{taskCall(0, true), taskCall(1, true), taskCall(2, false)}
		}
		for i := range 3 {
			if r.says("user", fmt.Sprintf("look at %d.", i)) {
				return "", []map[string]any{{"tool": "bash", "input": map[string]any{"command": fmt.Sprintf("echo $$ > pid%d.new; mv pid%d.new pid%d; sleep 1000", i, i, i)}}}
			}
		}
		return "lost", nil
	})
	cmd, dir := taskRun(t, url, `{"max_parallel":8}`)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan []byte, 1)
	go func() { b, _ := io.ReadAll(out); read <- b }()
	var pids []int
	for i := range 3 {
		pids = append(pids, pidIn(t, filepath.Join(dir, fmt.Sprintf("pid%d", i))))
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	stream := <-read
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("got %v, want exit code 130", err)
	}
	for i, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("the shell of task %d (%d) is left: %v", i, pid, err)
		}
	}
	if n := bytes.Count(stream, []byte(`"status":"stopped"`)); n != 3 {
		t.Errorf("got %d tasks stopped, want 3\n%s", n, stream)
	}
	lines := bytes.Split(bytes.TrimSpace(stream), []byte("\n"))
	if last := lines[len(lines)-1]; !bytes.Contains(last, []byte(`"type":"result"`)) || !bytes.Contains(last, []byte(`"stop_reason":"interrupted"`)) {
		t.Errorf("got the last event %.300s", last)
	}
}

// pidIn waits for a file with a process's number.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if data, err := os.ReadFile(path); err == nil {
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatalf("%s did not come", path)
	return 0
}
