package app

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"larva.dev/larva/internal/agent"
	"larva.dev/larva/internal/permission"
	"larva.dev/larva/internal/root"
)

// core are the tools of every run.
var core = []string{"ask_user", "bash", "bash_kill", "bash_output", "edit", "exit_plan_mode", "glob", "grep", "multi_edit", "raw_output", "read",
	"todo_write", "write", "write_files"}

// The base prompt and the definitions of the core tools are sent with every
// request: 4,000 tokens at four bytes each is what they may cost together.
func TestPrefixBudget(t *testing.T) {
	t.Parallel()
	a, _ := testApp(t)
	rs, err := root.New(a.dir, nil, a.home, "")
	if err != nil {
		t.Fatal(err)
	}
	s := &stand{roots: rs, policy: &permission.Policy{}}
	if err := a.equip(s); err != nil {
		t.Fatal(err)
	}
	defer s.shell.Close()
	size := len(agent.System("", agent.Surroundings{Cwd: rs.Cwd, GitRoot: rs.Cwd, Platform: "linux/amd64",
		Sandbox: strings.Repeat("x", 400), Date: time.Now()}))
	var names []string
	for _, spec := range s.tools.Specs() {
		names = append(names, spec.Name)
		data, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		size += len(data)
		t.Logf("%5d bytes %s", len(data), spec.Name)
	}
	if !slices.Equal(names, core) {
		t.Errorf("got  %v\nwant %v", names, core)
	}
	const most = 4000 * 4
	t.Logf("%d bytes, %d tokens", size, size/4)
	if size > most {
		t.Errorf("got %d bytes, want %d at most", size, most)
	}
}
