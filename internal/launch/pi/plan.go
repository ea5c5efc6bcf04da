package pi

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Input is everything that a plan is made from.
type Input struct {
	Program   string   // the real pi, absolute
	Call      Call     // what was typed
	Environ   []string // the caller's, KEY=VALUE
	Home      string   // the user's, absolute
	Larva     string   // this binary, absolute
	Extension string   // its entry module, absolute
	RunDir    string   // this run's private directory, absolute
	Nonce     string   // what no prompt can guess: 32 lower-case hexadecimal digits
	// Append says that APPEND_SYSTEM.md in the base directory, or the project's,
	// is what Pi would take by itself: Pi leaves it out as soon as it is given
	// --append-system-prompt, so that its path, absolute, is given as well.
	Append string
}

// Env is one variable.
type Env struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Plan is a start of Pi, before anything is written or started.
type Plan struct {
	Argv    []string `json:"argv"`
	Set     []Env    `json:"set"`     // on top of the caller's environment
	Unset   []string `json:"unset"`   // taken out of it
	Base    string   `json:"base"`    // the user's own agent directory
	Capsule string   `json:"capsule"` // what stands in its place for this run
	Status  string   `json:"status"`  // where the extension writes why it refuses to start
}

// The variables whose files must be named by an absolute path: the extension
// reads them in whatever directory Pi has changed to.
var overrides = []string{"LARVA_PI_MODEL_MAP_FILE", "LARVA_PI_TOOL_POLICY_FILE", "LARVA_PI_THINKING_POLICY_FILE", "LARVA_PI_SUBAGENT_CONFIG_FILE"}

var nonce = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Build makes the plan. It touches nothing. An error is an *ArgsError where the
// user can mend it.
func Build(in Input) (*Plan, error) {
	for name, path := range map[string]string{"program": in.Program, "home": in.Home, "larva": in.Larva, "extension": in.Extension, "run directory": in.RunDir} {
		if !filepath.IsAbs(path) {
			return nil, fmt.Errorf("%s: %q is not absolute", name, path)
		}
	}
	if !nonce.MatchString(in.Nonce) {
		return nil, fmt.Errorf("nonce: %q is not 32 hexadecimal digits", in.Nonce)
	}
	for _, name := range overrides {
		if v := lookup(in.Environ, name); v != "" && !filepath.IsAbs(v) {
			return nil, &ArgsError{name, fmt.Sprintf("%q is not absolute", v)}
		}
	}
	prefix, err := json.Marshal([]string{in.Larva})
	if err != nil {
		return nil, fmt.Errorf("argv of larva: %w", err)
	}
	p := &Plan{Base: Base(in.Environ, in.Home), Capsule: filepath.Join(in.RunDir, "agent"), Status: filepath.Join(in.RunDir, "status.json")}
	slot := "[[larva-persona-slot:" + in.Nonce + "]]"
	p.Argv = []string{in.Program, "-e", in.Extension, "--append-system-prompt", slot}
	if in.Append != "" && !slices.Contains(in.Call.Args, "--append-system-prompt") {
		p.Argv = append(p.Argv, "--append-system-prompt", in.Append)
	}
	p.Argv = append(p.Argv, in.Call.Args...)
	p.Set = []Env{
		{"LARVA_PI_AGENT_PERSONA_SWITCH", mode(in)},
		{"LARVA_PI_REAL_BIN", in.Program},
		{"LARVA_PI_EXTENSION_FLAG", "-e"},
		{"LARVA_PI_EXTENSION_ENTRY", in.Extension},
		{"LARVA_PI_LAUNCHED", "1"},
		{"LARVA_CLI_ARGV_JSON", string(prefix)},
		{"LARVA_PI_INTERACTIVE_TUI", digit(Interactive(in.Call.Args))},
		{"LARVA_PI_BASE_AGENT_DIR", p.Base},
		{"PI_CODING_AGENT_DIR", p.Capsule},
		{"LARVA_PI_SLOT", slot},
		{"LARVA_PI_STATUS_FILE", p.Status},
		{"LARVA_DEPTH", depth(in.Environ)},
	}
	// A persona of an outer run is not this run's.
	if in.Call.Persona == "" {
		p.Unset = []string{"LARVA_PI_INITIAL_PERSONA_ID"}
	} else {
		p.Set = append(p.Set, Env{"LARVA_PI_INITIAL_PERSONA_ID", in.Call.Persona})
	}
	return p, nil
}

// Base is the user's own agent directory. A start within a start keeps the one
// that was recorded first: the other is a capsule.
func Base(environ []string, home string) string {
	for _, name := range []string{"LARVA_PI_BASE_AGENT_DIR", "PI_CODING_AGENT_DIR"} {
		v := lookup(environ, name)
		if rest, ok := strings.CutPrefix(v, "~"); ok && (rest == "" || rest[0] == '/') { // as Pi reads it
			v = filepath.Join(home, rest)
		}
		if filepath.IsAbs(v) {
			return filepath.Clean(v)
		}
	}
	return filepath.Join(home, ".pi", "agent")
}

func mode(in Input) string {
	if in.Call.Switch != "" {
		return in.Call.Switch
	}
	if v := lookup(in.Environ, "LARVA_PI_AGENT_PERSONA_SWITCH"); slices.Contains(Modes, v) {
		return v
	}
	return "confirm"
}

func digit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// depth is one more than the caller's. What is no number counts as none.
func depth(environ []string) string {
	n, err := strconv.Atoi(lookup(environ, "LARVA_DEPTH"))
	if err != nil || n < 0 {
		n = 0
	}
	return strconv.Itoa(n + 1)
}

// lookup is the last value of a name, as a program started with it would see it.
func lookup(environ []string, name string) string {
	for _, kv := range slices.Backward(environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
