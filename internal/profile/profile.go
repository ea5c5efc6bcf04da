// Package profile says how to run a persona: models, roles, rules, hooks,
// servers, sandbox, limits and scripts, as plain values, read-only after load.
package profile

import "encoding/json"

// Profile is one profile or config file, or what a stack of them merges to.
type Profile struct {
	Mode        string              `json:"mode,omitempty"`
	Models      map[string]string   `json:"models,omitempty"` // label → provider/model; "*" is every other label
	Roles       map[string]Role     `json:"roles,omitempty"`
	Providers   map[string]Provider `json:"providers,omitempty"`
	Permissions Permissions         `json:"permissions,omitzero"`
	Undeclared  string              `json:"undeclared,omitempty"` // ask | deny
	Hooks       map[string][]Hooks  `json:"hooks,omitempty"`
	HTTPHooks   HTTPHooks           `json:"http_hooks,omitzero"`
	Servers     map[string]Server   `json:"servers,omitempty"`
	Skills      Skills              `json:"skills,omitzero"`
	Sandbox     Sandbox             `json:"sandbox,omitzero"`
	Worktree    Worktree            `json:"worktree,omitzero"`
	Limits      Limits              `json:"limits,omitzero"`
	Prices      map[string]Price    `json:"prices,omitempty"`
	Scripts     map[string]Scenario `json:"scripts,omitempty"`
}

// Role names a model and its limits.
type Role struct {
	Model     string   `json:"model,omitempty"`
	Fallbacks []string `json:"fallbacks,omitempty"`
	Context   string   `json:"context,omitempty"`   // full | minimal
	Isolation string   `json:"isolation,omitempty"` // none | worktree
	MaxTurns  int      `json:"max_turns,omitempty"`
	Effort    string   `json:"effort,omitempty"`
}

// Provider is a model service. An empty KeyEnv means no key is sent.
type Provider struct {
	API     string `json:"api"` // anthropic | openai | responses
	BaseURL string `json:"base_url,omitempty"`
	KeyEnv  string `json:"key_env,omitempty"`
}

