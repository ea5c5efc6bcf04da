package pi_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"larva.dev/larva/internal/launch/pi"
)

func TestReadArgs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, args string
		want       pi.Call
		flag       string // of the error
	}{
		{"nothing", "", pi.Call{}, ""},
		{"help alone", "--help", pi.Call{Help: true}, ""},
		{"help with more is Pi's", "--help -p", pi.Call{Args: []string{"--help", "-p"}}, ""},
		{"ours among Pi's", "-p --persona a hi --larva-dry-run", pi.Call{Persona: "a", DryRun: true, Args: []string{"-p", "hi"}}, ""},
		{"ours behind the end is Pi's", "--persona a -- --persona b", pi.Call{Persona: "a", Args: []string{"--persona", "b"}}, ""},
		{"equals form is Pi's", "--persona=a", pi.Call{Args: []string{"--persona=a"}}, ""},
		{"switch", "--agent-persona-switch free x", pi.Call{Switch: "free", Args: []string{"x"}}, ""},
		{"no such switch", "--agent-persona-switch always", pi.Call{}, "--agent-persona-switch"},
		{"twice", "--persona a --persona b", pi.Call{}, "--persona"},
		{"no value", "--persona", pi.Call{}, "--persona"},
		{"end as value", "--persona -- x", pi.Call{}, "--persona"},
		{"a second end", "-- a -- b", pi.Call{}, "--"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := pi.ReadArgs(strings.Fields(tc.args))
			var bad *pi.ArgsError
			if errors.As(err, &bad) != (tc.flag != "") || bad != nil && bad.Flag != tc.flag {
				t.Fatalf("got error %v, want one of %q", err, tc.flag)
			}
			if err == nil && !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func FuzzReadArgs(f *testing.F) {
	f.Add("--persona\na\n--\n-p")
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "\n")
		c, err := pi.ReadArgs(args)
		if err != nil {
			return
		}
		if slices.Contains(c.Args, "--") || len(c.Args) > len(args) {
			t.Errorf("got %q from %q, want no end of flags and nothing added", c.Args, args)
		}
		if c.Switch != "" && !slices.Contains(pi.Modes, c.Switch) {
			t.Errorf("got mode %q, want one of %q", c.Switch, pi.Modes)
		}
	})
}

func input(t *testing.T) pi.Input {
	d := t.TempDir()
	return pi.Input{Program: filepath.Join(d, "pi"), Home: d, Larva: filepath.Join(d, "larva"), Extension: filepath.Join(d, "index.mjs"),
		RunDir: filepath.Join(d, "run"), Nonce: strings.Repeat("0a", 16)}
}

func value(p *pi.Plan, name string) string {
	for _, e := range p.Set {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

func TestBuild(t *testing.T) {
	t.Parallel()
	in := input(t)
	in.Call = pi.Call{Persona: "a", Args: []string{"-p", "hi"}}
	in.Append = filepath.Join(in.Home, "APPEND_SYSTEM.md")
	in.Environ = []string{"LARVA_PI_AGENT_PERSONA_SWITCH=auto", "LARVA_DEPTH=2", "PI_CODING_AGENT_DIR=~/mine"}
	p, err := pi.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	slot := "[[larva-persona-slot:" + in.Nonce + "]]"
	want := []string{in.Program, "-e", in.Extension, "--append-system-prompt", slot, "--append-system-prompt", in.Append, "-p", "hi"}
	if !slices.Equal(p.Argv, want) {
		t.Errorf("got %q, want %q", p.Argv, want)
	}
	for name, want := range map[string]string{
		"LARVA_PI_INITIAL_PERSONA_ID": "a", "LARVA_PI_AGENT_PERSONA_SWITCH": "auto", "LARVA_PI_INTERACTIVE_TUI": "0", "LARVA_DEPTH": "3",
		"LARVA_PI_BASE_AGENT_DIR": filepath.Join(in.Home, "mine"), "PI_CODING_AGENT_DIR": filepath.Join(in.RunDir, "agent"), "LARVA_PI_SLOT": slot,
	} {
		if got := value(p, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestBuildWithoutPersona(t *testing.T) {
	t.Parallel()
	in := input(t)
	in.Environ = []string{"LARVA_PI_INITIAL_PERSONA_ID=outer", "LARVA_PI_BASE_AGENT_DIR=" + in.Home, "PI_CODING_AGENT_DIR=" + in.RunDir, "LARVA_PI_AGENT_PERSONA_SWITCH=always"}
	in.Call.Args = []string{"--append-system-prompt", "mine"}
	in.Append = filepath.Join(in.Home, "APPEND_SYSTEM.md")
	p, err := pi.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(p.Unset, "LARVA_PI_INITIAL_PERSONA_ID") || p.Base != in.Home || value(p, "LARVA_PI_AGENT_PERSONA_SWITCH") != "confirm" {
		t.Errorf("got %+v, want the outer persona unset, the recorded base kept and the mode confirm", p)
	}
	if slices.Contains(p.Argv, in.Append) {
		t.Errorf("got %q, want no APPEND_SYSTEM.md: the user's own flag hides it in Pi as well", p.Argv)
	}
}

func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"LARVA_PI_MODEL_MAP_FILE", "LARVA_PI_TOOL_POLICY_FILE", "LARVA_PI_THINKING_POLICY_FILE", "LARVA_PI_SUBAGENT_CONFIG_FILE"} {
		in := input(t)
		in.Environ = []string{name + "=here.json"}
		_, err := pi.Build(in)
		var bad *pi.ArgsError
		if !errors.As(err, &bad) || bad.Flag != name {
			t.Errorf("%s: got %v, want it named", name, err)
		}
	}
	in := input(t)
	in.Nonce = "x"
	if _, err := pi.Build(in); err == nil {
		t.Error("got a plan, want no nonce that can be guessed")
	}
}
