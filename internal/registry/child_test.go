package registry

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"larva.dev/larva/internal/diag"
	"larva.dev/larva/internal/spec"
)

// The test binary runs itself as another process of a registry: childVar
// holds the job, its arguments stand after the flags.
const childVar = "LARVA_REGISTRY_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVar); job != "" {
		os.Exit(child(job, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// start runs a job in another process; its output is a line for each step.
func start(t *testing.T, job string, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), childVar+"="+job)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // open until it dies
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

func child(job string, args []string) int {
	var err error
	switch job {
	case "churn":
		err = churn(Open(args[0]), args[1])
	case "set":
		_, err = Open(args[0]).Update(args[1], &spec.Object{Members: []spec.Member{{Key: args[2], Value: spec.Number("1")}}}, "")
	case "umask":
		mask, _ := strconv.ParseInt(args[1], 8, 32)
		setUmask(int(mask))
		err = umaskChild(Open(args[0]))
	case "limit":
		limitFileSize(2048)
		err = limited(Open(args[0]))
	case "hold":
		err = hold(Open(args[0]))
	default:
		err = fmt.Errorf("unknown job %s", job)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, job, args, err)
		return 1
	}
	return 0
}

// limited tries to write what the limit on a file's size forbids.
func limited(r *Registry) error {
	long := strings.Repeat("too much ", 1000)
	big := churned("kelp", 3)
	big.Variants[1].Implementation.Set("prompt", long)
	fresh := churned("fresh", 2)
	fresh.Contract.Set("description", long)
	_, update := r.Update("kelp", &spec.Object{Members: []spec.Member{{Key: "prompt", Value: long}}}, "")
	_, register := r.Register(join(fresh.Contract, fresh.Variants[0].Implementation), "")
	for name, err := range map[string]error{"update": update, "register": register, "put": third(r.Put(big, PutOptions{Update: true}))} {
		if e := diag.As(err); e == nil || !strings.HasPrefix(string(e.Code), "REGISTRY_") || e.Details["path"] == nil {
			return fmt.Errorf("%s: got %v, want a REGISTRY_* error with a path", name, err)
		}
	}
	return nil
}

// hold takes the lock and keeps it until it is killed.
func hold(r *Registry) error {
	return r.write("", "", func(*writer) error {
		fmt.Println("held")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	})
}

// churn writes personas named after round until it is killed. Before a step
// it says what it is about to do, after it that it is done:
//
//	< ID N    ID is about to become version N (or to be deleted: -1)
//	> ID N    it is
func churn(r *Registry, round string) error {
	out := bufio.NewWriter(os.Stdout)
	say := func(mark, id string, n int) {
		fmt.Fprintln(out, mark, id, n)
		out.Flush()
	}
	for i := 0; ; i++ {
		id := fmt.Sprintf("p-%s-%d", round, i)
		for n := 1; n <= 4; n++ {
			say("<", id, n)
			if err := step(r, id, n); err != nil {
				return err
			}
			say(">", id, n)
		}
		if i%3 == 0 {
			say("<", id, -1)
			if err := r.Delete(id); err != nil {
				return err
			}
			say(">", id, -1)
		}
	}
}

// step brings id to version n: registered, put with variants a and b, put
// with b and c, updated in its one contract field.
func step(r *Registry, id string, n int) error {
	switch n {
	case 1:
		o, err := spec.ParseObject([]byte(fmt.Sprintf(`{"id":%q,"description":"version 1","prompt":"version 1","model":"m","capabilities":{},"spec_version":"0.1.0"}`, id)))
		if err == nil {
			_, err = r.Register(o, "")
		}
		return err
	case 2, 3:
		_, _, err := r.Put(churned(id, n), PutOptions{Update: true})
		return err
	}
	_, err := r.Update(id, &spec.Object{Members: []spec.Member{{Key: "capabilities.shell", Value: "none"}}}, "")
	return err
}

func churned(id string, n int) *spec.Source {
	text := fmt.Sprintf("version %d", n)
	s := &spec.Source{ID: id, Active: "b", Contract: &spec.Object{Members: []spec.Member{
		{Key: "id", Value: id}, {Key: "description", Value: text}, {Key: "capabilities", Value: &spec.Object{}}, {Key: "spec_version", Value: spec.Version}}}}
	for _, v := range strings.Fields(map[int]string{2: "a b", 3: "b c"}[n]) {
		s.Variants = append(s.Variants, spec.Variant{Name: v, Implementation: &spec.Object{Members: []spec.Member{
			{Key: "prompt", Value: text}, {Key: "model", Value: v}}}})
	}
	return s
}

// version reads what step wrote; a mix of two versions is an error.
func version(o *spec.Object) (int, error) {
	if o.String("description") != o.String("prompt") {
		return 0, fmt.Errorf("a mix: %s", spec.AppendCanonical(nil, o))
	}
	n, err := strconv.Atoi(strings.TrimPrefix(o.String("description"), "version "))
	if caps, _ := o.Get("capabilities"); err == nil && len(caps.(*spec.Object).Members) > 0 {
		n++
	}
	return n, err
}
