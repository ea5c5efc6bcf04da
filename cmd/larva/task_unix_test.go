//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"larva.dev/larva/internal/cli"
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

// manyTasks are at work at once in TestManyTasks, the last of them in the
// background, as many as may be there.
const manyTasks, manyBackground = 64, 8

var foundIn = regexp.MustCompile(`found \d+\.`)

// manyServer answers a lead that hands out manyTasks in one answer. No child is
// answered before all have asked; those in the background one after the other
// from the last to the first, each once the lead has the one before.
func manyServer(t *testing.T) (url, want string) {
	t.Helper()
	var asked atomic.Int32
	all, free := make(chan struct{}), make([]chan struct{}, manyBackground)
	for i := range free {
		free[i] = make(chan struct{})
	}
	var mu sync.Mutex
	freed := 0
	wait := func(c, gone <-chan struct{}) {
		select {
		case <-c:
		case <-gone:
		case <-time.After(time.Minute):
		}
	}
	const foreground = manyTasks - manyBackground
	url = chatServer(t, func(r chatRequest, gone <-chan struct{}) (string, []map[string]any) {
		if r.says("system", "You look.") {
			if asked.Add(1) == manyTasks {
				close(all)
			}
			wait(all, gone)
			for i := range manyTasks {
				if r.says("user", fmt.Sprintf("look at %d.", i)) {
					if i >= foreground {
						wait(free[i-foreground], gone)
					}
					return fmt.Sprintf("found %d.", i), nil
				}
			}
			return "lost", nil
		}
		var calls []map[string]any
		if !r.says("tool", "found") {
			for i := range manyTasks {
				calls = append(calls, taskCall(i, i >= foreground))
			}
			return "", calls
		}
		var found []string
		for _, m := range r.Messages {
			if m.Role == "tool" || m.Role == "user" {
				found = append(found, foundIn.FindAllString(fmt.Sprint(m.Content), -1)...)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if back := len(found) - foreground; back == freed && freed < manyBackground {
			freed++
			close(free[manyBackground-freed])
		}
		return strings.Join(found, " "), nil
	})
	var list []string
	for i := range foreground {
		list = append(list, fmt.Sprintf("found %d.", i))
	}
	for i := range manyBackground {
		list = append(list, fmt.Sprintf("found %d.", manyTasks-1-i))
	}
	return url, strings.Join(list, " ")
}

// TestManyTasks lets 64 children work at once: each result comes once, those of
// the foreground in the order of the calls, those of the background as they
// end, in little memory, and no process is left.
func TestManyTasks(t *testing.T) {
	t.Parallel()
	url, want := manyServer(t)
	cmd, dir := taskRun(t, url, `{"max_parallel":64}`)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	manyDelivered(t, out.String(), want)
	nobodyIn(t, dir)
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" {
		t.Logf("COUNT %d tasks at once: %d MiB at most", manyTasks, u.Maxrss>>10)
		if u.Maxrss>>10 > 250 {
			t.Errorf("got %d MiB, want 250 at most", u.Maxrss>>10)
		}
	}
}

// TestManyTasksLeaveNoGoroutine runs the same inside this process: once the
// command line has ended, nothing that it began goes on. A label tells its
// goroutines from those of other tests: each has that of who began it.
func TestManyTasksLeaveNoGoroutine(t *testing.T) {
	t.Parallel()
	url, want := manyServer(t)
	cmd, _ := taskRun(t, url, `{"max_parallel":64}`)
	var out, stderr lockedBuffer
	code, one := -1, make(chan struct{})
	pprof.Do(t.Context(), pprof.Labels("test", t.Name()), func(ctx context.Context) {
		go func() { <-one }()
		code = cli.Main(ctx, cli.Process{Args: cmd.Args[1:], Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr,
			Environ: cmd.Env, Dir: cmd.Dir, Self: []string{cmd.Path}})
	})
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, stderr.String())
	}
	manyDelivered(t, out.String(), want)
	left := labelled(t, t.Name())
	if left == "" {
		t.Fatal("the one that is left is not seen")
	}
	close(one)
	for range 100 { // one that has done its last may still be on its way out
		if left = labelled(t, t.Name()); left == "" {
			return
		}
		runtime.Gosched()
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("goroutines are left:\n%s", left)
}

// labelled gives the stacks of goroutines with that label, but for those that a
// process keeps: of HTTP connections for the next request, and of signals.
func labelled(t *testing.T, name string) string {
	t.Helper()
	var all bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 1); err != nil {
		t.Fatal(err)
	}
	var out []string
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, `"test":"`+name+`"`) && !strings.Contains(stack, "net/http.(*persistConn)") && !strings.Contains(stack, "os/signal.loop") {
			out = append(out, stack)
		}
	}
	return strings.Join(out, "\n\n")
}

// manyDelivered checks a stream of events of a run against manyServer.
func manyDelivered(t *testing.T, stream, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(stream), "\n")
	var last struct {
		Type, Result string
		Usage        struct {
			InputTokens int `json:"input_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	// each child once; the lead at first, with the foreground's results, and with each of the background's
	if n := 10 * (manyTasks + 2 + manyBackground); last.Type != "result" || last.Result != want || last.Usage.InputTokens != n {
		t.Errorf("got %+v\nwant %d tokens, %s", last, n, want)
	}
	if n := strings.Count(stream, `"type":"task_end"`); n != manyTasks {
		t.Errorf("got %d ends, want %d", n, manyTasks)
	}
}

// nobodyIn fails where a process has its working directory below dir.
func nobodyIn(t *testing.T, dir string) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/cwd")
	if err != nil || len(list) == 0 && runtime.GOOS == "linux" {
		t.Fatalf("processes cannot be listed: %v", err)
	}
	for _, link := range list {
		if at, err := os.Readlink(link); err == nil && (at == dir || strings.HasPrefix(at, dir+"/")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
			t.Errorf("%s is left: %q", filepath.Dir(link), line)
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
	nobodyIn(t, dir)
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
