package opencode

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"larva.dev/larva/internal/spec"
)

// Input is everything that a plan is made from.
type Input struct {
	Program  string   // the real opencode, absolute
	Args     []string // for it, as they were typed
	Call     Call     // what they say
	Environ  []string // the caller's, KEY=VALUE
	Personas []Persona
	Context  Context // MCP, Permission and Auto are filled in here
	Larva    string  // this binary, absolute: the plugin's helper
	Helper   []Env   // the helper's whole environment
	Plugin   string  // the plugin's entry module, absolute
	PlanFile string  // where the run's private plan will be, absolute
	Policies []string
	Left     []Left // personas that are left out for another reason
	Debug    bool
}

// Env is one variable.
type Env struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Left is a persona that is no agent, and why.
type Left struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// File is a private file that has to be there before the start, mode 0600.
type File struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// Plan is a start of OpenCode, before anything is written or started.
type Plan struct {
	Argv   []string     `json:"argv"`
	Set    []Env        `json:"set"`   // on top of the caller's environment
	Unset  []string     `json:"unset"` // taken out of it
	Config *spec.Object `json:"config"`
	Files  []File       `json:"files"`
	Agents []string     `json:"agents"`
	Left   []Left       `json:"left"`
	// Carried says where the agents stand: config, or plan where they are too
	// many for a variable of the environment.
	Carried string            `json:"carried"`
	Losses  map[string][]Loss `json:"losses"`
	Notices []string          `json:"notices"`
	// Context is the configuration beside which the rules were made.
	Context Context `json:"-"`
}

// maxEnv is the longest NAME=VALUE that Linux takes: 128 KiB with its NUL.
const maxEnv = 128<<10 - 1

// npmQuick keeps a package registry that is not there from holding up the
// start: OpenCode installs its plugin's types into every configuration
// directory, and waits.
var npmQuick = []Env{
	{"npm_config_fetch_retries", "0"},
	{"npm_config_fetch_timeout", "10000"},
	{"npm_config_prefer_offline", "true"},
	{"npm_config_audit", "false"},
	{"npm_config_fund", "false"},
}

// Build makes the plan. It touches nothing.
func Build(in Input) (*Plan, error) {
	config, err := readConfig(contentKey, lookup(in.Environ, contentKey))
	if err != nil {
		return nil, err
	}
	permission, err := readConfig(permissionKey, lookup(in.Environ, permissionKey))
	if err != nil {
		return nil, err
	}
	if in.Context.Permission, err = userPermission(config, permission); err != nil {
		return nil, err
	}
	in.Context.MCP, in.Context.Auto = servers(config), in.Call.Auto
	p := &Plan{Argv: append([]string{in.Program}, in.Args...), Unset: []string{"OPENCODE_PURE"}, Left: slices.Clone(in.Left), Losses: map[string][]Loss{}, Carried: "config", Context: in.Context}
	in.Personas = p.choose(in.Personas)
	text, err := p.privatePlan(in)
	if err != nil {
		return nil, err
	}
	p.Files = []File{{in.PlanFile, text}}
	if err := p.carry(in, config); err != nil {
		return nil, err
	}
	p.Set = append(p.Set, Env{"LARVA_DEPTH", depth(in.Environ)})
	for _, e := range npmQuick {
		if !has(in.Environ, e.Name) {
			p.Set = append(p.Set, e)
		}
	}
	if in.Call.Auto {
		p.Notices = append(p.Notices, "--auto: what a persona would have to ask about is refused, since nobody answers")
	}
	return p, nil
}

// choose leaves out what cannot be an agent.
func (p *Plan) choose(all []Persona) []Persona {
	var out []Persona
	for _, q := range all {
		if slices.Contains(Native, q.Spec.ID) {
			p.Left = append(p.Left, Left{q.Spec.ID, "OpenCode has an agent of that name"})
			continue
		}
		out = append(out, q)
		p.Agents = append(p.Agents, q.Spec.ID)
	}
	slices.SortFunc(p.Left, func(a, b Left) int { return strings.Compare(a.ID, b.ID) })
	for _, l := range p.Left {
		p.Notices = append(p.Notices, fmt.Sprintf("persona %s is left out: %s", l.ID, l.Why))
	}
	return out
}