// Permissions are rules as written; permission parses them.
type Permissions struct {
	Allow []string `json:"allow,omitempty"`
	Ask   []string `json:"ask,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// HTTPHooks says where http hooks may send events.
type HTTPHooks struct {
	AllowedURLs []string `json:"allowed_urls,omitempty"`
}

// Hooks are the hooks of one matcher.
type Hooks struct {
	Matcher string `json:"matcher,omitempty"`
	Hooks   []Hook `json:"hooks"`
}

// Hook is a shell command, a prompt or a web request at a point of the loop.
type Hook struct {
	Type           string            `json:"type"` // command | prompt | http
	Command        string            `json:"command,omitempty"`
	Args           []string          `json:"args,omitempty"` // given: Command is a program, not a shell line
	Prompt         string            `json:"prompt,omitempty"`
	Model          string            `json:"model,omitempty"`
	URL            string            `json:"url,omitempty"`
	Headers        map[string]string `json:"headers,omitempty"` // values may hold $VAR of AllowedEnvVars
	AllowedEnvVars []string          `json:"allowedEnvVars,omitempty"`
	If             string            `json:"if,omitempty"`
	Timeout        float64           `json:"timeout,omitempty"` // seconds
	Once           bool              `json:"once,omitempty"`
	Async          bool              `json:"async,omitempty"`
	StatusMessage  string            `json:"statusMessage,omitempty"`
	OnError        string            `json:"on_error,omitempty"`
}

// Server is an MCP server.
type Server struct {
	Type          string            `json:"type,omitempty"` // stdio | http | sse
	Command       string            `json:"command,omitempty"`
	Args          []string          `json:"args,omitempty"`
	Env           map[string]string `json:"env,omitempty"`
	InheritEnv    []string          `json:"inherit_env,omitempty"`
	URL           string            `json:"url,omitempty"`
	Headers       map[string]string `json:"headers,omitempty"`
	OAuth         *ServerOAuth      `json:"oauth,omitempty"`
	EnabledTools  []string          `json:"enabled_tools,omitempty"`
	DisabledTools []string          `json:"disabled_tools,omitempty"`
	Roots         bool              `json:"roots,omitempty"`
	Sampling      bool              `json:"sampling,omitempty"`
	Disabled      bool              `json:"disabled,omitempty"`
}

// ServerOAuth is how to sign in at a server over HTTP.
type ServerOAuth struct {
	ClientID        string   `json:"client_id,omitempty"`
	ClientSecretEnv string   `json:"client_secret_env,omitempty"` // the name of a variable
	Issuer          string   `json:"issuer,omitempty"`
	MetadataURL     string   `json:"metadata_url,omitempty"`
	Scopes          []string `json:"scopes,omitempty"`
	RedirectPort    int      `json:"redirect_port,omitempty"`
}

// Skills says where skills lie and which are off.
type Skills struct {
	Paths    []string `json:"paths,omitempty"`
	Disabled []string `json:"disabled,omitempty"`
}

// Sandbox is how shell commands are walled in.
type Sandbox struct {
	Kind           string   `json:"kind,omitempty"` // auto | bubblewrap | landlock | none
	AllowedDomains []string `json:"allowed_domains,omitempty"`
	EnvPassthrough []string `json:"env_passthrough,omitempty"`
}

// Worktree is what a worktree holds besides the commit that it begins at.
type Worktree struct {
	Changes *bool    `json:"changes,omitempty"` // uncommitted changes as a first commit
	Copy    []string `json:"copy,omitempty"`    // ignored files, as git's globs
}

// Limits end a run. A nil pointer is "not said"; Time and Stall are Go
// durations.
type Limits struct {
	MaxTurns    *int     `json:"max_turns,omitempty"`
	MaxParallel *int     `json:"max_parallel,omitempty"`
	MaxDepth    *int     `json:"max_depth,omitempty"`
	Time        string   `json:"time,omitempty"`
	Stall       string   `json:"stall,omitempty"` // how long a model's service may be silent
	USD         *float64 `json:"usd,omitempty"`
	Tokens      *int64   `json:"tokens,omitempty"`
}

// Price in USD a million tokens, and what the model can hold.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
	Cached float64 `json:"cached,omitempty"`
	// Written is what a million tokens cost that a cache takes in; 0: Input.
	Written float64 `json:"written,omitempty"`
	// Window is the model's context window in tokens, 0: not said.
	Window int `json:"window,omitempty"`
	// Long is the price of a request whose prompt is longer; nil: the same.
	Long *LongPrice `json:"long,omitempty"`
}

// LongPrice is the price of all tokens of a request whose prompt has more than
// Above tokens.
type LongPrice struct {
	Above   int     `json:"above"`
	Input   float64 `json:"input"`
	Output  float64 `json:"output"`
	Cached  float64 `json:"cached,omitempty"`
	Written float64 `json:"written,omitempty"`
}

// Scenario is the script of a script model.
type Scenario struct {
	Turns []Turn `json:"turns"`
}

// Turn is one answer of a script model. A request takes the first unused turn
// whose When holds.
type Turn struct {
	When   When           `json:"when,omitzero"`
	Text   string         `json:"text,omitempty"` // a template
	Calls  []ScriptCall   `json:"calls,omitempty"`
	Error  *ScriptFailure `json:"error,omitempty"`
	Repeat bool           `json:"repeat,omitempty"`
}

// When holds unanchored RE2 expressions; "" holds always. Turn is the number
// of the request, from 1; 0 holds always.
type When struct {
	User   string `json:"user,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Result string `json:"result,omitempty"`
	Turn   int    `json:"turn,omitempty"`
}

// ScriptCall is a tool call; strings in Input are templates too.
type ScriptCall struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// ScriptFailure is an HTTP failure to play.
type ScriptFailure struct {
	Status     int `json:"status"`
	RetryAfter int `json:"retry_after,omitempty"` // seconds
}

// Layer is one profile with where it came from. User layers merge in order;
// the project layer can only lower what they say.
type Layer struct {
	Name    string // shipped, personal, private, profile, flags, project
	File    string // "" for flags and shipped ones
	Profile Profile
	// Origins maps a field path (permissions.deny.0) to file:line.
	Origins map[string]string
	// Notices are what reading the file has to tell.
	Notices []string
	// Project marks the layer that can only lower; Trusted lifts that for the
	// fields that trust covers.
	Project bool
	Trusted bool
}

// Rule is one permission rule with its place.
type Rule struct {
	Text   string
	Origin string // file:line, or the flag
	// Root is the directory that a leading / of a path pattern means, absolute.
	// "" stands for the directory of Origin's file (for a file in .larva, .claude
	// or profiles the one above it), for a flag the working directory.
	Root string
	// User is true for rules of user layers: only those answer a question that
	// an allow rule may answer.
	User bool
}

// Effective is what a stack of layers merges to.
type Effective struct {
	Profile Profile
	Allow   []Rule
	Ask     []Rule
	Deny    []Rule
	// Origins maps an effective field path to its origin. OriginOf knows those
	// of values inside them, too.
	Origins map[string]string
	from    map[string]place
	// Notices say what an untrusted project layer asked for and did not get.
	Notices []string
}
