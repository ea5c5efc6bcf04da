//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serving is a larva serve of its own home.
type serving struct {
	t      *testing.T
	home   string
	url    string
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr strings.Builder
}

const serveToken = "serve-test-token"

// larvaIn is a larva command of a home; it is this test binary.
func larvaIn(t *testing.T, home string, args ...string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	link := filepath.Join(dir, "larva") // testscript.Main runs a command by the name it is called by
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(link, args...)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin", "LARVA_TOKEN=" + serveToken}
	return cmd
}

func startServing(t *testing.T, home string, args ...string) *serving {
	t.Helper()
	s := &serving{t: t, home: home, cmd: larvaIn(t, home, append([]string{"serve", "--port", "0"}, args...)...)}
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdout = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = s.cmd.Process.Kill() })
	t.Cleanup(func() { late.Stop(); _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	line, err := s.stdout.ReadString('\n')
	if err != nil {
		t.Fatalf("got %q %v, want the address; stderr: %s", line, err, &s.stderr)
	}
	s.url = strings.TrimSpace(line)
	return s
}

// end sends a signal and gives the exit code.
func (s *serving) end(sig syscall.Signal) int {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
	rest, _ := io.ReadAll(s.stdout)
	if len(rest) > 0 {
		s.t.Errorf("got %q on stdout after the address, want nothing", rest)
	}
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode()
}

func (s *serving) send(method, path, body string) (int, string) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+strings.TrimPrefix(path, "/"), strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+serveToken)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

const serveSpec = `{"id":"alpha","description":"Reads a repository and answers.","prompt":"p","model":"m","capabilities":{"shell":"none"},"spec_version":"0.1.0"}`

// TestServe: a page of one process hears what another one does; the signal
// that ends it is its exit code, with a stream open and nothing more said.
func TestServe(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(tt.signal.String(), func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			s := startServing(t, home, "--no-open")
			resp, err := http.Get(s.url + "api/events")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			until(t, lines, "event: ready")

			write(t, filepath.Join(home, "a.json"), serveSpec)
			if out, err := larvaIn(t, home, "register", "a.json").CombinedOutput(); err != nil {
				t.Fatalf("register: %v\n%s", err, out)
			}
			until(t, lines, `data: {"added":["alpha"],"changed":[],"removed":[]}`)
			if code, body := s.send("GET", "/api/personas/alpha", ""); code != 200 || !strings.Contains(body, `"id":"alpha"`) {
				t.Errorf("got %d %s, want alpha", code, body)
			}
			if code, body := s.send("PATCH", "/api/personas/alpha", `{"model":"n"}`); code != 200 {
				t.Errorf("got %d %s, want 200", code, body)
			}
			// CUE goes through a child of this program.
			if code, body := s.send("POST", "/api/import/check", `{"format":"cue","text":"id: \"x\"\n"}`); code != 200 || !strings.Contains(body, `"path":"prompt"`) {
				t.Errorf("got %d %s, want a report", code, body)
			}
			if code := s.end(tt.signal); code != tt.code {
				t.Errorf("got exit code %d, want %d", code, tt.code)
			}
			for lines.Scan() { // the stream ends
			}
			if s.stderr.Len() > 0 {
				t.Errorf("got %q on stderr, want nothing", &s.stderr)
			}
		})
	}
}

func until(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	for lines.Scan() {
		if lines.Text() == want {
			return
		}
	}
	t.Fatalf("the stream ended before %q", want)
}

// TestServePortTaken: the error says what to do.
func TestServePortTaken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	cmd := larvaIn(t, t.TempDir(), "serve", "--no-open", "--port", port)
	out, err := cmd.CombinedOutput()
	want := fmt.Sprintf("larva serve: INTERNAL: cannot listen on 127.0.0.1:%s: another program uses that port\nhint: larva serve --port 0 takes a port that is free\n", port)
	if err == nil || cmd.ProcessState.ExitCode() != 1 || string(out) != want {
		t.Errorf("got exit %d, %q, want 1, %q", cmd.ProcessState.ExitCode(), out, want)
	}
}

// TestServeOpens: the browser gets the address as its one argument, none of
// our secrets, and outlives the server; without an opener the address is said.
func TestServeOpens(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(home, "opened"), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, "bin", "xdg-open"), "#!/bin/sh\necho \"$# $1 token=$LARVA_TOKEN\" > \"$HOME/opened\"\n")
	write(t, filepath.Join(home, "bin", "open"), "#!/bin/sh\necho \"$# $1 token=$LARVA_TOKEN\" > \"$HOME/opened\"\n")
	for _, name := range []string{"xdg-open", "open"} {
		if err := os.Chmod(filepath.Join(home, "bin", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s := startServing(t, home)
	pipe, err := os.OpenFile(filepath.Join(home, "opened"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if want := "1 " + s.url + " token=\n"; line != want {
		t.Errorf("got %q %v, want %q", line, err, want)
	}
	if code := s.end(syscall.SIGTERM); code != 143 {
		t.Errorf("got exit code %d, want 143", code)
	}
	bare := t.TempDir()
	cmd := larvaIn(t, bare, "serve", "--port", "0")
	cmd.Env = append(cmd.Env, "PATH="+bare)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, _ := bufio.NewReader(out).ReadString('\n')
	resp, err := http.Get(strings.TrimSpace(url)) // it stands without a browser, too
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	if want := "open " + strings.TrimSpace(url) + "\n"; !strings.HasSuffix(stderr.String(), want) {
		t.Errorf("got %q, want it to end in %q", stderr.String(), want)
	}
}
