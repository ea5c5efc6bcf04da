package registry

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// kills is how often a writer is killed at a random moment.
const kills = 200

// A writer is killed again and again. Whatever it had said to be done is
// there, whatever it was at is either done or not begun, everything reads,
// and the next writer leaves nothing aside.
func TestKill(t *testing.T) {
	t.Parallel()
	r := Open(filepath.Join(t.TempDir(), "registry"))
	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	done := map[string]int{}
	n := kills
	if raceDetector {
		n /= 10 // it watches goroutines; the processes here have one each
	}
	for round := range n {
		at := killOnce(t, r, strconv.Itoa(round), random, done)
		check(t, r, done, at)
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
		// Few personas are enough; many would make each check slow.
		if round%10 == 9 {
			if _, err := r.Clear(ClearToken); err != nil {
				t.Fatal(err)
			}
			clear(done)
		}
	}
	if _, err := r.Register(object(t, clerk), ""); err != nil {
		t.Fatal(err)
	}
	if left := snapshot(t, r.aside()); len(left) > 0 {
		t.Errorf("got %v left aside, want nothing", left)
	}
	if d, err := r.Doctor(false); err != nil || len(d.Issues)+len(d.Warnings) > 0 {
		t.Errorf("got %+v, %v, want a clean bill", d, err)
	}
}

// killOnce lets a child write and kills it a random while after a random
// number of steps; done learns what it finished, the answer is what it was at.
func killOnce(t *testing.T, r *Registry, round string, random *rand.Rand, done map[string]int) (at map[string]int) {
	t.Helper()
	cmd, lines := start(t, "churn", r.root, round)
	at = map[string]int{}
	read := func() bool {
		if !lines.Scan() {
			return false
		}
		f := strings.Fields(lines.Text())
		n, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatal(err)
		}
		if f[0] == "<" {
			at[f[1]] = n
		} else {
			delete(at, f[1])
			done[f[1]] = n
		}
		return true
	}
	for range 1 + random.IntN(12) {
		if !read() {
			t.Error("got an end of the child's output, want it to write until it is killed")
			break
		}
	}
	// Up to the length of a step; the kill falls somewhere inside one.
	timer := time.AfterFunc(time.Duration(random.Int64N(int64(6*time.Millisecond))), func() { _ = cmd.Process.Kill() })
	for read() {
	}
	timer.Stop()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return at
}

func check(t *testing.T, r *Registry, done, at map[string]int) {
	t.Helper()
	found := map[string]int{}
	err := r.Export(nil, func(o *spec.Object) error {
		n, err := version(o)
		found[o.String("id")] = n
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for id, n := range done {
		got, there := found[id]
		want := []int{n}
		if next, ok := at[id]; ok {
			want = append(want, next)
		}
		if !there {
			got = -1
		}
		if got != n && got != want[len(want)-1] {
			t.Errorf("%s: got version %d, want one of %v", id, got, want)
		}
	}
	for id := range at { // what it was at has come to one end or the other
		if n, there := found[id]; there {
			done[id] = n
		} else {
			delete(done, id)
		}
	}
	for id, n := range found {
		if _, finished := done[id]; !finished {
			t.Errorf("%s: got version %d of a persona that nobody wrote", id, n)
		}
	}
}

// A writer that is stopped with the lock keeps others waiting only so long,
// and readers not at all.
func TestLockIsHeld(t *testing.T) {
	t.Parallel()
	r := harbour(t)
	cmd, lines := start(t, "hold", r.root)
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if !lines.Scan() {
		t.Fatal("got no word from the child")
	}
	r.wait = 30 * time.Millisecond
	_, err := r.Register(object(t, clerk), "")
	code(t, err, diag.RegistryWriteFailed, fmt.Sprintf(`{"persona_id":"tide-clerk","path":%q}`, filepath.Join(r.root, lockName)))
	if _, err := r.List(); err != nil {
		t.Errorf("got %v, want readers to pass", err)
	}
	_, err = r.Resolve("nobody", "", nil)
	code(t, err, diag.PersonaNotFound, "")
}

// Modes are right and everything works under the strangest umask.
func TestUmask(t *testing.T) {
	t.Parallel()
	for _, mask := range []string{"0", "777", "277"} {
		root := filepath.Join(t.TempDir(), "home", "registry")
		cmd, lines := start(t, "umask", root, mask)
		for lines.Scan() {
			t.Errorf("umask %s: %s", mask, lines.Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("umask %s: %v", mask, err)
		}
	}
}

func umaskChild(r *Registry) error {
	for n := 1; n <= 4; n++ {
		if err := step(r, "kelp", n); err != nil {
			return err
		}
	}
	d, err := r.Doctor(false)
	for _, f := range append(d.Issues, d.Warnings...) {
		fmt.Println(f)
	}
	if info, want, ok := mode(filepath.Dir(r.root)); ok && info.Mode().Perm() != want {
		fmt.Println("got mode", info.Mode().Perm(), "for the directory above, want", want)
	}
	return err
}
