package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ocServer is one start of `larva opencode serve`, led over HTTP: a start is
// seconds, a request is not.
type ocServer struct {
	w       *ocWorld
	cmd     *exec.Cmd
	url     string
	errs    *lockedBuffer
	ended   chan struct{}
	started time.Duration
	freed   sync.Once
}

var ocListening = regexp.MustCompile(`listening on (http://[0-9.:]+)`)

// serve starts one and waits until it listens. It ends with the test.
func (w *ocWorld) serve(args ...string) *ocServer {
	w.t.Helper()
	s := &ocServer{w: w, errs: &lockedBuffer{}, ended: make(chan struct{})}
	s.cmd = exec.Command(w.self, append([]string{"opencode", "serve", "--port", "0"}, args...)...)
	s.cmd.Args[0] = "larva"
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = w.dir, w.environ(), s.errs
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	ocSlots <- struct{}{}
	begin := time.Now()
	if err := s.cmd.Start(); err != nil {
		<-ocSlots
		w.t.Fatal(err)
	}
	found := make(chan string, 1)
	go func() {
		defer close(s.ended)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if m := ocListening.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
			_, _ = s.errs.Write(append(lines.Bytes(), '\n'))
		}
		_, _ = io.Copy(io.Discard, stdout)
		_ = s.cmd.Wait() // how it ends is no matter here
	}()
	w.t.Cleanup(s.stop)
	select {
	case s.url = <-found:
		s.started = time.Since(begin)
	case <-s.ended:
		w.t.Fatalf("larva opencode serve ended:\n%s", s.errs)
	case <-time.After(4 * time.Minute):
		w.t.Fatalf("larva opencode serve does not listen:\n%s", s.errs)
	}
	return s
}

// stop ends it as a person would, and is safe to be called twice.
func (s *ocServer) stop() {
	defer s.freed.Do(func() { <-ocSlots })
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
		<-s.ended
		s.w.t.Errorf("larva opencode serve did not end at SIGTERM:\n%s", s.errs)
	}
}

// call is one request; out may be nil. The status is 0 where there is no answer.
func (s *ocServer) call(method, path string, in, out any) (int, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, err
	}
	if res.StatusCode != http.StatusOK {
		return res.StatusCode, fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, text)
	}
	if out != nil {
		if err := json.Unmarshal(text, out); err != nil {
			return res.StatusCode, fmt.Errorf("%s %s: %w in %.300s", method, path, err, text)
		}
	}
	return res.StatusCode, nil
}

// session makes one, with a title unless the fields say otherwise: without
// one OpenCode asks the model for it.
func (s *ocServer) session(t testing.TB, fields map[string]any) string {
	t.Helper()
	in := map[string]any{"title": "t"}
	for k, v := range fields {
		in[k] = v
		if v == nil {
			delete(in, k)
		}
	}
	var out struct{ ID string }
	if _, err := s.call("POST", "/session", in, &out); err != nil {
		t.Fatal(err)
	}
	return out.ID
}

// ocTurn is how a turn ended: a text of the model's, or why there is none.
type ocTurn struct {
	Text string
	Err  string
}

// say puts a message to an agent and waits for the end of the turn.
func (s *ocServer) say(t testing.TB, session, agent, text string) ocTurn {
	t.Helper()
	return s.sayParts(t, session, agent, map[string]any{"type": "text", "text": text})
}

func (s *ocServer) sayParts(t testing.TB, session, agent string, parts ...any) ocTurn {
	t.Helper()
	var out struct {
		Info struct {
			Error *struct{ Data struct{ Message string } }
		}
		Parts []struct{ Type, Text string }
	}
	if _, err := s.call("POST", "/session/"+session+"/message", map[string]any{"agent": agent, "parts": parts}, &out); err != nil {
		return ocTurn{Err: err.Error()}
	}
	var turn ocTurn
	for _, p := range out.Parts {
		if p.Type == "text" {
			turn.Text += p.Text
		}
	}
	if out.Info.Error != nil {
		turn.Err = out.Info.Error.Data.Message + "."
	}
	return turn
}

// ocAgent is an agent as OpenCode lists it.
type ocAgent struct {
	Name, Mode, Prompt, Description string
	Native                          bool
	Model                           struct{ ProviderID, ModelID string }
	Permission                      []struct{ Permission, Pattern, Action string }
}

func (s *ocServer) agents(t testing.TB) map[string]ocAgent {
	t.Helper()
	var list []ocAgent
	if _, err := s.call("GET", "/agent", nil, &list); err != nil {
		t.Fatal(err)
	}
	out := map[string]ocAgent{}
	for _, a := range list {
		out[a.Name] = a
	}
	return out
}

// helpers are the processes of this start that answer the plugin.
func (s *ocServer) helpers(t testing.TB) []int {
	t.Helper()
	var out []int
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline")) // gone meanwhile: not ours
		if err != nil || !strings.Contains(string(line), "\x00__bridge") {
			continue
		}
		if group, err := syscall.Getpgid(pid); err == nil && group == s.cmd.Process.Pid || ocDescends(pid, s.cmd.Process.Pid) {
			out = append(out, pid)
		}
	}
	return out
}

// ocDescends says that a process stems from another.
func ocDescends(pid, ancestor int) bool {
	for range 32 {
		if pid == ancestor {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 2 {
			return false
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil || pid <= 1 {
			return false
		}
	}
	return false
}
