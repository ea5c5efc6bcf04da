package profile

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// a profile as the shipped one is, with what a user said on top of it.
func chooser(t *testing.T, user Profile) *Effective {
	t.Helper()
	e, err := Merge([]Layer{{Name: "shipped", Profile: Profile{
		Providers: map[string]Provider{
			"anthropic": {API: "anthropic", BaseURL: "https://api.anthropic.com"},
			"work":      {API: "anthropic", BaseURL: "https://api.anthropic.com/"},
			"other":     {API: "anthropic", BaseURL: "https://api.other.test"},
			"ollama":    {API: "openai", BaseURL: "http://127.0.0.1:11434/v1"},
		},
		Roles: map[string]Role{"smart": {Model: "anthropic/big"}, "worker": {Model: "anthropic/mid"}, "explore": {Model: "anthropic/small"}},
	}}, {Name: "personal", Profile: user}})
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

func TestChooseForATask(t *testing.T) {
	t.Parallel()
	own := Profile{Roles: map[string]Role{
		"mine":   {Model: "other/m", Fallbacks: []string{"ollama/f"}, MaxTurns: 9, Effort: "low", Context: "minimal", Isolation: "worktree"},
		"unset":  {MaxTurns: 4, Isolation: "worktree"},
		"broken": {Model: "nowhere/x"},
	}}
	haiku := Profile{Models: map[string]string{"haiku": "ollama/h"}}
	star := Profile{Models: map[string]string{"*": "script/s"}}
	for name, c := range map[string]struct {
		user   Profile
		parent string
		w      Wanted
		want   string // model
		notice string // "" for none
	}{
		"the task's input first":             {own, "ollama/p", Wanted{Task: "other/t", Label: "mine", Role: "smart"}, "other/t", ""},
		"then the label":                     {own, "ollama/p", Wanted{Label: "mine", Role: "smart"}, "other/m", ""},
		"then the role":                      {own, "ollama/p", Wanted{Role: "mine"}, "other/m", ""},
		"then the parent":                    {own, "ollama/p", Wanted{}, "ollama/p", ""},
		"inherit":                            {own, "ollama/p", Wanted{Label: "inherit", Role: "mine"}, "ollama/p", ""},
		"a task may ask to inherit":          {own, "ollama/p", Wanted{Task: "inherit", Label: "mine"}, "ollama/p", ""},
		"a role without a model":             {own, "ollama/p", Wanted{Label: "unset"}, "ollama/p", ""},
		"an alias at Anthropic":              {own, "anthropic/p", Wanted{Label: "opus"}, "anthropic/claude-opus-5-5", ""},
		"its case does not count":            {own, "anthropic/p", Wanted{Label: "Haiku"}, "anthropic/claude-haiku-5-5", ""},
		"under another name":                 {own, "work/p", Wanted{Task: "sonnet"}, "work/claude-sonnet-5-5", ""},
		"a full name without its provider":   {own, "anthropic/p", Wanted{Label: "claude-sonnet-4-5"}, "anthropic/claude-sonnet-4-5", ""},
		"an alias elsewhere":                 {own, "ollama/p", Wanted{Label: "opus"}, "ollama/p", "model opus is Anthropic's"},
		"a service that speaks its protocol": {own, "other/p", Wanted{Label: "opus"}, "other/p", "model opus is Anthropic's"},
		"an alias that is mapped":            {haiku, "anthropic/p", Wanted{Label: "haiku"}, "ollama/h", ""},
		"an alias under a star":              {star, "anthropic/p", Wanted{Label: "opus"}, "script/s", ""},
		"a label that leads nowhere":         {own, "ollama/p", Wanted{Label: "nobody"}, "ollama/p", "the task runs on ollama/p"},
		"a role that leads nowhere":          {own, "ollama/p", Wanted{Label: "broken"}, "ollama/p", "there is no provider"},
		"a task's label that leads nowhere":  {own, "ollama/p", Wanted{Task: "x/y", Label: "mine"}, "ollama/p", "the task runs on ollama/p"},
		"a shipped role, the same service":   {own, "anthropic/p", Wanted{Label: "worker"}, "anthropic/mid", ""},
		"a shipped role, another service":    {own, "ollama/p", Wanted{Label: "worker"}, "ollama/p", ""},
		"a user's role, another service":     {Profile{Roles: map[string]Role{"worker": {Model: "anthropic/own"}}}, "ollama/p", Wanted{Label: "worker"}, "anthropic/own", ""},
		"only its turns are the user's":      {Profile{Roles: map[string]Role{"worker": {MaxTurns: 3}}}, "ollama/p", Wanted{Label: "worker"}, "ollama/p", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := chooser(t, c.user)
			p, err := e.RouteNamed(c.parent)
			if err != nil {
				t.Fatal(err)
			}
			c.w.Parent = &p
			r, notice, err := e.Choose(c.w)
			if err != nil || r.Name() != c.want {
				t.Errorf("got %s, %v, want %s", r.Name(), err, c.want)
			}
			if (notice == "") != (c.notice == "") || !strings.Contains(notice, c.notice) {
				t.Errorf("notice: got %q, want %q", notice, c.notice)
			}
		})
	}
}