// carry puts the configuration into the environment. Where it is too long only
// the agents that were chosen stand in it: without its plugin such a start has
// no other persona to offer.
func (p *Plan) carry(in Input, config *spec.Object) error {
	entry := &url.URL{Scheme: "file", Path: filepath.ToSlash(in.Plugin)}
	options := &spec.Object{}
	options.Set("plan", in.PlanFile)
	if replaced(entry.String()) || replaced(in.PlanFile) {
		return &ConfigError{"HOME", "its path holds {env: or {file:, which OpenCode would replace"}
	}
	plugin := []any{entry.String(), options}
	chosen := in.Call.Agents
	if d := config.String("default_agent"); d != "" {
		chosen = append(slices.Clone(chosen), d)
	}
	for _, ids := range [][]string{p.Agents, slices.DeleteFunc(slices.Clone(p.Agents), func(id string) bool { return !slices.Contains(chosen, id) })} {
		full, err := withAgents(config, plugin, ids)
		if err != nil {
			return err
		}
		text, err := json.Marshal(full)
		if err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		if len(contentKey)+1+len(text) <= maxEnv {
			p.Config = full
			p.Set = append(p.Set, Env{contentKey, string(text)})
			return nil
		}
		p.Carried = "plan"
	}
	return &ConfigError{contentKey, "with larva's plugin it is longer than the 128 KiB that an environment variable may be"}
}

// privatePlan is the file that the plugin reads.
func (p *Plan) privatePlan(in Input) (string, error) {
	agents := &spec.Object{}
	for _, q := range in.Personas {
		projected := Project(q.Spec, in.Context)
		p.Losses[q.Spec.ID] = projected.Losses
		one := &spec.Object{}
		one.Set("digest", q.Spec.Digest)
		one.Set("entry", q.Entry(projected.Table))
		one.Set("params", q.params())
		agents.Set(q.Spec.ID, one)
	}
	npm := &spec.Object{}
	for _, e := range npmQuick {
		if !has(in.Environ, e.Name) {
			npm.Set(e.Name, nil)
		}
	}
	helper := &spec.Object{}
	for _, e := range in.Helper {
		helper.Set(e.Name, e.Value)
	}
	policy := &spec.Object{}
	policy.Set("paths", texts(in.Policies))
	left := make([]string, 0, len(p.Left))
	for _, l := range p.Left {
		left = append(left, l.ID)
	}
	out := &spec.Object{}
	out.Set("version", spec.Number("1"))
	out.Set("larva", in.Larva)
	out.Set("env", helper)
	out.Set("agents", agents)
	out.Set("native", texts(left))
	out.Set("npm", npm)
	out.Set("policy", policy)
	out.Set("auto", in.Call.Auto)
	out.Set("debug", in.Debug)
	text, err := json.Marshal(out)
	if err != nil {
		return "", fmt.Errorf("plan: %w", err)
	}
	return string(text) + "\n", nil
}

func texts(list []string) []any {
	out := make([]any, 0, len(list))
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

// Env is the whole environment of the start.
func (p *Plan) Env(environ []string) []string {
	drop := slices.Clone(p.Unset)
	for _, e := range p.Set {
		drop = append(drop, e.Name)
	}
	var out []string
	for _, kv := range environ {
		if k, _, _ := strings.Cut(kv, "="); !slices.Contains(drop, k) {
			out = append(out, kv)
		}
	}
	for _, e := range p.Set {
		out = append(out, e.Name+"="+e.Value)
	}
	return out
}

func depth(environ []string) string {
	n, err := strconv.Atoi(lookup(environ, "LARVA_DEPTH"))
	if err != nil || n < 0 {
		n = 0
	}
	return strconv.Itoa(n + 1)
}

func lookup(environ []string, key string) string {
	for _, kv := range slices.Backward(environ) {
		if k, v, ok := strings.Cut(kv, "="); ok && k == key {
			return v
		}
	}
	return ""
}

func has(environ []string, key string) bool {
	return slices.ContainsFunc(environ, func(kv string) bool {
		k, _, ok := strings.Cut(kv, "=")
		return ok && strings.EqualFold(k, key) // npm reads them without case
	})
}