// Whatever model it comes to, what the role says beside it holds.
func TestChooseKeepsTheRolesOtherFields(t *testing.T) {
	t.Parallel()
	e := chooser(t, Profile{Roles: map[string]Role{
		"mine":   {Model: "other/m", Fallbacks: []string{"ollama/f"}, MaxTurns: 9, Effort: "low", Context: "minimal", Isolation: "worktree"},
		"unset":  {MaxTurns: 4, Context: "minimal", Isolation: "worktree"},
		"worker": {MaxTurns: 3},
	}})
	other := Provider{API: "anthropic", BaseURL: "https://api.other.test"}
	local := Provider{API: "openai", BaseURL: "http://127.0.0.1:11434/v1"}
	p := Route{Label: "top", ProviderName: "ollama", Provider: local, Model: "p", Role: "top", Fallbacks: []string{"ollama/q"}, MaxTurns: 99, Effort: "high", Context: "minimal", Isolation: "worktree"}
	for label, want := range map[string]Route{
		"mine": {Label: "mine", ProviderName: "other", Provider: other, Model: "m", Role: "mine", Fallbacks: []string{"ollama/f"}, MaxTurns: 9, Effort: "low", Context: "minimal", Isolation: "worktree"},
		// the parent's model comes with its fallbacks and its effort, not with its limits
		"unset":   {Label: "unset", ProviderName: "ollama", Provider: local, Model: "p", Role: "unset", Fallbacks: []string{"ollama/q"}, MaxTurns: 4, Effort: "high", Context: "minimal", Isolation: "worktree", Inherited: true},
		"worker":  {Label: "worker", ProviderName: "ollama", Provider: local, Model: "p", Role: "worker", Fallbacks: []string{"ollama/q"}, MaxTurns: 3, Effort: "high", Inherited: true},
		"inherit": {Label: "inherit", ProviderName: "ollama", Provider: local, Model: "p", Fallbacks: []string{"ollama/q"}, Effort: "high", Inherited: true},
	} {
		got, _, err := e.Choose(Wanted{Label: label, Parent: &p})
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", label, err, d)
		}
	}
}

func TestChooseForARun(t *testing.T) {
	t.Parallel()
	local := Profile{Roles: map[string]Role{"worker": {Model: "ollama/w"}}}
	for name, c := range map[string]struct {
		user Profile
		w    Wanted
		want string // "" for an error
		says string
	}{
		"an alias, the role of its rank":         {Profile{}, Wanted{Label: "opus"}, "anthropic/claude-opus-5-5", ""},
		"elsewhere":                              {local, Wanted{Label: "sonnet"}, "", "the role worker leads to ollama/w"},
		"another rank":                           {local, Wanted{Label: "opus"}, "anthropic/claude-opus-5-5", ""},
		"named":                                  {local, Wanted{Label: "haiku", Named: true}, "anthropic/claude-haiku-5-5", ""},
		"a star":                                 {Profile{Models: map[string]string{"*": "script/s"}}, Wanted{Label: "opus"}, "script/s", ""},
		"inherit: the worker's":                  {local, Wanted{Label: "inherit"}, "ollama/w", "nobody to inherit from"},
		"nobody":                                 {local, Wanted{Label: "nobody"}, "", "no role, model or provider/model"},
		"a label that looks like one":            {local, Wanted{Label: "opus/x"}, "", "there is no provider"},
		"an untouched profile has its own names": {local, Wanted{Label: "explore"}, "anthropic/small", ""},
	} {
		e := chooser(t, c.user)
		r, notice, err := e.Choose(c.w)
		if c.want == "" {
			var lost *RouteError
			if !errors.As(err, &lost) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: got %s, %v, want an error that says %q", name, r.Name(), err, c.says)
			}
			continue
		}
		if err != nil || r.Name() != c.want || !strings.Contains(notice, c.says) {
			t.Errorf("%s: got %s, %q, %v, want %s, %q", name, r.Name(), notice, err, c.want, c.says)
		}
	}
	if _, _, err := (&Effective{}).Choose(Wanted{Label: "opus"}); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("an empty profile: got %v", err)
	}
}
